#include "dist/fetch.hpp"

#include <serried/context.hpp>

#include "dist/distribution.hpp"
#include "dist/mesh.hpp"
#include "local/evaluate.hpp"
#include "local/storage.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

namespace serried::inline v0::dist {

namespace {

// Boxes start at multiples of this within a message, whatever their dtypes.
constexpr std::int64_t alignment = 64;

box minus(const box& b, const dims& corner) {
  dims back = corner;
  for (std::int64_t& c : back) c = -c;
  return b.shifted(back);
}

// All boxes for or from one peer, one after the other in a staging buffer.
struct message {
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
};

serried::array staged(const std::shared_ptr<storage>& staging, std::int64_t offset, const box& b, dtype type) {
  const shape s = b.extents();
  return {staging, offset, s, contiguous_strides(s, item_size(type)), type};
}

// Where each peer's message begins once their sizes are known.
std::int64_t lay_out(std::map<int, message>& messages) {
  std::int64_t total = 0;
  for (auto& [peer, m] : messages) {
    m.begin = total;
    total += m.bytes;
  }
  return total;
}

}  // namespace

std::size_t fetch::add(const array& a, schedule moves) {
  sources_.push_back({a, a.where()->shard(rank_), std::move(moves), {}});
  return sources_.size() - 1;
}

bool fetch::is_remote() const {
  return std::any_of(sources_.begin(), sources_.end(),
                     [](const source& s) { return !s.moves.sends.empty() || !s.moves.receives.empty(); });
}

void fetch::start() {
  // Each peer's boxes follow each other in the order of sources and, within a source, of its schedule: the same order
  // on both sides.
  const auto padded = [](const transfer& t, dtype type) {
    const std::int64_t bytes = t.source.volume() * static_cast<std::int64_t>(item_size(type));
    return (bytes + alignment - 1) / alignment * alignment;
  };
  std::map<int, message> outgoing;
  std::map<int, message> incoming;
  for (const source& s : sources_) {
    for (const transfer& t : s.moves.sends) outgoing[t.peer].bytes += padded(t, s.data.dtype());
    for (const transfer& t : s.moves.receives) incoming[t.peer].bytes += padded(t, s.data.dtype());
  }
  if (outgoing.empty() && incoming.empty()) return;

  const auto& device = sources_.front().data.local().data_storage()->device();
  const auto sent = std::make_shared<storage>(device, static_cast<std::size_t>(lay_out(outgoing)));
  const auto received = std::make_shared<storage>(device, static_cast<std::size_t>(lay_out(incoming)));
  std::vector<comm::send_part> sends;
  std::vector<comm::recv_part> receives;
  for (const auto& [peer, m] : outgoing)
    sends.push_back({peer, sent->data() + m.begin, static_cast<std::size_t>(m.bytes)});
  for (const auto& [peer, m] : incoming)
    receives.push_back({peer, received->data() + m.begin, static_cast<std::size_t>(m.bytes)});

  for (source& s : sources_) {
    const dtype type = s.data.dtype();
    for (const transfer& t : s.moves.sends) {
      std::int64_t& position = outgoing[t.peer].begin;
      copy_values(box_view(s.data.local(), minus(t.source, s.shard.lo)), staged(sent, position, t.source, type));
      position += padded(t, type);
    }
    for (const transfer& t : s.moves.receives) {
      std::int64_t& position = incoming[t.peer].begin;
      s.arrived.push_back(staged(received, position, t.source, type));
      position += padded(t, type);
    }
  }
  if (device->asynchronous() || context::current().timeline() != nullptr)
    times_.begin = device->current_queue().record(true);
  under_way_ = mesh_.communicator().exchange(sends, receives);
  under_way_.keep_alive(sent);
  under_way_.keep_alive(received);
  started_ = true;

  exchange_statistics& statistics = mesh_.state()->traffic->statistics;
  ++statistics.exchanges;
  for (const auto& part : sends) statistics.bytes_sent += static_cast<std::int64_t>(part.bytes);
}

void fetch::wait(const std::shared_ptr<mark>& computed) {
  if (!started_) return;
  started_ = false;
  const auto begin = std::chrono::steady_clock::now();
  under_way_.wait();
  engine& device = *sources_.front().data.local().data_storage()->device();
  if (times_.begin) times_.end = device.current_queue().record(true);
  if (device.asynchronous()) {  // only the device knows when what was issued ran
    times_.computed = computed;
    mesh_.state()->traffic->add(times_);
    return;
  }
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
  exchange_statistics& statistics = mesh_.state()->traffic->statistics;
  statistics.waiting_seconds += waited.count();
  // Where nothing proceeds beside the computing, the time between the calls is not the exchange's.
  statistics.exchange_seconds += mesh_.communicator().overlaps() ? under_way_.seconds() : waited.count();
}

fetch::window fetch::at(std::size_t number, const box& wanted) const {
  const source& s = sources_[number];
  // Also where nothing is wanted in some dimension: the others' indices are looked at all the same.
  bool inside = true;
  for (int d = 0; d < wanted.ndim(); ++d) inside &= wanted.lo[d] >= s.shard.lo[d] && wanted.hi[d] <= s.shard.hi[d];
  if (inside) return {s.data.local(), s.shard};
  const serried::array frame = allocate(s.data.local().data_storage()->device(), wanted.extents(), s.data.dtype());
  const auto fill = [&](const serried::array& from, const box& holds) {
    const box common = intersect(holds, wanted);
    if (!common.empty())
      copy_values(box_view(from, minus(common, holds.lo)), box_view(frame, minus(common, wanted.lo)));
  };
  fill(s.data.local(), s.shard);
  for (const transfer& t : s.moves.copies) fill(box_view(s.data.local(), minus(t.source, s.shard.lo)), t.destination);
  for (std::size_t i = 0; i < s.arrived.size(); ++i) fill(s.arrived[i], s.moves.receives[i].destination);
  return {frame, wanted};
}

}  // namespace serried::inline v0::dist
