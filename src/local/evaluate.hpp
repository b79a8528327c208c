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

/// A leaf that is whole in `a`: the window is all of it.
[[nodiscard]] leaf_binding bind_leaf(const array& a, std::vector<faces> boundary);
/// Where a box of `a`, in a's own indices, is stored.
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

/// Cuts a box into slabs that a reduction turns into few enough results for their states to stay small (a binned sum's
/// is 72 bytes), and calls f(slab, results) for each, in the order of the results in C order.
template <class F>
void for_each_slab(const box& all, const reduction& r, F&& f) {
  constexpr std::int64_t most = 1 << 16;
  std::int64_t results = 1;
  int cut = -1;  // the first kept dimension longer than 1
  for (int d = 0; d < all.ndim(); ++d) {
    if ((r.axes >> d & 1U) != 0) continue;
    const std::int64_t n = std::max<std::int64_t>(all.hi[d] - all.lo[d], 0);
    results *= n;
    if (cut < 0 && n > 1) cut = d;
  }
  if (results <= most) return f(all, results);
  const std::int64_t n = all.hi[cut] - all.lo[cut];
  const std::int64_t step = std::max<std::int64_t>(1, most / (results / n));
  for (std::int64_t i = all.lo[cut]; i < all.hi[cut]; i += step) {
    box slab = all;
    slab.lo[cut] = i;
    slab.hi[cut] = std::min(i + step, all.hi[cut]);
    for_each_slab(slab, r, f);
  }
}

/// Takes the place of `target` while new values are computed from the old ones, then becomes visible at once.
class write_target {
 public:
  /// `reads_overlap`: the computation still reads the target's memory at other places when values are stored.
  /// `may_swap`: no other target shares the storage, so that it may take a fresh buffer.
  write_target(const array& target, bool reads_overlap, bool may_swap = true);

  /// Where to store: the target's shape and dtype.
  [[nodiscard]] const array& out() const noexcept { return out_; }
  /// Makes the values visible to all who share the target's data.
  void commit();

 private:
  enum class way { in_place, swap, copy_back };
  array target_;
  array out_;
  way way_;
};

}  // namespace serried::inline v0
