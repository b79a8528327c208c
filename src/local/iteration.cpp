#include "local/iteration.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace serried::inline v0 {
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
    result_.loads.reserve(p.loads.size());
    result_.outputs.reserve(outputs.size());
    for (const leaf_load& l : p.loads) result_.loads.push_back(path_of(leaves[l.leaf], l));
    for (const std::uint16_t slot : gathered_leaves(p))
      result_.gathers.push_back({leaves[slot].data, element_count(leaves[slot].extent)});
    for (const output_binding& o : outputs) {
      const auto item = static_cast<std::int64_t>(item_size(o.type));
      result_.outputs.push_back({o.data,
                                 item,
                                 {o.stride.begin(), o.stride.end()},
                                 all_aligned(o.data, item, o.stride, where.extents()),
                                 o.around});
    }
  }

  iteration run(bool reducing) {
    order(reducing);
    merge();
    return std::move(result_);
  }

 private:
  auto& dims() { return result_.dims; }
  int count() { return static_cast<int>(result_.dims.size()); }

  void add_dims(const program& p, std::uint32_t reduced_axes, const box& whole) {
    const shape extents = where_.extents();
    std::int64_t kept = 1;
    dims().reserve(static_cast<std::size_t>(ndim_));
    result_.indices.reserve(static_cast<std::size_t>(ndim_));
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
    for (const instruction& i : p.code)
      if (i.op == opcode::index) single_ |= 1u << i.args[0];
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
        // The ends of what lies outside tell whether all of it can be read, before anything is written.
        for (const std::int64_t i : {first, lo - 1, hi, last})
          if (first <= i && i <= last && (i < lo || i >= hi))
            (void)resolve_outside(i, lo, hi, leaf.extent[d], boundary);
        path.guards.push_back({out, first, lo, hi, leaf.extent[d], stride, boundary});
        single_ |= 1u << out;
        continue;
      }
      const outside there = resolve_outside(first, lo, hi, leaf.extent[d], boundary);
      if (there.value == nullptr) path.offset += (there.index - first) * stride;
      else path.guards.push_back({-1, first, lo, hi, leaf.extent[d], stride, boundary});
    }
    return path;
  }

  void rearrange(const std::vector<int>& from) {
    result_.rearrange(from);
    std::uint32_t single = 0;
    for (std::size_t d = 0; d < from.size(); ++d) single |= (single_ >> from[d] & 1u) << d;
    single_ = single;
  }

  /// Drops dimensions of length 1 and puts long strides outermost: those of the output, or of what is reduced.
  void order(bool reducing) {
    std::vector<int> from;
    from.reserve(dims().size());
    for (int d = 0; d < count(); ++d)
      if (dims()[static_cast<std::size_t>(d)].extent != 1) from.push_back(d);
    const auto span = [&](int d) {
      std::int64_t total = 0;
      if (!reducing && !result_.outputs.empty())
        return std::abs(result_.outputs[0].stride[static_cast<std::size_t>(d)]);
      for (const load_path& l : result_.loads) total += std::abs(l.stride[static_cast<std::size_t>(d)]);
      return total;
    };
    if (from.size() > 1) std::stable_sort(from.begin(), from.end(), [&](int a, int b) { return span(a) > span(b); });
    if (from.empty() || from.back() != ndim_ - 1)
      for (output_path& o : result_.outputs) o.around = {};
    rearrange(from);
  }

  bool mergeable(std::size_t outer, std::size_t inner) {
    const iteration_dim& o = dims()[outer];
    const iteration_dim& i = dims()[inner];
    if (((single_ >> outer | single_ >> inner) & 1u) != 0 || o.reduced != i.reduced) return false;
    if (!o.reduced && o.result_stride != i.result_stride * i.extent) return false;
    const auto runs_on = [&](const auto& path) { return path.stride[outer] == path.stride[inner] * i.extent; };
    return std::all_of(result_.loads.begin(), result_.loads.end(), runs_on) &&
           std::all_of(result_.outputs.begin(), result_.outputs.end(), runs_on);
  }

  void merge() {
    std::vector<int> from;
    from.reserve(dims().size());
    for (std::size_t d = 0; d < dims().size(); ++d) {
      if (!from.empty() && mergeable(static_cast<std::size_t>(from.back()), d)) {
        dims()[d].extent *= dims()[static_cast<std::size_t>(from.back())].extent;
        from.back() = static_cast<int>(d);
      } else {
        from.push_back(static_cast<int>(d));
      }
    }
    rearrange(from);
  }

  const box& where_;
  int ndim_;
  std::uint32_t single_ = 0;  // bit d: dimension d must not merge
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

void iteration::rearrange(std::span<const int> from) {
  bool same = from.size() == dims.size();
  for (std::size_t d = 0; same && d < from.size(); ++d) same = from[d] == static_cast<int>(d);
  if (same) return;
  const auto pick = [&](auto& table) {
    std::decay_t<decltype(table)> fresh;
    fresh.reserve(from.size());
    for (const int d : from) {
      if (d < 0) fresh.emplace_back();
      else fresh.push_back(table[static_cast<std::size_t>(d)]);
    }
    table = std::move(fresh);
  };
  std::vector<int> to(dims.size(), -1);
  for (std::size_t d = 0; d < from.size(); ++d)
    if (from[d] >= 0) to[static_cast<std::size_t>(from[d])] = static_cast<int>(d);
  pick(dims);
  for (load_path& l : loads) {
    pick(l.stride);
    for (guard& g : l.guards)
      if (g.dim >= 0) g.dim = to[static_cast<std::size_t>(g.dim)];
  }
  for (output_path& o : outputs) pick(o.stride);
  for (index_path& i : indices)
    if (i.dim >= 0) i.dim = to[static_cast<std::size_t>(i.dim)];
}

outside resolve_outside(std::int64_t i, std::int64_t lo, std::int64_t hi, std::int64_t extent, const faces& boundary) {
  const face none;
  const face& f = i < 0 ? boundary.low : i >= extent ? boundary.high : none;
  std::int64_t inside = i;
  switch (f.kind) {
    case boundary_kind::value: return {0, &f.value};
    case boundary_kind::periodic: inside = ((i % extent) + extent) % extent; break;
    case boundary_kind::edge: inside = std::clamp<std::int64_t>(i, 0, extent - 1); break;
    case boundary_kind::none: break;
  }
  if (inside < lo || inside >= hi)
    throw index_error(fmt::format("index {} of a dimension of length {} is read, but only {} to {} are there", i,
                                  extent, lo, hi - 1));
  return {inside};
}

iteration make_iteration(const program& p, std::span<const leaf_binding> leaves,
                         std::span<const output_binding> outputs, const box& where) {
  for (const output_binding& o : outputs)
    for (int d = 0; d < where.ndim(); ++d)
      if (o.stride[d] == 0 && where.hi[d] - where.lo[d] > 1)
        throw value_error("an output whose elements share memory cannot be written (a stride is 0)");
  return walker(p, leaves, outputs, where, 0, where).run(false);
}

iteration make_iteration(const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
                         const box& whole) {
  return walker(p, leaves, {}, where, r.axes, whole).run(true);
}

}  // namespace serried::inline v0
