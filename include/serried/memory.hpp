// Memory of the current device: statistics, limits, and bringing one's own allocator.
#pragma once

#include <serried/export.hpp>

#include <cstddef>
#include <memory>

namespace serried::inline v0::memory {

/// Where buffers come from. An implementation passes tests/local/resource_conformance.
class SERRIED_API resource {
 public:
  virtual ~resource() = default;
  /// At least `bytes`, aligned to 512 (64 suffices for a resource brought by the user). 0 bytes give a null pointer.
  /// Throws out_of_memory.
  [[nodiscard]] virtual std::byte* allocate(std::size_t bytes) = 0;
  /// `bytes` as passed to allocate. Never throws; safe at exit.
  virtual void deallocate(std::byte* data, std::size_t bytes) noexcept = 0;
};

/// Bytes of the current device's pool. in_use + cached is what it holds from the system.
struct statistics {
  std::size_t in_use = 0;
  std::size_t cached = 0;
  std::size_t peak_in_use = 0;
  std::size_t limit = 0;        ///< 0: none
  std::size_t allocations = 0;  ///< calls so far
};

[[nodiscard]] SERRIED_API statistics stats();
/// No more than `bytes` in use and cached together; 0 removes the limit. Throws value_error below what is in use.
SERRIED_API void set_limit(std::size_t bytes);
/// Gives cached blocks back to the system.
SERRIED_API void trim();
/// From now on, buffers of the current device come from `mine`; those alive return to where they came from. Null:
/// back to the pool.
SERRIED_API void set_resource(std::shared_ptr<resource> mine);

}  // namespace serried::inline v0::memory
