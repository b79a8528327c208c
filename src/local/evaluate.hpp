// Running expressions over local arrays, and writing into arrays that others may share.
#pragma once

#include <serried/array.hpp>

#include "local/builder.hpp"
#include "local/expr_state.hpp"
#include "local/storage.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace serried::inline v0 {

// What expr_impl.hpp needs to know of an array.
[[nodiscard]] inline std::uint64_t version_of(const array& a) { return a.data_storage()->version(); }
[[nodiscard]] bool same_view(const array& a, const array& b);
[[nodiscard]] array evaluate(const expr_state<array>& e);

/// An uninitialized C-order array on `device`.
[[nodiscard]] array allocate(const std::shared_ptr<engine>& device, const shape& s, dtype type);

/// A leaf that is whole in `a` (the window is all of it), for work about to be issued to `on`, else to a's own engine.
[[nodiscard]] leaf_binding bind_leaf(const array& a, std::vector<faces> boundary, engine& on);
[[nodiscard]] leaf_binding bind_leaf(const array& a, std::vector<faces> boundary);
/// Where a box of `a`, in a's own indices, is stored; likewise.
[[nodiscard]] output_binding bind_output(const array& a, const box& where, engine& on);
[[nodiscard]] output_binding bind_output(const array& a, const box& where);

/// A position in an array as an address; `index` may be one past the end.
[[nodiscard]] std::byte* address_of(const array& a, const dims& index);

/// The part of `a` that lies in a box of its own indices: a view.
[[nodiscard]] array box_view(const array& a, const box& part);
/// Copies values between arrays of one shape and dtype that do not overlap.
void copy_values(const array& from, const array& to);

/// True when both share storage and their bytes' ranges meet.
[[nodiscard]] bool may_overlap(const array& a, const array& b);

/// Throws value_error when several elements of the target are one in memory (a broadcast view).
void check_target(const array& target);

/// Takes the place of `target` while new values are computed from the old ones, then becomes visible at once.
class write_target {
 public:
  /// `reads_overlap`: the computation still reads the target's memory at other places when values are stored.
  /// `may_swap`: no other target shares the storage, so that it may take a fresh buffer.
  write_target(const array& target, bool reads_overlap, bool may_swap = true);

  /// Where to store: the target's shape and dtype.
  [[nodiscard]] const array& out() const noexcept { return out_; }
  /// What is around it.
  [[nodiscard]] const rim& around() const noexcept { return around_; }
  /// All of out(), for work about to be issued to `on`.
  [[nodiscard]] output_binding bind(engine& on) const;
  /// Makes the values visible to all who share the target's data.
  void commit();

 private:
  enum class way { in_place, swap, copy_back };
  array target_;
  array out_;
  rim around_;
  way way_;
};

}  // namespace serried::inline v0
