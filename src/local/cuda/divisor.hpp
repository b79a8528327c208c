// Division by numbers that stay the same for a whole launch: what kernels are given for it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace serried::inline v0::cuda {

/// d, and what divides by it in kernels (access.hpp's `divide`): n / d is the upper half of 2·n·factor, shifted right
/// by the third word. For n < 2^31 in 32 bits, or `wide` for n < 2^63 in 64 bits. 0 counts as 1.
[[nodiscard]] inline std::array<std::uint64_t, 3> divisor_words(std::int64_t d, bool wide) {
  __extension__ using wide_unsigned = unsigned __int128;
  const auto divisor = static_cast<std::uint64_t>(std::max<std::int64_t>(d, 1));
  const int shift = std::bit_width(divisor - 1);
  const auto quotient = static_cast<std::uint64_t>((wide_unsigned{1} << ((wide ? 63 : 31) + shift)) / divisor);
  return {divisor, quotient + 1, static_cast<std::uint64_t>(shift)};
}

}  // namespace serried::inline v0::cuda
