// Stands in for the CUDA engine in a build without CUDA.
#include "local/engine.hpp"

namespace serried::inline v0 {

std::shared_ptr<engine> make_cuda_engine(int) { return nullptr; }
std::string why_no_cuda_engine() { return "this build of Serried has no CUDA"; }

}  // namespace serried::inline v0
