#include "local/evaluate.hpp"

#include <serried/error.hpp>

#include "local/assignment.hpp"
#include "local/check_leaves.hpp"
#include "local/context.hpp"
#include "local/reads_elsewhere.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <optional>
#include <span>
#include <utility>

namespace serried::inline v0 {

bool same_view(const array& a, const array& b) {
  return a.data_storage() == b.data_storage() && a.offset() == b.offset() && a.dtype() == b.dtype() &&
         a.shape() == b.shape() && a.strides() == b.strides();
}

array allocate(const std::shared_ptr<engine>& device, const shape& s, dtype type) {
  const std::int64_t count = element_count(s);
  const auto item = static_cast<std::int64_t>(item_size(type));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, item, &bytes))
    throw shape_error(
        fmt::format("an array of shape {} and dtype {} is too large to address", to_string(s), name(type)));
  return {std::make_shared<storage>(device, static_cast<std::size_t>(bytes)), 0, s,
          contiguous_strides(s, static_cast<std::size_t>(item)), type};
}

namespace {
std::byte* first_of(const array& a) { return a.data_storage()->data() + a.offset(); }
}  // namespace

std::byte* address_of(const array& a, const dims& index) {
  std::byte* p = first_of(a);
  for (int d = 0; d < a.ndim(); ++d) p += index[d] * a.strides()[d];
  return p;
}

leaf_binding bind_leaf(const array& a, std::vector<faces> boundary, engine& on) {
  a.data_storage()->read_on(on);
  return {first_of(a), a.dtype(), a.shape(), box::whole(a.shape()), a.strides(), std::move(boundary)};
}

leaf_binding bind_leaf(const array& a, std::vector<faces> boundary) {
  return bind_leaf(a, std::move(boundary), *a.data_storage()->device());
}

output_binding bind_output(const array& a, const box& where, engine& on) {
  a.data_storage()->write_on(on);
  return {address_of(a, where.lo), a.dtype(), a.strides()};
}
output_binding bind_output(const array& a, const box& where) {
  return bind_output(a, where, *a.data_storage()->device());
}

namespace {

program copy_program(dtype type) {
  program p;
  p.leaves = {type};
  p.loads = {{0, {}}};
  p.code = {{opcode::load, type, type, {0}}};
  p.outputs = {0};
  return p;
}

void check_device(const array& a, const engine& device) {
  const auto& its = *a.data_storage()->device();
  if (&its != &device && its.place() != device.place())
    throw device_error(fmt::format("an array of shape {} is on device {}, the current one is {}", to_string(a.shape()),
                                   its.place(), device.place()));
}

void check_devices(const expr_state<array>& e, const engine& device) {
  for (const auto& l : e.leaves) check_device(l.data, device);
}

/// The leaves bound; a few of them without going for memory.
class bound_leaves {
 public:
  bound_leaves(const expr_state<array>& e, engine& on) {
    leaves_.reserve(e.leaves.size());
    for (const auto& [a, version, boundary] : e.leaves) {  // as bind_leaf, in place
      a.data_storage()->read_on(on);
      leaves_.emplace_back(first_of(a), a.dtype(), a.shape(), box::whole(a.shape()), a.strides(), boundary);
    }
  }
  bound_leaves(const bound_leaves&) = delete;
  bound_leaves& operator=(const bound_leaves&) = delete;

  operator std::span<const leaf_binding>() const { return leaves_; }

