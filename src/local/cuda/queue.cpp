#include "local/cuda/queue.hpp"

#include "local/cuda/device.hpp"

#include <mutex>
#include <vector>

namespace serried::inline v0::cuda {
namespace {

/// Events of one device for reuse, since making one is slow. Never destroyed: arrays may outlive main.
class event_cache {
 public:
  event_cache(int device, unsigned flags) : device_(device), flags_(flags) {}

  [[nodiscard]] cudaEvent_t take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        cudaEvent_t const e = idle_.back();
        idle_.pop_back();
        return e;
      }
      if (made_ == idle_.capacity()) idle_.reserve(2 * made_ + 16);  // so that giving back does not allocate
      ++made_;
    }
    try {
      use_device(device_);
      cudaEvent_t e = nullptr;
      check(cudaEventCreateWithFlags(&e, flags_), "making an event");
      return e;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      --made_;
      throw;
    }
  }
  void give_back(cudaEvent_t e) noexcept {
    const std::lock_guard lock(mutex_);
    idle_.push_back(e);
  }

 private:
  const int device_;
  const unsigned flags_;
  std::mutex mutex_;
  std::vector<cudaEvent_t> idle_;
  std::size_t made_ = 0;
};

class cuda_mark final : public mark {
 public:
  cuda_mark(event_cache& events, int device) : events_(events), device_(device), event_(events_.take()) {}
  ~cuda_mark() override { events_.give_back(event_); }

  [[nodiscard]] cudaEvent_t event() const noexcept { return event_; }

  bool reached() override {
    use_device(device_);
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) {
      (void)cudaGetLastError();
      return false;
    }
    check(status, "waiting for work on the GPU");
    return true;
  }
  void wait() override {
    use_device(device_);
    check(cudaEventSynchronize(event_), "waiting for work on the GPU");
  }
  double seconds_since(const mark& earlier) const override {
    use_device(device_);
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, dynamic_cast<const cuda_mark&>(earlier).event_, event_),
          "reading the time between two events");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  event_cache& events_;
  const int device_;
  cudaEvent_t const event_;
};

/// What the queues of one device share.
struct device_events {
  explicit device_events(int device) : plain(device, cudaEventDisableTiming), timed(device, cudaEventDefault) {}
  event_cache plain, timed;
};

device_events& events_of(int device) {
  static std::mutex mutex;
  static auto& all = *new std::vector<std::unique_ptr<device_events>>;
  const std::lock_guard lock(mutex);
  const auto number = static_cast<std::size_t>(device);
  if (all.size() <= number) all.resize(number + 1);
  if (!all[number]) all[number] = std::make_unique<device_events>(device);
  return *all[number];
}

class cuda_queue final : public queue {
 public:
  cuda_queue(int device, cudaStream_t stream, bool owned)
      : device_(device), stream_(stream), owned_(owned), events_(events_of(device)) {}
  ~cuda_queue() override {
    // Work that is still in the stream runs to its end.
    if (owned_ && reachable()) (void)cudaStreamDestroy(stream_);
  }

  [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
  [[nodiscard]] int device() const noexcept { return device_; }

  std::shared_ptr<mark> record(bool timed) override {
    use_device(device_);
    auto m = std::make_shared<cuda_mark>(timed ? events_.timed : events_.plain, device_);
    check(cudaEventRecord(m->event(), stream_), "recording an event");
    return m;
  }
  void wait_for(const mark& m) override {
    const auto* const event = dynamic_cast<const cuda_mark*>(&m);
    if (event == nullptr) return;  // the host's are always reached
    use_device(device_);
    check(cudaStreamWaitEvent(stream_, event->event(), 0), "making a stream wait");
  }
  void synchronize() override {
    use_device(device_);
    check(cudaStreamSynchronize(stream_), "waiting for work on the GPU");
  }

 private:
  const int device_;
  cudaStream_t const stream_;
  const bool owned_;
  device_events& events_;
};

}  // namespace

cudaStream_t stream_of(const queue& q) { return static_cast<const cuda_queue&>(q).stream(); }

std::shared_ptr<queue> make_queue(int device, bool urgent) {
  use_device(device);
  int lowest = 0;
  int highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "asking for stream priorities");
  cudaStream_t stream = nullptr;
  // Not ordered by the default stream, which other libraries use.
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, urgent ? highest : lowest), "making a stream");
  try {
    return std::make_shared<cuda_queue>(device, stream, true);
  } catch (...) {
    (void)cudaStreamDestroy(stream);
    throw;
  }
}

std::shared_ptr<queue> wrap_stream(const queue& sibling, cudaStream_t stream) {
  return std::make_shared<cuda_queue>(static_cast<const cuda_queue&>(sibling).device(), stream, false);
}

}  // namespace serried::inline v0::cuda
