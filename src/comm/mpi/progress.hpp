// Who makes the MPI calls, and when.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace serried::inline v0::comm {

class mpi_backend;
struct mpi_work;

enum class progress_made { none, some, finished };

/// Drives the works of one process, in the order they are submitted: a thread of its own makes every MPI call, or,
/// without one, whoever submits, polls or waits.
///
/// Ranks may outnumber cores, so nobody spins: a waiting caller blocks, and between looks at pending requests the
/// driver yields at first, then sleeps for a growing while.
class progress {
 public:
  /// The thread, if any, ends with the last copy of the pointer.
  static std::shared_ptr<progress> make(bool thread, std::chrono::duration<double> stall_limit);

  /// Throws comm_error after stop().
  void submit(std::shared_ptr<mpi_work> w);
  [[nodiscard]] bool threaded() const noexcept { return threaded_; }
  /// Looks whether `w` is finished.
  bool poll(const mpi_work& w);
  /// Returns when `w` is settled; past the stall limit, ends all ranks. While anything waits for this rank's own device
  /// to come to it, no other rank can be blamed, and the time does not count.
  void wait(mpi_work& w);
  /// Returns when no work is left; past the stall limit, ends all ranks.
  void drain(mpi_backend& by);
  /// Frees a communicator when MPI may be called.
  void release(MPI_Comm comm);
  /// Returns when the thread holds on to nothing any more, or pending operations keep it from that.
  void settle();
  /// Ends the thread, if any; nothing can be submitted any more.
  void stop();

 private:
  using clock = std::chrono::steady_clock;

  void loop();
  bool step();  // true when something arrived, moved or finished
  void free_released();
  template <class Condition, class Stalled>
  void wait_until(Condition condition, Stalled stalled);
  [[nodiscard]] bool has_news() const { return !arrived_.empty() || !released_.empty() || stopped_; }

  std::chrono::duration<double> stall_limit_{0};  // 0: none
  std::thread thread_;
  bool threaded_ = false;

  std::mutex mutex_;  // guards these
  std::vector<std::shared_ptr<mpi_work>> arrived_;
  std::vector<MPI_Comm> released_;
  std::size_t unfinished_ = 0;
  bool stopped_ = false;
  bool idle_ = false;                 // the thread has nothing to do and keeps no work
  std::condition_variable news_;      // for the thread
  std::condition_variable finished_;  // for those who wait
  std::condition_variable rest_;      // the thread is idle

  std::mutex driving_;                             // without a thread, who holds it is the driver
  std::vector<std::shared_ptr<mpi_work>> active_;  // the driver's
  std::atomic<clock::time_point> held_up_{};       // when last a work waited for this rank's own device
};

}  // namespace serried::inline v0::comm
