// Joining and leaving MPI. In a build without MPI a stub stands for this file's functions.
#pragma once

#include <memory>

#include "comm/backend.hpp"

namespace serried::inline v0::comm {

class progress;

/// The ranks that the launcher started. Initializes MPI, and finalizes it when destroyed, unless the program has
/// done so itself. Throws comm_error when MPI cannot be had or lacks thread support.
class mpi_session {
 public:
  mpi_session(int& argc, char**& argv);
  ~mpi_session();
  mpi_session(const mpi_session&) = delete;
  mpi_session& operator=(const mpi_session&) = delete;

  [[nodiscard]] const std::shared_ptr<backend>& world() const { return world_; }

 private:
  [[maybe_unused]] bool initialized_here_ = false;  // a stub has nothing to finalize
  std::shared_ptr<progress> driver_;
  std::shared_ptr<backend> world_;
};

}  // namespace serried::inline v0::comm
