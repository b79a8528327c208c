#include "dist/mesh.hpp"

#include <serried/dist/layout.hpp>
#include <serried/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace serried::inline v0 {

namespace dist {

std::vector<std::int64_t> balanced_factors(std::int64_t n, int count) {
  if (count == 1) return {n};
  // The smallest divisor that can be the largest factor; n itself always can.
  for (std::int64_t largest = 1;; ++largest) {
    if (n % largest != 0) continue;
    std::vector<std::int64_t> rest = balanced_factors(n / largest, count - 1);
    if (rest.front() > largest) continue;
    rest.insert(rest.begin(), largest);
    return rest;
  }
}

namespace {

void check_names(const std::vector<axis_extent>& axes) {
  if (axes.empty()) throw value_error("mesh: at least one axis is needed");
  if (axes.size() > max_ndim) throw value_error(fmt::format("mesh: {} axes, at most {}", axes.size(), max_ndim));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name.empty()) throw value_error(fmt::format("mesh: axis {} has no name", i));
    for (std::size_t j = 0; j < i; ++j)
      if (axes[i].name == axes[j].name) throw value_error(fmt::format("mesh: two axes named '{}'", axes[i].name));
  }
}

std::string describe(const std::vector<axis_extent>& axes) {
  std::string text;
  for (const axis_extent& a : axes) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", a.name, a.size);
  return "(" + text + ")";
}

}  // namespace

mesh make_mesh(communicator world, int ranks, const std::vector<axis_extent>& axes) {
  check_names(axes);
  int open = 0;
  std::int64_t fixed = 1;
  for (const axis_extent& a : axes) {
    if (a.size < 0) throw value_error(fmt::format("mesh {}: axis '{}' has a negative size", describe(axes), a.name));
    if (a.size == 0) ++open;
    else if (__builtin_mul_overflow(fixed, a.size, &fixed))
      throw value_error(fmt::format("mesh {}: too many ranks, the communicator has {}", describe(axes), ranks));
  }
  if (open == 0 ? fixed != ranks : ranks % fixed != 0)
    throw value_error(fmt::format("mesh {} is for {}{} ranks, the communicator has {}", describe(axes),
                                  open == 0 ? "" : "a multiple of ", fixed, ranks));

  mesh_state state{std::move(world), {}, {}};
  const std::vector<std::int64_t> factors =
      open == 0 ? std::vector<std::int64_t>{} : balanced_factors(ranks / fixed, open);
  auto next = factors.begin();
  for (const axis_extent& a : axes) {
    state.names.push_back(a.name);
    state.shape.push_back(a.size == 0 ? *next++ : a.size);
  }
  return mesh(std::make_shared<const mesh_state>(std::move(state)));
}

bool same_mesh(const std::shared_ptr<const mesh_state>& a, const std::shared_ptr<const mesh_state>& b) {
  return a == b || *a == *b;
}

}  // namespace dist

std::string_view mesh_axis::name() const { return state_->names[static_cast<std::size_t>(index_)]; }

int mesh_axis::size() const { return static_cast<int>(state_->shape[index_]); }

int split_over::parts() const {
  int n = 1;
  for (const mesh_axis& a : axes_) n *= a.size();
  return n;
}

mesh::mesh(serried::communicator world, const std::vector<axis_extent>& axes)
    : mesh(dist::make_mesh(world, world.size(), axes)) {}

mesh::mesh(serried::communicator world) : mesh(std::move(world), {{"ranks", 0}}) {}

mesh_axis mesh::axis(std::string_view name) const {
  const auto& names = state_->names;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw value_error(fmt::format("mesh::axis: no axis '{}' in mesh {}", name, to_string(*this)));
  return {state_, static_cast<int>(found - names.begin())};
}

mesh_axis mesh::axis(int index) const {
  if (index < 0 || index >= ndim())
    throw index_error(fmt::format("mesh::axis: no axis {} in mesh {}", index, to_string(*this)));
  return {state_, index};
}

layout mesh::layout(const std::vector<split_over>& splits) const { return {*this, splits}; }

layout mesh::layout() const { return {*this, {}}; }

int mesh::size() const {
  int n = 1;
  for (const std::int64_t extent : state_->shape) n *= static_cast<int>(extent);
  return n;
}

int mesh::ndim() const { return state_->shape.size(); }

const shape& mesh::shape() const { return state_->shape; }

const communicator& mesh::communicator() const { return state_->world; }

dims mesh::coordinates(int rank) const {
  if (rank < 0 || rank >= size())
    throw index_error(fmt::format("mesh::coordinates: no rank {} in mesh {}", rank, to_string(*this)));
  dims where = state_->shape;
  for (int d = ndim() - 1; d >= 0; --d) {
    where[d] = rank % static_cast<int>(state_->shape[d]);
    rank /= static_cast<int>(state_->shape[d]);
  }
  return where;
}

int mesh::rank_at(const dims& coordinates) const {
  bool inside = coordinates.size() == ndim();
  std::int64_t rank = 0;
  for (int d = 0; inside && d < ndim(); ++d) {
    inside = coordinates[d] >= 0 && coordinates[d] < state_->shape[d];
    rank = rank * state_->shape[d] + coordinates[d];
  }
  if (!inside)
    throw index_error(fmt::format("mesh::rank_at: {} is not in mesh {}", to_string(coordinates), to_string(*this)));
  return static_cast<int>(rank);
}

std::string to_string(const mesh& m) {
  std::string text;
  for (int d = 0; d < m.ndim(); ++d)
    text += fmt::format("{}{}: {}", d == 0 ? "" : ", ", m.axis(d).name(), m.shape()[d]);
  return "(" + text + ")";
}

const exchange_statistics& mesh::exchange_statistics() const {
  state_->traffic->settle(0);
  return state_->traffic->statistics;
}

void mesh::reset_exchange_statistics() const noexcept {
  state_->traffic->timed.clear();
  state_->traffic->statistics = {};
}

namespace dist {

communicator communicator_along(const mesh& grid, std::uint32_t axes) {
  auto& made = grid.state()->traffic->along;
  const auto found = made.find(axes);
  if (found != made.end()) return found->second;
  const communicator& world = grid.communicator();
  // Ranks with the same place along all other axes form a group: that place, as a rank, is its color.
  dims place = grid.coordinates(world.rank());
  for (int d = 0; d < grid.ndim(); ++d)
    if ((axes >> d & 1U) != 0) place[d] = 0;
  return made[axes] = world.split(grid.rank_at(place), world.rank());
}

}  // namespace dist

}  // namespace serried::inline v0
