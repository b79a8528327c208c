// The distributed array: one global array whose shards live on the ranks of a mesh.
#pragma once

#include <serried/array.hpp>
#include <serried/creation.hpp>
#include <serried/dist/layout.hpp>
#include <serried/dist/mesh.hpp>
#include <serried/export.hpp>
#include <serried/io.hpp>

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <vector>

namespace serried::inline v0 {

namespace dist {
class array;
using expr = basic_expr<array>;
}  // namespace dist
namespace detail {
template <>
struct array_type<dist::array> {
  using type = dist::array;
};
}  // namespace detail

namespace dist {

class distribution;
using distribution_ptr = std::shared_ptr<const distribution>;

/// A handle to a global array. It is used as a local array is, by all ranks of its mesh together: making one, assigning
/// to one, evaluating an expression, reading values, printing are collective. Expressions over arrays whose elements
/// lie on other ranks fetch them; neighbors read with `at` are fetched while the interior is computed.
///
/// A result lives where its operands do: each dimension is split as in the first operand that splits it.
/// Bad shapes, dtypes and indices are the same error on all ranks.
class SERRIED_API array : public operand {
 public:
  array(const dist::expr& e);     // NOLINT(google-explicit-constructor): evaluates
  array(const array&) = default;  // also for moving: a handle never becomes empty
  ~array() = default;
  /// Internal: `local` is this rank's shard.
  array(distribution_ptr where, const dims& origin, const serried::array& local);

  array& operator=(const array& other) & = default;  ///< rebinds the name
  array& operator=(const dist::expr& e) & { return *this = array(e); }
  const array& operator=(const array& values) &&;       ///< writes through
  const array& operator=(const dist::expr& values) &&;  ///< writes through
  template <scalar_operand T>
  array& operator=(const T&) & = delete;  ///< `u(sr::_) = 0` fills
  template <scalar_operand T>
  const array& operator=(const T& value) && {
    fill(value);
    return *this;
  }

  [[nodiscard]] const serried::shape& shape() const noexcept;
  [[nodiscard]] int ndim() const noexcept { return shape().size(); }
  [[nodiscard]] std::int64_t size() const { return element_count(shape()); }
  [[nodiscard]] serried::dtype dtype() const noexcept { return local_.dtype(); }
  [[nodiscard]] const serried::layout& layout() const noexcept;
  [[nodiscard]] const serried::mesh& mesh() const noexcept;

  /// This rank's shard, sharing its data. What is written to it is written to the array.
  [[nodiscard]] const serried::array& local() const noexcept { return local_; }
  /// The global index of the shard's first element.
  [[nodiscard]] dims local_offset() const;

  /// A view of a box: slices of step 1, `_` and `ellipsis`. Throws value_error for other indices, which are not there
  /// yet for distributed arrays.
  template <class... I>
    requires detail::index_items<I...> && (!detail::picking_items<I...>)
  [[nodiscard]] array operator()(const I&... items) const {
    return select({index_item(items)...});
  }
  [[nodiscard]] array select(const std::vector<index_item>& items) const;
  [[nodiscard]] array copy() const;
  [[nodiscard]] dist::expr astype(serried::dtype type) const { return dist::expr(*this).astype(type); }

  [[nodiscard]] dist::expr sum(const reduce_options& o = {}) const { return serried::sum(*this, o); }
  [[nodiscard]] dist::expr prod(const reduce_options& o = {}) const { return serried::prod(*this, o); }
  [[nodiscard]] dist::expr min(const reduce_options& o = {}) const { return serried::min(*this, o); }
  [[nodiscard]] dist::expr max(const reduce_options& o = {}) const { return serried::max(*this, o); }

  /// The whole array on every rank, as a local one.
  [[nodiscard]] serried::array gather() const;
  /// The value of a one-element array, on every rank.
  template <element E>
  [[nodiscard]] E item() const {
    check_single();
    return gather().template item<E>();
  }
  /// All values in C order, on every rank.
  template <element E>
  [[nodiscard]] std::vector<E> to_vector() const {
    return gather().template to_vector<E>();
  }

  /// Sets every element.
  void fill(const scalar& value) const;

  // Internal.
  [[nodiscard]] const distribution_ptr& where() const noexcept { return where_; }
  [[nodiscard]] const dims& origin() const noexcept { return origin_; }

 private:
  void check_single() const;

  distribution_ptr where_;
  dims origin_;  // the corner of this view in the array it is a slice of
  serried::array local_;
};

}  // namespace dist

extern template class basic_expr<dist::array>;

/// The same values in another layout, on any mesh over the same ranks.
[[nodiscard]] SERRIED_API dist::array redistribute(const dist::expr& values, const layout& to);
/// The whole array as a local one: on every rank, or with root ≥ 0 on that rank only (the others get an empty array).
[[nodiscard]] SERRIED_API array gather(const dist::expr& values, int root = -1);
/// A local array that is the same on every rank, as a distributed one.
[[nodiscard]] SERRIED_API dist::array distribute(const array& same_everywhere, const layout& to);
/// As `distribute`, whole on every rank of the mesh.
[[nodiscard]] SERRIED_API dist::array replicate(const array& same_everywhere, const mesh& grid);

/// As the local assign (but leading dimensions of length 1 are not dropped). Reads everything before it writes
/// anything; one exchange fetches what all values need.
SERRIED_API void assign(const dist::array& target, const dist::expr& values);
SERRIED_API void assign(std::initializer_list<dist::array> targets, std::initializer_list<dist::expr> values);

/// Prints the whole array on the ranks that pass a stream that is good; all must call it.
SERRIED_API std::ostream& operator<<(std::ostream& out, const dist::array& a);
inline std::ostream& operator<<(std::ostream& out, const dist::expr& e) { return out << e.eval(); }

/// Uninitialized.
[[nodiscard]] SERRIED_API dist::array empty(const shape& s, const layout& where, const create_options& options = {});
[[nodiscard]] SERRIED_API dist::array zeros(const shape& s, const layout& where, const create_options& options = {});
[[nodiscard]] SERRIED_API dist::array ones(const shape& s, const layout& where, const create_options& options = {});
[[nodiscard]] SERRIED_API dist::array full(const shape& s, const scalar& value, const layout& where,
                                           const create_options& options = {});

[[nodiscard]] SERRIED_API dist::array empty_like(const dist::array& a, const create_options& options = {});
[[nodiscard]] SERRIED_API dist::array zeros_like(const dist::array& a, const create_options& options = {});
[[nodiscard]] SERRIED_API dist::array ones_like(const dist::array& a, const create_options& options = {});
[[nodiscard]] SERRIED_API dist::array full_like(const dist::array& a, const scalar& value,
                                                const create_options& options = {});

/// The header of a .npy file; collective. Throws io_error, the same on every rank.
[[nodiscard]] SERRIED_API npy_info inspect(const std::string& path, const communicator& world);
/// Reads a .npy file, each rank only its own part. Throws io_error, the same on every rank.
[[nodiscard]] SERRIED_API dist::array load(const std::string& path, const layout& where);
/// Writes one global C-order .npy file, each rank its own part, under a temporary name that replaces `path` once all
/// is written. Throws io_error, the same on every rank, and leaves what was at `path` as it was.
SERRIED_API void save(const std::string& path, const dist::expr& values);

}  // namespace serried::inline v0
