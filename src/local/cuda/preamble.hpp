// What every kernel's text begins with: the operations, for the device. NVRTC is given this header and those it
// includes by name; none needs a standard header.
#pragma once

#define SERRIED_HD __device__

#include "local/ops/bins.hpp"
#include "local/ops/functions.hpp"
#include "local/ops/keys.hpp"

namespace ops = serried::ops;
