#include "late_device.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <serried/error.hpp>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace serried::test {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t page = 4096;
constexpr std::size_t address_space = std::size_t{1} << 36;

/// Memory where nobody may touch it, one segment behind the other; the copies go to another place.
class shadowed_memory final : public memory::resource {
 public:
  shadowed_memory() {
    void* const p = mmap(nullptr, address_space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw out_of_memory("late device");
    begin_ = next_ = static_cast<std::byte*>(p);
  }
  ~shadowed_memory() override { munmap(begin_, address_space); }

  std::byte* allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    void* const real = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (real == MAP_FAILED) throw out_of_memory("late device");
    std::memset(real, 0xAA, bytes);
    const std::lock_guard lock(mutex_);
    std::byte* const seen = next_;
    next_ += (bytes + page - 1) / page * page;
    if (next_ > begin_ + address_space) throw out_of_memory("late device");
    segments_[seen] = {static_cast<std::byte*>(real), bytes};
    return seen;
  }

  void deallocate(std::byte* data, std::size_t bytes) noexcept override {
    if (data == nullptr) return;
    const std::lock_guard lock(mutex_);
    const auto s = segments_.find(data);
    munmap(s->second.real, bytes);
    segments_.erase(s);
  }

  /// Where the bytes really are; null for memory that is not the device's. Throws device_error when they are not one
  /// allocation's.
  [[nodiscard]] std::byte* real(const void* address, std::size_t bytes = 1) const {
    const std::lock_guard lock(mutex_);
    const auto* const p = static_cast<const std::byte*>(address);
    auto s = segments_.upper_bound(const_cast<std::byte*>(p));
    if (s == segments_.begin()) return nullptr;
    --s;
    const std::size_t at = static_cast<std::size_t>(p - s->first);
    if (at >= s->second.bytes) return nullptr;
    if (bytes > s->second.bytes - at) throw device_error("late device: a copy spans two allocations");
    return s->second.real + at;
  }

 private:
  struct segment {
    std::byte* real;
    std::size_t bytes;
  };
  mutable std::mutex mutex_;
  std::map<std::byte*, segment> segments_;
  std::byte *begin_, *next_;
};

/// A point in time that may be waited for; outlives the mark, as what waits for it may.
struct moment {
  std::mutex mutex;
  std::condition_variable changed;
  bool reached = false;
  clock::time_point when;

  void reach() {
    const std::lock_guard lock(mutex);
    reached = true;
    when = clock::now();
    changed.notify_all();
  }
  bool is_reached() {
    const std::lock_guard lock(mutex);
    return reached;
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return reached; });
  }
};

struct late_mark final : mark {
  bool reached() override { return of->is_reached(); }
  void wait() override { of->wait(); }
  double seconds_since(const mark& earlier) const override {
    return std::chrono::duration<double>(of->when - dynamic_cast<const late_mark&>(earlier).of->when).count();
  }
  std::shared_ptr<moment> of = std::make_shared<moment>();
};

class late_queue final : public queue {
 public:
  late_queue() : worker_([this] { work(); }) {}
  ~late_queue() override {
    push(nullptr);
    worker_.join();
  }

  std::shared_ptr<mark> record(bool) override {
    auto m = std::make_shared<late_mark>();
    push([of = m->of] { of->reach(); });
    return m;
  }
  void wait_for(const mark& m) override {
    push([of = dynamic_cast<const late_mark&>(m).of] { of->wait(); });
  }
  void synchronize() override { record(false)->wait(); }

  void push(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    news_.notify_one();
  }

 private:
  void work() {
    std::minstd_rand random(static_cast<unsigned>(getpid()));
    for (;;) {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [this] { return !tasks_.empty(); });
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      if (!task) return;
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::function<void()>> tasks_;
  std::thread worker_;
};

class late_device final : public engine {
 public:
  late_device() : late_device(std::make_shared<shadowed_memory>()) {}

  std::string_view name() const override { return "late"; }
  std::string_view place() const override { return "late"; }

  void execute(const program&, std::span<const leaf_binding>, std::span<const output_binding>, const box&) override {
    refuse();
  }
  void reduce(const program&, std::span<const leaf_binding>, const box&, const reduction&, std::byte*) override {
    refuse();
  }
  void reduce_to_states(const program&, std::span<const leaf_binding>, const box&, const reduction&,
                        std::byte*) override {
    refuse();
  }
  void align(const reduction&, std::byte*, const std::byte*, std::int64_t) override { refuse(); }
  void finish(const reduction&, const std::byte*, std::int64_t, std::byte*) override { refuse(); }

  void copy_to_host(void* host, const std::byte* from, std::size_t bytes) override {
    synchronize();
    if (bytes != 0) std::memcpy(host, shadows_->real(from), bytes);
  }
  void copy_from_host(std::byte* to, const void* host, std::size_t bytes) override {
    synchronize();
    if (bytes != 0) std::memcpy(shadows_->real(to), host, bytes);
  }
  void issue_copy(void* to, const void* from, std::size_t bytes) override {
    std::byte* const real_to = shadows_->real(to, bytes);
    const std::byte* const real_from = shadows_->real(from, bytes);
    dynamic_cast<late_queue&>(current_queue())
        .push([to = real_to != nullptr ? real_to : to, from = real_from != nullptr ? real_from : from, bytes] {
          std::memmove(to, from, bytes);
        });
  }
  memory::pool& pinned() override { return pinned_; }
  bool holds(const void* address) const override { return shadows_->real(address) != nullptr; }

  bool asynchronous() const override { return true; }
  const std::shared_ptr<queue>& main_queue() override { return main_; }
  std::shared_ptr<queue> make_queue(bool) override { return std::make_shared<late_queue>(); }

 private:
  explicit late_device(const std::shared_ptr<shadowed_memory>& shadows)
      : engine(std::make_shared<memory::pool>(shadows)), shadows_(shadows) {}
  [[noreturn]] static void refuse() { throw device_error("this device only copies"); }

  std::shared_ptr<shadowed_memory> shadows_;
  memory::pool pinned_{memory::host_memory()};
  std::shared_ptr<queue> main_ = std::make_shared<late_queue>();
};

}  // namespace

std::shared_ptr<engine> make_late_device() { return std::make_shared<late_device>(); }

void keep_busy(engine& late_device, std::chrono::milliseconds length) {
  dynamic_cast<late_queue&>(late_device.current_queue()).push([length] { std::this_thread::sleep_for(length); });
}

}  // namespace serried::test
