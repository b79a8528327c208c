// Checked mode: do all ranks make the same call?
#pragma once

#include <cstdint>
#include <span>

#include "comm/request.hpp"

namespace serried::inline v0::comm {

/// What must agree in a collective call, as it travels between ranks.
struct call_header {
  std::int32_t op, type, root, reduction;
  std::uint64_t count;
  std::uint64_t digest;     // of the counts of all_gatherv
  std::uint64_t on_device;  // 1: the buffers are memory of a device and the call goes around MPI

  friend bool operator==(const call_header&, const call_header&) = default;
};

[[nodiscard]] call_header header_of(const request& r);

/// Throws the same comm_error on every rank when the ranks' headers differ: it names who called what. `call` is the
/// number of the collective call on the communicator; `spans_run` makes the error collective.
void check_headers(std::span<const call_header> headers, std::uint64_t call, bool spans_run);

}  // namespace serried::inline v0::comm
