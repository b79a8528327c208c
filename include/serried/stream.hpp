// Lines of work on the current device, and points in them.
//
// On a GPU calls return before their work is done. What a thread issues goes to its current stream, in order; work in
// different streams runs side by side. Arrays may be used in any stream: Serried makes a stream wait for what others
// still do with the same data. On the host engine work is done when a call returns: streams and events work there all
// the same, with nothing to wait for.
#pragma once

#include <serried/export.hpp>

#include <memory>
#include <utility>

namespace serried::inline v0 {

class engine;
class event;
class mark;
class queue;
class queue_guard;

enum class priority { normal, high };

struct stream_options {
  serried::priority priority = serried::priority::normal;  ///< high: its work goes first where the device must choose
};

/// A handle: copies are the same stream. Every function may throw device_error for a device that failed.
class SERRIED_API stream {
 public:
  /// A new one on the calling thread's device.
  explicit stream(const stream_options& options = {});
  stream(const stream&) = default;  // also moves: a moved-from stream is what it was
  stream& operator=(const stream&) = default;
  ~stream() = default;
  /// Internal.
  stream(std::shared_ptr<engine> device, std::shared_ptr<queue> work)
      : device_(std::move(device)), queue_(std::move(work)) {}

  /// Returns when all work issued to the stream so far is done; throws what went wrong in it.
  void synchronize() const;
  /// True when it is done already.
  [[nodiscard]] bool done() const;
  /// What is issued to the stream from now on begins after the event. Does not stop the calling thread.
  void wait(const event& e) const;

  // Internal.
  [[nodiscard]] const std::shared_ptr<engine>& device_engine() const noexcept { return device_; }
  [[nodiscard]] const std::shared_ptr<queue>& work_queue() const noexcept { return queue_; }

 private:
  std::shared_ptr<engine> device_;
  std::shared_ptr<queue> queue_;
};

/// The calling thread's: what a stream_guard made current, else its device's main stream.
[[nodiscard]] SERRIED_API stream current_stream();

/// Makes a stream the calling thread's current one for the guard's lifetime. Guards end in the reverse order of their
/// beginnings.
class SERRIED_API stream_guard {
 public:
  explicit stream_guard(const stream& s);
  ~stream_guard();
  stream_guard(const stream_guard&) = delete;
  stream_guard& operator=(const stream_guard&) = delete;

 private:
  stream stream_;
  std::unique_ptr<queue_guard> guard_;
};

/// A point in a stream: reached when all that was issued before is done. One that was never recorded counts as reached.
/// A handle: copies are the same point until one is recorded again.
class SERRIED_API event {
 public:
  /// In the calling thread's current stream, behind what it holds now.
  void record();
  /// Returns when the point is reached.
  void synchronize() const;
  [[nodiscard]] bool done() const;
  /// Seconds from `earlier` to this event on the device's clock; both must be reached, on one device. Throws
  /// value_error when they are not or were never recorded.
  [[nodiscard]] double seconds_since(const event& earlier) const;

 private:
  friend class stream;
  std::shared_ptr<engine> device_;
  std::shared_ptr<mark> mark_;
};

}  // namespace serried::inline v0
