#include <serried/communicator.hpp>
#include <serried/error.hpp>

#include <fmt/format.h>
#include <cstdlib>
#include <limits>

#include "comm/backend.hpp"
#include "comm/self/self.hpp"

namespace serried::inline v0 {

using comm::operation;

namespace comm {

void work::wait() {
  if (state_) state_->wait();
}
bool work::done() { return !state_ || state_->done(); }
double work::seconds() const { return state_ ? state_->seconds() : 0; }
void work::keep_alive(std::shared_ptr<const void> owner) {
  if (state_) state_->keep_alive(std::move(owner));
}

}  // namespace comm

namespace {

comm::backend& alive(const std::shared_ptr<comm::backend>& backend) {
  if (!backend) throw comm_error("this rank is not in the communicator (its color was negative)");
  return *backend;
}

void check_rank(std::string_view call, std::string_view role, int rank, int size) {
  if (rank < 0 || rank >= size)
    throw comm_error(fmt::format("{}: {} {} is not a rank of a communicator of {}", call, role, rank, size));
}

std::size_t total_of(std::string_view call, std::span<const std::size_t> counts, int size) {
  if (counts.size() != static_cast<std::size_t>(size))
    throw comm_error(fmt::format("{}: {} counts for a communicator of {} ranks", call, counts.size(), size));
  std::size_t total = 0;
  for (std::size_t n : counts) {
    if (n > std::numeric_limits<std::size_t>::max() - total) throw comm_error(fmt::format("{}: counts overflow", call));
    total += n;
  }
  return total;
}

/// Refuses a number of elements whose bytes cannot be counted, before any address is computed from it.
void check_bytes(std::string_view call, std::size_t count, dtype type, std::size_t ranks = 1) {
  if (count > std::numeric_limits<std::size_t>::max() / item_size(type) / ranks)
    throw comm_error(fmt::format("{}: {} elements of {} overflow", call, count, name(type)));
}

std::vector<std::size_t> to_vector(std::span<const std::size_t> counts) { return {counts.begin(), counts.end()}; }

comm::work start(comm::backend& b, comm::request r) {
  comm::locate_buffers(r, b.rank());
  return comm::work(b.start(std::move(r)));
}

}  // namespace

communicator::communicator() : backend_(comm::make_self(false)) {}

int communicator::rank() const { return alive(backend_).rank(); }
int communicator::size() const { return alive(backend_).size(); }
int communicator::node_rank() const { return alive(backend_).node_rank(); }
int communicator::node_size() const { return alive(backend_).node_size(); }
std::string_view communicator::name() const { return alive(backend_).name(); }
bool communicator::checked() const { return alive(backend_).checked(); }
bool communicator::overlaps() const { return alive(backend_).overlaps(); }

communicator communicator::split(int color, int key) const { return communicator(alive(backend_).split(color, key)); }

comm::work communicator::broadcast(void* data, std::size_t count, dtype type, int root) const {
  comm::backend& b = alive(backend_);
  check_rank("broadcast", "root", root, b.size());
  check_bytes("broadcast", count, type);
  return start(b, {.op = operation::broadcast, .type = type, .count = count, .root = root, .in = data, .out = data});
}

comm::work communicator::all_reduce(const void* in, void* out, std::size_t count, dtype type,
                                    comm::reduce_op op) const {
  comm::backend& b = alive(backend_);
  check_bytes("all_reduce", count, type);
  if (type == dtype::float16 || type == dtype::bfloat16)
    throw dtype_error(fmt::format("all_reduce: {} is not supported; convert to float32", serried::name(type)));
  if (is_complex(type) && (op == comm::reduce_op::min || op == comm::reduce_op::max))
    throw dtype_error(fmt::format("all_reduce: {} has no min or max; it takes sum and prod", serried::name(type)));
  return start(b, {.op = operation::all_reduce, .type = type, .count = count, .reduction = op, .in = in, .out = out});
}

comm::work communicator::all_gather(const void* in, void* out, std::size_t count, dtype type) const {
  comm::backend& b = alive(backend_);
  check_bytes("all_gather", count, type, static_cast<std::size_t>(b.size()));
  return start(b, {.op = operation::all_gather, .type = type, .count = count, .in = in, .out = out});
}

comm::work communicator::all_gatherv(const void* in, void* out, std::span<const std::size_t> counts, dtype type) const {
  comm::backend& b = alive(backend_);
  const std::size_t total = total_of("all_gatherv", counts, b.size());
  check_bytes("all_gatherv", total, type);
  return start(b, {.op = operation::all_gatherv,
                   .type = type,
                   .count = total,
                   .in = in,
                   .out = out,
                   .recv_counts = to_vector(counts)});
}

comm::work communicator::all_to_all(const void* in, void* out, std::size_t count, dtype type) const {
  comm::backend& b = alive(backend_);
  check_bytes("all_to_all", count, type, static_cast<std::size_t>(b.size()));
  return start(b, {.op = operation::all_to_all, .type = type, .count = count, .in = in, .out = out});
}

comm::work communicator::all_to_allv(const void* in, std::span<const std::size_t> send_counts, void* out,
                                     std::span<const std::size_t> recv_counts, dtype type) const {
  comm::backend& b = alive(backend_);
  check_bytes("all_to_allv", total_of("all_to_allv", send_counts, b.size()), type);
  check_bytes("all_to_allv", total_of("all_to_allv", recv_counts, b.size()), type);
  const auto me = static_cast<std::size_t>(b.rank());
  if (send_counts[me] != recv_counts[me])
    throw comm_error(fmt::format("all_to_allv: rank {} sends itself {} elements where it receives {}", me,
                                 send_counts[me], recv_counts[me]));
  return start(b, {.op = operation::all_to_allv,
                   .type = type,
                   .in = in,
                   .out = out,
                   .send_counts = to_vector(send_counts),
                   .recv_counts = to_vector(recv_counts)});
}

comm::work communicator::send(const void* data, std::size_t count, dtype type, int peer) const {
  comm::backend& b = alive(backend_);
  check_rank("send", "peer", peer, b.size());
  check_bytes("send", count, type);
  return start(b, {.op = operation::send, .type = type, .count = count, .root = peer, .in = data});
}

comm::work communicator::recv(void* data, std::size_t count, dtype type, int peer) const {
  comm::backend& b = alive(backend_);
  check_rank("recv", "peer", peer, b.size());
  check_bytes("recv", count, type);
  return start(b, {.op = operation::recv, .type = type, .count = count, .root = peer, .out = data});
}

comm::work communicator::exchange(std::span<const comm::send_part> sends,
                                  std::span<const comm::recv_part> receives) const {
  comm::backend& b = alive(backend_);
  for (const auto& part : sends) check_rank("exchange", "peer", part.peer, b.size());
  for (const auto& part : receives) check_rank("exchange", "peer", part.peer, b.size());
  return start(b, {.op = operation::exchange,
                   .sends = {sends.begin(), sends.end()},
                   .receives = {receives.begin(), receives.end()}});
}

comm::work communicator::barrier() const { return start(alive(backend_), {.op = operation::barrier}); }

void communicator::abort(int exit_code) const {
  alive(backend_).abort(exit_code);
  std::abort();  // never reached; g++ overlooks that a virtual function does not return
}

}  // namespace serried::inline v0
