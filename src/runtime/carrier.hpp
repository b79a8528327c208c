// What carries device buffers between the ranks: MPI through the hosts' memory, or NCCL.
#pragma once

#include <serried/communicator.hpp>

#include <memory>
#include <span>
#include <string>

#include "comm/settings.hpp"
#include "local/engine.hpp"

namespace serried::inline v0 {

/// Where a rank runs and what it has, as it travels between ranks.
struct rank_seat {
  char machine[64] = {};
  char gpu[32] = {};  ///< names the GPU among those of the machine; empty: none
  comm::carrier wish = comm::carrier::automatic;
  bool nccl = false;       ///< the build has it
  bool may_share = false;  ///< NCCL lets several ranks use one GPU
  char nccl_version[15] = {};
};

/// True for NCCL. `wish` of the first seat counts; automatic means NCCL where every rank has a GPU of its own or may
/// share one. Throws comm_error, the same for the same seats, when NCCL is wished for where it cannot be.
[[nodiscard]] bool choose_nccl(std::span<const rank_seat> seats);

/// `world`, or a communicator over its ranks that carries device buffers with NCCL. Collective; fails on all ranks
/// alike.
[[nodiscard]] communicator with_carrier(const communicator& world, const std::shared_ptr<engine>& device);

}  // namespace serried::inline v0
