#include "comm/request.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>

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

void copy_own_parts(std::span<const send_part> sends, std::span<const recv_part> receives, int me) {
  auto own = [me](const auto& part) { return part.peer == me; };
  auto from = std::find_if(sends.begin(), sends.end(), own);
  auto to = std::find_if(receives.begin(), receives.end(), own);
  while (from != sends.end() && to != receives.end()) {
    if (from->bytes != to->bytes)
      throw comm_error(
          fmt::format("exchange: rank {} sends itself {} bytes where it receives {}", me, from->bytes, to->bytes));
    if (from->bytes != 0) std::memmove(to->data, from->data, from->bytes);
    from = std::find_if(from + 1, sends.end(), own);
    to = std::find_if(to + 1, receives.end(), own);
  }
  if (from != sends.end() || to != receives.end())
    throw comm_error(fmt::format("exchange: the messages of rank {} to itself must match within one call", me));
}

}  // namespace serried::inline v0::comm