 private:
  alignas(leaf_binding) std::array<std::byte, 4 * sizeof(leaf_binding)> space_;
  std::pmr::monotonic_buffer_resource nearby_{space_.data(), space_.size()};
  std::pmr::vector<leaf_binding> leaves_{&nearby_};
};

std::pair<const std::byte*, const std::byte*> byte_range(const array& a) {
  const std::byte* low = first_of(a);
  const std::byte* high = low + item_size(a.dtype());
  for (int d = 0; d < a.ndim(); ++d) (a.strides()[d] < 0 ? low : high) += (a.shape()[d] - 1) * a.strides()[d];
  return {low, high};
}

placement placement_of(const array& a) { return {a.offset(), a.shape(), a.strides(), a.dtype()}; }

// The whole array that a view is a box of (unit steps, C order), if its strides say so.
struct enclosing {
  shape whole;
  box part;
};
std::optional<enclosing> find_enclosing(const array& view) {
  const auto item = static_cast<std::int64_t>(item_size(view.dtype()));
  const std::int64_t total = static_cast<std::int64_t>(view.data_storage()->bytes());
  enclosing e;
  std::int64_t outer = total;
  std::int64_t rest = view.offset();
  for (int d = 0; d < view.ndim(); ++d) {
    const std::int64_t s = view.strides()[d];
    if (s < item || outer % s != 0) return std::nullopt;
    const std::int64_t extent = outer / s;
    const std::int64_t lo = rest / s;
    rest %= s;
    if (lo + view.shape()[d] > extent) return std::nullopt;
    e.whole.push_back(extent);
    e.part.lo.push_back(lo);
    e.part.hi.push_back(lo + view.shape()[d]);
    outer = s;
  }
  if (outer != item || rest != 0) return std::nullopt;
  return e;
}

}  // namespace

array box_view(const array& a, const box& part) {
  std::int64_t offset = a.offset();
  for (int d = 0; d < a.ndim(); ++d) offset += part.lo[d] * a.strides()[d];
  return {a.data_storage(), offset, part.extents(), a.strides(), a.dtype()};
}

void copy_values(const array& from, const array& to) {
  const box all = box::whole(to.shape());
  engine& device = *to.data_storage()->device();
  const leaf_binding leaves[] = {bind_leaf(from, {}, device)};
  const output_binding stored[] = {bind_output(to, all, device)};
  device.execute(copy_program(to.dtype()), leaves, stored, all);
}

bool may_overlap(const array& a, const array& b) {
  if (a.data_storage() != b.data_storage() || a.size() == 0 || b.size() == 0) return false;
  const auto [a_low, a_high] = byte_range(a);
  const auto [b_low, b_high] = byte_range(b);
  return a_low < b_high && b_low < a_high;
}

array evaluate(const expr_state<array>& e) {
  check_leaves(e);
  const std::shared_ptr<engine>& device = current_device();
  check_devices(e, *device);
  const bound_leaves leaves(e, *device);
  const box all = box::whole(e.shape);
  array out = allocate(device, e.root ? e.root->shape : e.shape, e.type);
  if (e.root) {
    device->reduce(e.code, leaves, all, e.root->what, out.data_storage()->data());
  } else {
    const output_binding stored[] = {bind_output(out, all, *device)};
    device->execute(e.code, leaves, stored, all);
  }
  return out;
}

void check_target(const array& target) {
  if (target.size() == 0) return;
  const auto step = [&](std::int64_t d) { return std::abs(target.strides()[static_cast<int>(d)]); };
  dims order;  // from the dimension along which elements are the closest; in C order that is the last one
  for (int d = target.ndim() - 1; d >= 0; --d)
    if (target.shape()[d] > 1) order.push_back(d);
  std::sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) { return step(x) < step(y); });
  // Each dimension must step over all that the closer ones span: then no two elements meet.
  auto span = static_cast<std::int64_t>(item_size(target.dtype()));
  for (const std::int64_t d : order) {
    if (step(d) < span)
      throw value_error(
          fmt::format("assignment: elements of the target, a view of shape {} and strides {}, share "
                      "memory (it broadcasts, or its windows overlap); copy() it first",
                      to_string(target.shape()), to_string(target.strides())));
    span += (target.shape()[static_cast<int>(d)] - 1) * step(d);
  }
}

