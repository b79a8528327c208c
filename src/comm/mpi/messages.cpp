#include "comm/mpi/messages.hpp"

#include <algorithm>

namespace serried::inline v0::comm {

namespace {

// MPI promises tags up to 32767.
constexpr int tags_of_a_kind = 8192;

std::size_t piece_bytes() { return std::min(mpi_count_limit, message_piece); }

/// The same `bytes` for every rank.
std::vector<send_part> repeated(const void* data, std::size_t bytes, int ranks) {
  std::vector<send_part> parts;
  for (int r = 0; r < ranks; ++r) parts.push_back({r, data, bytes});
  return parts;
}

message_list listed(std::span<const send_part> sends, std::span<const recv_part> receives, message_kind kind, int rank,
                    message_numbers& numbers) {
  message_list list;
  for (const recv_part& part : receives)
    if (part.peer != rank)
      list.receives.push_back(
          {part.peer, numbers.next_received(kind, part.peer), static_cast<std::byte*>(part.data), part.bytes});
  for (const send_part& part : sends)
    if (part.peer != rank)
      list.sends.push_back({part.peer, numbers.next_sent(kind, part.peer),
                            static_cast<std::byte*>(const_cast<void*>(part.data)), part.bytes});
  copy_own_parts(sends, receives, rank, [&](void* to, const void* from, std::size_t bytes) {
    list.own.push_back({static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes});
  });
  return list;
}

}  // namespace

std::size_t piece_items(dtype type) { return std::max<std::size_t>(piece_bytes() / item_size(type), 1); }

std::size_t message::pieces() const { return bytes == 0 ? 1 : (bytes - 1) / piece_bytes() + 1; }

message message::piece(std::size_t k) const {
  const std::size_t begin = k * piece_bytes();
  return {peer, tag, data + begin, std::min(bytes - begin, piece_bytes())};
}

message_numbers::message_numbers(int ranks) : numbers_(6 * static_cast<std::size_t>(ranks)) {}

int message_numbers::next(message_kind kind, int peer, std::size_t direction) {
  const auto k = static_cast<std::size_t>(kind);
  std::uint16_t& number = numbers_[6 * static_cast<std::size_t>(peer) + 2 * k + direction];
  return static_cast<int>(k) * tags_of_a_kind + number++ % tags_of_a_kind;
}

std::optional<message_list> messages_of(const request& r, int rank, int ranks, bool with_empty,
                                        message_numbers& numbers) {
  const std::size_t item = item_size(r.type);
  const std::size_t bytes = r.count * item;
  const auto everyone = static_cast<std::size_t>(ranks);
  // What is staged for a device goes through a collective of MPI only when that is short work; where a rank has its
  // buffers must make no difference to the others.
  const std::size_t limit = piece_bytes();
  const auto collective = [&](std::span<const send_part> sends, std::span<const recv_part> receives) {
    return listed(sends, receives, message_kind::collective, rank, numbers);
  };
  switch (r.op) {
    case operation::send: {
      message_list list;
      list.sends.push_back({r.root, numbers.next_sent(message_kind::message, r.root),
                            static_cast<std::byte*>(const_cast<void*>(r.in)), bytes});
      return list;
    }
    case operation::recv: {
      message_list list;
      list.receives.push_back(
          {r.root, numbers.next_received(message_kind::message, r.root), static_cast<std::byte*>(r.out), bytes});
      return list;
    }
    case operation::exchange: return listed(r.sends, r.receives, message_kind::exchange, rank, numbers);
    case operation::all_gather:
      if (bytes * everyone <= limit) return std::nullopt;
      return collective(repeated(r.in, bytes, ranks),
                        packed_receives(r.out, std::vector<std::size_t>(everyone, bytes), 1, true));
    case operation::all_gatherv: {
      if (bytes <= limit) return std::nullopt;
      const std::size_t mine = r.recv_counts[static_cast<std::size_t>(rank)] * item;
      return collective(repeated(r.in, mine, ranks), packed_receives(r.out, r.recv_counts, item, true));
    }
    case operation::all_to_all: {
      if (bytes * everyone <= limit) return std::nullopt;
      const std::vector<std::size_t> parts(everyone, bytes);
      return collective(packed_sends(r.in, parts, 1, true), packed_receives(r.out, parts, 1, true));
    }
    case operation::all_to_allv:
      // Not MPI_Ialltoallv: no rank knows whether the counts of the others fit an int.
      return collective(packed_sends(r.in, r.send_counts, item, with_empty),
                        packed_receives(r.out, r.recv_counts, item, with_empty));
    case operation::broadcast:
    case operation::all_reduce:
    case operation::barrier:
    case operation::split:
    case operation::finish: break;
  }
  return std::nullopt;
}

}  // namespace serried::inline v0::comm
