#include "local/cuda/kernel_cache.hpp"

#include <serried/error.hpp>

#include "local/cuda/device.hpp"
#include "local/cuda/disk_cache.hpp"
#include "local/cuda/library.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

namespace serried::inline v0::cuda {

namespace {

/// Whether a variable says `yes`; not set, empty and `no` are no. Throws value_error for anything else.
bool is_set(const char* variable, std::string_view yes, std::string_view no) {
  const char* const text = std::getenv(variable);
  const std::string_view value = text == nullptr ? "" : text;
  if (value == yes) return true;
  if (value.empty() || value == no) return false;
  throw value_error(fmt::format("{}={}: {} or {} is needed", variable, value, no, yes));
}

/// What a kernel can be given: 32,764 bytes.
void check_words(std::size_t words) {
  constexpr std::size_t most = 32764 / sizeof(std::uint64_t);
  if (words > most)
    throw value_error(
        fmt::format("an expression is too large for one kernel: its arrays, boundaries and scalars take {} bytes of "
                    "arguments, and {} are possible; eval() a part of it first",
                    words * sizeof(std::uint64_t), most * sizeof(std::uint64_t)));
}

/// A kernel that is there, or is being made by the thread that holds the mutex.
struct slot {
  std::mutex making;
  std::atomic<bool> ready{false};
  loaded_kernel kernel;
};

}  // namespace

struct kernel_cache::impl {
  explicit impl(const device_traits& device) : architecture(architecture_of(device)) {}

  slot& slot_of(const std::string& key) {
    {
      const std::shared_lock lock(mutex);
      if (const auto found = slots.find(key); found != slots.end()) return found->second;
    }
    const std::unique_lock lock(mutex);
    return slots[key];
  }

  void make(slot& s, const launch& l) {
    const std::lock_guard lock(s.making);
    if (s.ready) return;
    check_words(l.words.size());
    const auto start = std::chrono::steady_clock::now();
    const std::string text = l.text();
    bool compiled = false;
    const std::string image = disk.get(compilation_key(architecture, l.quick) + text, [&] {
      compiled = true;
      return compile(text, architecture, l.quick);
    });
    s.kernel = loaded_kernel(image);
    s.ready = true;
    if (!log) return;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    fmt::print(stderr, "serried: a kernel for {}, {} in {:.1f} ms, {} registers:\n{}\n", architecture,
               compiled ? "compiled" : "read from the cache", took.count(), s.kernel.registers(), text);
  }

  const std::string architecture;
  const disk_cache disk = disk_cache::from_environment();
  const bool log = is_set("SERRIED_LOG", "debug", "off");
  const bool synchronous = is_set("SERRIED_SYNC", "1", "0");
  std::shared_mutex mutex;
  std::unordered_map<std::string, slot> slots;  // which stay where they are
};

kernel_cache::kernel_cache(const device_traits& device) : impl_(std::make_unique<impl>(device)) {}
kernel_cache::~kernel_cache() = default;

bool kernel_cache::has(const launch& l) { return impl_->slot_of(l.key).ready.load(std::memory_order_acquire); }

const loaded_kernel& kernel_cache::get(const launch& l) {
  slot& s = impl_->slot_of(l.key);
  if (!s.ready.load(std::memory_order_acquire)) impl_->make(s, l);
  return s.kernel;
}

void kernel_cache::run(const loaded_kernel& kernel, std::uint32_t blocks, std::uint32_t threads,
                       const std::uint64_t* words, cudaStream_t stream) {
  kernel.run(blocks, threads, words, stream);
  settle(stream, "running a kernel");
}

void kernel_cache::settle(cudaStream_t stream, const char* doing) const {
  if (impl_->synchronous) check(cudaStreamSynchronize(stream), doing);
}

}  // namespace serried::inline v0::cuda
