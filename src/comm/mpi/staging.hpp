// Device buffers over MPI: through pinned memory of the host, in pieces, so that copying and sending overlap.
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "comm/mpi/mpi_calls.hpp"
#include "local/engine.hpp"
#include "local/memory/buffer.hpp"

namespace serried::inline v0::comm {

/// The queues that copies to and from a device go to, so that they wait for nothing but what they need.
struct staging_queues {
  explicit staging_queues(std::shared_ptr<engine> of)
      : device(std::move(of)), down(device->make_queue(true)), up(device->make_queue(true)) {}

  std::shared_ptr<engine> device;
  std::shared_ptr<queue> down;  // device to host
  std::shared_ptr<queue> up;    // host to device
};

/// A request of device buffers under way. The driver advances it; nothing here blocks.
///
/// It is cut in pieces. Each is copied down, goes over the wire, and is copied up; a few are under way at a time, and
/// they are posted in order.
class transfer {
 public:
  transfer(const request& r, std::optional<message_list> messages, const mpi_group& group,
           std::shared_ptr<staging_queues> queues);
  ~transfer();
  transfer(const transfer&) = delete;
  transfer& operator=(const transfer&) = delete;

  /// True when something happened.
  bool advance();
  /// The work that was before the request in the caller's queue is done.
  [[nodiscard]] bool begun() const { return begun_; }
  /// All MPI calls are made.
  [[nodiscard]] bool posted() const { return posted_ == pieces_; }
  /// All copies are issued, without an error so far: what waits for the arrival comes after them.
  [[nodiscard]] bool issued() const { return on_wire_done_ == pieces_ && !failure_; }
  [[nodiscard]] const std::shared_ptr<mark>& arrival() const { return arrival_; }
  /// Nothing is under way any more. Throws the comm_error of the first message that went wrong.
  [[nodiscard]] bool done() const;

 private:
  struct region {
    std::byte* device;
    std::size_t at;  // in the piece's memory
    std::size_t bytes;
  };
  /// Regions of one buffer that follow each other on the device follow each other in the piece's memory, and are copied
  /// at once. Those of an exchange may be different allocations that happen to be neighbors, which one copy may not
  /// span.
  class regions;
  enum class stage { down, wire, up, over };
  struct piece {
    memory::buffer memory;
    std::vector<region> down, up;
    std::vector<message> sends, receives;
    request call{};  // of a collective
    stage at = stage::down;
    std::shared_ptr<mark> copied;
    mpi_requests requests;
  };

  void begin_piece(std::size_t k);
  void cut_messages(piece& p, std::size_t k);
  void cut_collective(piece& p, std::size_t k);
  void post(piece& p);
  std::shared_ptr<mark> issue(const std::shared_ptr<queue>& q, const std::vector<region>& list, std::byte* memory,
                              bool up);
  bool advance(piece& p, bool may_post);

  const request& call_;
  const std::optional<message_list> messages_;
  const mpi_group group_;
  const std::shared_ptr<staging_queues> queues_;
  std::size_t piece_items_ = 0;  // of a collective
  std::size_t pieces_ = 1;
  std::size_t next_ = 0, posted_ = 0, on_wire_done_ = 0;
  std::deque<piece> flight_;
  bool begun_ = false;
  std::shared_ptr<mark> arrival_;
  std::exception_ptr failure_;
};

}  // namespace serried::inline v0::comm
