#include "comm/mpi/staging.hpp"

#include <serried/error.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace serried::inline v0::comm {

namespace {

// One piece is copied down, one on the wire, one copied up.
constexpr std::size_t window = 3;
constexpr std::size_t alignment = 64;

}  // namespace

class transfer::regions {
 public:
  regions(std::size_t begin, bool one_buffer) : end_(begin), one_buffer_(one_buffer) {}

  /// Where in the piece's memory the bytes are to be.
  std::size_t add(const void* device, std::size_t bytes) {
    auto* const p = static_cast<std::byte*>(const_cast<void*>(device));
    if (bytes == 0) return end_;
    if (!list_.empty() && p == last_ && bytes == last_bytes_) return end_ - bytes;  // the same again
    last_ = p;
    last_bytes_ = bytes;
    if (one_buffer_ && !list_.empty() && p == list_.back().device + list_.back().bytes) {
      list_.back().bytes += bytes;
    } else {
      end_ = (end_ + alignment - 1) / alignment * alignment;
      list_.push_back({p, end_, bytes});
    }
    end_ += bytes;
    return end_ - bytes;
  }
  [[nodiscard]] std::size_t end() const { return end_; }
  [[nodiscard]] std::vector<region> take() { return std::move(list_); }

 private:
  std::vector<region> list_;
  std::size_t end_;
  const bool one_buffer_;
  std::byte* last_ = nullptr;
  std::size_t last_bytes_ = 0;
};

transfer::transfer(const request& r, std::optional<message_list> messages, const mpi_group& group,
                   std::shared_ptr<staging_queues> queues)
    : call_(r), messages_(std::move(messages)), group_(group), queues_(std::move(queues)) {
  queues_->down->wait_for(*r.ready);
  queues_->up->wait_for(*r.ready);
  if (messages_) {
    for (const message& m : messages_->sends) pieces_ = std::max(pieces_, m.pieces());
    for (const message& m : messages_->receives) pieces_ = std::max(pieces_, m.pieces());
    if (messages_->own.empty()) return;
    const queue_guard guard(*queues_->device, queues_->up);
    for (const own_part& part : messages_->own) queues_->device->issue_copy(part.to, part.from, part.bytes);
    arrival_ = queues_->up->record();
  } else if (r.op == operation::broadcast || r.op == operation::all_reduce) {
    piece_items_ = piece_items(r.type);
    pieces_ = (r.count - 1) / piece_items_ + 1;
  }
}

transfer::~transfer() {
  if (flight_.empty()) return;
  // It failed half-way, and MPI or the device may still write into the pieces' memory: it is never used again.
  static std::mutex mutex;
  static auto* const given_up = new std::vector<std::deque<piece>>;
  const std::lock_guard lock(mutex);
  given_up->push_back(std::move(flight_));
}

bool transfer::advance() {
  bool news = false;
  if (!begun_ && call_.ready->reached()) news = begun_ = true;
  for (; next_ < pieces_ && flight_.size() < window; news = true) begin_piece(next_++);
  bool may_post = true;
  for (piece& p : flight_) {
    news |= advance(p, may_post);
    may_post &= p.at != stage::down;
  }
  std::erase_if(flight_, [](const piece& p) { return p.at == stage::over; });
  return news;
}

bool transfer::done() const {
  if (on_wire_done_ != pieces_ || !flight_.empty() || (arrival_ && !arrival_->reached())) return false;
  if (failure_) std::rethrow_exception(failure_);
  return true;
}

void transfer::begin_piece(std::size_t k) {
  piece& p = flight_.emplace_back();
  messages_ ? cut_messages(p, k) : cut_collective(p, k);
  if (!p.down.empty()) p.copied = issue(queues_->down, p.down, p.memory.data(), false);
}

