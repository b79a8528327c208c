// What all kernel files stand on. Functions that kernels call are forced inline (SERRIED_HD), so that they are compiled
// for the kernel's instructions.
#pragma once

#include "local/host/kernel_table.hpp"
#include "local/ops/bins.hpp"
#include "local/ops/complex_functions.hpp"
#include "local/ops/functions.hpp"
#include "local/ops/keys.hpp"
#include "local/ops/reduction.hpp"
#include "local/ops/special.hpp"
#include "local/ops/types.hpp"

#include <utility>

// No iteration of the next loop touches what another writes: an output is an operand's own memory or apart from it.
#ifdef __clang__
#define SERRIED_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SERRIED_INDEPENDENT _Pragma("GCC ivdep")
#endif
