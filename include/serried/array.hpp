// The n-dimensional array on one device.
#pragma once

#include <serried/boundary.hpp>
#include <serried/detail/nested_list.hpp>
#include <serried/dtype.hpp>
#include <serried/elementwise.hpp>
#include <serried/error.hpp>
#include <serried/export.hpp>
#include <serried/expr.hpp>
#include <serried/index.hpp>
#include <serried/reduce.hpp>
#include <serried/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace serried::inline v0 {

class storage;

struct create_options {
  std::optional<serried::dtype> dtype = {};  ///< default: float64, the values' or the prototype's
};

/// A handle to a strided view of shared storage. Copies of the handle, slices, transposes and broadcasts share the
/// data; `copy()` does not. Up to 32 dimensions, any of which may be 0 long.
///
/// Names bind, indexing writes: `u = e` on a named array makes it a fresh result; `a(…) = e`, `u += e` and
/// `assign(u, e)` write into the data that others may share. The right side is as if read first.
class SERRIED_API array : public operand {
 public:
  array();               ///< empty: shape (0,), float64
  array(const expr& e);  // NOLINT(google-explicit-constructor): evaluates
  /// Numbers in nested braces: `array a = {{1, 2}, {3, 4}}`. The dtype is the one that holds all: bool, int64,
  /// uint64, float64 or complex128, unless given. Throws value_error when lists of one level differ in length or depth.
  array(std::initializer_list<detail::nested_list> values, const create_options& options = {});
  array(const array&) = default;  // also for moving: a handle never becomes empty
  ~array() = default;
  /// Internal: a view of `data` at `offset` bytes.
  array(std::shared_ptr<storage> data, std::int64_t offset, const serried::shape& s, const serried::strides& st,
        serried::dtype type);

  array& operator=(const array& other) & = default;               ///< rebinds the name
  array& operator=(const expr& e) & { return *this = array(e); }  ///< rebinds the name to a fresh result
  array& operator=(std::initializer_list<detail::nested_list> values) & { return *this = array(values); }
  const array& operator=(const array& values) &&;  ///< writes through, broadcasting; casts as assign does
  const array& operator=(const expr& values) &&;   ///< writes through
  const array& operator=(std::initializer_list<detail::nested_list> values) && {
    return std::move(*this) = array(values);
  }
  template <scalar_operand T>
  array& operator=(const T&) & = delete;  ///< `u(sr::_) = 0` fills
  template <scalar_operand T>
  const array& operator=(const T& value) && {
    fill(value);
    return *this;
  }

  [[nodiscard]] const serried::shape& shape() const noexcept { return shape_; }
  [[nodiscard]] const serried::strides& strides() const noexcept { return strides_; }  ///< bytes
  [[nodiscard]] int ndim() const noexcept { return shape_.size(); }
  [[nodiscard]] std::int64_t size() const { return element_count(shape_); }
  [[nodiscard]] serried::dtype dtype() const noexcept { return dtype_; }
  [[nodiscard]] bool is_contiguous() const;  ///< C order without gaps

  /// A view: integers drop an axis, slices of any step, `_`, `ellipsis`, `newaxis`. Throws index_error outside.
  template <class... I>
    requires detail::index_items<I...>
  [[nodiscard]] array operator()(const I&... items) const {
    return select({index_item(items)...});
  }
  /// The elements at arrays of integers, which broadcast together and may stand beside all that makes views; not a view
  /// (and so far not to be written to). The picked axes' place, and their shape, are NumPy's: where the arrays and
  /// integers stand, if nothing stands between them, else first. Negative integers count from the end; those outside
  /// make the evaluation throw index_error. Throws dtype_error for arrays of other than integers.
  template <class... I>
    requires detail::picking_items<I...>
  [[nodiscard]] const expr operator()(const I&... items) const {  // NOLINT(readability-const-return-type)
    return expr(*this).select({index_item(items)...});
  }
  [[nodiscard]] array select(const std::vector<index_item>& items) const;  ///< views only
  /// A view where the strides allow, else a copy. One extent may be −1. Throws shape_error.
  [[nodiscard]] array reshape(const serried::shape& s) const;
  [[nodiscard]] array T() const;  ///< axes reversed: a view
  [[nodiscard]] array transpose(const dims& axes) const;
  [[nodiscard]] array swapaxes(std::int64_t axis1, std::int64_t axis2) const;
  [[nodiscard]] array squeeze() const;                              ///< without the axes of length 1
  [[nodiscard]] array ravel() const { return reshape({-1}); }       ///< one dimension: a view where strides allow
  [[nodiscard]] array flatten() const { return copy().ravel(); }    ///< one dimension: a copy
  [[nodiscard]] array broadcast_to(const serried::shape& s) const;  ///< read-only in effect: writing to it throws
  [[nodiscard]] array copy() const;                                 ///< C order, nothing shared
  [[nodiscard]] expr astype(serried::dtype type) const { return expr(*this).astype(type); }

