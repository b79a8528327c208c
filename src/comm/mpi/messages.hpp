// Messages between pairs of ranks, as they travel: numbered, and cut in pieces of one length on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "comm/request.hpp"

namespace serried::inline v0::comm {

/// Longer messages, and reductions of more elements, are cut in pieces, since MPI counts with int. Tests lower it.
inline std::size_t mpi_count_limit = 2147483647;

/// Messages go in pieces of this many bytes, so that those of device memory can be copied and sent side by side; tests
/// lower it. The host's go in the same pieces, and in the same calls of MPI, since the other side's may be a device's.
inline std::size_t message_piece = std::size_t{4} << 20;

/// Elements of a piece of a broadcast or a reduction.
[[nodiscard]] std::size_t piece_items(dtype type);

struct message {
  int peer;
  int tag;
  std::byte* data;
  std::size_t bytes;

  /// An empty message has one piece, of nothing.
  [[nodiscard]] std::size_t pieces() const;
  [[nodiscard]] message piece(std::size_t k) const;
};

/// What a rank sends to itself stays out of MPI.
struct own_part {
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
};

struct message_list {
  std::vector<message> sends, receives;
  std::vector<own_part> own;
};

/// Messages match in the order in which a pair of ranks issues them, each of these kinds for itself.
enum class message_kind { message, exchange, collective };

/// Gives the k-th message of a pair and kind the same tag on both sides, another than its neighbors', so that pieces of
/// different messages cannot be taken for each other.
class message_numbers {
 public:
  explicit message_numbers(int ranks);
  int next_sent(message_kind kind, int peer) { return next(kind, peer, 0); }
  int next_received(message_kind kind, int peer) { return next(kind, peer, 1); }

 private:
  int next(message_kind kind, int peer, std::size_t direction);
  std::vector<std::uint16_t> numbers_;
};

/// The messages that a request consists of; nothing when it goes through a collective of MPI. `with_empty`: also those
/// parts of a collective that hold nothing, so that a wrong count meets its match. Throws comm_error when what the rank
/// sends to itself does not match.
[[nodiscard]] std::optional<message_list> messages_of(const request& r, int rank, int ranks, bool with_empty,
                                                      message_numbers& numbers);

}  // namespace serried::inline v0::comm
