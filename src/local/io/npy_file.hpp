// .npy files read and written by any number of processes, each its own boxes. Nothing here communicates.
#pragma once

#include "local/box.hpp"
#include "local/io/file.hpp"
#include "local/io/npy.hpp"
#include "local/io/replacement.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace serried::inline v0::io {

/// A .npy file open for reading. Opening checks the header and the file's length; bytes after the numbers are ignored.
/// Errors are io_error and name the path. Reading is safe from several threads.
class npy_reader {
 public:
  /// Refuses what is not a regular file, and never blocks on it.
  explicit npy_reader(const std::string& path);

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] const npy_header& header() const noexcept { return header_; }
  [[nodiscard]] dtype type() const noexcept { return header_.type; }
  [[nodiscard]] const shape& extents() const noexcept { return header_.extents; }

  /// The numbers of a box in C order and this machine's byte order. `out` holds volume · item_size bytes. Throws
  /// index_error when the box leaves the array.
  void read_box(const box& where, std::byte* out) const;

 private:
  file file_;
  npy_header header_;
};

/// A C-order .npy file under way (a `replacement`): created by one process, its boxes written by all, none twice.
class npy_writer {
 public:
  /// Writes the header and reserves the space. Throws io_error as replacement::create does.
  [[nodiscard]] static npy_writer create(const std::string& path, dtype type, const shape& extents);
  /// `path`, `type` and `extents` as the creator gave them.
  [[nodiscard]] static npy_writer open_part(const std::string& path, const std::string& temporary, dtype type,
                                            const shape& extents);

  [[nodiscard]] const std::string& temporary() const noexcept { return file_.temporary(); }
  /// Writes the numbers of a box, given in C order without gaps. Throws index_error when the box leaves the array.
  void write_box(const box& where, const std::byte* numbers);
  void close() { file_.close(); }
  void commit() { file_.commit(); }
  void discard() noexcept { file_.discard(); }

 private:
  npy_writer(replacement file, dtype type, const shape& extents, const std::string& header);

  replacement file_;
  dtype type_;
  shape extents_;
  std::int64_t data_offset_;
};

}  // namespace serried::inline v0::io
