// A call of a communicator as a value.
#pragma once

#include <serried/communicator.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace serried::inline v0 {
class engine;
class mark;
}  // namespace serried::inline v0

namespace serried::inline v0::comm {

enum class operation : std::uint8_t {
  broadcast,
  all_reduce,
  all_gather,
  all_gatherv,
  all_to_all,
  all_to_allv,
  send,
  recv,
  exchange,
  barrier,
  split,
  finish,  // the end of the run: a barrier that no other call may meet
};

/// One call of a communicator, its arguments checked. Members that the operation does not use keep their defaults.
struct request {
  operation op;
  dtype type = dtype::uint8;
  std::size_t count = 0;  // elements; the total of all_gatherv; of all_to_allv nothing, since ranks may differ
  int root = 0;           // or the peer of send and recv, the color of split
  int key = 0;            // of split
  reduce_op reduction = reduce_op::sum;
  const void* in = nullptr;
  void* out = nullptr;
  std::vector<std::size_t> send_counts = {};  // elements per rank
  std::vector<std::size_t> recv_counts = {};
  std::vector<send_part> sends = {};
  std::vector<recv_part> receives = {};
  std::shared_ptr<engine> device = {};  // whose memory the buffers are; null: the host's
  std::shared_ptr<mark> ready = {};     // device buffers: what was issued before this in the caller's queue is done
  bool check_only = false;              // in checked mode compare the call, then do nothing
};

/// All ranks of the communicator take part; the others are messages between pairs.
[[nodiscard]] bool is_collective(operation op);

/// The call as a reader of an error message wants it: "all_reduce(1000 x float32, sum)".
[[nodiscard]] std::string describe(const request& r);

/// Calls copy(to, from, bytes) for the messages that rank `me` sends to itself within one exchange; they match in
/// listed order. Throws comm_error when they do not match.
void copy_own_parts(std::span<const send_part> sends, std::span<const recv_part> receives, int me,
                    const std::function<void(void*, const void*, std::size_t)>& copy);
/// The same for buffers in the host's memory.
void copy_own_parts(std::span<const send_part> sends, std::span<const recv_part> receives, int me);

/// `counts` items in rank order, one part after the other; parts of nothing are left out unless asked for.
[[nodiscard]] std::vector<send_part> packed_sends(const void* data, std::span<const std::size_t> counts,
                                                  std::size_t item, bool with_empty = false);
[[nodiscard]] std::vector<recv_part> packed_receives(void* data, std::span<const std::size_t> counts, std::size_t item,
                                                     bool with_empty = false);

/// Finds out whether the buffers of rank `me`'s call are memory of its thread's device; if so, says since when they may
/// be used. Throws comm_error when some are and others are not.
void locate_buffers(request& r, int me);

}  // namespace serried::inline v0::comm
