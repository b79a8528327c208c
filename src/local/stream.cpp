#include <serried/stream.hpp>

#include <serried/error.hpp>

#include "local/context.hpp"
#include "local/engine.hpp"

#include <utility>

namespace serried::inline v0 {

stream::stream(const stream_options& options)
    : device_(current_device()), queue_(device_->make_queue(options.priority == serried::priority::high)) {}

void stream::synchronize() const { queue_->synchronize(); }
bool stream::done() const { return queue_->record()->reached(); }
void stream::wait(const event& e) const {
  if (!e.mark_) return;
  // Another device's event: this one's queue does not understand its mark.
  if (e.device_->place() != device_->place()) e.mark_->wait();
  else queue_->wait_for(*e.mark_);
}

stream current_stream() {
  const std::shared_ptr<engine> device = current_device();
  return {device, device->shared_current_queue()};
}

stream_guard::stream_guard(const stream& s)
    : stream_(s), guard_(std::make_unique<queue_guard>(*s.device_engine(), s.work_queue())) {}
stream_guard::~stream_guard() = default;

void event::record() {
  device_ = current_device();
  mark_ = device_->current_queue().record(true);
}
void event::synchronize() const {
  if (mark_) mark_->wait();
}
bool event::done() const { return !mark_ || mark_->reached(); }
double event::seconds_since(const event& earlier) const {
  if (!mark_ || !earlier.mark_) throw value_error("seconds_since: an event was never recorded");
  if (device_->place() != earlier.device_->place())
    throw value_error("seconds_since: the events are on different devices");
  if (!done() || !earlier.done()) throw value_error("seconds_since: the events are not reached yet; synchronize first");
  return mark_->seconds_since(*earlier.mark_);
}

}  // namespace serried::inline v0
