#include "local/host/tile.hpp"

#include "local/host/copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace serried::inline v0::host {
namespace {

constexpr std::int64_t cache_line = 64;
/// Between blocks, whose lengths are powers of two: else all of them would compete for the same lines of the cache.
constexpr std::int64_t stagger = 5 * cache_line;

std::int64_t grains_of(std::int64_t n) { return (n + grain - 1) / grain; }

/// The rest of the last grain: zeros, which are numbers of every dtype.
void pad(std::byte* block, std::int64_t n, std::int64_t item) {
  std::memset(block + n * item, 0, static_cast<std::size_t>((grains_of(n) * grain - n) * item));
}

template <class T>
void check_exponents(const std::byte* b, std::int64_t n) {
  const T* const exponents = reinterpret_cast<const T*>(b);
  if (std::any_of(exponents, exponents + n, [](T e) { return e < 0; })) report(failure::negative_power);
}
void check_exponents(dtype type, const std::byte* b, std::int64_t n) {
  switch (item_size(type)) {
    case 1: return check_exponents<std::int8_t>(b, n);
    case 2: return check_exponents<std::int16_t>(b, n);
    case 4: return check_exponents<std::int32_t>(b, n);
    default: return check_exponents<std::int64_t>(b, n);
  }
}

/// Two outputs, or an output and a leaf, may be the same memory as long as every element is read before any is
/// written; that takes blocks of their own as soon as there is more than one output.
bool sole_writer(const plan& p) { return p.outputs.size() == 1; }

}  // namespace

void scratch_memory::free_memory::operator()(std::byte* p) const noexcept {
  ::operator delete[](p, std::align_val_t{cache_line});
}

std::byte* scratch_memory::reserve(std::int64_t bytes) {
  if (bytes > bytes_) {
    data_.reset();
    bytes_ = 0;
    data_.reset(
        static_cast<std::byte*>(::operator new[](static_cast<std::size_t>(bytes), std::align_val_t{cache_line})));
    bytes_ = bytes;
  }
  return data_.get();
}

tile_computer::tile_computer(const program& p, const plan& code, const tiling& it, scratch_memory& memory,
                             std::int64_t capacity)
    : plan_(code),
      it_(it),
      capacity_(capacity),
      scratch_(memory.reserve(code.scratch * capacity + code.blocks * stagger)),
      values_(code.slots.size()),
      steps_(code.slots.size(), grain),
      leads_(code.slots.size(), false) {
  for (std::size_t i = 0; i < code.slots.size(); ++i) {
    const auto s = static_cast<std::uint16_t>(i);
    const slot& v = code.slots[i];
    values_[i] = block(s);
    switch (v.from) {
      case slot::kind::scratch: break;
      case slot::kind::constant: keep_constant(s, p.scalars[v.which].bytes.data()); break;
      case slot::kind::index: indices_.push_back(s); break;
      case slot::kind::load: {
        const load_path& path = it.loads[v.which];
        if (path.uniform()) keep_constant(s, path.data + path.offset);
        else loads_.push_back(s);
        leads_[i] = std::none_of(loads_.begin(), loads_.end(), [&](std::uint16_t other) {
          const load_path& o = it.loads[code.slots[other].which];
          return other != s && o.data == path.data && std::abs(o.offset - path.offset) < 16 * cache_line;
        });
      }
    }
  }
  for (std::size_t k = 0; k < it.outputs.size(); ++k)
    writes_through_.push_back(sole_writer(code) && code.slots[code.outputs[k]].from == slot::kind::scratch &&
                              it.outputs[k].aligned && it.outputs[k].stride.back() == it.outputs[k].item);
  if (code.steps.empty() && code.slots[code.outputs[0]].from == slot::kind::load) {
    const load_path& path = it.loads[code.slots[code.outputs[0]].which];
    passes_through_ = path.guards.empty() && path.aligned && path.stride.back() == path.item &&
                      path.stride[path.stride.size() - 2] % path.item == 0;
  }
}

/// One grain for all kernels to read again and again; as an output, a whole tile.
void tile_computer::keep_constant(std::uint16_t s, const std::byte* value) {
  const bool stored = std::find(plan_.outputs.begin(), plan_.outputs.end(), s) != plan_.outputs.end();
  fill(block(s), value, stored ? capacity_ : grain, static_cast<std::int64_t>(item_size(plan_.slots[s].type)));
  steps_[s] = 0;
}

std::byte* tile_computer::block(std::uint16_t s) const {
  const slot& v = plan_.slots[s];
  return scratch_ + v.place * capacity_ + v.block * stagger;
}

std::int64_t tile_computer::offset_of(const load_path& path, const tile& t) const {
  std::int64_t offset = path.offset;
  for (std::size_t d = 0; d < t.at.size(); ++d) offset += t.at[d] * path.stride[d];
  return offset;
}

