#include "local/cuda/stencil_sources.hpp"

#include <algorithm>
#include <cstdlib>

namespace serried::inline v0::cuda::stencil {
namespace {

class finder {
 public:
  finder(const program& p, const iteration& where) : p_(p), where_(where) {}

  source_table run() {
    find_sources();
    adopt();
    return std::move(table_);
  }

 private:
  [[nodiscard]] int ndim() const { return static_cast<int>(where_.dims.size()); }
  [[nodiscard]] std::int64_t extent(int d) const { return at(where_.dims, d).extent; }

  /// Offsets of a load along the iteration's dimensions. What merged dimensions hide stays in its address.
  std::vector<std::int64_t> offsets_of(const leaf_load& l) const {
    std::vector<std::int64_t> offset(where_.dims.size(), 0);
    const std::size_t lead = where_.indices.size() - static_cast<std::size_t>(l.offset.size());
    for (int d = 0; d < l.offset.size(); ++d) {
      const int dim = where_.indices[lead + static_cast<std::size_t>(d)].dim;
      if (dim >= 0) at(offset, dim) = l.offset[d];
    }
    return offset;
  }

  void find_sources() {
    std::vector<std::vector<std::int64_t>> offsets;
    for (std::size_t l = 0; l < p_.loads.size(); ++l) {
      const load_path& path = where_.loads[l];
      offsets.push_back(offsets_of(p_.loads[l]));
      auto base = reinterpret_cast<std::uint64_t>(path.data) + static_cast<std::uint64_t>(path.offset);
      for (int d = 0; d < ndim(); ++d) base -= static_cast<std::uint64_t>(at(offsets[l], d) * at(path.stride, d));
      const auto same = [&](const source& s) { return s.leaf == p_.loads[l].leaf && s.base == base; };
      auto found = std::find_if(table_.sources.begin(), table_.sources.end(), same);
      if (found == table_.sources.end()) {
        table_.sources.push_back({p_.loads[l].leaf,
                                  p_.leaves[p_.loads[l].leaf],
                                  path.item,
                                  &path.stride,
                                  base,
                                  {},
                                  {},
                                  {},
                                  std::vector<const guard*>(where_.dims.size(), nullptr),
                                  std::vector<std::int64_t>(where_.dims.size(), 0)});
        found = table_.sources.end() - 1;
      }
      found->loads.push_back(l);
    }
    table_.offsets.assign(p_.loads.size(), std::vector<int>(where_.dims.size(), 0));
    for (source& s : table_.sources) center(s, offsets);
  }

  /// Counts a source's offsets from their middle, so that equal patterns give equal kernels wherever they lie.
  void center(source& s, const std::vector<std::vector<std::int64_t>>& offsets) {
    for (int d = 0; d < ndim(); ++d) {
      std::int64_t lo = largest;
      std::int64_t hi = -largest;
      for (const std::size_t l : s.loads) {
        lo = std::min(lo, at(offsets[l], d));
        hi = std::max(hi, at(offsets[l], d));
      }
      const std::int64_t middle = lo + (hi - lo) / 2;
      s.base += static_cast<std::uint64_t>(middle * at(*s.stride, d));
      s.lo.push_back(static_cast<int>(lo - middle));
      s.hi.push_back(static_cast<int>(hi - middle));
      for (const std::size_t l : s.loads) {
        at(table_.offsets[l], d) = static_cast<int>(at(offsets[l], d) - middle);
        const guard* g = where_.loads[l].guard_of(d);
        if (g == nullptr) continue;
        at(s.guards, d) = g;
        at(s.first, d) = g->first - at(table_.offsets[l], d);
      }
    }
  }

  /// A leaf that is another view of an array (the center cell of a stencil often is) joins that array's loads if it
  /// lies among them.
  void adopt() {
    for (std::size_t b = 0; b < table_.sources.size(); ++b) {
      const source& view = table_.sources[b];
      const bool guarded =
          std::any_of(view.guards.begin(), view.guards.end(), [](const guard* g) { return g != nullptr; });
      if (view.moves() || guarded) continue;
      for (source& s : table_.sources) {
        std::vector<int> offset;
        if (!s.moves() || s.type != view.type || *s.stride != *view.stride || !lies_in(s, view.base, offset)) continue;
        for (const std::size_t l : view.loads) {
          s.loads.push_back(l);
          table_.offsets[l] = offset;
        }
        table_.sources.erase(table_.sources.begin() + static_cast<std::ptrdiff_t>(b--));
        break;
      }
    }
  }

  bool lies_in(const source& s, std::uint64_t address, std::vector<int>& offset) const {
    std::int64_t rest = gap(address, s.base);
    for (int d = 0; d < ndim(); ++d) {
      const std::int64_t stride = at(*s.stride, d);
      std::int64_t steps = 0;
      if (stride != 0) {
        // The nearest multiple: offsets are small beside extents.
        steps = (2 * rest + std::abs(stride) * (rest < 0 ? -1 : 1)) / (2 * stride);
        rest -= steps * stride;
      }
      if (steps < at(s.lo, d) || steps > at(s.hi, d)) return false;
      offset.push_back(static_cast<int>(steps));
      const guard* g = at(s.guards, d);
      const std::int64_t first = at(s.first, d) + steps;
      if (g != nullptr && (first < g->lo || first + extent(d) > g->hi)) return false;
    }
    return rest == 0;
  }

  const program& p_;
  const iteration& where_;
  source_table table_;
};

}  // namespace

source_table find_sources(const program& p, const iteration& where) { return finder(p, where).run(); }

}  // namespace serried::inline v0::cuda::stencil
