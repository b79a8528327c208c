// Compiled code kept in a folder, for later processes and for other processes of this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace serried::inline v0::cuda {

/// Entries are executable code: the folder and its entries must be the user's own and writable by nobody else, or they
/// are not used. An entry holds its key in full and a checksum; a damaged one is made anew. What is beyond the limit
/// goes, longest unused first. Nothing here throws because of the file system: without a usable folder, everything is
/// made anew.
class disk_cache {
 public:
  /// `limit`: bytes of all entries together.
  disk_cache(std::string folder, std::uint64_t limit);
  /// In SERRIED_CACHE_DIR, else $XDG_CACHE_HOME/serried or ~/.cache/serried, at most SERRIED_CACHE_LIMIT MiB (256; 0:
  /// none is kept). Throws value_error for a limit that is no number.
  [[nodiscard]] static disk_cache from_environment();
  ~disk_cache();
  disk_cache(disk_cache&& other) noexcept;
  disk_cache& operator=(disk_cache&&) = delete;

  /// The value of the key, if it is there.
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
  /// The value of the key; when it is not there, `make()`s it and keeps it. While one process makes it, others wait for
  /// it (up to 10 s: then they make their own).
  [[nodiscard]] std::string get(const std::string& key, const std::function<std::string()>& make) const;

 private:
  void keep(const std::string& key, const std::string& value) const;
  void remove_beyond_limit(const std::string& newest) const;

  int folder_ = -1;  ///< file descriptor; −1: no folder
  std::uint64_t limit_;
};

}  // namespace serried::inline v0::cuda
