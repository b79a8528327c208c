#include "local/io/file.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace serried::inline v0::io {

void fail(const std::string& path, const char* what, int error_number) {
  throw io_error(fmt::format("{}: {}: {}", path, what, std::generic_category().message(error_number)));
}

file::file(file&& other) noexcept : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

file& file::operator=(file&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

file::~file() {
  if (is_open()) ::close(descriptor_);
}

file file::open_to_read(const std::string& path) {
  struct stat status {};
  // Asked before opening: opening some devices has effects. Asked again after: it may have been replaced.
  if (::stat(path.c_str(), &status) != 0) fail(path, "cannot read", errno);
  const auto check_regular = [&] {
    if (S_ISDIR(status.st_mode)) throw io_error(fmt::format("{}: cannot read: it is a directory", path));
    if (!S_ISREG(status.st_mode)) throw io_error(fmt::format("{}: cannot read: it is not a regular file", path));
  };
  check_regular();
  file opened(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!opened.is_open() || ::fstat(opened.descriptor_, &status) != 0) fail(path, "cannot read", errno);
  check_regular();
  return opened;
}

std::int64_t file::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail(path_, "cannot read", errno);
  return status.st_size;
}

std::size_t file::read_at(std::int64_t offset, std::byte* out, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::pread(descriptor_, out + done, bytes - done, offset + static_cast<std::int64_t>(done));
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path_, "cannot read", errno);
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void file::write_at(std::int64_t offset, const std::byte* data, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::pwrite(descriptor_, data + done, bytes - done, offset + static_cast<std::int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(path_, "cannot write", n == 0 ? ENOSPC : errno);
    done += static_cast<std::size_t>(n);
  }
}

void file::close() {
  if (!is_open()) return;
  const int result = ::close(std::exchange(descriptor_, -1));
  if (result != 0 && errno != EINTR) fail(path_, "cannot write", errno);
}

}  // namespace serried::inline v0::io
