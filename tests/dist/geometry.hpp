// Meshes of any number of ranks, without processes.
#pragma once

#include "dist/distribution.hpp"
#include "dist/mesh.hpp"

#include <vector>

namespace serried::testing {

inline mesh grid(int ranks, const std::vector<axis_extent>& axes) {
  return dist::make_mesh(communicator(std::shared_ptr<comm::backend>()), ranks, axes);
}

}  // namespace serried::testing
