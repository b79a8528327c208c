// Stands in for the CUDA engine in a build without CUDA.
#include "local/engine.hpp"

namespace serried::inline v0 {

std::shared_ptr<engine> make_cuda_engine() { return nullptr; }

}  // namespace serried::inline v0
