// A checksum of bytes: 64 bits, against damage and chance, not against intent.
#pragma once

#include <cstdint>
#include <string_view>

namespace serried::inline v0::cuda {

/// FNV-1a; `start` chains several pieces.
[[nodiscard]] constexpr std::uint64_t checksum(std::string_view bytes, std::uint64_t start = 0) {
  std::uint64_t sum = start ^ 0xcbf29ce484222325u;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return sum;
}

}  // namespace serried::inline v0::cuda
