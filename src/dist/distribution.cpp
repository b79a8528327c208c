#include "dist/distribution.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace serried::inline v0::dist {

namespace {

const std::vector<mesh_axis>& axes_of(const serried::layout& how, int d) {
  static const std::vector<mesh_axis> none;
  return d < static_cast<int>(how.splits().size()) ? how.splits()[static_cast<std::size_t>(d)].axes() : none;
}

int parts_along(const serried::layout& how, int d) {
  int parts = 1;
  for (const mesh_axis& a : axes_of(how, d)) parts *= a.size();
  return parts;
}

void check_rank(const serried::layout& how, int ndim) {
  if (static_cast<int>(how.splits().size()) > ndim)
    throw shape_error(
        fmt::format("layout {} splits dimension {}, the array has {}", to_string(how), how.splits().size() - 1, ndim));
}

}  // namespace

std::vector<std::int64_t> block_offsets(std::int64_t n, int parts) {
  std::vector<std::int64_t> offsets{0};
  for (int i = 0; i < parts; ++i) offsets.push_back(offsets.back() + n / parts + (i < n % parts ? 1 : 0));
  return offsets;
}

distribution::distribution(serried::layout how, const serried::shape& extents)
    : layout_(std::move(how)), shape_(extents) {
  check_rank(layout_, ndim());
  static_cast<void>(element_count(shape_));  // refuses negative extents and sizes that overflow
  for (int d = 0; d < ndim(); ++d) offsets_.push_back(block_offsets(shape_[d], parts_along(layout_, d)));
}

distribution distribution::from_offsets(serried::layout how, std::vector<std::vector<std::int64_t>> offsets) {
  check_rank(how, static_cast<int>(offsets.size()));
  distribution made(std::move(how));
  for (int d = 0; d < static_cast<int>(offsets.size()); ++d) {
    const auto& list = offsets[static_cast<std::size_t>(d)];
    const auto parts = static_cast<std::size_t>(parts_along(made.layout_, d));
    if (list.size() != parts + 1 || list.front() != 0 || !std::is_sorted(list.begin(), list.end()))
      throw value_error(
          fmt::format("distribution: dimension {} needs {} offsets from 0 up, not falling", d, parts + 1));
    made.shape_.push_back(list.back());
  }
  static_cast<void>(element_count(made.shape_));
  made.offsets_ = std::move(offsets);
  return made;
}

int distribution::replicas() const {
  int copies = mesh().size();
  for (int d = 0; d < ndim(); ++d) copies /= parts(d);
  return copies;
}

dims distribution::parts_of(int rank) const {
  const dims place = mesh().coordinates(rank);
  dims parts = dims::filled(ndim(), 0);
  for (int d = 0; d < ndim(); ++d)
    for (const mesh_axis& a : axes_of(layout_, d)) parts[d] = parts[d] * a.size() + place[a.index()];
  return parts;
}

box distribution::shard(int rank) const {
  const dims parts = parts_of(rank);
  box held{parts, parts};
  for (int d = 0; d < ndim(); ++d) {
    const auto part = static_cast<std::size_t>(parts[d]);
    held.lo[d] = offsets(d)[part];
    held.hi[d] = offsets(d)[part + 1];
  }
  return held;
}

int distribution::part_at(int d, std::int64_t index) const {
  // Of several parts that start at the same index all but the last are empty.
  const auto& list = offsets(d);
  return static_cast<int>(std::upper_bound(list.begin(), list.end(), index) - list.begin()) - 1;
}

int distribution::owner(const dims& parts, int reader) const {
  dims place = mesh().coordinates(reader);
  for (int d = 0; d < ndim(); ++d) {
    const auto& axes = axes_of(layout_, d);
    std::int64_t part = parts[d];
    for (auto a = axes.rbegin(); a != axes.rend(); ++a) {
      place[a->index()] = part % a->size();
      part /= a->size();
    }
  }
  return mesh().rank_at(place);
}

int distribution::owner_at(const dims& index, int reader) const {
  dims parts = index;
  for (int d = 0; d < ndim(); ++d) parts[d] = part_at(d, index[d]);
  return owner(parts, reader);
}

distribution_ptr distribute(const serried::layout& how, const serried::shape& extents) {
  return std::make_shared<const distribution>(how, extents);
}

distribution_ptr replicated(const serried::mesh& grid, const serried::shape& extents) {
  return distribute(grid.layout(), extents);
}

}  // namespace serried::inline v0::dist
