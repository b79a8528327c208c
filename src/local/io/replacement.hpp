// A file that takes the place of another once it is whole.
#pragma once

#include "local/io/file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace serried::inline v0::io {

/// A file under way, under a temporary name beside its target, that any number of processes write together.
///
/// One process creates it, tells the others temporary(), and they open it; all write and close(); when all have, the
/// creator commits. Destroying the creator's without commit discards the file. Errors are io_error and name the target.
class replacement {
 public:
  /// Checks that the target can be written (a regular file or none, a directory that takes files) and reserves `bytes`,
  /// so that a full disk is found now. A target that is a symbolic link is written where it points.
  [[nodiscard]] static replacement create(const std::string& path, std::int64_t bytes);
  [[nodiscard]] static replacement open_part(const std::string& path, const std::string& temporary);
  replacement(replacement&& other) noexcept;
  replacement& operator=(replacement&&) = delete;
  ~replacement();

  [[nodiscard]] const std::string& temporary() const noexcept { return temporary_; }
  void write_at(std::int64_t offset, const std::byte* data, std::size_t bytes) const {
    file_.write_at(offset, data, bytes);
  }
  /// Ends this process's writing and reports what the file system held back until now.
  void close();
  /// Creator only, after everybody's close(): the file is on the disk and takes its name.
  void commit();
  /// Creator only: removes the temporary file. Never throws.
  void discard() noexcept;

 private:
  replacement(file opened, std::string temporary);

  file file_;              // its path() is the user's, for messages
  std::string temporary_;  // empty when it is no more
  std::string target_;     // where commit puts it, links followed; empty in parts
};

/// Throws io_error when create(path, …) would, without leaving a trace: to be called before long work.
void check_writable(const std::string& path);

}  // namespace serried::inline v0::io
