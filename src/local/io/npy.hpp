// The .npy format: its header, to and from bytes. Format: numpy.lib.format (NEP 1), versions 1.0, 2.0 and 3.0.
#pragma once

#include <serried/dtype.hpp>
#include <serried/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace serried::inline v0::io {

/// What a header says. bfloat16, for which NumPy has no name, is written '<V2', as ml_dtypes arrays are (in Python:
/// `.view(ml_dtypes.bfloat16)` after loading); two-byte void and 'bfloat16' are read as bfloat16.
struct npy_header {
  dtype type = dtype::float64;
  shape extents;
  bool fortran_order = false;
  bool swapped = false;          ///< the bytes of a number are in the other order than this machine's
  std::int64_t data_offset = 0;  ///< where the numbers begin in the file

  /// Bytes of the numbers.
  [[nodiscard]] std::int64_t data_bytes() const;
};

/// Bytes from the file's start that tell how long the header is.
inline constexpr std::size_t npy_preamble_size = 12;
/// Longer headers are refused: 32 extents of 19 digits need less than a thousand bytes.
inline constexpr std::int64_t npy_header_limit = 1 << 20;

/// Offset of the numbers, from the first bytes of a file (npy_preamble_size of them, or all of a shorter file). Throws
/// io_error, without a path: not a .npy file, unknown version, absurd length.
[[nodiscard]] std::int64_t npy_data_offset(std::span<const std::byte> preamble);

/// The header, from a file's first npy_data_offset() bytes. Throws io_error, without a path.
[[nodiscard]] npy_header parse_npy_header(std::span<const std::byte> head);

/// The header that np.save writes for a C-order array of this machine's byte order (version 1.0, padded to 64 bytes).
[[nodiscard]] std::string format_npy_header(dtype type, const shape& extents);

/// Reverses the bytes of `count` numbers in place (complex: of each component).
void swap_bytes(std::byte* data, std::int64_t count, dtype type);

}  // namespace serried::inline v0::io
