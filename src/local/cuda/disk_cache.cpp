#include "local/cuda/disk_cache.hpp"

#include "local/cuda/checksum.hpp"

#include <serried/error.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace serried::inline v0::cuda {

namespace {

constexpr std::string_view suffix = ".kernel";
constexpr std::string_view unfinished = ".kernel.part";

class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {}
  ~descriptor() {
    if (number_ >= 0) close(number_);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  explicit operator bool() const { return number_ >= 0; }
  operator int() const { return number_; }

 private:
  int number_;
};

bool mine_alone(const struct stat& s) { return s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0; }

void say_once(std::atomic_flag& said, const std::string& message) {
  if (!said.test_and_set()) fmt::print(stderr, "serried: {}\n", message);
}

/// Makes the folders of a path that are missing, for this user alone.
void make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    (void)mkdir(path.substr(0, end).c_str(), S_IRWXU);
    if (end == std::string::npos) return;
  }
}

int open_folder(const std::string& path) {
  if (path.empty()) return -1;
  make_folders(path);
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return -1;
  struct stat s {};
  if (fstat(folder, &s) == 0 && mine_alone(s)) return folder;
  close(folder);
  static std::atomic_flag said;
  say_once(said,
           fmt::format("compiled kernels are not kept: {} must belong to this user and be writable by nobody else "
                       "(SERRIED_CACHE_DIR names another folder)",
                       path));
  return -1;
}

std::string name_of(const std::string& key) { return fmt::format("{:016x}{}", checksum(key), suffix); }

/// An entry's beginning; key and value follow.
struct header {
  std::array<char, 8> magic{'s', 'e', 'r', 'r', 'i', 'e', 'd', '1'};
  std::uint64_t key_bytes = 0, value_bytes = 0;
  std::uint64_t sum = 0;  ///< of key and value
};

bool read_all(int file, char* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = read(file, to, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool write_all(int file, const char* from, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = write(file, from, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

struct entry {
  std::string name;
  std::uint64_t bytes;
  timespec used;
};

std::vector<entry> entries_of(int folder) {
  std::vector<entry> entries;
  const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // with a position of its own
  DIR* const list = own < 0 ? nullptr : fdopendir(own);
  if (list == nullptr) {
    if (own >= 0) close(own);
    return entries;
  }
  while (const dirent* d = readdir(list)) {
    const std::string_view name = d->d_name;
    struct stat s {};
    if ((name.ends_with(suffix) || name.ends_with(unfinished)) &&
        fstatat(folder, d->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode))
      entries.push_back({d->d_name, static_cast<std::uint64_t>(s.st_size), s.st_mtim});
  }
  closedir(list);
  return entries;
}

}  // namespace

disk_cache::disk_cache(std::string folder, std::uint64_t limit)
    : folder_(limit == 0 ? -1 : open_folder(folder)), limit_(limit) {}
disk_cache::disk_cache(disk_cache&& other) noexcept : folder_(std::exchange(other.folder_, -1)), limit_(other.limit_) {}
disk_cache::~disk_cache() {
  if (folder_ >= 0) close(folder_);
}

disk_cache disk_cache::from_environment() {
  const auto variable = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  std::uint64_t limit = 256;
  const std::string text = variable("SERRIED_CACHE_LIMIT");
  if (!text.empty()) {
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, limit);
    if (failure != std::errc() || stop != end || limit > std::uint64_t{1} << 40)
      throw value_error(fmt::format("SERRIED_CACHE_LIMIT={}: a number of MiB is needed", text));
  }
  std::string folder = variable("SERRIED_CACHE_DIR");
  if (folder.empty()) {
    const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
    if (cache.starts_with('/')) folder = cache + "/serried";
    else if (home.starts_with('/')) folder = home + "/.cache/serried";
  }
  return disk_cache(std::move(folder), limit << 20);
}

std::optional<std::string> disk_cache::find(const std::string& key) const {
  if (folder_ < 0) return std::nullopt;
  const std::string name = name_of(key);
  const descriptor file(openat(folder_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat s {};
  if (!file || fstat(file, &s) != 0 || !S_ISREG(s.st_mode)) return std::nullopt;
  if (!mine_alone(s)) {
    static std::atomic_flag said;
    say_once(said, "a compiled kernel in the cache is not used: it does not belong to this user alone");
    return std::nullopt;
  }
  header h, expected;
  if (!read_all(file, reinterpret_cast<char*>(&h), sizeof h) || h.magic != expected.magic ||
      h.key_bytes != key.size() || h.value_bytes > static_cast<std::uint64_t>(s.st_size) ||
      sizeof h + h.key_bytes + h.value_bytes != static_cast<std::uint64_t>(s.st_size))
    return std::nullopt;
  std::string content(h.key_bytes + h.value_bytes, '\0');
  if (!read_all(file, content.data(), content.size()) || checksum(content) != h.sum || !content.starts_with(key))
    return std::nullopt;
  (void)futimens(file, nullptr);  // used now
  return content.substr(key.size());
}

std::string disk_cache::get(const std::string& key, const std::function<std::string()>& make) const {
  if (auto found = find(key)) return std::move(*found);
  if (folder_ < 0) return make();

  // One of 16 locks, which stay: a lock that goes with its entry could be held twice.
  const std::string lock_name = fmt::format("lock-{:x}", checksum(key) & 15u);
  const descriptor lock(
      openat(folder_, lock_name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (lock) {
    using namespace std::chrono_literals;
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (flock(lock, LOCK_EX | LOCK_NB) != 0) {
      if ((errno != EWOULDBLOCK && errno != EINTR) || std::chrono::steady_clock::now() > deadline) break;
      std::this_thread::sleep_for(2ms);
      if (auto found = find(key)) return std::move(*found);
    }
    if (auto found = find(key)) return std::move(*found);
  }
  std::string value = make();
  keep(key, value);
  return value;
}

void disk_cache::keep(const std::string& key, const std::string& value) const {
  static std::atomic<unsigned> count{0};
  const std::string name = name_of(key);
  const std::string part = fmt::format("{}-{}-{}{}", name.substr(0, 16), getpid(), count++, unfinished);
  header h;
  h.key_bytes = key.size();
  h.value_bytes = value.size();
  h.sum = checksum(key + value);
  {
    const descriptor file(
        openat(folder_, part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file) return;
    if (!write_all(file, reinterpret_cast<const char*>(&h), sizeof h) || !write_all(file, key.data(), key.size()) ||
        !write_all(file, value.data(), value.size()) || renameat(folder_, part.c_str(), folder_, name.c_str()) != 0) {
      (void)unlinkat(folder_, part.c_str(), 0);
      return;
    }
  }
  remove_beyond_limit(name);
}

void disk_cache::remove_beyond_limit(const std::string& newest) const {
  std::vector<entry> entries = entries_of(folder_);
  std::uint64_t bytes = 0;
  for (const entry& e : entries) bytes += e.bytes;
  if (bytes <= limit_) return;
  std::sort(entries.begin(), entries.end(), [](const entry& a, const entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const entry& e : entries) {
    if (bytes <= limit_) return;
    if (e.name == newest) continue;
    if (unlinkat(folder_, e.name.c_str(), 0) == 0) bytes -= e.bytes;
  }
}

}  // namespace serried::inline v0::cuda
