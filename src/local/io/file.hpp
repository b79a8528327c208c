// A file descriptor that closes itself, and whole reads and writes at an offset. Errors are io_error with the path and
// the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace serried::inline v0::io {

/// Throws io_error: "PATH: WHAT: reason", the reason from an errno value.
[[noreturn]] void fail(const std::string& path, const char* what, int error_number);

class file {
 public:
  file() = default;
  file(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  file(file&& other) noexcept;
  file& operator=(file&& other) noexcept;
  ~file();

  /// Opens a regular file for reading; anything else is refused, and nothing blocks.
  [[nodiscard]] static file open_to_read(const std::string& path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] std::int64_t size() const;

  /// Reads up to `bytes`, fewer only at the end of the file; returns how many.
  std::size_t read_at(std::int64_t offset, std::byte* out, std::size_t bytes) const;
  void write_at(std::int64_t offset, const std::byte* data, std::size_t bytes) const;
  /// Reports what the file system held back until now (a network file system: that the disk is full).
  void close();

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace serried::inline v0::io
