// What the environment says about communication.
#pragma once

#include <serried/communicator.hpp>

#include <chrono>

namespace serried::inline v0::comm {

/// What carries device buffers.
enum class carrier { automatic, mpi, nccl };

struct settings {
  carrier devices = carrier::automatic;  ///< SERRIED_COMM=auto|mpi|nccl
  bool progress_thread = true;           ///< SERRIED_PROGRESS=thread|inline
  bool check = false;                    ///< SERRIED_CHECK=0|1
  /// SERRIED_TIMEOUT, in seconds: how long one call may wait before the run is taken for stalled; 0 for ever. A
  /// rank that computes for long looks to the others like one that is stuck, hence the generous default.
  std::chrono::duration<double> stall_limit{1800};
};

/// Throws value_error for a value that is not understood.
[[nodiscard]] settings settings_from_environment();

/// Throws that value_error on all ranks alike; collective.
void check_environment(const communicator& c);

}  // namespace serried::inline v0::comm
