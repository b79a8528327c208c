#include "local/io/replacement.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>
#include <utility>

namespace serried::inline v0::io {

namespace {

namespace fs = std::filesystem;

/// Follows links at the end of a path, also to where nothing is yet, as opening it for writing would.
fs::path follow_links(const std::string& path) {
  constexpr int limit = 40;  // as Linux has it
  fs::path target = path;
  std::error_code code;
  for (int i = 0; fs::is_symlink(fs::symlink_status(target, code)); ++i) {
    if (i == limit) fail(path, "cannot write", ELOOP);
    const fs::path next = fs::read_symlink(target, code);
    if (code) fail(path, "cannot write", code.value());
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target;
}

/// The file that is there now, if any. Throws when it cannot be written, or is no regular file: renaming over a device
/// would replace it.
std::optional<struct stat> check_target(const std::string& path, const fs::path& target) {
  struct stat status {};
  if (target.filename().empty()) throw io_error(fmt::format("{}: cannot write: it names no file", path));
  if (::stat(target.c_str(), &status) != 0) {
    if (errno != ENOENT) fail(path, "cannot write", errno);
    return std::nullopt;
  }
  if (S_ISDIR(status.st_mode)) throw io_error(fmt::format("{}: cannot write: it is a directory", path));
  if (!S_ISREG(status.st_mode)) throw io_error(fmt::format("{}: cannot write: it is not a regular file", path));
  if (::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) fail(path, "cannot write", errno);
  return status;
}

/// A hidden name beside the target, in the same file system.
std::string temporary_name(const fs::path& target) {
  std::random_device random;
  const std::string stem = target.filename().string().substr(0, 100);
  return (target.parent_path() / fmt::format(".{}.{:08x}{:08x}.tmp", stem, random(), random())).string();
}

/// Sets the size and has the file system set the space aside where it can, so that a full disk is found now.
void reserve(const file& f, std::int64_t bytes) {
  rlimit limit{};
  // Asked first: to exceed it raises a signal that ends the process.
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<rlim_t>(bytes) > limit.rlim_cur)
    fail(f.path(), "cannot write", EFBIG);
  if (::ftruncate(f.descriptor(), bytes) != 0) fail(f.path(), "cannot write", errno);
  if (bytes == 0) return;
  // Not posix_fallocate: where the file system cannot reserve, that writes to every block.
  int result = 0;
  do result = ::fallocate(f.descriptor(), 0, 0, bytes);
  while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
    fail(f.path(), fmt::format("cannot reserve {} bytes", bytes).c_str(), errno);
}

}  // namespace

replacement::replacement(file opened, std::string temporary)
    : file_(std::move(opened)), temporary_(std::move(temporary)) {}

replacement::replacement(replacement&& other) noexcept
    : file_(std::move(other.file_)),
      temporary_(std::exchange(other.temporary_, {})),
      target_(std::exchange(other.target_, {})) {}

replacement::~replacement() { discard(); }

replacement replacement::create(const std::string& path, std::int64_t bytes) {
  const fs::path target = follow_links(path);
  static_cast<void>(check_target(path, target));
  std::string temporary;
  int descriptor = -1;
  do {
    temporary = temporary_name(target);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor < 0) fail(path, "cannot write", errno);

  replacement result(file(path, descriptor), std::move(temporary));
  result.target_ = target.string();  // from here on the destructor cleans up
  reserve(result.file_, bytes);
  return result;
}

replacement replacement::open_part(const std::string& path, const std::string& temporary) {
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) fail(path, "cannot open the file that another rank has begun", errno);
  return {file(path, descriptor), temporary};
}

void replacement::close() {
  // Here, not in commit: another node's pages are that node's to write out.
  if (::fsync(file_.descriptor()) != 0 && errno != EINVAL) fail(file_.path(), "cannot write", errno);
  file_.close();
}

void replacement::commit() {
  const std::string path = file_.path();
  file written(path, ::open(temporary_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!written.is_open()) fail(path, "cannot write", errno);
  if (const auto existing = check_target(path, target_)) {
    // As if written in place. Only root may give a file away; whoever else writes to another's file now owns it.
    static_cast<void>(::fchown(written.descriptor(), existing->st_uid, existing->st_gid) == 0);
    if (::fchmod(written.descriptor(), existing->st_mode & 0777) != 0) fail(path, "cannot write", errno);
  }
  written.close();
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(path, "cannot write", errno);
  target_.clear();
}

void replacement::discard() noexcept {
  if (target_.empty()) return;
  ::unlink(temporary_.c_str());
  target_.clear();
}

void check_writable(const std::string& path) { static_cast<void>(replacement::create(path, 0)); }

}  // namespace serried::inline v0::io
