#include "comm/mpi/progress.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <algorithm>

#include "comm/mpi/mpi_backend.hpp"
#include "comm/mpi/mpi_calls.hpp"
#include "comm/quiet_thread.hpp"

namespace serried::inline v0::comm {

namespace {

using namespace std::chrono_literals;

/// How long to leave the core to others when requests have been pending for a while without news. A sleep of an
/// eighth of that delays no operation by more.
std::chrono::nanoseconds pause_after(std::chrono::nanoseconds quiet) {
  if (quiet < 50us) return 0ns;
  return std::clamp<std::chrono::nanoseconds>(quiet / 8, 5us, 100us);
}

/// Asking that takes longer has probably moved data: where processes cannot read each other's memory, as in many
/// containers, MPI copies messages in small fragments, a few in each call, and pauses between the calls would be most
/// of their time.
constexpr std::chrono::nanoseconds moving = 10us;

}  // namespace

std::shared_ptr<progress> progress::make(bool thread, std::chrono::duration<double> stall_limit) {
  auto p = std::make_shared<progress>();
  p->stall_limit_ = stall_limit;
  p->threaded_ = thread;
  if (thread) p->thread_ = start_quiet_thread([p] { p->loop(); });
  // The thread keeps the object, so the last copy may be dropped on the thread itself.
  return {p.get(), [p](progress*) { p->stop(); }};
}

void progress::loop() {
  prctl(PR_SET_TIMERSLACK, 1000);  // 1 us: the default of 50 would stretch the short sleeps
  clock::time_point last_news = clock::now();
  for (;;) {
    if (step()) last_news = clock::now();
    const std::chrono::nanoseconds pause = pause_after(clock::now() - last_news);
    if (pause == 0ns) {
      std::this_thread::yield();
      continue;
    }
    std::unique_lock lock(mutex_);
    if (!active_.empty()) {
      news_.wait_for(lock, pause, [this] { return has_news(); });
    } else {
      idle_ = true;
      rest_.notify_all();
      news_.wait(lock, [this] { return has_news(); });
      idle_ = false;
      if (stopped_ && arrived_.empty() && released_.empty()) return;
    }
  }
}

bool progress::step() {
  free_released();
  std::vector<std::shared_ptr<mpi_work>> arrived;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
  }
  for (auto& w : arrived) {
    w->begin();
    active_.push_back(std::move(w));
  }
  bool news = false, held_up = false;
  const clock::time_point begin = clock::now();
  std::vector<std::shared_ptr<mpi_work>> done;
  for (auto& w : active_) {
    const progress_made made = w->advance();
    news |= made != progress_made::none;
    held_up |= w->held_up();
    if (made == progress_made::finished) done.push_back(std::move(w));
  }
  const bool moved = clock::now() - begin > moving;
  std::erase(active_, nullptr);
  if (held_up) held_up_ = clock::now();
  if (news) {
    {
      const std::lock_guard lock(mutex_);
      unfinished_ -= done.size();
    }
    finished_.notify_all();
  }
  return !arrived.empty() || news || moved;
}

void progress::submit(std::shared_ptr<mpi_work> w) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) throw comm_error(fmt::format("{}: the run has ended", describe(w->call)));
    arrived_.push_back(std::move(w));
    ++unfinished_;
  }
  if (threaded_) {
    news_.notify_one();
  } else {
    const std::lock_guard driving(driving_);
    step();
  }
}

bool progress::poll(const mpi_work& w) {
  if (!w.finished() && !threaded_) {
    const std::lock_guard driving(driving_);
    step();
  }
  return w.finished();
}

template <class Condition, class Stalled>
void progress::wait_until(Condition condition, Stalled stalled) {
  const clock::time_point start = clock::now();
  const auto limit = std::chrono::duration_cast<clock::duration>(stall_limit_);
  const auto deadline = [&] { return std::max(start, held_up_.load()) + limit; };
  const auto too_long = [&] { return limit.count() > 0 && clock::now() > deadline(); };
  std::unique_lock lock(mutex_);
  if (threaded_) {
    if (limit.count() == 0) return finished_.wait(lock, condition);
    while (!finished_.wait_until(lock, deadline(), condition))
      if (too_long()) stalled();
    return;
  }
  for (clock::time_point last_news = start; !condition(); lock.lock()) {
    lock.unlock();
    if (too_long()) stalled();
    const std::chrono::nanoseconds pause = pause_after(clock::now() - last_news);
    pause == 0ns ? std::this_thread::yield() : std::this_thread::sleep_for(pause);
    const std::lock_guard driving(driving_);
    if (step()) last_news = clock::now();
  }
}

void progress::wait(mpi_work& w) {
  if (poll(w) || w.settled()) return;
  wait_until([&] { return w.settled(); }, [&] { w.group().stalled(describe(w.call), stall_limit_.count()); });
}

void progress::settle() {
  if (!threaded_ || thread_.get_id() == std::this_thread::get_id()) return;
  std::unique_lock lock(mutex_);
  // Operations that were abandoned may stay for ever.
  rest_.wait_for(lock, 2s, [this] { return stopped_ || (idle_ && !has_news()); });
}

void progress::drain(mpi_backend& by) {
  wait_until([this] { return unfinished_ == 0; },
             [&] { by.stalled(fmt::format("the {} last calls it made", unfinished_), stall_limit_.count()); });
}

void progress::free_released() {
  std::vector<MPI_Comm> released;
  {
    const std::lock_guard lock(mutex_);
    released.swap(released_);
  }
  for (MPI_Comm comm : released) MPI_Comm_free(&comm);
}

void progress::release(MPI_Comm comm) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_) {
      released_.push_back(comm);
      news_.notify_one();
      return;
    }
  }
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Comm_free(&comm);
}

void progress::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
  }
  if (!threaded_) return free_released();
  news_.notify_one();
  if (thread_.get_id() == std::this_thread::get_id()) thread_.detach();
  else thread_.join();
}

}  // namespace serried::inline v0::comm
