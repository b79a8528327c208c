#include "local/trace.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

namespace serried::inline v0 {

namespace {
constexpr std::size_t most_events = 1 << 20;
}

const char* trace_prefix() {
  const char* const text = std::getenv("SERRIED_TRACE");
  return text == nullptr || *text == '\0' ? nullptr : text;
}

event_trace::event_trace(engine& device) : device_(device) {
  device.synchronize();
  origin_ = device.current_queue().record(true);
  origin_->wait();
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  origin_microseconds_ = std::chrono::duration<double, std::micro>(since_epoch).count();
}

void event_trace::add(const char* name, const char* lane, std::shared_ptr<mark> begin, std::shared_ptr<mark> end) {
  pending_.push_back({name, lane, std::move(begin), std::move(end)});
  settle(false);
}

// Marks are few on some devices: those reached become numbers.
void event_trace::settle(bool wait) {
  while (!pending_.empty()) {
    const span& s = pending_.front();
    if (wait) s.end->wait();
    else if (!s.end->reached()) return;
    if (events_.size() < most_events)
      events_.push_back({s.name, s.lane, s.begin->seconds_since(*origin_), s.end->seconds_since(*s.begin)});
    else ++dropped_;
    pending_.pop_front();
  }
}

void event_trace::write(const std::string& path, int rank) {
  settle(true);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"), &std::fclose);
  if (!file) throw io_error(fmt::format("SERRIED_TRACE: cannot write {}", path));
  std::vector<std::string> lanes;
  std::string text = "{\"traceEvents\": [\n";
  for (const event& e : events_) {
    const auto known = std::find(lanes.begin(), lanes.end(), e.lane);
    const auto lane = known - lanes.begin();
    if (known == lanes.end()) lanes.emplace_back(e.lane);
    text += fmt::format(R"({{"name": "{}", "ph": "X", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}}},)"
                        "\n",
                        e.name, rank, lane, origin_microseconds_ + 1e6 * e.begin, 1e6 * e.seconds);
  }
  for (std::size_t i = 0; i < lanes.size(); ++i)
    text += fmt::format(R"({{"name": "thread_name", "ph": "M", "pid": {}, "tid": {}, "args": {{"name": "{}"}}}},)"
                        "\n",
                        rank, i, lanes[i]);
  text += fmt::format(R"({{"name": "process_name", "ph": "M", "pid": {0}, "args": {{"name": "rank {0}"}}}}],)"
                      "\n\"otherData\": {{\"device\": \"{1}\", \"spans_left_out\": {2}}}}}\n",
                      rank, device_.name(), dropped_);
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() || std::fflush(file.get()) != 0)
    throw io_error(fmt::format("SERRIED_TRACE: cannot write all of {}", path));
}

}  // namespace serried::inline v0
