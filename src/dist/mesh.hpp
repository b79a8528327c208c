// What a mesh handle points at, and how a mesh is made for any number of ranks.
#pragma once

#include <serried/dist/mesh.hpp>

#include "dist/traffic.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace serried::inline v0::dist {

struct mesh_state {
  communicator world;
  std::vector<std::string> names;
  serried::shape shape;
  std::shared_ptr<mesh_traffic> traffic = std::make_shared<mesh_traffic>();

  friend bool operator==(const mesh_state& a, const mesh_state& b) {
    return a.world == b.world && a.names == b.names && a.shape == b.shape;
  }
};

/// The ranks that differ from this one only along the axes in `axes` (bit i: axis i). Collective over the mesh.
[[nodiscard]] communicator communicator_along(const mesh& grid, std::uint32_t axes);

/// `n` as a product of `count` factors, largest first, as near to each other as n's divisors allow.
[[nodiscard]] std::vector<std::int64_t> balanced_factors(std::int64_t n, int count);

/// As mesh's constructor, for `ranks` ranks whatever the communicator's size: geometry needs no processes.
[[nodiscard]] mesh make_mesh(communicator world, int ranks, const std::vector<axis_extent>& axes);

}  // namespace serried::inline v0::dist
