// Brings elements of distributed arrays from the ranks that hold them: one message to each peer for any number of
// arrays, under way while the caller computes.
#pragma once

#include <serried/communicator.hpp>
#include <serried/dist/array.hpp>

#include "dist/mesh.hpp"
#include "dist/planner.hpp"
#include "local/box.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace serried::inline v0::dist {

class fetch {
 public:
  explicit fetch(const serried::mesh& grid) : mesh_(grid), rank_(grid.communicator().rank()) {}
  fetch(const fetch&) = delete;
  fetch& operator=(const fetch&) = delete;

  /// An array of which this rank sends and receives what `moves` says: nothing by default. Returns the source's number.
  std::size_t add(const array& a, schedule moves = {});

  /// Whether anything goes to other ranks or comes from them.
  [[nodiscard]] bool is_remote() const;
  /// Packs and sends, in the current queue; the sources may be overwritten by what is issued there afterwards.
  void start();
  /// What is issued to the current queue afterwards finds everything arrived. `computed`: the end of the work that was
  /// issued meanwhile, for the statistics.
  void wait(const std::shared_ptr<mark>& computed = nullptr);
  /// From the end of packing to the arrival, on a device that works by itself.
  [[nodiscard]] const timed_exchange& times() const { return times_; }

  /// An array and the box of the source's (unwrapped) indices that it holds; at least `wanted` where that was needed.
  /// The shard itself where it suffices. Call after wait() unless the shard holds `wanted`.
  struct window {
    serried::array values;
    box indices;
  };
  [[nodiscard]] window at(std::size_t source, const box& wanted) const;

 private:
  struct source {
    array data;
    box shard;
    schedule moves;
    std::vector<serried::array> arrived;  // one for each of moves.receives
  };

  serried::mesh mesh_;
  int rank_;
  std::vector<source> sources_;
  comm::work under_way_;
  timed_exchange times_;
  bool started_ = false;
};

}  // namespace serried::inline v0::dist
