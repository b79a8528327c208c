#include <serried/array.hpp>

#include <serried/error.hpp>

#include "local/context.hpp"
#include "local/evaluate.hpp"
#include "local/scalar_value.hpp"
#include "local/select.hpp"
#include "local/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace serried::inline v0 {

array::array() : array(allocate(current_device(), {0}, dtype::float64)) {}

array::array(const expr& e) : array(e.eval()) {}

array::array(std::shared_ptr<storage> data, std::int64_t offset, const serried::shape& s, const serried::strides& st,
             serried::dtype type)
    : storage_(std::move(data)), offset_(offset), shape_(s), strides_(st), dtype_(type) {}

const array& array::operator=(const array& values) && {
  assign(*this, values);
  return *this;
}

const array& array::operator=(const expr& values) && {
  assign(*this, values);
  return *this;
}

bool array::is_contiguous() const {
  if (size() == 0) return true;
  std::int64_t expected = static_cast<std::int64_t>(item_size(dtype_));
  for (int d = ndim() - 1; d >= 0; --d) {
    if (shape_[d] != 1 && strides_[d] != expected) return false;
    expected *= shape_[d];
  }
  return true;
}

array array::select(const std::vector<index_item>& items) const {
  const selection s = resolve_selection(items, shape_, "index");
  std::int64_t offset = offset_;
  for (int d = 0; d < ndim(); ++d) offset += s.start[d] * strides_[d];
  serried::strides st;
  for (int r = 0; r < s.result.size(); ++r)
    st.push_back(s.source[r] < 0 ? 0 : strides_[s.source[r]] * s.step[s.source[r]]);
  return {storage_, s.result.size() > 0 && element_count(s.result) == 0 ? offset_ : offset, s.result, st, dtype_};
}

array array::reshape(const serried::shape& wanted) const {
  serried::shape s = wanted;
  const std::int64_t count = size();
  std::int64_t known = 1;
  int unknown = -1;
  for (int d = 0; d < s.size(); ++d) {
    if (s[d] == -1) {
      if (unknown >= 0) throw shape_error(fmt::format("reshape: {} has more than one -1", to_string(wanted)));
      unknown = d;
    } else {
      if (s[d] < 0 || __builtin_mul_overflow(known, s[d], &known))
        throw shape_error(fmt::format("reshape: {} is not a shape", to_string(wanted)));
    }
  }
  if (unknown >= 0 && known > 0 && count % known == 0) s[unknown] = count / known;
  if ((unknown >= 0 && s[unknown] == -1) || element_count(s) != count)
    throw shape_error(
        fmt::format("reshape: {} elements of shape {} do not make {}", count, to_string(shape_), to_string(wanted)));
  const auto item = static_cast<std::int64_t>(item_size(dtype_));
  if (is_contiguous()) return {storage_, offset_, s, contiguous_strides(s, static_cast<std::size_t>(item)), dtype_};

  // A view if every new dimension lies within one run of old dimensions that are contiguous with each other.
  serried::strides st = dims::filled(s.size(), 0);
  int old_d = ndim() - 1;
  int new_d = s.size() - 1;
  while (new_d >= 0) {
    while (old_d >= 0 && shape_[old_d] == 1) --old_d;
    if (s[new_d] == 1) {
      st[new_d--] = 0;
      continue;
    }
    std::int64_t run = shape_[old_d];
    std::int64_t stride = strides_[old_d];
    int first = old_d;
    while (first > 0 && (shape_[first - 1] == 1 || strides_[first - 1] == stride * run)) {
      --first;
      run *= shape_[first];
      if (shape_[first] != 1 && shape_[first] == run) stride = strides_[first];
    }
    while (new_d >= 0 && run > 1) {
      if (run % s[new_d] != 0) return copy().reshape(s);
      st[new_d] = stride;
      stride *= s[new_d];
      run /= s[new_d--];
    }
    old_d = first - 1;
  }
  return {storage_, offset_, s, st, dtype_};
}

array array::T() const {
  dims axes;
  for (int d = ndim() - 1; d >= 0; --d) axes.push_back(d);
  return transpose(axes);
}

array array::transpose(const dims& axes) const {
  if (axes.size() != ndim())
    throw shape_error(fmt::format("transpose: axes {} for shape {}", to_string(axes), to_string(shape_)));
  serried::shape s;
  serried::strides st;
  std::uint32_t seen = 0;
  for (const std::int64_t a : axes) {
    const auto d = static_cast<int>(a < 0 ? a + ndim() : a);
    if (d < 0 || d >= ndim() || (seen >> d & 1U) != 0)
      throw index_error(fmt::format("transpose: {} is not a permutation of the axes of shape {}", to_string(axes),
                                    to_string(shape_)));
    seen |= 1U << d;
    s.push_back(shape_[d]);
    st.push_back(strides_[d]);
  }
  return {storage_, offset_, s, st, dtype_};
}

array array::broadcast_to(const serried::shape& s) const {
  const int lead = s.size() - ndim();
  if (lead < 0 || broadcast_shapes(s, shape_, "broadcast_to") != s)
    throw shape_error(fmt::format("broadcast_to: {} does not broadcast to {}", to_string(shape_), to_string(s)));
  serried::strides st = dims::filled(s.size(), 0);
  for (int d = 0; d < ndim(); ++d) st[d + lead] = shape_[d] == 1 ? 0 : strides_[d];
  return {storage_, offset_, s, st, dtype_};
}

array array::copy() const { return expr(*this).eval(); }

void array::fill(const scalar& value) const {
  check_target(*this);
  builder<array> b(shape_);
  const auto e = b.finish(std::vector{b.append(make_scalar(value, dtype_, "fill"))});
  const box all = box::whole(shape_);
  const output_binding stored[] = {bind_output(*this, all)};
  storage_->device()->execute(e.code, {}, stored, all);
  storage_->written();
}

void array::read(void* out, serried::dtype type, std::int64_t count) const {
  if (count != size())
    throw value_error(fmt::format("item: an array of shape {} has {} elements, not one", to_string(shape_), size()));
  if (!can_cast_safely(dtype_, type))
    throw dtype_error(
        fmt::format("reading {} elements as {} is not a safe cast; astype converts", name(dtype_), name(type)));
  const array plain = type != dtype_ ? array(astype(type)) : is_contiguous() ? *this : copy();
  storage& data = *plain.data_storage();
  data.read_on(*data.device());
  data.device()->copy_to_host(out, address_of(plain, dims::filled(plain.ndim(), 0)),
                              static_cast<std::size_t>(count) * item_size(type));
}

void* array::exported_data(serried::dtype type) const {
  if (type != dtype_) throw dtype_error(fmt::format("data: the array holds {}, not {}", name(dtype_), name(type)));
  storage_->pin_down();
  storage_->write_on(*storage_->device());  // whatever the caller does there
  return address_of(*this, dims::filled(ndim(), 0));
}

}  // namespace serried::inline v0
