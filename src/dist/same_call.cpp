#include "dist/same_call.hpp"

#include <serried/error.hpp>

#include "comm/backend.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace serried::inline v0::dist {

void check_same_call(const communicator& world, std::string_view call) {
  if (!world.checked()) return;
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : call) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  std::uint64_t ends[] = {hash, ~hash};  // the largest, and the complement of the smallest
  world.all_reduce(ends, ends, 2, dtype::uint64, comm::reduce_op::max).wait();
  if (ends[0] == ~ends[1]) return;
  comm_error e(fmt::format("the ranks make different calls on distributed arrays: {} on rank {}", call, world.rank()));
  e.set_collective(world.backend()->spans_run());
  throw e;
}

}  // namespace serried::inline v0::dist
