#include <serried/error.hpp>

#include "comm/nccl/nccl.hpp"

namespace serried::inline v0::comm {

std::string nccl_version() { return {}; }
bool nccl_shares_gpus() { return false; }
std::shared_ptr<backend> make_nccl(const communicator&, const std::shared_ptr<engine>&) {
  throw comm_error("NCCL is not available in this build");
}

}  // namespace serried::inline v0::comm
