#include "comm/nccl/nccl_calls.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <cstdlib>
#include <optional>

namespace serried::inline v0::comm {

namespace {

/// A reduction as NCCL knows it: `per_item` numbers of its type stand for an element.
struct nccl_reduction {
  ncclDataType_t type;
  ncclRedOp_t op;
  std::size_t per_item = 1;
};

std::optional<nccl_reduction> reduction_of(dtype type, reduce_op op) {
  constexpr ncclRedOp_t ops[] = {ncclSum, ncclProd, ncclMin, ncclMax};
  const ncclRedOp_t same = ops[static_cast<int>(op)];
  const bool ordered = op == reduce_op::min || op == reduce_op::max;
  switch (type) {
    case dtype::bool_: return {{ncclUint8, op == reduce_op::sum || op == reduce_op::max ? ncclMax : ncclMin}};
    case dtype::int8: return {{ncclInt8, same}};
    case dtype::int32: return {{ncclInt32, same}};
    case dtype::int64: return {{ncclInt64, same}};
    case dtype::uint8: return {{ncclUint8, same}};
    case dtype::uint32: return {{ncclUint32, same}};
    case dtype::uint64: return {{ncclUint64, same}};
    // Its minimum and maximum lose NaN.
    case dtype::float32: return ordered ? std::nullopt : std::optional(nccl_reduction{ncclFloat32, same});
    case dtype::float64: return ordered ? std::nullopt : std::optional(nccl_reduction{ncclFloat64, same});
    case dtype::complex64:
      return op == reduce_op::sum ? std::optional(nccl_reduction{ncclFloat32, ncclSum, 2}) : std::nullopt;
    case dtype::complex128:
      return op == reduce_op::sum ? std::optional(nccl_reduction{ncclFloat64, ncclSum, 2}) : std::nullopt;
    case dtype::int16:
    case dtype::uint16:
    case dtype::float16:
    case dtype::bfloat16: break;
  }
  return std::nullopt;
}

/// ncclGroupStart and ncclGroupEnd.
class group {
 public:
  group() { check_nccl(ncclGroupStart(), "ncclGroupStart"); }
  ~group() {
    if (open_) ncclGroupEnd();
  }
  group(const group&) = delete;
  group& operator=(const group&) = delete;
  void end() {
    open_ = false;
    check_nccl(ncclGroupEnd(), "ncclGroupEnd");
  }

 private:
  bool open_ = true;
};

}  // namespace

void check_nccl(ncclResult_t code, const char* call) {
  if (code == ncclSuccess) return;
  const char* const detail = ncclGetLastError(nullptr);
  throw library_error(fmt::format("{} failed: {}{}{}", call, ncclGetErrorString(code),
                                  detail != nullptr && *detail != '\0' ? "; " : "", detail != nullptr ? detail : ""));
}

void prepare_nccl() { setenv("NCCL_NVLS_ENABLE", "0", 0); }  // needs multicast, which not every machine allows

bool nccl_does(const request& r) {
  if (r.op == operation::send || r.op == operation::recv) return false;
  return r.op != operation::all_reduce || reduction_of(r.type, r.reduction).has_value();
}

bool is_nccl_collective(const request& r) {
  return r.op == operation::broadcast || r.op == operation::all_reduce || r.op == operation::all_gather;
}

nccl_messages nccl_messages_of(const request& r, int ranks, int rank) {
  const std::size_t item = item_size(r.type), everyone = static_cast<std::size_t>(ranks);
  nccl_messages m;
  switch (r.op) {
    case operation::all_gatherv:
      for (int peer = 0; peer < ranks; ++peer)
        m.sends.push_back({peer, r.in, r.recv_counts[static_cast<std::size_t>(rank)] * item});
      m.receives = packed_receives(r.out, r.recv_counts, item);
      break;
    case operation::all_to_all:
      m.sends = packed_sends(r.in, std::vector<std::size_t>(everyone, r.count), item);
      m.receives = packed_receives(r.out, std::vector<std::size_t>(everyone, r.count), item);
      break;
    case operation::all_to_allv:
      m.sends = packed_sends(r.in, r.send_counts, item);
      m.receives = packed_receives(r.out, r.recv_counts, item);
      break;
    default:  // exchange
      m.sends = r.sends;
      m.receives = r.receives;
      break;
  }
  std::erase_if(m.sends, [](const send_part& part) { return part.bytes == 0; });
  std::erase_if(m.receives, [](const recv_part& part) { return part.bytes == 0; });
  return m;
}

void issue_collective(const request& r, ncclComm_t comm, cudaStream_t stream) {
  const std::size_t bytes = r.count * item_size(r.type);
  switch (r.op) {
    case operation::broadcast:
      return check_nccl(ncclBroadcast(r.out, r.out, bytes, ncclUint8, r.root, comm, stream), "ncclBroadcast");
    case operation::all_reduce: {
      const nccl_reduction how = reduction_of(r.type, r.reduction).value();
      return check_nccl(ncclAllReduce(r.in, r.out, r.count * how.per_item, how.type, how.op, comm, stream),
                        "ncclAllReduce");
    }
    default: return check_nccl(ncclAllGather(r.in, r.out, bytes, ncclUint8, comm, stream), "ncclAllGather");
  }
}

void issue_messages(const nccl_messages& m, int rank, const std::vector<int>& world_rank, ncclComm_t comm,
                    cudaStream_t stream) {
  group together;
  for (const send_part& part : m.sends)
    if (part.peer != rank)
      check_nccl(
          ncclSend(part.data, part.bytes, ncclUint8, world_rank[static_cast<std::size_t>(part.peer)], comm, stream),
          "ncclSend");
  for (const recv_part& part : m.receives)
    if (part.peer != rank)
      check_nccl(
          ncclRecv(part.data, part.bytes, ncclUint8, world_rank[static_cast<std::size_t>(part.peer)], comm, stream),
          "ncclRecv");
  together.end();
}

}  // namespace serried::inline v0::comm
