#include "dist/reduce.hpp"

#include "dist/evaluate.hpp"
#include "dist/mesh.hpp"
#include "dist/same_call.hpp"
#include "local/evaluate.hpp"
#include "local/expr_impl.hpp"
#include "local/storage.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace serried::inline v0::dist {

namespace {

// True when every rank holds all that its part of the program reads.
bool is_local(const expr_state<array>& e, const distribution& where) {
  for (std::size_t s = 0; s < e.leaves.size(); ++s) {
    const distribution& held = *e.leaves[s].data.where();
    bool whole_here = true;
    for (int d = 0; d < held.ndim(); ++d) whole_here &= !held.is_split(d);
    const bool in_place = std::all_of(e.code.loads.begin(), e.code.loads.end(),
                                      [&](const leaf_load& ld) { return ld.leaf != s || ld.offset.empty(); });
    if (!whole_here && !(in_place && held == where)) return false;
  }
  return true;
}

comm::reduce_op operation_of(reduce_kind k) {
  switch (k) {
    case reduce_kind::sum: return comm::reduce_op::sum;
    case reduce_kind::prod: return comm::reduce_op::prod;
    case reduce_kind::min: return comm::reduce_op::min;
    case reduce_kind::max: break;
  }
  return comm::reduce_op::max;
}

// Merges the states of the ranks of `group`; every one of them gets the result.
void merge(const communicator& group, engine& device, const reduction& r, const serried::array& states,
           std::int64_t results) {
  const state_layout layout = layout_of(r);
  std::byte* const raw = states.data_storage()->data();
  const auto n = static_cast<std::size_t>(results);
  if (!layout.binned) {
    group.all_reduce(raw, raw, n * static_cast<std::size_t>(layout.words), layout.type, operation_of(r.kind)).wait();
    return;
  }
  // Binned sums: agree on the tops, drop what falls out of the bins below them, then the digits add up exactly.
  const std::size_t components = is_complex(r.type) ? 2 : 1;
  const std::size_t words = static_cast<std::size_t>(layout.words) / components;
  const std::size_t word_bytes = n * sizeof(std::int64_t);
  const serried::array tops = allocate(states.data_storage()->device(), {components, results}, dtype::int64);
  std::byte* const top = tops.data_storage()->data();
  for (std::size_t c = 0; c < components; ++c)
    group.all_reduce(raw + c * words * word_bytes, top + c * word_bytes, n, dtype::int64, comm::reduce_op::max).wait();
  device.align(r, raw, top, results);
  for (std::size_t c = 0; c < components; ++c) {
    std::byte* const digits = raw + (c * words + 1) * word_bytes;
    group.all_reduce(digits, digits, n * (words - 1), dtype::int64, comm::reduce_op::sum).wait();
  }
}

// Cuts a box into slabs that a reduction turns into few enough results for their states to stay small (a binned sum's
// is 72 bytes), and calls f(slab, results) for each, in the order of the results in C order.
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

}  // namespace

array reduce(const expr_state<array>& e, const distribution_ptr& where) {
  // What may fail on one rank is computed first, since evaluating fails on all ranks or on none.
  if (!is_local(e, *where) || may_fail(e.code)) {
    expr_state<array> plain = e;
    plain.root.reset();
    expr_state<array> again = *basic_expr<array>(evaluate_as(plain, where)).state();
    again.root = e.root;
    return reduce(again, where);
  }

  const serried::mesh& grid = where->mesh();
  check_same_call(grid.communicator(), name(e.root->what.kind));
  const int rank = grid.communicator().rank();
  const box mine = where->shard(rank);
  const auto& device = e.leaves.front().data.local().data_storage()->device();

  std::uint32_t merged_axes = 0;
  std::vector<split_over> splits;
  std::vector<std::vector<std::int64_t>> offsets;
  for (int d = 0; d < where->ndim(); ++d) {
    const auto& all = where->layout().splits();
    const split_over how =
        static_cast<std::size_t>(d) < all.size() ? all[static_cast<std::size_t>(d)] : split_over(whole);
    if (!e.root->reduces(d)) {
      splits.push_back(how);
      offsets.push_back(where->offsets(d));
      continue;
    }
    for (const mesh_axis& a : how.axes())
      if (a.size() > 1) merged_axes |= std::uint32_t{1} << a.index();
    if (e.root->keepdims) {
      splits.emplace_back(whole);
      offsets.push_back({0, 1});
    }
  }
  const auto result_where =
      std::make_shared<const distribution>(distribution::from_offsets(grid.layout(splits), std::move(offsets)));
  const serried::array out = allocate(device, result_where->shard(rank).extents(), e.type);
  std::vector<leaf_binding> leaves;
  for (const auto& l : e.leaves) {
    leaf_binding b = bind_leaf(l.data.local(), l.boundary);
    b.extent = l.data.shape();
    b.window = l.data.where()->shard(rank);
    leaves.push_back(std::move(b));
  }
  std::byte* to = out.data_storage()->data();
  if (merged_axes == 0) {
    device->reduce(e.code, leaves, mine, e.root->what, to);
    return {result_where, dims::filled(out.ndim(), 0), out};
  }
  const communicator group = communicator_along(grid, merged_axes);
  const state_layout layout = layout_of(e.root->what);
  for_each_slab(mine, e.root->what, [&](const box& slab, std::int64_t results) {
    const serried::array states = allocate(device, {results, layout.words}, layout.type);
    std::byte* const raw = states.data_storage()->data();
    device->reduce_to_states(e.code, leaves, slab, e.root->what, raw);
    merge(group, *device, e.root->what, states, results);
    device->finish(e.root->what, raw, results, to);
    to += results * static_cast<std::int64_t>(item_size(e.type));
  });
  return {result_where, dims::filled(out.ndim(), 0), out};
}

}  // namespace serried::inline v0::dist