  [[nodiscard]] expr sum(const reduce_options& o = {}) const { return serried::sum(*this, o); }
  [[nodiscard]] expr prod(const reduce_options& o = {}) const { return serried::prod(*this, o); }
  [[nodiscard]] expr min(const reduce_options& o = {}) const { return serried::min(*this, o); }
  [[nodiscard]] expr max(const reduce_options& o = {}) const { return serried::max(*this, o); }

  /// The value of a one-element array. Throws value_error for another size, dtype_error when the cast to E is not
  /// safe in NumPy's sense.
  template <element E>
  [[nodiscard]] E item() const {
    E result;
    read(&result, dtype_of<E>, 1);
    return result;
  }
  /// All values in C order; dtypes as for item.
  template <element E>
  [[nodiscard]] std::vector<E> to_vector() const {
    static_assert(!std::is_same_v<E, bool>, "std::vector<bool> has no data; use to_vector<std::uint8_t>");
    std::vector<E> result(static_cast<std::size_t>(size()));
    read(result.data(), dtype_of<E>, size());
    return result;
  }
  /// Address of the first element, for reading and writing, valid as long as this data is alive; the data stays put
  /// from now on. On a GPU it is the GPU's address, for kernels and libraries of one's own, in the current stream or
  /// ordered by events. Throws dtype_error unless E is the exact dtype.
  template <element E>
  [[nodiscard]] E* data() const {
    return static_cast<E*>(exported_data(dtype_of<E>));
  }

  /// Sets every element. Throws value_error for an integer out of the dtype's range, dtype_error for a floating value
  /// into integers (NumPy would truncate it), and as assign does.
  void fill(const scalar& value) const;

  // Internal.
  [[nodiscard]] const std::shared_ptr<storage>& data_storage() const noexcept { return storage_; }
  [[nodiscard]] std::int64_t offset() const noexcept { return offset_; }

 private:
  void read(void* out, serried::dtype type, std::int64_t count) const;
  [[nodiscard]] void* exported_data(serried::dtype type) const;

  std::shared_ptr<storage> storage_;
  std::int64_t offset_ = 0;
  serried::shape shape_;
  serried::strides strides_;
  serried::dtype dtype_;
};

extern template class basic_expr<array>;

/// Writes `values` into the data of `target` (which others may share), broadcasting, and casting where NumPy's
/// same_kind rule allows it (NumPy itself also lets `a[...] = v` truncate floating values into integers). Throws
/// shape_error, dtype_error, or value_error for a target whose elements share memory (a broadcast view, windows that
/// overlap), before anything is written.
SERRIED_API void assign(const array& target, const expr& values);
/// Reads everything before it writes anything: targets[i] takes values[i]. Where the shapes agree it is one pass.
SERRIED_API void assign(std::initializer_list<array> targets, std::initializer_list<expr> values);
/// What an expression gives (an array of indices picks, say) is no place to write to.
void assign(const expr&, const expr&) = delete;
void assign(std::initializer_list<expr>, std::initializer_list<expr>) = delete;

[[nodiscard]] inline array reshape(const array& a, const shape& s) { return a.reshape(s); }
[[nodiscard]] inline array transpose(const array& a) { return a.T(); }
[[nodiscard]] inline array transpose(const array& a, const dims& axes) { return a.transpose(axes); }
[[nodiscard]] inline array broadcast_to(const array& a, const shape& s) { return a.broadcast_to(s); }

/// As NumPy prints arrays.
SERRIED_API std::ostream& operator<<(std::ostream& out, const array& a);
inline std::ostream& operator<<(std::ostream& out, const expr& e) { return out << e.eval(); }

}  // namespace serried::inline v0
