#include "runtime/carrier.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/backend.hpp"
#include "comm/nccl/nccl.hpp"

namespace serried::inline v0 {

namespace {

bool same_gpu(const rank_seat& a, const rank_seat& b) {
  return std::strcmp(a.machine, b.machine) == 0 && std::strcmp(a.gpu, b.gpu) == 0;
}

/// The first rank whose GPU an earlier rank has: that one, then it.
std::optional<std::pair<std::size_t, std::size_t>> first_shared(std::span<const rank_seat> seats) {
  for (std::size_t b = 1; b < seats.size(); ++b)
    for (std::size_t a = 0; a < b; ++a)
      if (same_gpu(seats[a], seats[b])) return {{a, b}};
  return std::nullopt;
}

}  // namespace

bool choose_nccl(std::span<const rank_seat> seats) {
  const comm::carrier wish = seats[0].wish;
  if (wish == comm::carrier::mpi) return false;
  const bool built = std::all_of(seats.begin(), seats.end(), [](const rank_seat& s) { return s.nccl; });
  const auto without = std::find_if(seats.begin(), seats.end(), [](const rank_seat& s) { return *s.gpu == '\0'; });
  const bool may_share = std::all_of(seats.begin(), seats.end(), [](const rank_seat& s) { return s.may_share; });
  const bool possible = built && without == seats.end();
  const auto shared = possible && !may_share ? first_shared(seats) : std::nullopt;
  if (possible && !shared) return true;
  if (wish == comm::carrier::automatic) return false;

  if (!built) throw comm_error("SERRIED_COMM=nccl: this build has no NCCL");
  if (without != seats.end())
    throw comm_error(fmt::format("SERRIED_COMM=nccl: rank {} works on the host; NCCL needs a GPU on every rank",
                                 without - seats.begin()));
  throw comm_error(
      fmt::format("SERRIED_COMM=nccl: ranks {} and {} share a GPU, which takes NCCL 2.30.3 or later (this is {}) and "
                  "NCCL_MULTI_RANK_GPU_ENABLE=1; use one rank for each GPU, or SERRIED_COMM=mpi",
                  shared->first, shared->second, seats[shared->second].nccl_version));
}

communicator with_carrier(const communicator& world, const std::shared_ptr<engine>& device) {
  rank_seat mine;
  world.together([&] {
    mine.wish = comm::settings_from_environment().devices;
    gethostname(mine.machine, sizeof mine.machine - 1);
    const std::string version = comm::nccl_version();
    if (device->name() == "cuda") device->place().copy(mine.gpu, sizeof mine.gpu - 1);
    version.copy(mine.nccl_version, sizeof mine.nccl_version - 1);
    mine.nccl = !version.empty();
    mine.may_share = mine.nccl && comm::nccl_shares_gpus();
  });
  std::vector<rank_seat> seats(static_cast<std::size_t>(world.size()));
  world.all_gather(&mine, seats.data(), sizeof mine, dtype::uint8).wait();
  // Alone there is nobody to talk to.
  if (world.name() == "self" && mine.wish == comm::carrier::automatic) return world;
  try {
    if (!choose_nccl(seats)) return world;
  } catch (error& e) {
    e.set_collective(world.backend()->spans_run());
    throw;
  }
  return communicator(comm::make_nccl(world, device));
}

}  // namespace serried::inline v0
