// The host's engine and the loops it is made of.
#pragma once

#include "local/engine.hpp"
#include "local/host/kernel_table.hpp"
#include "local/host/lower.hpp"
#include "local/host/thread_pool.hpp"
#include "local/host/tile.hpp"

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace serried::inline v0::host {

/// Elements of a tile: with a handful of blocks this long, a program's values stay in the first-level cache.
inline constexpr std::int64_t tile_elements = 1024;
/// Work on fewer elements stays on the calling thread.
inline constexpr std::int64_t parallel_elements = 32768;

/// Threads, one scratch memory for each, and kernels.
struct workers {
  thread_pool pool;
  std::vector<scratch_memory> scratch;
  const kernel_table& kernels;
};

/// engine::execute, and engine::reduce or reduce_to_states (as `finished` says), for boxes that are not empty.
void execute(workers& w, const program& p, std::span<const leaf_binding> leaves,
             std::span<const output_binding> outputs, const box& where);
void reduce(workers& w, const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
            bool finished, std::byte* out);

}  // namespace serried::inline v0::host
