// Communicators over MPI, for buffers of the host and, staged, of devices.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "comm/backend.hpp"
#include "comm/mpi/check.hpp"
#include "comm/mpi/mpi_calls.hpp"
#include "comm/mpi/progress.hpp"
#include "comm/mpi/staging.hpp"
#include "comm/settings.hpp"

namespace serried::inline v0::comm {

/// What a communicator and all that were split from it share.
struct mpi_run {
  int size = 1;
  bool checked = false;
  std::shared_ptr<lost_error> lost = std::make_shared<lost_error>();
  float_ops ops;
  std::shared_ptr<progress> driver;
  std::vector<std::shared_ptr<staging_queues>> staging;  // the driver's; one for each device that was seen

  [[nodiscard]] const std::shared_ptr<staging_queues>& staging_of(const std::shared_ptr<engine>& device);
};

class mpi_backend;

/// A request on its way through MPI. But for what work_state offers, only the driver touches it.
struct mpi_work final : work_state {
  mpi_work(std::shared_ptr<mpi_backend> group, request r, std::uint64_t number);

  void wait() override;
  bool done() override;

  /// Finished, but for copies to the device that are issued.
  [[nodiscard]] bool settled() const { return finished() || issued_.load(std::memory_order_acquire); }

  /// Waits for its rank's own device, whose work it must come after.
  [[nodiscard]] bool held_up() const { return transfer_ && !transfer_->begun(); }

  /// Posts a message; queues a collective behind those issued before it.
  void begin();
  /// Begins a collective whose turn has come; false when the turn is not over: it must first hear from the other ranks,
  /// or has more to post.
  bool open();
  progress_made advance();

  [[nodiscard]] mpi_backend& group() { return *group_; }
  std::shared_ptr<mpi_backend> child;  // what split made

 private:
  enum class stage { queued, checking, running, failed };
  void post();
  void split();
  [[nodiscard]] bool holds_turn() const;
  progress_made listen();  // to the other ranks
  template <class F>
  void attempt(F f);  // what f throws makes the work fail

  std::shared_ptr<mpi_backend> group_;
  std::uint64_t number_;  // among the collective calls of the communicator
  stage stage_ = stage::queued;
  mpi_requests requests_;
  std::unique_ptr<transfer> transfer_;  // of device buffers
  std::shared_ptr<mark> arrival_;       // what later work must wait for once issued_ is set
  std::atomic<bool> issued_ = false;
  call_header mine_{};
  std::vector<call_header> headers_;
  std::exception_ptr failure_;
};

class mpi_backend final : public backend, public std::enable_shared_from_this<mpi_backend> {
 public:
  /// Owns `comm`. `node` is a number that the ranks of one machine share.
  mpi_backend(MPI_Comm comm, int node, std::shared_ptr<mpi_run> run);
  ~mpi_backend() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int node_rank() const override { return node_rank_; }
  int node_size() const override { return node_size_; }
  std::string_view name() const override { return "mpi"; }
  bool checked() const override { return run_->checked; }
  bool overlaps() const override { return run_->driver->threaded(); }
  bool spans_run() const override { return size_ == run_->size; }

  std::shared_ptr<work_state> start(request r) override;
  std::shared_ptr<backend> split(int color, int key) override;
  void finish() override;
  [[noreturn]] void abort(int exit_code) override;

  [[nodiscard]] const std::shared_ptr<progress>& driver() const { return run_->driver; }
  /// Says on stderr what this rank has waited for, and ends all ranks.
  [[noreturn]] void stalled(std::string_view what, double seconds);

 private:
  friend struct mpi_work;
  std::shared_ptr<mpi_work> submit(request r);
  void take_turn(mpi_work& w);
  void next_turn();  // the one in front is posted or has failed
  void open_turns();
  [[nodiscard]] mpi_group group() const { return {comm_, rank_, size_, run_->ops}; }

  MPI_Comm comm_;
  int node_;
  std::shared_ptr<mpi_run> run_;
  int rank_ = 0, size_ = 1, node_rank_ = 0, node_size_ = 1;
  std::atomic<std::uint64_t> calls_ = 0;
  message_numbers numbers_{0};  // the driver's
  // Collectives not yet posted, the driver's. One at a time hears from the other ranks, so that all ranks post theirs
  // in the same order whenever the answers come.
  std::deque<mpi_work*> turns_;
};

/// A communicator over a duplicate of `comm`; collective over it. `thread_allowed` says whether another thread than
/// the caller's may make MPI calls. An environment that is not understood counts for nothing here: see
/// check_environment.
[[nodiscard]] std::shared_ptr<mpi_backend> make_mpi(MPI_Comm comm, bool thread_allowed);

/// What a user holds: letting go of the last copy returns once the thread has let go too, so that the user may finalize
/// MPI next.
[[nodiscard]] std::shared_ptr<backend> handle_of(std::shared_ptr<mpi_backend> b);

}  // namespace serried::inline v0::comm
