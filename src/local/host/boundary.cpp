#include "local/host/boundary.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace serried::inline v0::host {

outside resolve_outside(std::int64_t i, std::int64_t lo, std::int64_t hi, std::int64_t extent, const faces& boundary) {
  const face none;
  const face& f = i < 0 ? boundary.low : i >= extent ? boundary.high : none;
  std::int64_t inside = i;
  switch (f.kind) {
    case boundary_kind::value: return {0, &f.value};
    case boundary_kind::periodic: inside = ((i % extent) + extent) % extent; break;
    case boundary_kind::edge: inside = std::clamp<std::int64_t>(i, 0, extent - 1); break;
    case boundary_kind::none: break;
  }
  if (inside < lo || inside >= hi)
    throw index_error(fmt::format("index {} of a dimension of length {} is read, but only {} to {} are there", i,
                                  extent, lo, hi - 1));
  return {inside};
}

}  // namespace serried::inline v0::host