write_target::write_target(const array& target, bool reads_overlap, bool may_swap)
    : target_(target), out_(target), way_(way::in_place) {
  if (!reads_overlap) return;
  storage& data = *target.data_storage();
  const auto around = may_swap && !data.pinned_down() ? find_enclosing(target) : std::nullopt;
  // A fresh buffer takes the old one's place, unless more would have to be copied into it than back from it.
  if (around && 2 * target.size() >= element_count(around->whole)) {
    way_ = way::swap;
    memory::buffer spare = data.take_spare(placement_of(target));
    const bool fits = spare.data() != nullptr;
    const auto fresh =
        std::make_shared<storage>(data.device(), fits ? std::move(spare) : data.device()->allocate(data.bytes()));
    out_ = array(fresh, target.offset(), target.shape(), target.strides(), target.dtype());
    if (const int row = target.ndim() - 1; row >= 0)
      around_ = {first_of(target), around->part.lo[row], around->whole[row] - around->part.hi[row]};
    if (fits) return;
    const auto item = item_size(target.dtype());
    const array old_whole(target.data_storage(), 0, around->whole, contiguous_strides(around->whole, item),
                          target.dtype());
    const array new_whole(fresh, 0, old_whole.shape(), old_whole.strides(), old_whole.dtype());
    for (const box& rest : subtract(box::whole(around->whole), around->part))
      copy_values(box_view(old_whole, rest), box_view(new_whole, rest));
    return;
  }
  way_ = way::copy_back;
  out_ = allocate(data.device(), target.shape(), target.dtype());
}

output_binding write_target::bind(engine& on) const {
  output_binding all = bind_output(out_, box::whole(out_.shape()), on);
  all.around = around_;
  return all;
}

void write_target::commit() {
  storage& data = *target_.data_storage();
  if (way_ == way::swap) {
    const bool whole = static_cast<std::size_t>(target_.size()) * item_size(target_.dtype()) == data.bytes();
    data.install(*out_.data_storage(), whole ? std::nullopt : std::optional(placement_of(target_)));
    return;
  }
  if (way_ == way::copy_back) copy_values(out_, target_);
  data.written();
}

void assign(const array& target, const expr& values) {
  check_target(target);
  builder<array> b(target.shape());
  const auto r = append_for(b, values, target.shape(), target.dtype());
  const auto e = b.finish(std::vector{r});
  check_leaves(e);
  const std::shared_ptr<engine>& device = current_device();
  check_devices(e, *device);
  check_device(target, *device);
  write_target write(target, reads_elsewhere(e, target));
  const box all = box::whole(target.shape());
  const bound_leaves leaves(e, *device);
  const output_binding stored[] = {write.bind(*device)};
  device->execute(e.code, leaves, stored, all);
  write.commit();
}

void assign(std::initializer_list<array> targets, std::initializer_list<expr> values) {
  if (targets.size() != values.size())
    throw value_error(fmt::format("assign: {} targets and {} values", targets.size(), values.size()));
  const std::vector<array> to(targets);
  const std::vector<expr> from(values);
  const std::shared_ptr<engine>& device = current_device();
  for (std::size_t i = 0; i < to.size(); ++i) {
    check_target(to[i]);
    check_device(to[i], *device);
    for (std::size_t j = 0; j < i; ++j)
      if (may_overlap(to[i], to[j])) throw value_error(fmt::format("assign: targets {} and {} overlap", j, i));
  }

  // Targets of one shape are one pass; the passes' results appear together at the end.
  std::vector<bool> done(to.size(), false);
  std::vector<write_target> writes;
  for (std::size_t first = 0; first < to.size(); ++first) {
    if (done[first]) continue;
    builder<array> b(to[first].shape());
    std::vector<std::uint16_t> registers;
    std::vector<output_binding> stored;
    const box all = box::whole(to[first].shape());
    for (std::size_t i = first; i < to.size(); ++i) {
      if (done[i] || to[i].shape() != to[first].shape()) continue;
      done[i] = true;
      registers.push_back(append_for(b, from[i], to[i].shape(), to[i].dtype()));
      const auto shares = [&](const array& t) { return t.data_storage() == to[i].data_storage(); };
      writes.emplace_back(to[i], true, std::count_if(to.begin(), to.end(), shares) == 1);
      stored.push_back(writes.back().bind(*device));
    }
    const auto e = b.finish(std::move(registers));
    check_leaves(e);
    check_devices(e, *device);
    device->execute(e.code, bound_leaves(e, *device), stored, all);
  }
  for (auto& w : writes) w.commit();
}

}  // namespace serried::inline v0
