// Launches that were planned before. Programs run in loops over the same arrays: all that differs is scalars' values.
#pragma once

#include "local/cuda/launch.hpp"
#include "local/program.hpp"

#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace serried::inline v0::cuda {

class loaded_kernel;

/// All that planning looks at: a program's structure and every address, extent, stride, window and boundary, but not
/// the values of the program's scalars. Refers to what it is made of.
class plan_key {
 public:
  plan_key(const program& p, std::span<const leaf_binding> leaves, std::span<const output_binding> outputs,
           const box& where);

  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  /// To keep; equal for equal keys only.
  [[nodiscard]] std::vector<std::uint64_t> words() const;
  /// Whether words() are these.
  [[nodiscard]] bool is(std::span<const std::uint64_t> words) const;

 private:
  template <class F>
  void for_each_word(F&& f) const;

  const program& program_;
  const std::span<const leaf_binding> leaves_;
  const std::span<const output_binding> outputs_;
  const box& where_;
  std::uint64_t hash_;
  std::size_t size_;  // the number of words
};

/// A launch without its text.
struct plan {
  const loaded_kernel* kernel = nullptr;  ///< which outlives the cache of plans
  std::uint32_t blocks = 1;
  std::uint32_t threads = 1;
  std::vector<std::uint64_t> words;  ///< as in launch: the program's scalars come last

  void set_scalars(std::span<const scalar_value> scalars);
};

/// Thread-safe.
class plan_cache {
 public:
  static constexpr std::size_t capacity = 1024;

  /// Copies what was kept for the key into `p`; false when there is nothing.
  [[nodiscard]] bool find(const plan_key& key, plan& p) const;
  /// Makes room by dropping all others.
  void keep(const plan_key& key, const plan& p);
  [[nodiscard]] std::size_t size() const;

 private:
  struct entry {
    std::vector<std::uint64_t> key;
    plan what;
  };
  struct as_it_is {
    std::size_t operator()(std::uint64_t hash) const noexcept { return hash; }
  };

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, entry, as_it_is> entries_;  // of two keys with one hash only the later
};

}  // namespace serried::inline v0::cuda
