// NumPy's .npy files.
#pragma once

#include <serried/array.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace serried::inline v0 {

/// What a .npy file holds.
struct npy_info {
  serried::shape shape;
  serried::dtype dtype{};
};
/// Reads the header only. Throws io_error.
[[nodiscard]] SERRIED_API npy_info inspect(const std::string& path);

/// Reads a .npy file (versions 1–3, C or Fortran order, either endianness) into a C-order array. Throws io_error.
[[nodiscard]] SERRIED_API array load(const std::string& path);
/// Writes a C-order .npy file in native byte order, under a temporary name that replaces `path` once complete. Throws
/// io_error, leaving what was at `path` as it was.
SERRIED_API void save(const std::string& path, const array& a);
/// Writes a file under a temporary name that replaces `path` once complete. Throws io_error, leaving what was at `path`
/// as it was.
SERRIED_API void write_file(const std::string& path, std::span<const std::byte> bytes);
/// Throws io_error when `save` or `write_file` to this path would, as far as can be told now: to be called before long
/// work.
SERRIED_API void check_writable(const std::string& path);
inline void save(const std::string& path, const expr& e) { save(path, e.eval()); }

}  // namespace serried::inline v0
