// A mesh names the axes of a grid of ranks; its axes say over which ranks a dimension of an array is split.
#pragma once

#include <serried/communicator.hpp>
#include <serried/export.hpp>
#include <serried/shape.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace serried::inline v0 {

namespace dist {
struct mesh_state;
[[nodiscard]] SERRIED_API bool same_mesh(const std::shared_ptr<const mesh_state>& a,
                                         const std::shared_ptr<const mesh_state>& b);
}  // namespace dist
class layout;  // <serried/dist/layout.hpp>
class split_over;

/// One axis of one mesh: a small value, got from `mesh::axis`.
class SERRIED_API mesh_axis {
 public:
  mesh_axis(std::shared_ptr<const dist::mesh_state> state, int index) : state_(std::move(state)), index_(index) {}

  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] int size() const;  ///< ranks along it
  [[nodiscard]] int index() const noexcept { return index_; }
  [[nodiscard]] const std::shared_ptr<const dist::mesh_state>& state() const noexcept {
    return state_;
  }  ///< the mesh's

  friend bool operator==(const mesh_axis& a, const mesh_axis& b) {
    return a.index_ == b.index_ && dist::same_mesh(a.state_, b.state_);
  }
  /// One dimension split over both axes; the part number's major digit is along `a`.
  friend split_over operator*(const mesh_axis& a, const mesh_axis& b);

 private:
  std::shared_ptr<const dist::mesh_state> state_;
  int index_;
};

/// As a layout's entry: the dimension is not split.
struct whole_t {};
inline constexpr whole_t whole{};

enum class split_kind : std::uint8_t {
  block,  ///< part i is the i-th run of consecutive indices
};

/// How one dimension of an array is split: over an axis, a product of axes (`x * y`), or not at all (`sr::whole`).
class SERRIED_API split_over {
 public:
  split_over(whole_t) {}                                  // NOLINT(google-explicit-constructor): a layout's entry
  split_over(mesh_axis axis) : axes_{std::move(axis)} {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] split_kind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::vector<mesh_axis>& axes() const noexcept { return axes_; }  ///< major first
  [[nodiscard]] int parts() const;                                                     ///< product of the axes' sizes

  friend bool operator==(const split_over&, const split_over&) = default;
  friend split_over operator*(split_over a, const split_over& b) {
    a.axes_.insert(a.axes_.end(), b.axes_.begin(), b.axes_.end());
    return a;
  }

 private:
  split_kind kind_ = split_kind::block;
  std::vector<mesh_axis> axes_;
};

inline split_over operator*(const mesh_axis& a, const mesh_axis& b) { return split_over(a) * split_over(b); }

/// A name and a number of ranks; 0 leaves the number to the mesh.
struct axis_extent {
  template <std::integral T>
  axis_extent(std::string axis_name, T ranks) : name(std::move(axis_name)), size(static_cast<std::int64_t>(ranks)) {}
  std::string name;
  std::int64_t size;
};

/// What this rank's exchanges over a mesh (halos, redistribution) have cost since the last reset.
struct exchange_statistics {
  std::int64_t exchanges = 0;
  std::int64_t bytes_sent = 0;
  double exchange_seconds = 0;  ///< from the start of each exchange to its end, added up
  double waiting_seconds = 0;   ///< of these, spent waiting with nothing left to compute
};

/// A grid of ranks with named axes; a handle, cheap to copy. Ranks are laid out in row-major order: the last axis
/// runs fastest. Meshes are equal when communicator, shape and names are.
class SERRIED_API mesh {
 public:
  /// The sizes' product must be the communicator's size. Axes of size 0 share what the others leave, as evenly as
  /// its divisors allow, larger factors first: 6 ranks as {{"x", 0}, {"y", 0}} give 3 by 2.
  /// Throws value_error: no axis, a name that is empty or used twice, a negative size, sizes that do not fit.
  mesh(serried::communicator world, const std::vector<axis_extent>& axes);
  /// One axis, named "ranks", over all ranks.
  explicit mesh(serried::communicator world);
  explicit mesh(std::shared_ptr<const dist::mesh_state> state) : state_(std::move(state)) {}

  /// Throws value_error, listing the names there are.
  [[nodiscard]] mesh_axis axis(std::string_view name) const;
  /// Throws index_error.
  [[nodiscard]] mesh_axis axis(int index) const;

  /// One entry per array dimension: an axis, a product of axes, or `sr::whole`; those left out at the end are whole.
  /// `mesh.layout({x, y})`, `mesh.layout({sr::whole, x * y})`; an array of layout() is replicated on every rank.
  /// Throws value_error: an axis of another mesh, or one used twice.
  [[nodiscard]] serried::layout layout(const std::vector<split_over>& splits) const;
  [[nodiscard]] serried::layout layout() const;

  [[nodiscard]] int size() const;  ///< ranks
  [[nodiscard]] int ndim() const;  ///< axes
  [[nodiscard]] const serried::shape& shape() const;
  [[nodiscard]] const serried::communicator& communicator() const;
  /// Where a rank stands, one coordinate per axis. Throws index_error.
  [[nodiscard]] dims coordinates(int rank) const;
  /// The rank that stands there. Throws index_error.
  [[nodiscard]] int rank_at(const dims& coordinates) const;

  [[nodiscard]] const serried::exchange_statistics& exchange_statistics() const;
  void reset_exchange_statistics() const noexcept;

  [[nodiscard]] const std::shared_ptr<const dist::mesh_state>& state() const noexcept { return state_; }
  friend bool operator==(const mesh& a, const mesh& b) { return dist::same_mesh(a.state_, b.state_); }

 private:
  std::shared_ptr<const dist::mesh_state> state_;
};

/// "(x: 3, y: 2)"
[[nodiscard]] SERRIED_API std::string to_string(const mesh& m);

}  // namespace serried::inline v0
