// Which rank holds which box of a global array.
#pragma once

#include <serried/dist/layout.hpp>
#include <serried/shape.hpp>

#include "local/box.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace serried::inline v0::dist {

struct planned_fetch;

/// Schedules that were planned from a distribution, kept since the same step is taken again and again. No part of its
/// value: copies begin with none, and comparisons do not look.
class kept_plans {
 public:
  kept_plans() = default;
  kept_plans(const kept_plans&) {}
  kept_plans& operator=(const kept_plans&) { return *this; }
  friend bool operator==(const kept_plans&, const kept_plans&) { return true; }

  std::shared_ptr<std::deque<planned_fetch>> list;  ///< null: none
};

/// A layout applied to a shape. Dimension d is cut into parts(d) runs at offsets that are stored, never recomputed:
/// part i holds the indices [offsets(d)[i], offsets(d)[i + 1]), which may be none. A rank's parts, one per dimension,
/// make its shard; ranks that differ only along mesh axes which the layout does not name hold the same one.
class distribution {
 public:
  /// Balanced blocks: the first n mod p parts of a dimension hold one index more. Throws shape_error when the layout
  /// names more dimensions than there are, or the shape is not one.
  distribution(serried::layout how, const serried::shape& extents);
  /// One list of offsets per dimension: parts + 1 entries, the first 0, not falling. Throws value_error.
  [[nodiscard]] static distribution from_offsets(serried::layout how, std::vector<std::vector<std::int64_t>> offsets);

  [[nodiscard]] const serried::layout& layout() const noexcept { return layout_; }
  [[nodiscard]] const serried::mesh& mesh() const noexcept { return layout_.mesh(); }
  [[nodiscard]] const serried::shape& shape() const noexcept { return shape_; }
  [[nodiscard]] int ndim() const noexcept { return shape_.size(); }
  [[nodiscard]] const std::vector<std::int64_t>& offsets(int d) const { return offsets_[static_cast<std::size_t>(d)]; }
  [[nodiscard]] int parts(int d) const { return static_cast<int>(offsets(d).size()) - 1; }
  /// True when no rank holds all of dimension d because of the layout (more than one part).
  [[nodiscard]] bool is_split(int d) const { return parts(d) > 1; }
  /// Ranks that hold each element.
  [[nodiscard]] int replicas() const;

  /// The part of each dimension that a rank holds.
  [[nodiscard]] dims parts_of(int rank) const;
  [[nodiscard]] box shard(int rank) const;
  /// The part of dimension d that holds an index in [0, extent).
  [[nodiscard]] int part_at(int d, std::int64_t index) const;
  /// The rank from which `reader` takes these parts: of those that hold them the one in the same place along the
  /// replicating axes, hence itself if it is one of them, and all of them equally often.
  [[nodiscard]] int owner(const dims& parts, int reader) const;
  /// The rank from which `reader` takes one element.
  [[nodiscard]] int owner_at(const dims& index, int reader) const;

  [[nodiscard]] kept_plans& plans() const noexcept { return plans_; }

  /// Layouts (and so meshes), shapes and offsets are equal.
  friend bool operator==(const distribution&, const distribution&) = default;

 private:
  explicit distribution(serried::layout how) : layout_(std::move(how)) {}

  serried::layout layout_;
  serried::shape shape_;
  std::vector<std::vector<std::int64_t>> offsets_;
  mutable kept_plans plans_;
};

using distribution_ptr = std::shared_ptr<const distribution>;

[[nodiscard]] distribution_ptr distribute(const serried::layout& how, const serried::shape& extents);
/// The whole array on every rank.
[[nodiscard]] distribution_ptr replicated(const serried::mesh& grid, const serried::shape& extents);

/// Offsets of `parts` balanced blocks of n indices.
[[nodiscard]] std::vector<std::int64_t> block_offsets(std::int64_t n, int parts);

}  // namespace serried::inline v0::dist
