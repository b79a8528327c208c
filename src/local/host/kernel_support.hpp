// What all kernel files stand on. Everything inline in here must be forced inline or trivial: these files are compiled
// for several instruction sets, and the linker keeps one copy of a shared function.
#pragma once

#include "local/host/kernel_table.hpp"
#include "local/ops/bins.hpp"
#include "local/ops/functions.hpp"
#include "local/ops/keys.hpp"
#include "local/ops/reduction.hpp"
#include "local/ops/types.hpp"

#include <utility>

// No iteration of the next loop touches what another writes: an output is an operand's own memory or apart from it.
#ifdef __clang__
#define SERRIED_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SERRIED_INDEPENDENT _Pragma("GCC ivdep")
#endif
