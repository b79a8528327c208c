// Requests as MPI calls.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "comm/mpi/messages.hpp"
#include "comm/request.hpp"

namespace serried::inline v0::comm {

/// Throws comm_error with MPI's text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// Minimum and maximum that keep NaN, and that order -0 before +0, so that the order of ranks does not matter.
class float_ops {
 public:
  float_ops();
  ~float_ops();
  float_ops(const float_ops&) = delete;
  float_ops& operator=(const float_ops&) = delete;

  [[nodiscard]] MPI_Op min() const { return min_; }
  [[nodiscard]] MPI_Op max() const { return max_; }

 private:
  MPI_Op min_ = MPI_OP_NULL, max_ = MPI_OP_NULL;
};

/// Where a request is executed.
struct mpi_group {
  MPI_Comm comm;
  int rank, size;
  const float_ops& ops;
};

/// The MPI requests that make up one operation.
class mpi_requests {
 public:
  /// Starts one of MPI's collectives, on buffers in the host's memory. Throws comm_error.
  void post(const request& r, const mpi_group& group);
  /// The pieces of messages of the host's memory.
  void send(const message& m, MPI_Comm comm);
  void recv(const message& m, MPI_Comm comm);
  /// `bytes` from each rank to all.
  void gather(const void* in, void* out, std::size_t bytes, MPI_Comm comm);
  /// True when all are complete. Throws comm_error once they are, if one failed or a message was too short.
  bool test();

 private:
  MPI_Request* add();
  void broadcast(const request& r, const mpi_group& group);
  void all_reduce(const request& r, const mpi_group& group);
  void all_gather(const request& r, const mpi_group& group);
  void all_gatherv(const request& r, const mpi_group& group);
  void all_to_all(const request& r, const mpi_group& group);
  void inspect(std::size_t i, int code, const MPI_Status& status);

  static constexpr int no_message = -1;
  std::vector<MPI_Request> requests_;
  std::vector<int> expected_;  // bytes of a message received, or no_message
  std::vector<MPI_Status> statuses_;
  std::vector<int> counts_, offsets_;  // MPI reads them until the end
  std::vector<std::byte> input_;       // of a reduction in place
  std::string error_;
};

}  // namespace serried::inline v0::comm
