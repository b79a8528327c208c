// A layout says how the dimensions of an array, whatever its shape, are split over the axes of a mesh.
#pragma once

#include <serried/dist/mesh.hpp>
#include <serried/export.hpp>

#include <string>
#include <vector>

namespace serried::inline v0 {

/// A value; made by `mesh::layout`. Axes that no dimension names replicate: ranks that differ only along them hold
/// the same part.
class SERRIED_API layout {
 public:
  /// See mesh::layout.
  layout(serried::mesh grid, std::vector<split_over> splits);

  [[nodiscard]] const serried::mesh& mesh() const noexcept { return mesh_; }
  /// One per dimension; trailing whole ones are left out, so that equal layouts compare equal.
  [[nodiscard]] const std::vector<split_over>& splits() const noexcept { return splits_; }

  friend bool operator==(const layout&, const layout&) = default;

 private:
  serried::mesh mesh_;
  std::vector<split_over> splits_;
};

/// "(x, whole, y*z)"
[[nodiscard]] SERRIED_API std::string to_string(const layout& l);

}  // namespace serried::inline v0
