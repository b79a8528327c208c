#include "local/host/iteration.hpp"

#include "local/host/boundary.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace serried::inline v0::host {
namespace {

bool starts_aligned(const std::byte* data, std::int64_t item) {
  // A complex number is as aligned as its parts.
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(std::min<std::int64_t>(item, 8)) == 0;
}

bool all_aligned(const std::byte* data, std::int64_t item, const strides& stride, const shape& extent) {
  if (!starts_aligned(data, item)) return false;
  const std::int64_t unit = std::min<std::int64_t>(item, 8);
  for (int d = 0; d < stride.size(); ++d)
    if (extent[d] > 1 && stride[d] % unit != 0) return false;
  return true;
}

/// Dimensions of the box before merging: dimension d of the iteration is dimension d of the box.
class walker {
 public:
  walker(const program& p, std::span<const leaf_binding> leaves, std::span<const output_binding> outputs,
         const box& where, std::uint32_t reduced_axes, const box& whole)
      : where_(where), ndim_(where.ndim()) {
    add_dims(p, reduced_axes, whole);
    for (const leaf_load& l : p.loads) result_.loads.push_back(path_of(leaves[l.leaf], l));
    for (const output_binding& o : outputs) {
      const auto item = static_cast<std::int64_t>(item_size(o.type));
      result_.outputs.push_back(
          {o.data, item, {o.stride.begin(), o.stride.end()}, all_aligned(o.data, item, o.stride, where.extents())});
    }
  }

  iteration run(bool reducing) {
    order(reducing);
    merge();
    if (reducing) choose_rows_of_reduction();
    else choose_rows();
    return std::move(result_);
  }

 private:
  auto& dims() { return result_.dims; }
  int count() { return static_cast<int>(result_.dims.size()); }

  void add_dims(const program& p, std::uint32_t reduced_axes, const box& whole) {
    const shape extents = where_.extents();
    std::int64_t kept = 1;
    for (int d = 0; d < ndim_; ++d) {
      dims().push_back({extents[d], (reduced_axes >> d & 1u) != 0});
      result_.indices.push_back({where_.lo[d], extents[d] == 1 ? -1 : d});
    }
    for (int d = ndim_ - 1; d >= 0; --d) {
      iteration_dim& dim = dims()[static_cast<std::size_t>(d)];
      if (dim.reduced) continue;
      dim.result_stride = kept;
      kept *= whole.hi[d] - whole.lo[d];
    }
    single_.assign(static_cast<std::size_t>(ndim_), false);
    for (const instruction& i : p.code)
      if (i.op == opcode::index) single_[i.args[0]] = true;
  }

  load_path path_of(const leaf_binding& leaf, const leaf_load& load) {
    const auto item = static_cast<std::int64_t>(item_size(leaf.type));
    load_path path{leaf.data, item, 0, std::vector<std::int64_t>(static_cast<std::size_t>(ndim_), 0), {}, true};
    path.aligned = all_aligned(leaf.data, item, leaf.stride, leaf.window.extents());
    const int lead = ndim_ - leaf.extent.size();
    for (int d = 0; d < leaf.extent.size(); ++d) {
      const int out = d + lead;
      const std::int64_t shift = load.offset.empty() ? 0 : load.offset[d];
      const bool constant = leaf.extent[d] == 1 || dims()[static_cast<std::size_t>(out)].extent == 1;
      const std::int64_t first = shift + (leaf.extent[d] == 1 ? 0 : where_.lo[out]);
      const std::int64_t last = constant ? first : shift + where_.hi[out] - 1;
      const std::int64_t lo = leaf.window.lo[d];
      const std::int64_t hi = leaf.window.hi[d];
      const std::int64_t stride = leaf.stride[d];
      const faces boundary = leaf.boundary.empty() ? faces{} : leaf.boundary[static_cast<std::size_t>(d)];
      if (!constant) path.stride[static_cast<std::size_t>(out)] = stride;
      path.offset += (first - lo) * stride;
      if (first >= lo && last < hi) continue;
      if (!constant) {
        // The ends tell whether there is a boundary at all, before anything is written.
        if (first < lo) (void)resolve_outside(first, lo, hi, leaf.extent[d], boundary);
        if (last >= hi) (void)resolve_outside(last, lo, hi, leaf.extent[d], boundary);
        path.guards.push_back({out, first, lo, hi, leaf.extent[d], stride, boundary});
        single_[static_cast<std::size_t>(out)] = true;
        continue;
      }
      const outside there = resolve_outside(first, lo, hi, leaf.extent[d], boundary);
      if (there.value == nullptr) path.offset += (there.index - first) * stride;
      else path.guards.push_back({-1, first, lo, hi, leaf.extent[d], stride, boundary});
    }
    return path;
  }

  /// Gives every per-dimension table the order `from` (old numbers, outermost first; some may be left out).
  void rearrange(const std::vector<int>& from) {
    const auto pick = [&](const auto& old) {
      std::decay_t<decltype(old)> fresh;
      for (const int d : from) fresh.push_back(old[static_cast<std::size_t>(d)]);
      return fresh;
    };
    std::vector<int> to(dims().size(), -1);
    for (std::size_t d = 0; d < from.size(); ++d) to[static_cast<std::size_t>(from[d])] = static_cast<int>(d);
    result_.dims = pick(result_.dims);
    single_ = pick(single_);
    for (load_path& l : result_.loads) {
      l.stride = pick(l.stride);
      for (guard& g : l.guards)
        if (g.dim >= 0) g.dim = to[static_cast<std::size_t>(g.dim)];
    }
    for (output_path& o : result_.outputs) o.stride = pick(o.stride);
    for (index_path& i : result_.indices)
      if (i.dim >= 0) i.dim = to[static_cast<std::size_t>(i.dim)];
  }

