#include "local/evaluate.hpp"

#include <serried/context.hpp>

#include "dist/access.hpp"
#include "dist/evaluate.hpp"
#include "dist/fetch.hpp"
#include "dist/mesh.hpp"
#include "dist/reduce.hpp"
#include "dist/same_call.hpp"
#include "local/check_leaves.hpp"
#include "local/reads_elsewhere.hpp"
#include "local/trace.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace serried::inline v0 {

namespace dist {

bool same_view(const array& a, const array& b) {
  return serried::same_view(a.local(), b.local()) && a.origin() == b.origin() &&
         (a.where() == b.where() || *a.where() == *b.where());
}

namespace {

access access_of(const expr_state<array>& e, std::size_t slot) {
  access a;
  for (const leaf_load& ld : e.code.loads)
    if (ld.leaf == slot) a.offsets.push_back(ld.offset);
  const leaf<array>& l = e.leaves[slot];
  for (int d = 0; d < l.data.ndim(); ++d) {
    const faces f = l.boundary.empty() ? faces{} : l.boundary[static_cast<std::size_t>(d)];
    a.rules.push_back({f.low.kind, f.high.kind, l.data.where()->is_split(d)});
    if (a.rules.back().split && f.low.kind == boundary_kind::periodic) a.wrap |= std::uint32_t{1} << d;
  }
  return a;
}

const schedule& planned(const array& a, const distribution& where, const access& how) {
  constexpr std::size_t most = 16;
  auto& known = a.where()->plans().list;
  if (!known) known = std::make_shared<std::deque<planned_fetch>>();
  for (const planned_fetch& p : *known)
    if (p.how == how && p.target == where) return p.moves;
  if (known->size() == most) known->pop_front();
  const auto needs = [&](int rank) { return needed_boxes(where.shard(rank), how.offsets, a.shape(), how.rules); };
  const int rank = where.mesh().communicator().rank();
  known->push_back({where, how, plan(*a.where(), rank, needs, {.wrap = how.wrap, .without_shard = true})});
  return known->back().moves;
}

// The part of `out` whose reads of a leaf stay within this rank's shard of it (or are answered by a boundary there).
box interior(box out, const access& how, const shape& extent, const box& shard) {
  const int lead = out.ndim() - extent.size();
  for (int d = 0; d < extent.size(); ++d) {
    const dimension_rule& rule = how.rules[static_cast<std::size_t>(d)];
    const std::int64_t lo = shard.lo[d];
    const std::int64_t hi = shard.hi[d];
    if (lo == 0 && hi == extent[d]) continue;  // all of the dimension is here
    std::int64_t& from = out.lo[d + lead];
    std::int64_t& to = out.hi[d + lead];
    if (hi <= lo || extent[d] == 1) {
      if (hi <= lo) to = from;
      continue;
    }
    const auto clamps = [](boundary_kind k) { return k == boundary_kind::edge || k == boundary_kind::value; };
    for (const dims& o : how.offsets) {
      const std::int64_t shift = o.empty() ? 0 : o[d];
      if (!(lo == 0 && clamps(rule.low))) from = std::max(from, lo - shift);
      if (!(hi == extent[d] && clamps(rule.high))) to = std::min(to, hi - shift);
    }
  }
  return out;
}

// The window of a leaf that evaluating `part` looks at: in each dimension from the lowest to the highest index that any
// load reads, even one whose value another dimension's boundary decides. The shard where nothing is read.
box window_of(const box& part, const access& how, const shape& extent, const box& shard) {
  box window = shard;
  for (int d = 0; d < extent.size(); ++d) {
    bool read = false;
    for (const dims& o : how.offsets) {
      const box b = read_box(part, o, extent, how.rules);
      if (b.hi[d] <= b.lo[d]) continue;
      window.lo[d] = read ? std::min(window.lo[d], b.lo[d]) : b.lo[d];
      window.hi[d] = read ? std::max(window.hi[d], b.hi[d]) : b.hi[d];
      read = true;
    }
  }
  return window;
}

// The mesh of the first operand that is split, else of the first.
const serried::mesh& mesh_of(const expr_state<array>& e) {
  check_same_ranks(e, e.leaves.front().data.mesh());
  for (const auto& l : e.leaves)
    if (!l.data.layout().splits().empty()) return l.data.mesh();
  return e.leaves.front().data.mesh();
}

// Lets one queue go on behind another, also when an exception passes: what the other still writes belongs to arrays
// that are at home in the first.
struct rejoin {
  queue& main;
  queue& side;
  ~rejoin() {
    try {
      if (&side != &main) main.wait_for(*side.record());
    } catch (...) {
      // The device failed: the next synchronization says so.
    }
  }
};

// Each dimension is split as in the first leaf on that mesh that splits it over axes that are still free.
distribution_ptr result_distribution(const expr_state<array>& e) {
  const serried::mesh& grid = mesh_of(e);
  for (const auto& l : e.leaves)
    if (l.data.shape() == e.shape && !l.data.layout().splits().empty()) return l.data.where();

  std::vector<split_over> splits;
  std::vector<std::vector<std::int64_t>> offsets;
  std::uint32_t used = 0;
  for (int d = 0; d < e.shape.size(); ++d) {
    splits.emplace_back(whole);
    offsets.push_back({0, e.shape[d]});
    for (std::size_t s = 0; s < e.leaves.size() && splits.back().axes().empty(); ++s) {
      const distribution& leaf_where = *e.leaves[s].data.where();
      const int leaf_d = d - (e.shape.size() - leaf_where.ndim());
      const auto& all = leaf_where.layout().splits();
      if (!(leaf_where.mesh() == grid)) continue;
      if (leaf_d < 0 || static_cast<std::size_t>(leaf_d) >= all.size()) continue;
      if (leaf_where.shape()[leaf_d] == 1 && e.shape[d] != 1) continue;
      const split_over& how = all[static_cast<std::size_t>(leaf_d)];
      std::uint32_t axes = 0;
      for (const mesh_axis& a : how.axes()) axes |= std::uint32_t{1} << a.index();
      if ((axes & used) != 0) continue;
      used |= axes;
      // A sliced expression reads its leaf at shifted places: put the result where the middle of them is.
      std::int64_t low = std::numeric_limits<std::int64_t>::max();
      std::int64_t high = std::numeric_limits<std::int64_t>::min();
      for (const leaf_load& ld : e.code.loads)
        if (ld.leaf == s) {
          const std::int64_t o = ld.offset.empty() ? 0 : ld.offset[leaf_d];
          low = std::min(low, o);
          high = std::max(high, o);
        }
      const std::int64_t shift = low > high ? 0 : low + (high - low) / 2;
      splits.back() = how;
      offsets.back() = leaf_where.offsets(leaf_d);
      for (std::int64_t& o : offsets.back()) o = std::clamp<std::int64_t>(o - shift, 0, e.shape[d]);
      offsets.back().front() = 0;
      offsets.back().back() = e.shape[d];
    }
  }
  return std::make_shared<const distribution>(distribution::from_offsets(grid.layout(splits), std::move(offsets)));
}

}  // namespace

void check_same_ranks(const expr_state<array>& e, const serried::mesh& grid) {
  for (const auto& l : e.leaves)
    if (!(l.data.mesh().communicator() == grid.communicator()))
      throw value_error("distributed operands live on different sets of ranks");
}

void run(const expr_state<array>& e, const distribution& where, std::span<const serried::array> outputs,
         std::span<const rim> around) {
  check_same_call(where.mesh().communicator(), "evaluate");
  const int rank = where.mesh().communicator().rank();
  const box mine = where.shard(rank);
  fetch remote(where.mesh());
  std::vector<access> how;
  box inside = mine;
  for (std::size_t s = 0; s < e.leaves.size(); ++s) {
    const array& a = e.leaves[s].data;
    how.push_back(access_of(e, s));
    const access& h = how.back();
    const bool unsplit = std::none_of(h.rules.begin(), h.rules.end(), [](const auto& r) { return r.split; });
    if (unsplit || h.offsets.empty() || (h.stays() && *a.where() == where)) {
      remote.add(a);
      continue;
    }
    remote.add(a, planned(a, where, h));
    inside = interior(inside, h, a.shape(), a.where()->shard(rank));
  }
  // On a device that works by itself, packing, the exchange and the borders have an urgent queue of their own, beside
  // the interior's.
  const auto& device = outputs.front().data_storage()->device();
  const std::shared_ptr<queue> main = device->shared_current_queue();
  const std::shared_ptr<queue> side =
      remote.is_remote() && device->asynchronous() ? where.mesh().state()->traffic->side_queue(*device) : main;
  event_trace* const timeline = remote.is_remote() ? context::current().timeline() : nullptr;
  const auto now = [&] { return timeline != nullptr ? timeline->now() : nullptr; };
  for (const serried::array& out : outputs) out.data_storage()->write_on(*device);

  const auto compute = [&](const box& part) {
    if (part.empty()) return;
    std::vector<leaf_binding> leaves;
    std::vector<serried::array> frames;  // alive until the engine is done with them
    for (std::size_t s = 0; s < e.leaves.size(); ++s) {
      const array& a = e.leaves[s].data;
      const auto w = remote.at(s, window_of(part, how[s], a.shape(), a.where()->shard(rank)));
      leaf_binding b = bind_leaf(w.values, e.leaves[s].boundary, *device);
      b.extent = a.shape();
      b.window = w.indices;
      leaves.push_back(std::move(b));
      frames.push_back(w.values);
    }
    std::vector<output_binding> stored;  // the queues write to different parts, so neither waits for the other
    dims at = part.lo;
    for (int d = 0; d < part.ndim(); ++d) at[d] -= mine.lo[d];
    const int row = part.ndim() - 1;
    // Rims only of whole rows: then no two queues write the same bytes.
    const bool whole_rows = row >= 0 && part.lo[row] == mine.lo[row] && part.hi[row] == mine.hi[row];
    for (const serried::array& out : outputs) {
      stored.push_back({address_of(out, at), out.dtype(), out.strides()});
      if (!whole_rows || around.empty() || around[stored.size() - 1].data == nullptr) continue;
      rim& r = stored.back().around = around[stored.size() - 1];
      r.data += stored.back().data - address_of(out, dims::filled(part.ndim(), 0));
    }
    device->execute(e.code, leaves, stored, part);
  };
  const auto begin_exchange = [&] {
    if (side != main) side->wait_for(*main->record());
    const queue_guard aside(*device, side);
    for (const auto& l : e.leaves) l.data.local().data_storage()->read_on(*device);  // as it is before the interior
    const auto begin = now();
    remote.start();
    if (timeline != nullptr) timeline->add("pack", "exchange", begin, remote.times().begin);
  };
  const auto compute_interior = [&] {
    const auto begin = now();
    compute(inside);
    const auto end = side != main || timeline != nullptr ? main->record(true) : nullptr;
    if (timeline != nullptr) timeline->add("interior", "compute", begin, end);
    return end;
  };
  const auto compute_borders = [&](const std::shared_ptr<mark>& computed) {
    const queue_guard aside(*device, side);
    remote.wait(computed);
    for (const box& border : subtract(mine, inside)) compute(border);
    if (timeline != nullptr) {
      timeline->add("exchange", "exchange", remote.times().begin, remote.times().end);
      timeline->add("border", "exchange", remote.times().end, now());
    }
  };
  const auto compute_all = [&] {
    const rejoin at_the_end{*main, *side};
    begin_exchange();
    compute_borders(compute_interior());
  };
  // Where computing may fail, it fails on all ranks or on none.
  if (may_fail(e.code)) where.mesh().communicator().together(compute_all);
  else compute_all();
}

array evaluate_as(const expr_state<array>& e, const distribution_ptr& where) {
  alike(where->mesh(), [&] { check_leaves(e); });
  const int rank = where->mesh().communicator().rank();
  const auto& device = e.leaves.front().data.local().data_storage()->device();
  const serried::array out[] = {allocate(device, where->shard(rank).extents(), e.type)};
  run(e, *where, out);
  return {where, dims::filled(e.shape.size(), 0), out[0]};
}

array evaluate(const expr_state<array>& e) {
  const distribution_ptr where = alike(e.leaves.front().data.mesh(), [&] {
    check_leaves(e);
    return result_distribution(e);
  });
  return e.root ? reduce(e, where) : evaluate_as(e, where);
}

}  // namespace dist

}  // namespace serried::inline v0
