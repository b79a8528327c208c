#include "comm/request.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <numeric>

#include "local/context.hpp"

namespace serried::inline v0::comm {

namespace {

std::string_view name_of(reduce_op op) {
  switch (op) {
    case reduce_op::sum: return "sum";
    case reduce_op::prod: return "prod";
    case reduce_op::min: return "min";
    case reduce_op::max: return "max";
  }
  return "?";
}

/// One part after the other, in rank order.
template <class Part, class Data>
std::vector<Part> packed(Data* data, std::span<const std::size_t> counts, std::size_t item, bool with_empty) {
  std::vector<Part> parts;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const std::size_t bytes = counts[r] * item;
    if (bytes != 0 || with_empty) parts.push_back({static_cast<int>(r), data, bytes});
    data += bytes;
  }
  return parts;
}

std::size_t total(std::span<const std::size_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

/// Calls f(address) for each buffer of rank `me`'s call that holds anything.
template <class F>
void for_each_buffer(const request& r, int me, F f) {
  const auto look = [&](const void* p, std::size_t count) {
    if (count != 0) f(p);
  };
  switch (r.op) {
    case operation::broadcast:
    case operation::recv: return look(r.out, r.count);
    case operation::send: return look(r.in, r.count);
    case operation::all_reduce:
    case operation::all_gather:
    case operation::all_to_all: return look(r.in, r.count), look(r.out, r.count);
    case operation::all_gatherv: return look(r.in, r.recv_counts[static_cast<std::size_t>(me)]), look(r.out, r.count);
    case operation::all_to_allv: return look(r.in, total(r.send_counts)), look(r.out, total(r.recv_counts));
    case operation::exchange:
      for (const send_part& part : r.sends) look(part.data, part.bytes);
      for (const recv_part& part : r.receives) look(part.data, part.bytes);
      return;
    case operation::barrier:
    case operation::split:
    case operation::finish: return;
  }
}

std::string elements(const request& r) { return fmt::format("{} x {}", r.count, serried::name(r.type)); }

}  // namespace

bool is_collective(operation op) { return op != operation::send && op != operation::recv && op != operation::exchange; }

std::string describe(const request& r) {
  switch (r.op) {
    case operation::broadcast: return fmt::format("broadcast({}, root {})", elements(r), r.root);
    case operation::all_reduce: return fmt::format("all_reduce({}, {})", elements(r), name_of(r.reduction));
    case operation::all_gather: return fmt::format("all_gather({})", elements(r));
    case operation::all_gatherv: return fmt::format("all_gatherv({} in all)", elements(r));
    case operation::all_to_all: return fmt::format("all_to_all({})", elements(r));
    case operation::all_to_allv: return fmt::format("all_to_allv({})", serried::name(r.type));
    case operation::send: return fmt::format("send({} to rank {})", elements(r), r.root);
    case operation::recv: return fmt::format("recv({} from rank {})", elements(r), r.root);
    case operation::exchange: {
      std::string text = "exchange(to ranks";
      for (const send_part& part : r.sends) text += fmt::format(" {}", part.peer);
      text += ", from ranks";
      for (const recv_part& part : r.receives) text += fmt::format(" {}", part.peer);
      return text += ")";
    }
    case operation::barrier: return "barrier()";
    case operation::split: return "split()";
    case operation::finish: return "the end of the run";
  }
  return "?";
}

void copy_own_parts(std::span<const send_part> sends, std::span<const recv_part> receives, int me,
                    const std::function<void(void*, const void*, std::size_t)>& copy) {
  auto own = [me](const auto& part) { return part.peer == me; };
  auto from = std::find_if(sends.begin(), sends.end(), own);
  auto to = std::find_if(receives.begin(), receives.end(), own);
  while (from != sends.end() && to != receives.end()) {
    if (from->bytes != to->bytes)
      throw comm_error(
          fmt::format("exchange: rank {} sends itself {} bytes where it receives {}", me, from->bytes, to->bytes));
    if (from->bytes != 0) copy(to->data, from->data, from->bytes);
    from = std::find_if(from + 1, sends.end(), own);
    to = std::find_if(to + 1, receives.end(), own);
  }
  if (from != sends.end() || to != receives.end())
    throw comm_error(fmt::format("exchange: the messages of rank {} to itself must match within one call", me));
}

void copy_own_parts(std::span<const send_part> sends, std::span<const recv_part> receives, int me) {
  copy_own_parts(sends, receives, me, [](void* to, const void* from, std::size_t n) { std::memmove(to, from, n); });
}

std::vector<send_part> packed_sends(const void* data, std::span<const std::size_t> counts, std::size_t item,
                                    bool with_empty) {
  return packed<send_part>(static_cast<const std::byte*>(data), counts, item, with_empty);
}

std::vector<recv_part> packed_receives(void* data, std::span<const std::size_t> counts, std::size_t item,
                                       bool with_empty) {
  return packed<recv_part>(static_cast<std::byte*>(data), counts, item, with_empty);
}

void locate_buffers(request& r, int me) {
  std::shared_ptr<engine> device = device_in_use();
  if (!device) return;
  std::size_t there = 0, here = 0;
  for_each_buffer(r, me, [&](const void* p) { ++(device->holds(p) ? there : here); });
  if (there == 0) return;
  if (here != 0)
    throw comm_error(fmt::format("{}: some of its buffers are memory of the device, others are not", describe(r)));
  r.ready = device->current_queue().record();
  r.device = std::move(device);
}

}  // namespace serried::inline v0::comm
