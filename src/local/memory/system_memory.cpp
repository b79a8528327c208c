#include "local/memory/pool.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace serried::inline v0::memory {
namespace {

class system_memory final : public resource {
 public:
  std::byte* allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    const bool huge = bytes >= huge_page;
    const std::size_t alignment = huge ? huge_page : smallest;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* const data = bytes > address_space ? nullptr : std::aligned_alloc(alignment, rounded);
    if (data == nullptr) throw out_of_memory(fmt::format("the system has no {} bytes of memory", bytes));
    if (huge) madvise(data, bytes, MADV_HUGEPAGE);  // a hint; a kernel without it says no
    return static_cast<std::byte*>(data);
  }
  void deallocate(std::byte* data, std::size_t) noexcept override { std::free(data); }
  std::optional<std::size_t> available() const noexcept override {
    return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }

 private:
  static constexpr std::size_t smallest = 512;
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t address_space = std::size_t{1} << 47;
};

}  // namespace

std::shared_ptr<resource> host_memory() { return std::make_shared<system_memory>(); }

}  // namespace serried::inline v0::memory
