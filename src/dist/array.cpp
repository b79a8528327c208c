#include <serried/dist/array.hpp>

#include <serried/error.hpp>

#include "dist/distribution.hpp"
#include "dist/evaluate.hpp"
#include "dist/fetch.hpp"
#include "dist/same_call.hpp"
#include "local/evaluate.hpp"
#include "local/expr_impl.hpp"
#include "local/select.hpp"
#include "local/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <utility>

namespace serried::inline v0 {

namespace dist {

array::array(const dist::expr& e) : array(e.eval()) {}

array::array(distribution_ptr where, const dims& origin, const serried::array& local)
    : where_(std::move(where)), origin_(origin), local_(local) {}

const array& array::operator=(const array& values) && {
  assign(*this, values);
  return *this;
}

const array& array::operator=(const dist::expr& values) && {
  assign(*this, values);
  return *this;
}

const shape& array::shape() const noexcept { return where_->shape(); }
const layout& array::layout() const noexcept { return where_->layout(); }
const mesh& array::mesh() const noexcept { return where_->mesh(); }
dims array::local_offset() const { return where_->shard(mesh().communicator().rank()).lo; }

array array::select(const std::vector<index_item>& items) const {
  const selection s = alike(mesh(), [&] {
    selection resolved = resolve_selection(items, shape(), "index");
    if (!resolved.is_box)
      throw value_error(
          "index: a distributed array takes slices of step 1, `_` and `ellipsis` only, for now; slice(i, i + 1) "
          "selects index i");
    return resolved;
  });
  const box mine = where_->shard(mesh().communicator().rank());
  box part{s.start, s.start};
  dims origin = origin_;
  std::vector<std::vector<std::int64_t>> offsets;
  for (int d = 0; d < ndim(); ++d) {
    part.hi[d] += s.result[d];
    origin[d] += s.start[d];
    offsets.push_back(where_->offsets(d));
    for (std::int64_t& o : offsets.back()) o = std::clamp<std::int64_t>(o - s.start[d], 0, s.result[d]);
  }
  // An empty part of a shard stays in place, so that its address is one of the shard's.
  box here = intersect(part, mine);
  const serried::shape length = here.extents();
  for (int d = 0; d < ndim(); ++d) {
    here.lo[d] = std::clamp(here.lo[d], mine.lo[d], std::max(mine.lo[d], mine.hi[d] - 1)) - mine.lo[d];
    here.hi[d] = here.lo[d] + length[d];
  }
  return {std::make_shared<const distribution>(distribution::from_offsets(layout(), std::move(offsets))), origin,
          box_view(local_, here)};
}

array array::copy() const { return dist::expr(*this).eval(); }

serried::array array::gather() const { return serried::gather(*this); }

void array::check_single() const {
  alike(mesh(), [&] {
    if (size() != 1)
      throw value_error(fmt::format("item: an array of shape {} has {} elements, not one", to_string(shape()), size()));
  });
}

void array::fill(const scalar& value) const {
  alike(mesh(), [&] { local_.fill(value); });
}

}  // namespace dist

dist::array redistribute(const dist::expr& values, const layout& to) {
  const auto& e = *values.state();
  if (e.root) return redistribute(dist::array(values), to);
  return dist::evaluate_as(e, dist::alike(to.mesh(), [&] {
                             dist::check_same_ranks(e, to.mesh());
                             return dist::distribute(to, e.shape);
                           }));
}

array gather(const dist::expr& values, int root) {
  const dist::array a = detail::as_array(values);
  const communicator& world = a.mesh().communicator();
  dist::alike(a.mesh(), [&] {
    if (root >= world.size()) throw value_error(fmt::format("gather: root {} of {} ranks", root, world.size()));
  });
  dist::check_same_call(world, "gather");
  const box all = box::whole(a.shape());
  dist::fetch remote(a.mesh());
  const auto needs = [&](int rank) { return root < 0 || rank == root ? std::vector{all} : std::vector<box>{}; };
  remote.add(a, dist::plan(*a.where(), world.rank(), needs, {.without_shard = true}));
  remote.start();
  remote.wait();
  if (root >= 0 && world.rank() != root) return empty({0}, {.dtype = a.dtype()});
  const array whole = remote.at(0, all).values;
  return whole.data_storage() == a.local().data_storage() ? whole.copy() : whole;
}

dist::array distribute(const array& same_everywhere, const layout& to) {
  return redistribute(replicate(same_everywhere, to.mesh()), to);
}

dist::array replicate(const array& same_everywhere, const mesh& grid) {
  return {dist::replicated(grid, same_everywhere.shape()), dims::filled(same_everywhere.ndim(), 0),
          same_everywhere.copy()};
}

std::ostream& operator<<(std::ostream& out, const dist::array& a) {
  const array all = a.gather();
  return out.good() ? out << all : out;
}

dist::array empty(const shape& s, const layout& where, const create_options& options) {
  const auto distribution = dist::alike(where.mesh(), [&] { return dist::distribute(where, s); });
  const box mine = distribution->shard(where.mesh().communicator().rank());
  return {distribution, dims::filled(s.size(), 0), empty(mine.extents(), options)};
}
dist::array full(const shape& s, const scalar& value, const layout& where, const create_options& options) {
  const dist::array a = empty(s, where, {.dtype = options.dtype.value_or(value.alone())});
  a.fill(value);
  return a;
}
dist::array zeros(const shape& s, const layout& where, const create_options& options) {
  return full(s, 0, where, {.dtype = options.dtype.value_or(dtype::float64)});
}
dist::array ones(const shape& s, const layout& where, const create_options& options) {
  return full(s, 1, where, {.dtype = options.dtype.value_or(dtype::float64)});
}

dist::array empty_like(const dist::array& a, const create_options& options) {
  return {a.where(), dims::filled(a.ndim(), 0), empty(a.local().shape(), {.dtype = options.dtype.value_or(a.dtype())})};
}
dist::array full_like(const dist::array& a, const scalar& value, const create_options& options) {
  const dist::array result = empty_like(a, options);
  result.fill(value);
  return result;
}
dist::array zeros_like(const dist::array& a, const create_options& options) { return full_like(a, 0, options); }
dist::array ones_like(const dist::array& a, const create_options& options) { return full_like(a, 1, options); }

}  // namespace serried::inline v0
