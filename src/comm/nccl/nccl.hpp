// Communicators over NCCL: device buffers of ranks that have a GPU each, another communicator as the control plane. In
// a build without NCCL a stub stands for these functions.
#pragma once

#include <memory>
#include <string>

#include "comm/backend.hpp"
#include "local/engine.hpp"

namespace serried::inline v0::comm {

/// Of the library that is loaded, as 2.28.9; empty in a build without NCCL.
[[nodiscard]] std::string nccl_version();
/// True when several ranks may use NCCL on one GPU: from 2.30.3 on, when NCCL_MULTI_RANK_GPU_ENABLE is 1.
[[nodiscard]] bool nccl_shares_gpus();

/// The ranks of `control` over NCCL; collective. Calls on device buffers go to NCCL, all others, and reductions that
/// NCCL lacks, to `control`. All NCCL calls of the process run one after the other, in one urgent queue of the device.
/// Throws comm_error in a build without NCCL, library_error when NCCL fails; the same on all ranks.
[[nodiscard]] std::shared_ptr<backend> make_nccl(const communicator& control, const std::shared_ptr<engine>& device);

}  // namespace serried::inline v0::comm
