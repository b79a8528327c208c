// The box planner: who sends which box to whom. Pure geometry; it moves nothing and knows no communicator.
#pragma once

#include "dist/distribution.hpp"
#include "local/box.hpp"
#include "local/program.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace serried::inline v0::dist {

/// `source` is in the array's range and lies in the sender's shard. `destination` has the same extents, in the
/// receiver's coordinates: those of its needed box, which along wrapped dimensions may lie outside the array.
struct transfer {
  int peer;  ///< the other rank
  box source;
  box destination;
  friend bool operator==(const transfer&, const transfer&) = default;
};

/// One rank's part in moving boxes: a value, made without communication. Sends and receives are sorted by peer; the
/// k-th send of rank a to rank b is the k-th receive of b from a. No box is empty, and the destinations of one rank
/// are disjoint.
struct schedule {
  std::vector<transfer> sends;
  std::vector<transfer> receives;
  std::vector<transfer> copies;  ///< what the rank itself holds; peer is the rank
};

struct plan_options {
  std::uint32_t wrap = 0;      ///< bit d: indices along dimension d are modulo its extent
  bool without_shard = false;  ///< what lies in a rank's own shard is not needed (halos: it is there already)
};

/// The boxes that a rank needs, in order; they may overlap. Must give the same on every rank that asks.
using needs_function = std::function<std::vector<box>(int rank)>;

/// The schedule of `rank` when every rank r is to get `needs(r)` from an array of this distribution; overlapping boxes
/// are first made disjoint, so nothing is sent twice. Serves halos, redistribution (needs: the target's shard), gathers
/// (needs: the whole on some ranks) and slices alike.
/// Cost: receives by binary search in the offsets; for the sends, `needs` is called for each rank that could read from
/// this one, so it should be cheap. Throws index_error when a needed box leaves the array along an unwrapped dimension.
[[nodiscard]] schedule plan(const distribution& source, int rank, const needs_function& needs,
                            const plan_options& options = {});

/// Kinds of the two ends of one dimension, and whether it is split over ranks.
struct dimension_rule {
  boundary_kind low = boundary_kind::none;
  boundary_kind high = boundary_kind::none;
  bool split = false;
  friend bool operator==(const dimension_rule&, const dimension_rule&) = default;
};

/// What evaluating `out` reads of a leaf of shape `extents` through a load at `offset` (one entry per leaf dimension,
/// or empty for zero). Leaf dimensions line up with out's last ones; extent 1 broadcasts. Beyond a face, edge reads the
/// border cells, value and none read nothing, periodic reads the unwrapped indices when the dimension is split and all
/// of [0, extent) when it is not. Nothing is read of a dimension in which hi ≤ lo.
[[nodiscard]] box read_box(const box& out, const dims& offset, const shape& extents,
                           std::span<const dimension_rule> rules);
/// The same for several loads, as boxes that may overlap; none of them is empty.
[[nodiscard]] std::vector<box> needed_boxes(const box& out, std::span<const dims> offsets, const shape& extents,
                                            std::span<const dimension_rule> rules);

/// Disjoint boxes that together hold what `boxes` hold; neighbors that make one box are joined.
[[nodiscard]] std::vector<box> disjoint(std::span<const box> boxes);

}  // namespace serried::inline v0::dist
