// Communicators: who takes part, and the collective operations on plain buffers.
#pragma once

#include <serried/dtype.hpp>
#include <serried/export.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace serried::inline v0 {

/// How another library's communicator becomes one of Serried: specialized by opt-in headers (<serried/mpi.hpp>), with
/// `static communicator wrap(T)`.
template <class T>
struct native_communicator;

namespace comm {
class backend;
struct work_state;

enum class reduce_op { sum, prod, min, max };

/// A collective or a group of messages under way. Buffers belong to it until it is done. Dropping an unwaited
/// work does not cancel it; the error of a dropped work surfaces at the next call on a communicator of the run.
class [[nodiscard]] SERRIED_API work {
 public:
  work() = default;  ///< already done
  explicit work(std::shared_ptr<work_state> state) : state_(std::move(state)) {}

  /// Returns when the operation is done on this rank; for device buffers, when it is done for all that the caller
  /// issues to its current stream from now on. Throws comm_error when it failed. May be called again.
  void wait();
  /// True when done (also when it failed); makes progress in inline mode.
  [[nodiscard]] bool done();
  /// Seconds from the operation's start to its end; 0 before it is done.
  [[nodiscard]] double seconds() const;
  /// Keeps `owner` alive until the operation is done, whatever becomes of this handle.
  void keep_alive(std::shared_ptr<const void> owner);

 private:
  std::shared_ptr<work_state> state_;
};

/// One message of an `exchange`: `bytes` at `data`, to or from rank `peer`.
struct send_part {
  int peer;
  const void* data;
  std::size_t bytes;
};
struct recv_part {
  int peer;
  void* data;
  std::size_t bytes;
};
}  // namespace comm

/// A handle to a group of ranks. Every operation but rank(), size() and their like is collective over the group,
/// is issued in the same order on all its ranks, and returns at once with a `comm::work`. Counts are elements and
/// may exceed 2^31. `in` and `out` of one call may be the same buffer only where said.
///
/// Buffers are memory of the host or of the calling thread's device, all of one call alike; a collective's with "nccl"
/// on all ranks alike. With device buffers a call comes after what the caller's current stream holds at that time.
/// "mpi" sends them through the host's memory; "nccl" directly, but for single messages (send, recv) and for reductions
/// of int16, uint16, complex products, and minima and maxima of floating numbers, which go as with "mpi". What "nccl"
/// sends directly runs in the order of the calls on all communicators of a rank together, so that all ranks must make
/// those calls in one order.
///
/// All calls throw comm_error; a mismatch between ranks (operation, dtype, count, order) that is detected throws
/// the same error on every rank.
class SERRIED_API communicator {
 public:
  communicator();  ///< the `self` communicator: one rank, this process
  explicit communicator(std::shared_ptr<comm::backend> backend) : backend_(std::move(backend)) {}

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  [[nodiscard]] int node_rank() const;          ///< rank among those on this machine
  [[nodiscard]] int node_size() const;          ///< ranks on this machine
  [[nodiscard]] std::string_view name() const;  ///< "self", "mpi", "nccl"
  /// True when operations proceed while the caller computes; false with SERRIED_PROGRESS=inline, where they proceed
  /// only in calls.
  [[nodiscard]] bool overlaps() const;
  /// True in checked mode (SERRIED_CHECK=1), where every collective call is compared across the ranks.
  [[nodiscard]] bool checked() const;

  /// Ranks that give the same color form a communicator, ordered by key, then rank. A negative color: the caller
  /// is in none and gets a communicator for which `valid()` is false. With "nccl" a part that makes collective calls on
  /// device buffers has resources of its own on the GPU, which are kept until the end of the run: split once, not
  /// in each step.
  [[nodiscard]] communicator split(int color, int key) const;
  [[nodiscard]] bool valid() const noexcept { return backend_ != nullptr; }

  comm::work broadcast(void* data, std::size_t count, dtype type, int root) const;
  /// `in` may equal `out`. min and max keep NaN and order -0 before +0; sum and max of bool are "or", prod and min
  /// "and". Complex: sum and prod only. float16 and bfloat16: dtype_error for now.
  comm::work all_reduce(const void* in, void* out, std::size_t count, dtype type, comm::reduce_op op) const;
  /// `count` elements from each rank; `out` holds size()·count, in rank order.
  comm::work all_gather(const void* in, void* out, std::size_t count, dtype type) const;
  /// counts[r] elements from rank r, the same vector on every rank; `out` holds their sum, in rank order.
  comm::work all_gatherv(const void* in, void* out, std::span<const std::size_t> counts, dtype type) const;
  /// `count` elements to each rank and from each rank.
  comm::work all_to_all(const void* in, void* out, std::size_t count, dtype type) const;
  /// send_counts[r] elements to rank r, recv_counts[r] from it, packed in rank order on both sides.
  comm::work all_to_allv(const void* in, std::span<const std::size_t> send_counts, void* out,
                         std::span<const std::size_t> recv_counts, dtype type) const;
  comm::work send(const void* data, std::size_t count, dtype type, int peer) const;
  comm::work recv(void* data, std::size_t count, dtype type, int peer) const;
  /// A group of messages that proceed together. Between one pair of ranks, messages match in the order listed.
  /// Messages to oneself are allowed and must match within the call. Not collective: only the ranks that have parts
  /// need call it, with the other side's parts matching.
  comm::work exchange(std::span<const comm::send_part> sends, std::span<const comm::recv_part> receives) const;
  comm::work barrier() const;

  /// Waits until every rank has called it, then throws the same error on all of them if any rank passed one: the
  /// lowest such rank's, with its type (of this library's exceptions, io_error stays io_error); `collective()` is set
  /// when these are all ranks of the run. A null pointer means "no error here". Other exceptions arrive as
  /// serried::error.
  void agree(std::exception_ptr mine) const;

  /// Runs f here and agrees on how it went: every rank throws the lowest failed rank's error, or none does.
  template <class F>
  void together(F&& f) const {
    std::exception_ptr failure;
    try {
      std::forward<F>(f)();
    } catch (...) {
      failure = std::current_exception();
    }
    agree(failure);
  }

  /// Prints nothing; ends every rank of the run with this exit code (MPI_Abort). Does not return.
  [[noreturn]] void abort(int exit_code) const;

  [[nodiscard]] const std::shared_ptr<comm::backend>& backend() const noexcept { return backend_; }
  friend bool operator==(const communicator& a, const communicator& b) noexcept { return a.backend_ == b.backend_; }

 private:
  std::shared_ptr<comm::backend> backend_;
};

}  // namespace serried::inline v0
