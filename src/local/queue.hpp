// Lines of work on a device: what is issued to one queue runs in order; two queues run side by side. What users call
// a stream.
#pragma once

#include <memory>

namespace serried::inline v0 {

/// A point in a queue: reached when all that was issued before it is done.
class mark {
 public:
  virtual ~mark() = default;
  [[nodiscard]] virtual bool reached() = 0;
  virtual void wait() = 0;  ///< the calling thread waits; throws device_error when the device failed
  /// Seconds on the device's clock between two reached marks of one device.
  [[nodiscard]] virtual double seconds_since(const mark& earlier) const = 0;
};

class queue {
 public:
  virtual ~queue() = default;
  queue() = default;
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;

  /// `timed`: for seconds_since; an untimed mark is cheaper.
  [[nodiscard]] virtual std::shared_ptr<mark> record(bool timed = false) = 0;
  /// What is issued from now on begins after the mark, which may be another queue's.
  virtual void wait_for(const mark& m) = 0;
  /// The calling thread waits for all that was issued; throws device_error for what went wrong in it.
  virtual void synchronize() = 0;
};

}  // namespace serried::inline v0
