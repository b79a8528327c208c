// Requests as NCCL calls.
#pragma once

#include <nccl.h>

#include <vector>

#include "comm/request.hpp"

namespace serried::inline v0::comm {

/// Throws library_error with NCCL's text unless `code` is ncclSuccess.
void check_nccl(ncclResult_t code, const char* call);

/// Sets what NCCL reads from the environment unless the user has: call before anything of NCCL.
void prepare_nccl();

/// False for what goes another way: single messages, since NCCL's wait for each other in the order of the calls, and
/// reductions that it does not have or that would lose NaN.
[[nodiscard]] bool nccl_does(const request& r);
/// True when all ranks take part in one call of NCCL; else the request is a group of messages between pairs.
[[nodiscard]] bool is_nccl_collective(const request& r);

/// Messages between pairs, those to oneself included.
struct nccl_messages {
  std::vector<send_part> sends;
  std::vector<recv_part> receives;
};
/// The messages of a request that is not a collective of NCCL, without empty ones.
[[nodiscard]] nccl_messages nccl_messages_of(const request& r, int ranks, int rank);

void issue_collective(const request& r, ncclComm_t comm, cudaStream_t stream);
/// `world_rank[r]` is the rank in `comm` of rank r; messages to `rank` itself are left out.
void issue_messages(const nccl_messages& m, int rank, const std::vector<int>& world_rank, ncclComm_t comm,
                    cudaStream_t stream);

}  // namespace serried::inline v0::comm
