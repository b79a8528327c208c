// What exchanges over a mesh cost, and the queue they run in.
#pragma once

#include <serried/communicator.hpp>
#include <serried/dist/mesh.hpp>

#include "local/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

namespace serried::inline v0::dist {

/// An exchange on a device that works by itself, as its marks tell.
struct timed_exchange {
  std::shared_ptr<mark> begin, end;
  std::shared_ptr<mark> computed;  ///< the end of the work beside it; null: there was none
};

/// What use of a mesh leaves behind; no part of its identity.
struct mesh_traffic {
  exchange_statistics statistics;
  std::deque<timed_exchange> timed;  ///< not in the statistics yet
  void add(timed_exchange e);
  void settle(std::size_t most);  ///< waits for the oldest of `timed` until no more than `most` are left

  /// The queue of packing, exchanges and borders on an asynchronous device, made when first needed.
  [[nodiscard]] const std::shared_ptr<queue>& side_queue(engine& device);
  std::shared_ptr<queue> side;
  const engine* side_device = nullptr;  ///< whose queue it is

  std::map<std::uint32_t, communicator> along;  ///< communicators along sets of axes, made when first needed
};

}  // namespace serried::inline v0::dist
