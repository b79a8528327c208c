// The kernels for the instructions that every machine of the architecture has.
#include "local/host/kernel_support.hpp"

#define SERRIED_TARGET
#define SERRIED_VECTOR_BYTES 16
#ifdef SERRIED_LIBMVEC
#define SERRIED_MVEC_FLOAT _ZGVbN4
#define SERRIED_MVEC_DOUBLE _ZGVbN2
#endif

namespace serried::inline v0::host {
namespace baseline {
// Each stands on the one before.
// clang-format off
#include "local/host/kernels.inc"
#include "local/host/sum_kernels.inc"
#include "local/host/reduce_kernels.inc"
// clang-format on
}  // namespace baseline

const kernel_table& baseline_kernels() {
  static const kernel_table table = [] {
    kernel_table t;
    baseline::set_element_kernels(t);
    baseline::set_reduction_kernels(t);
    return t;
  }();
  return table;
}

}  // namespace serried::inline v0::host
