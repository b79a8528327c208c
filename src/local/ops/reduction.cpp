#include "local/ops/reduction.hpp"

#include <serried/error.hpp>

#include "local/ops/bins.hpp"
#include "local/ops/functions.hpp"
#include "local/ops/keys.hpp"
#include "local/ops/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace serried::inline v0 {

state_layout layout_of(const reduction& r) {
  if (r.kind == reduce_kind::sum && (is_floating(r.type) || is_complex(r.type)))
    return {dtype::int64, ops::bins::words * (is_complex(r.type) ? 2 : 1), true};
  if (r.kind != reduce_kind::prod && r.kind != reduce_kind::sum && is_floating(r.type)) return {dtype::int64, 1, false};
  return {r.type, 1, false};
}

namespace ops {
namespace {

template <class T>
T combine(reduce_kind kind, T a, T b) {
  switch (kind) {
    case reduce_kind::sum: return add(a, b);
    case reduce_kind::prod: return multiply(a, b);
    case reduce_kind::min:
      if constexpr (!complex_number<T>) return minimum(a, b);
      break;
    case reduce_kind::max:
      if constexpr (!complex_number<T>) return maximum(a, b);
      break;
  }
  return a;
}

template <class T>
T identity(reduce_kind kind) {
  if constexpr (integer<T>) {
    const T largest = static_cast<T>(static_cast<unsigned_of<T>>(~unsigned_of<T>(0)) >> (signed_integer<T> ? 1 : 0));
    if (kind == reduce_kind::min) return largest;
    if (kind == reduce_kind::max) return static_cast<T>(~largest);
  }
  if constexpr (is_same<T, bool>) return kind == reduce_kind::prod || kind == reduce_kind::min;
  else if constexpr (complex_number<T>) return kind == reduce_kind::prod ? T{1, 0} : T{};
  else return kind == reduce_kind::prod ? T(1) : T(0);
}

template <class T>
T get(const state_array& a, std::int64_t position) {
  T value;
  std::memcpy(&value, a.data + position * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void put(const state_array& a, std::int64_t position, T value) {
  std::memcpy(a.data + position * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

}  // namespace

bins::state get_bins(const state_array& a, std::int64_t i, int component) {
  std::array<i64, bins::words> words;
  for (int w = 0; w < bins::words; ++w)
    words[static_cast<std::size_t>(w)] = get<i64>(a, (component * bins::words + w) * a.count + i);
  return __builtin_bit_cast(bins::state, words);
}

void put_bins(const state_array& a, std::int64_t i, int component, const bins::state& s) {
  const auto words = __builtin_bit_cast(std::array<i64, bins::words>, s);
  for (int w = 0; w < bins::words; ++w)
    put(a, (component * bins::words + w) * a.count + i, words[static_cast<std::size_t>(w)]);
}

void check(const reduction& r) {
  constexpr std::array names{"sum", "prod", "min", "max"};
  const char* kind = names[static_cast<std::size_t>(r.kind)];
  if (r.kind == reduce_kind::prod && (r.type == dtype::float16 || r.type == dtype::bfloat16))
    throw dtype_error(fmt::format("{} of {}: accumulate in float32 instead", kind, name(r.type)));
  if ((r.kind == reduce_kind::min || r.kind == reduce_kind::max) && is_complex(r.type))
    throw dtype_error(fmt::format("{} of {}: complex numbers have no order", kind, name(r.type)));
}

void set_identities(const reduction& r, std::byte* states, std::int64_t count) {
  if (count == 0) return;
  const state_layout layout = layout_of(r);
  const state_array a{states, count};
  if (layout.binned) {
    std::memset(states, 0, static_cast<std::size_t>(layout.words * count) * sizeof(i64));
    for (int component = 0; component < layout.words / bins::words; ++component)
      for (std::int64_t i = 0; i < count; ++i) put(a, component * bins::words * count + i, bins::lowest_top);
    return;
  }
  visit_element(layout.type, [&]<class T>() {
    if constexpr (!is_same<T, half> && !is_same<T, bfloat>)
      for (std::int64_t i = 0; i < count; ++i) put(a, i, identity<T>(r.kind));
  });
}

void set_results_of_nothing(const reduction& r, std::byte* out, std::int64_t count) {
  const state_layout layout = layout_of(r);
  std::vector<std::byte> states(static_cast<std::size_t>(layout.words * count) * item_size(layout.type));
  set_identities(r, states.data(), count);
  finish(r, {states.data(), count}, out);
}

std::int64_t results_of(const reduction& r, const box& where) {
  std::int64_t results = 1;
  for (int d = 0; d < where.ndim(); ++d)
    if ((r.axes >> d & 1u) == 0) results *= std::max<std::int64_t>(where.hi[d] - where.lo[d], 0);
  return results;
}

void merge(const reduction& r, state_array target, std::int64_t i, state_array source, std::int64_t j) {
  const state_layout layout = layout_of(r);
  if (layout.binned) {
    for (int component = 0; component < layout.words / bins::words; ++component) {
      bins::state s = get_bins(target, i, component);
      bins::merge(s, get_bins(source, j, component));
      put_bins(target, i, component, s);
    }
    return;
  }
  visit_element(layout.type, [&]<class T>() {
    if constexpr (!is_same<T, half> && !is_same<T, bfloat>)
      put(target, i, combine(r.kind, get<T>(target, i), get<T>(source, j)));
  });
}

void align(const reduction& r, state_array states, const std::byte* tops) {
  const int components = layout_of(r).words / bins::words;
  for (int component = 0; component < components; ++component) {
    for (std::int64_t i = 0; i < states.count; ++i) {
      i64 top;
      std::memcpy(&top, tops + (component * states.count + i) * static_cast<std::int64_t>(sizeof(i64)), sizeof(i64));
      bins::state s = get_bins(states, i, component);
      bins::normalize(s);
      bins::raise(s, top);
      put_bins(states, i, component, s);
    }
  }
}

namespace {

void finish_bins(dtype component_type, const bins::state& s, std::byte* out) {
  const auto store = [out](auto value) { std::memcpy(out, &value, sizeof value); };
  switch (component_type) {
    case dtype::float16: return store(bins::finish_half(s));
    case dtype::bfloat16: return store(bins::finish_bfloat(s));
    case dtype::float32: return store(bins::finish_float(s));
    default: return store(bins::finish_double(s));
  }
}

}  // namespace

void finish(const reduction& r, state_array states, std::byte* out) {
  if (states.count == 0) return;
  const state_layout layout = layout_of(r);
  const auto item = static_cast<std::int64_t>(item_size(r.type));
  if (layout.binned) {
    const int components = layout.words / bins::words;
    const dtype part = component_of(r.type);
    for (std::int64_t i = 0; i < states.count; ++i)
      for (int component = 0; component < components; ++component)
        finish_bins(part, get_bins(states, i, component), out + i * item + component * (item / components));
    return;
  }
  if (!is_floating(r.type) || layout.type != dtype::int64) {
    std::memcpy(out, states.data, static_cast<std::size_t>(states.count * item));
    return;
  }
  visit_element(r.type, [&]<class T>() {
    if constexpr (is_same<T, half> || is_same<T, bfloat> || is_same<T, float> || is_same<T, double>)
      for (std::int64_t i = 0; i < states.count; ++i) {
        const double number = keys::to_number(get<i64>(states, i), r.kind == reduce_kind::max);
        const T value = convert<T>(number);
        std::memcpy(out + i * item, &value, sizeof value);
      }
  });
}

}  // namespace ops
}  // namespace serried::inline v0