  /// Drops dimensions of length 1 and puts long strides outermost: those of the output, or of what is reduced.
  void order(bool reducing) {
    std::vector<int> from;
    for (int d = 0; d < count(); ++d)
      if (dims()[static_cast<std::size_t>(d)].extent != 1) from.push_back(d);
    const auto span = [&](int d) {
      std::int64_t total = 0;
      if (!reducing && !result_.outputs.empty())
        return std::abs(result_.outputs[0].stride[static_cast<std::size_t>(d)]);
      for (const load_path& l : result_.loads) total += std::abs(l.stride[static_cast<std::size_t>(d)]);
      return total;
    };
    std::stable_sort(from.begin(), from.end(), [&](int a, int b) { return span(a) > span(b); });
    rearrange(from);
  }

  bool mergeable(std::size_t outer, std::size_t inner) {
    const iteration_dim& o = dims()[outer];
    const iteration_dim& i = dims()[inner];
    if (single_[outer] || single_[inner] || o.reduced != i.reduced) return false;
    if (!o.reduced && o.result_stride != i.result_stride * i.extent) return false;
    const auto runs_on = [&](const auto& path) { return path.stride[outer] == path.stride[inner] * i.extent; };
    return std::all_of(result_.loads.begin(), result_.loads.end(), runs_on) &&
           std::all_of(result_.outputs.begin(), result_.outputs.end(), runs_on);
  }

  void merge() {
    std::vector<int> from;
    for (std::size_t d = 0; d < dims().size(); ++d) {
      if (!from.empty() && mergeable(static_cast<std::size_t>(from.back()), d)) {
        dims()[d].extent *= dims()[static_cast<std::size_t>(from.back())].extent;
        from.back() = static_cast<int>(d);
      } else {
        from.push_back(static_cast<int>(d));
      }
    }
    rearrange(from);
    while (count() < 2) add_unit_dim(0, false);
  }

  void add_unit_dim(int before, bool reduced) {
    const auto insert = [&](auto& table, auto value) { table.insert(table.begin() + before, value); };
    insert(dims(), iteration_dim{1, reduced, 0});
    insert(single_, false);
    for (load_path& l : result_.loads) {
      insert(l.stride, std::int64_t{0});
      for (guard& g : l.guards) g.dim += g.dim >= before;
    }
    for (output_path& o : result_.outputs) insert(o.stride, std::int64_t{0});
    for (index_path& i : result_.indices) i.dim += i.dim >= before;
  }

  void move_to_rows(int d) {
    std::vector<int> from(dims().size());
    std::iota(from.begin(), from.end(), 0);
    from.erase(from.begin() + d);
    from.insert(from.end() - 1, d);
    rearrange(from);
  }

  int longest_outer() {
    int best = count() - 2;
    for (int d = 0; d < count() - 1; ++d)
      if (dims()[static_cast<std::size_t>(d)].extent > dims()[static_cast<std::size_t>(best)].extent) best = d;
    return best;
  }

  void choose_rows() {
    const int columns = count() - 1;
    for (const load_path& l : result_.loads) {
      const std::int64_t along = std::abs(l.stride[static_cast<std::size_t>(columns)]);
      for (int d = 0; along > l.item && d < columns; ++d) {
        if (std::abs(l.stride[static_cast<std::size_t>(d)]) != l.item) continue;
        move_to_rows(d);
        result_.transposed = result_.rows() > 1;
        return;
      }
    }
    if (result_.columns() * result_.rows() < 512) move_to_rows(longest_outer());
  }

  /// Rows whose class differs from the columns' make tiles that reduce in one direction.
  void choose_rows_of_reduction() {
    const bool columns_reduced = dims().back().reduced;
    for (int d = count() - 2; d >= 0; --d) {
      if (dims()[static_cast<std::size_t>(d)].reduced == columns_reduced) continue;
      move_to_rows(d);
      return;
    }
    if (columns_reduced) move_to_rows(longest_outer());
    else add_unit_dim(count() - 1, true);
  }

  const box& where_;
  int ndim_;
  std::vector<bool> single_;  // dimensions that must not merge
  iteration result_;
};

}  // namespace

const guard* load_path::guard_of(int dim) const {
  for (const guard& g : guards)
    if (g.dim == dim) return &g;
  return nullptr;
}

bool load_path::uniform() const {
  return guards.empty() && std::all_of(stride.begin(), stride.end(), [](std::int64_t s) { return s == 0; });
}

iteration make_iteration(const program& p, std::span<const leaf_binding> leaves,
                         std::span<const output_binding> outputs, const box& where) {
  return walker(p, leaves, outputs, where, 0, where).run(false);
}

iteration make_iteration(const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
                         const box& whole) {
  return walker(p, leaves, {}, where, r.axes, whole).run(true);
}

}  // namespace serried::inline v0::host