void tile_computer::load(std::uint16_t s, const tile& t) {
  const load_path& path = it_.loads[plan_.slots[s].which];
  std::byte* const to = block(s);
  values_[s] = to;
  const std::int64_t row_stride = path.stride[path.stride.size() - 2];
  const std::int64_t column_stride = path.stride.back();
  const bool in_place = t.rows == 1 && column_stride == path.item && t.columns % grain == 0 && path.aligned;
  if (!path.guards.empty()) {
    for (std::int64_t row = 0; row < t.rows; ++row) {
      const row_source from = row_of(path, t, row);
      if (in_place && from.begin == 0 && from.end == t.columns && from.value == nullptr) {
        use_in_place(s, path.data + from.offset, t);
        return;
      }
      load_row(path, t, from, to + row * t.columns * path.item);
    }
  } else {
    const std::byte* const from = path.data + offset_of(path, t);
    if (in_place) {
      use_in_place(s, from, t);
      return;
    }
    if (std::abs(row_stride) < std::abs(column_stride)) {
      for (std::int64_t c = 0; c < t.columns; ++c)
        copy_strided(to + c * path.item, t.columns * path.item, from + c * column_stride, row_stride, t.rows,
                     path.item);
    } else {
      for (std::int64_t row = 0; row < t.rows; ++row)
        copy_strided(to + row * t.columns * path.item, path.item, from + row * row_stride, column_stride, t.columns,
                     path.item);
    }
  }
  pad(to, t.rows * t.columns, path.item);
}

void tile_computer::use_in_place(std::uint16_t s, const std::byte* from, const tile& t) {
  const std::int64_t bytes = t.columns * static_cast<std::int64_t>(item_size(plan_.slots[s].type));
  values_[s] = const_cast<std::byte*>(from);  // kernels only read their operands
  const std::int64_t next = by_rows_ ? it_.loads[plan_.slots[s].which].stride[t.at.size() - 2] : bytes;
  if (leads_[s]) ahead_.push_back(from + 2 * next);
  ahead_bytes_ = std::max(ahead_bytes_, bytes);
}

/// Brings one row of a load inside its window. Where several dimensions leave it, the first one (of the leaf) with a
/// value decides; without a value, each dimension's index is brought inside by itself.
tile_computer::row_source tile_computer::row_of(const load_path& path, const tile& t, std::int64_t row) const {
  row_source from{offset_of(path, t) + row * path.stride[path.stride.size() - 2], 0, t.columns, nullptr, nullptr};
  bool value_first = false;  // the row's value belongs to an earlier dimension than the columns
  for (const guard& g : path.guards) {
    if (g.dim == it_.columns_dim()) {
      from.columns = &g;
      const std::int64_t first = g.first + t.at.back();
      from.begin = std::clamp<std::int64_t>(g.lo - first, 0, t.columns);
      from.end = std::clamp<std::int64_t>(g.hi - first, from.begin, t.columns);
      continue;
    }
    std::int64_t i = g.first;
    if (g.dim >= 0) i += t.at[static_cast<std::size_t>(g.dim)] + (g.dim == it_.rows_dim() ? row : 0);
    if (i >= g.lo && i < g.hi) continue;
    const outside there = resolve_outside(i, g.lo, g.hi, g.extent, g.boundary);
    if (there.value == nullptr) {
      from.offset += (there.index - i) * g.stride;
    } else if (from.value == nullptr) {
      from.value = there.value;
      value_first = from.columns == nullptr;
    }
  }
  if (value_first) {  // for all of the row
    from.begin = 0;
    from.end = t.columns;
  }
  return from;
}

void tile_computer::load_row(const load_path& path, const tile& t, const row_source& from, std::byte* to) const {
  const std::int64_t item = path.item;
  const std::int64_t stride = path.stride.back();
  const std::int64_t inside = from.end - from.begin;
  if (from.value != nullptr) fill(to + from.begin * item, from.value->bytes.data(), inside, item);
  else copy_strided(to + from.begin * item, item, path.data + from.offset + from.begin * stride, stride, inside, item);
  const auto load_outside = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      const guard& g = *from.columns;
      const std::int64_t i = g.first + t.at.back() + c;
      const outside there = resolve_outside(i, g.lo, g.hi, g.extent, g.boundary);
      const scalar_value* const value = there.value != nullptr ? there.value : from.value;
      const std::byte* const element =
          value != nullptr ? value->bytes.data() : path.data + from.offset + (c + there.index - i) * stride;
      std::memcpy(to + c * item, element, static_cast<std::size_t>(item));
    }
  };
  load_outside(0, from.begin);
  load_outside(from.end, t.columns);
}

void tile_computer::load_index(std::uint16_t s, const tile& t) {
  const index_path& path = it_.indices[plan_.slots[s].which];
  const std::int64_t start = path.first + (path.dim < 0 ? 0 : t.at[static_cast<std::size_t>(path.dim)]);
  const std::int64_t by_row = path.dim == it_.rows_dim();
  const std::int64_t by_column = path.dim == it_.columns_dim();
  auto* to = reinterpret_cast<std::int64_t*>(block(s));
  for (std::int64_t row = 0; row < t.rows; ++row)
    for (std::int64_t c = 0; c < t.columns; ++c) *to++ = start + row * by_row + c * by_column;
  pad(block(s), t.rows * t.columns, static_cast<std::int64_t>(sizeof(std::int64_t)));
}

