// Communicators over NCCL: one GPU per rank, MPI as the control plane.
#pragma once

#include "comm/backend.hpp"

namespace serried::inline v0::comm {

/// Collective over `control`. Throws comm_error in a build without NCCL.
[[nodiscard]] std::shared_ptr<backend> make_nccl(const communicator& control);

}  // namespace serried::inline v0::comm
