#include "dist/traffic.hpp"

#include <algorithm>
#include <utility>

namespace serried::inline v0::dist {

void mesh_traffic::add(timed_exchange e) {
  constexpr std::size_t most = 256;  // old ones are reached: nothing waits
  timed.push_back(std::move(e));
  settle(most);
}

void mesh_traffic::settle(std::size_t most) {
  for (; timed.size() > most; timed.pop_front()) {
    const timed_exchange& e = timed.front();
    e.end->wait();
    const double total = std::max(e.end->seconds_since(*e.begin), 0.0);
    double waiting = total;
    if (e.computed) {
      e.computed->wait();
      waiting = std::clamp(e.end->seconds_since(*e.computed), 0.0, total);
    }
    statistics.exchange_seconds += total;
    statistics.waiting_seconds += waiting;
  }
}

const std::shared_ptr<queue>& mesh_traffic::side_queue(engine& device) {
  if (side_device != &device) {
    side = device.make_queue(true);
    side_device = &device;
  }
  return side;
}

}  // namespace serried::inline v0::dist
