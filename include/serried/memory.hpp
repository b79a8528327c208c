// Memory of the current device: statistics, limits, and bringing one's own allocator.
#pragma once

#include <serried/export.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace serried::inline v0::memory {

/// Where buffers come from.
class SERRIED_API resource {
 public:
  virtual ~resource() = default;
  /// At least `bytes`, aligned to 512 (64 suffices for a resource brought by the user). 0 bytes give a null pointer.
  /// Throws out_of_memory.
  [[nodiscard]] virtual std::byte* allocate(std::size_t bytes) = 0;
  /// `bytes` as passed to allocate. Never throws; safe at exit. The device is done with them.
  virtual void deallocate(std::byte* data, std::size_t bytes) noexcept = 0;
  /// Bytes that could still be had, where that is known: for messages.
  [[nodiscard]] virtual std::optional<std::size_t> available() const noexcept { return std::nullopt; }
};

/// The current device's memory, or the host memory that it copies from and to at full speed (on the host engine: the
/// same).
enum class kind { device, pinned };

/// Bytes of a pool. in_use + cached is what it holds from the system.
struct statistics {
  std::size_t in_use = 0;
  std::size_t cached = 0;
  std::size_t peak_in_use = 0;
  std::size_t limit = 0;        ///< 0: none
  std::size_t allocations = 0;  ///< calls so far
};

[[nodiscard]] SERRIED_API statistics stats(kind of = kind::device);
/// Lets in_use and cached together not grow beyond `bytes`; 0 removes the limit. Throws value_error below what is in
/// use. What is cached beyond it is given back where it is not part of a piece that is in use.
SERRIED_API void set_limit(std::size_t bytes, kind of = kind::device);
/// Gives cached memory back to the system, in the pieces in which it came. On a GPU this waits for the work that freed
/// memory is still in.
SERRIED_API void trim(kind of = kind::device);
/// From now on, buffers of the current device come from `mine`, whose memory the device must be able to use; neither
/// stats() nor the limit counts them. Those alive return to where they came from. Null: back to the pool.
SERRIED_API void set_resource(std::shared_ptr<resource> mine);

}  // namespace serried::inline v0::memory
