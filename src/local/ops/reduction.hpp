// States of reductions (engine.hpp says how they are stored) on the host: identities, merging, rounding.
#pragma once

#include "local/engine.hpp"
#include "local/ops/bins.hpp"

#include <cstddef>
#include <cstdint>

namespace serried::inline v0::ops {

/// Throws dtype_error where the kind does not go with the dtype, naming both.
void check(const reduction& r);

/// `count` states of nothing.
void set_identities(const reduction& r, std::byte* states, std::int64_t count);

/// What reducing nothing gives: `count` numbers of r.type.
void set_results_of_nothing(const reduction& r, std::byte* out, std::int64_t count);
/// The number of results of a reduction over a box, which may be empty.
[[nodiscard]] std::int64_t results_of(const reduction& r, const box& where);

struct state_array {
  std::byte* data;
  std::int64_t count;
};
[[nodiscard]] bins::state get_bins(const state_array& a, std::int64_t i, int component);
void put_bins(const state_array& a, std::int64_t i, int component, const bins::state& s);

/// Merges the source's state j into the target's state i.
void merge(const reduction& r, state_array target, std::int64_t i, state_array source, std::int64_t j);
/// engine::align and engine::finish.
void align(const reduction& r, state_array states, const std::byte* tops);
void finish(const reduction& r, state_array states, std::byte* out);

}  // namespace serried::inline v0::ops