void transfer::cut_messages(piece& p, std::size_t k) {
  const auto cut = [&](const std::vector<message>& list, std::vector<message>& into, regions& where) {
    std::vector<std::size_t> places;
    for (const message& m : list) {
      if (k >= m.pieces()) continue;
      into.push_back(m.piece(k));
      places.push_back(where.add(into.back().data, into.back().bytes));
    }
    return places;
  };
  const bool one_buffer = call_.op != operation::exchange;
  regions down(0, one_buffer);
  const std::vector<std::size_t> sent = cut(messages_->sends, p.sends, down);
  regions up(down.end(), one_buffer);
  const std::vector<std::size_t> received = cut(messages_->receives, p.receives, up);
  p.memory = {std::shared_ptr<memory::resource>(queues_->device, &queues_->device->pinned()), up.end()};
  for (std::size_t i = 0; i < sent.size(); ++i) p.sends[i].data = p.memory.data() + sent[i];
  for (std::size_t i = 0; i < received.size(); ++i) p.receives[i].data = p.memory.data() + received[i];
  p.down = down.take();
  p.up = up.take();
}

void transfer::cut_collective(piece& p, std::size_t k) {
  const std::size_t item = item_size(call_.type), ranks = static_cast<std::size_t>(group_.size);
  const auto at = [&](const void* data) { return static_cast<const std::byte*>(data) + k * piece_items_ * item; };
  p.call = {.op = call_.op, .type = call_.type, .count = call_.count, .root = call_.root};
  p.call.reduction = call_.reduction;
  p.call.recv_counts = call_.recv_counts;
  regions down(0, true);
  std::size_t in = 0, out = 0;
  std::optional<regions> up;
  const auto through = [&](const void* from, std::size_t in_items, const void* to, std::size_t out_items) {
    in = down.add(from, in_items * item);
    out = up.emplace((down.end() + alignment - 1) / alignment * alignment, true).add(to, out_items * item);
  };
  switch (call_.op) {
    case operation::broadcast:
      p.call.count = std::min(call_.count - k * piece_items_, piece_items_);
      if (group_.rank == call_.root) down.add(at(call_.out), p.call.count * item);
      else up.emplace(0, true).add(at(call_.out), p.call.count * item);
      break;
    case operation::all_reduce:
      p.call.count = std::min(call_.count - k * piece_items_, piece_items_);
      through(at(call_.in), p.call.count, at(call_.out), p.call.count);
      break;
    case operation::all_gather: through(call_.in, call_.count, call_.out, call_.count * ranks); break;
    case operation::all_gatherv:
      through(call_.in, call_.recv_counts[static_cast<std::size_t>(group_.rank)], call_.out, call_.count);
      break;
    default: through(call_.in, call_.count * ranks, call_.out, call_.count * ranks); break;  // all_to_all
  }
  p.memory = {std::shared_ptr<memory::resource>(queues_->device, &queues_->device->pinned()),
              std::max(down.end(), up ? up->end() : 0)};
  p.call.in = p.memory.data() + in;
  p.call.out = p.memory.data() + out;
  p.down = down.take();
  if (up) p.up = up->take();
}

std::shared_ptr<mark> transfer::issue(const std::shared_ptr<queue>& q, const std::vector<region>& list,
                                      std::byte* memory, bool up) {
  const queue_guard guard(*queues_->device, q);
  for (const region& r : list) {
    std::byte* const here = memory + r.at;
    up ? queues_->device->issue_copy(r.device, here, r.bytes) : queues_->device->issue_copy(here, r.device, r.bytes);
  }
  return q->record();
}

void transfer::post(piece& p) {
  if (!messages_) return p.requests.post(p.call, group_);
  for (const message& m : p.receives) p.requests.recv(m, group_.comm);
  for (const message& m : p.sends) p.requests.send(m, group_.comm);
}

bool transfer::advance(piece& p, bool may_post) {
  const stage before = p.at;
  if (p.at == stage::down && may_post && (!p.copied || p.copied->reached())) {
    post(p);
    ++posted_;
    p.at = stage::wire;
  }
  if (p.at == stage::wire) {
    bool failed = false;
    try {
      if (!p.requests.test()) return p.at != before;
    } catch (const comm_error&) {  // of a message that is over; the others must still find their match
      if (!failure_) failure_ = std::current_exception();
      failed = true;
    }
    ++on_wire_done_;
    p.at = stage::up;
    p.copied = nullptr;
    if (!failed && !p.up.empty()) arrival_ = p.copied = issue(queues_->up, p.up, p.memory.data(), true);
  }
  if (p.at == stage::up && (!p.copied || p.copied->reached())) p.at = stage::over;
  return p.at != before;
}

}  // namespace serried::inline v0::comm