/// Fetches the step's share of what the tile after the next will most likely read and write, so that memory works while
/// the kernels compute: they take turns otherwise.
void tile_computer::prefetch(std::size_t step) const {
  const std::int64_t lines = (ahead_bytes_ + cache_line - 1) / cache_line;
  const auto steps = static_cast<std::int64_t>(plan_.steps.size());
  const auto i = static_cast<std::int64_t>(step);
  for (const std::byte* const p : ahead_)
    for (std::int64_t line = lines * i / steps; line < lines * (i + 1) / steps; ++line)
      __builtin_prefetch(p + line * cache_line, 0, 2);
}

void tile_computer::gather(const step& k, std::int64_t n) const {
  const gather_source& from = it_.gathers[static_cast<std::size_t>(k.gather)];
  const auto item = static_cast<std::int64_t>(item_size(plan_.slots[k.out].type));
  const auto* const numbers = reinterpret_cast<const std::int64_t*>(values_[k.a]);
  if (!host::gather(values_[k.out], from.data, from.count, numbers, steps_[k.a] == 0 ? 0 : 1, n, item))
    report(k.may_fail);
  pad(values_[k.out], n, item);
}

void tile_computer::run(const tile& t) {
  for (const std::uint16_t s : loads_) load(s, t);
  for (const std::uint16_t s : indices_) load_index(s, t);
  const std::int64_t n = t.rows * t.columns;
  const std::int64_t grains = grains_of(n);
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const step& k = plan_.steps[i];
    prefetch(i);
    if (k.gather >= 0) {
      gather(k, n);
      continue;
    }
    if (k.may_fail == failure::negative_power)
      check_exponents(plan_.slots[k.b].type, values_[k.b], steps_[k.b] == 0 ? 1 : n);
    const operands in{values_[k.a], values_[k.b], values_[k.c], steps_[k.a], steps_[k.b], steps_[k.c]};
    k.run(grains * k.width, in, values_[k.out]);
  }
}

void tile_computer::store(const tile& t) {
  const bool whole_grains = t.rows == 1 && t.columns % grain == 0;
  const auto target = [&](const output_path& o) {
    std::byte* to = o.data;
    for (std::size_t d = 0; d < t.at.size(); ++d) to += t.at[d] * o.stride[d];
    return to;
  };
  for (std::size_t k = 0; k < it_.outputs.size(); ++k)
    if (writes_through_[k]) values_[plan_.outputs[k]] = whole_grains ? target(it_.outputs[k]) : block(plan_.outputs[k]);
  ahead_.clear();
  ahead_bytes_ = 0;
  if (whole_grains && writes_through_[0])
    ahead_.push_back(target(it_.outputs[0]) + 2 * t.columns * it_.outputs[0].item);
  run(t);
  for (std::size_t k = 0; k < it_.outputs.size(); ++k) {
    if (writes_through_[k] && whole_grains) continue;
    const output_path& o = it_.outputs[k];
    const std::byte* const from = values_[plan_.outputs[k]];
    std::byte* const to = target(o);
    for (std::int64_t row = 0; row < t.rows; ++row)
      copy_strided(to + row * o.stride[o.stride.size() - 2], o.stride.back(), from + row * t.columns * o.item, o.item,
                   t.columns, o.item);
  }
}

void tile_computer::values_to(const tile& t, std::byte* to) {
  const std::uint16_t out = plan_.outputs[0];
  const auto item = static_cast<std::int64_t>(item_size(plan_.slots[out].type));
  const std::int64_t whole = t.columns / grain * grain;
  tile part = t;
  by_rows_ = true;
  for (part.columns = whole; part.at.back() < t.at.back() + t.columns; part.columns = t.columns - whole) {
    if (part.columns == 0) part.columns = t.columns;
    ahead_.clear();
    ahead_bytes_ = 0;
    const bool direct = plan_.slots[out].from == slot::kind::scratch;
    if (direct) values_[out] = to;
    run(part);
    if (!direct) std::memcpy(to, values_[out], static_cast<std::size_t>(part.columns * item));
    to += part.columns * item;
    part.at.back() += part.columns;
  }
}

tile_computer::view tile_computer::values(const tile& t) {
  if (passes_through_) {
    const load_path& path = it_.loads[plan_.slots[plan_.outputs[0]].which];
    return {path.data + offset_of(path, t), path.stride[path.stride.size() - 2] / path.item};
  }
  ahead_.clear();
  ahead_bytes_ = 0;
  run(t);
  return {values_[plan_.outputs[0]], t.columns};
}

}  // namespace serried::inline v0::host
