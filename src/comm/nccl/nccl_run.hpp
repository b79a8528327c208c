// What the NCCL communicators of one run share: the queue that all their calls go to, and who watches over them.
#pragma once

#include <nccl.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/backend.hpp"
#include "local/engine.hpp"

namespace serried::inline v0::comm {

class nccl_run;

/// A request that is in the queue.
struct nccl_work final : work_state {
  nccl_work(std::shared_ptr<nccl_run> run, request r);

  void wait() override;
  bool done() override;
  [[nodiscard]] double seconds() const override;

 private:
  friend class nccl_run;
  std::shared_ptr<nccl_run> run_;
  std::shared_ptr<mark> begin_, end_;
  bool running_ = false;  // the watcher's: the queue has come to it
  std::chrono::steady_clock::time_point running_since_;
};

/// NCCL has no watchdog: when a rank is gone its kernels, and whoever waits for them, wait for ever; so do calls that
/// connect to another rank for the first time. So a thread looks at the oldest call and at NCCL's errors, and ends all
/// ranks when there is one or the call has taken too long.
class nccl_run {
 public:
  /// The thread ends with the last copy of the pointer.
  static std::shared_ptr<nccl_run> make(communicator control, std::shared_ptr<engine> device,
                                        std::chrono::duration<double> stall_limit);
  nccl_run(communicator control, std::shared_ptr<engine> device, std::chrono::duration<double> stall_limit);
  nccl_run(const nccl_run&) = delete;
  nccl_run& operator=(const nccl_run&) = delete;

  /// Where the errors of works go that nobody waited for.
  [[nodiscard]] const std::shared_ptr<lost_error>& lost() const { return lost_; }
  /// A new NCCL communicator over the ranks of `control`; collective. It lasts until close(): only all its ranks
  /// together can destroy it, and they let go of what uses it at different times.
  [[nodiscard]] ncclComm_t make_comm(const communicator& control);
  /// The communicator of all ranks.
  [[nodiscard]] ncclComm_t world() const { return comms_.front(); }

  /// Puts a work into the queue; `issue` issues its calls to the stream, with the queue current.
  void issue(const std::shared_ptr<nccl_work>& w, const std::function<void(cudaStream_t)>& issue);
  /// Finishes the works that are done.
  void reap();
  /// Returns when no work is left.
  void drain();
  /// Destroys the NCCL communicators; collective. Nothing can be issued any more.
  void close();

 private:
  using clock = std::chrono::steady_clock;

  void stop();
  class occupation;
  void watch();
  void look();
  [[noreturn]] void end(const std::string& message);
  [[noreturn]] void stalled(const std::string& what);

  const communicator control_;
  std::shared_ptr<engine> device_;
  std::shared_ptr<queue> queue_;
  const std::chrono::duration<double> stall_limit_;
  const std::shared_ptr<lost_error> lost_ = std::make_shared<lost_error>();

  std::mutex issuing_;  // one call after the other
  std::mutex mutex_;    // guards these
  std::deque<std::shared_ptr<nccl_work>> pending_;
  std::vector<ncclComm_t> comms_;      // in the order in which all ranks made them
  std::list<const occupation*> busy_;  // the oldest first
  bool closed_ = false;
  std::condition_variable news_;
  std::thread watcher_;
};

}  // namespace serried::inline v0::comm
