// How a program reads a leaf, and the schedules that were planned for it.
#pragma once

#include "dist/distribution.hpp"
#include "dist/planner.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace serried::inline v0::dist {

struct access {
  std::vector<dims> offsets;  ///< one per load
  std::vector<dimension_rule> rules;
  std::uint32_t wrap = 0;  ///< dimensions whose indices stay unwrapped: periodic and split

  [[nodiscard]] bool stays() const {
    return std::all_of(offsets.begin(), offsets.end(), [](const dims& o) { return o.empty(); });
  }
  friend bool operator==(const access&, const access&) = default;
};

/// What brings every rank what evaluating its shard of `target` reads through `how`.
struct planned_fetch {
  distribution target;
  access how;
  schedule moves;
};

}  // namespace serried::inline v0::dist
