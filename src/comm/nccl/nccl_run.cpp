#include "comm/nccl/nccl_run.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <utility>

#include "comm/last_words.hpp"
#include "comm/nccl/nccl_calls.hpp"
#include "comm/quiet_thread.hpp"
#include "local/cuda/queue.hpp"

namespace serried::inline v0::comm {

using namespace std::chrono_literals;

/// Says for its lifetime that this thread is in a call that may block until other ranks make it too. `what` describes
/// the call, if need be.
class nccl_run::occupation {
 public:
  occupation(nccl_run& run, std::function<std::string()> what) : what(std::move(what)), run_(run) {
    {
      const std::lock_guard lock(run_.mutex_);
      place_ = run_.busy_.insert(run_.busy_.end(), this);
    }
    run_.news_.notify_all();
  }
  ~occupation() {
    const std::lock_guard lock(run_.mutex_);
    run_.busy_.erase(place_);
  }
  occupation(const occupation&) = delete;
  occupation& operator=(const occupation&) = delete;

  const std::function<std::string()> what;
  const clock::time_point since = clock::now();

 private:
  nccl_run& run_;
  std::list<const occupation*>::iterator place_;
};

nccl_work::nccl_work(std::shared_ptr<nccl_run> run, request r)
    : work_state(std::move(r), run->lost()), run_(std::move(run)) {}

void nccl_work::wait() {
  run_->reap();
  if (finished()) return rethrow();
  call.device->current_queue().wait_for(*end_);
}

bool nccl_work::done() {
  run_->reap();
  return finished();
}

double nccl_work::seconds() const { return finished() ? end_->seconds_since(*begin_) : 0; }

nccl_run::nccl_run(communicator control, std::shared_ptr<engine> device, std::chrono::duration<double> stall_limit)
    : control_(std::move(control)),
      device_(std::move(device)),
      queue_(device_->make_queue(true)),
      stall_limit_(stall_limit) {}

std::shared_ptr<nccl_run> nccl_run::make(communicator control, std::shared_ptr<engine> device,
                                         std::chrono::duration<double> stall_limit) {
  auto run = std::make_shared<nccl_run>(std::move(control), std::move(device), stall_limit);
  run->watcher_ = start_quiet_thread([run] { run->watch(); });
  // The thread keeps the object, so the last copy may be dropped on the thread itself, with a work.
  return {run.get(), [run](nccl_run*) { run->stop(); }};
}

void nccl_run::stop() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  news_.notify_all();
  if (watcher_.get_id() == std::this_thread::get_id()) watcher_.detach();
  else watcher_.join();
}

ncclComm_t nccl_run::make_comm(const communicator& control) {
  ncclUniqueId id{};
  control.together([&] {
    if (control.rank() == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  });
  control.broadcast(&id, sizeof id, dtype::uint8, 0).wait();
  ncclComm_t comm = nullptr;
  {
    const occupation busy(*this,
                          [&] { return fmt::format("the {} ranks of a new NCCL communicator", control.size()); });
    control.together([&] {
      (void)queue_->record();  // makes the device this thread's
      check_nccl(ncclCommInitRank(&comm, control.size(), id, control.rank()), "ncclCommInitRank");
    });
  }
  const std::lock_guard lock(mutex_);
  return comms_.emplace_back(comm);
}

void nccl_run::issue(const std::shared_ptr<nccl_work>& w, const std::function<void(cudaStream_t)>& issue) {
  const std::lock_guard one_at_a_time(issuing_);
  if (!queue_) throw comm_error(fmt::format("{}: the run has ended", describe(w->call)));
  {
    const occupation busy(*this, [&] { return describe(w->call); });
    queue_->wait_for(*w->call.ready);
    w->begin_ = queue_->record(true);
    {
      const queue_guard guard(*device_, queue_);
      issue(cuda::stream_of(*queue_));
    }
    w->end_ = queue_->record(true);
    const std::lock_guard lock(mutex_);
    pending_.push_back(w);
  }
  reap();
}

void nccl_run::reap() {
  for (;;) {
    std::shared_ptr<nccl_work> over;
    std::exception_ptr failure;
    {
      const std::lock_guard lock(mutex_);
      if (pending_.empty()) return;
      try {
        if (!pending_.front()->end_->reached()) return;
      } catch (...) {
        failure = std::current_exception();
      }
      over = std::move(pending_.front());
      pending_.pop_front();
    }
    over->finish(std::move(failure));
  }
}

void nccl_run::drain() {
  for (;;) {
    std::shared_ptr<nccl_work> last;
    {
      const std::lock_guard lock(mutex_);
      if (pending_.empty()) return;
      last = pending_.back();
    }
    last->end_->wait();
    reap();
  }
}

void nccl_run::close() {
  const std::lock_guard one_at_a_time(issuing_);
  std::vector<ncclComm_t> comms;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    comms.swap(comms_);
  }
  news_.notify_all();
  for (ncclComm_t comm : comms) check_nccl(ncclCommDestroy(comm), "ncclCommDestroy");
  queue_.reset();
  device_.reset();
}

void nccl_run::watch() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    if (pending_.empty() && busy_.empty()) {
      news_.wait(lock);
      continue;
    }
    news_.wait_for(lock, 10ms, [this] { return closed_; });
    if (closed_) return;
    lock.unlock();
    reap();
    lock.lock();
    look();
  }
}

void nccl_run::look() {
  const auto too_long = [this](clock::time_point since) {
    return stall_limit_.count() > 0 && clock::now() - since > stall_limit_;
  };
  if (!busy_.empty() && too_long(busy_.front()->since)) stalled(busy_.front()->what());
  if (pending_.empty()) return;
  nccl_work& oldest = *pending_.front();
  for (ncclComm_t comm : comms_) {
    ncclResult_t state = ncclSuccess;
    if (ncclCommGetAsyncError(comm, &state) == ncclSuccess && state != ncclSuccess && state != ncclInProgress)
      end(fmt::format("rank {} of {}: {}: NCCL: {}", control_.rank(), control_.size(), describe(oldest.call),
                      ncclGetErrorString(state)));
  }
  try {
    if (!oldest.running_ && oldest.begin_->reached()) {
      oldest.running_ = true;
      oldest.running_since_ = clock::now();
    }
  } catch (const error&) {
    return;  // the device's errors reach those who wait for it
  }
  if (oldest.running_ && too_long(oldest.running_since_)) stalled(describe(oldest.call));
}

void nccl_run::end(const std::string& message) { end_with_error(*control_.backend(), message); }

void nccl_run::stalled(const std::string& what) {
  end(stall_message(control_.rank(), control_.size(), stall_limit_.count(), what));
}

}  // namespace serried::inline v0::comm
