#include "local/memory/pool.hpp"
#include "local/memory/buffer.hpp"
#include "local/resource_conformance.hpp"

#include <map>

namespace serried::testing {
namespace {

using memory::buffer;
using memory::pool;

/// Counts what it lends, and can be told to have run out.
class counting_resource final : public memory::resource {
 public:
  std::byte* allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    if (held + bytes > capacity) throw out_of_memory("the test's memory is used up");
    std::byte* const p = memory::host_memory()->allocate(bytes);
    held += bytes;
    sizes[p] = bytes;
    ++calls;
    return p;
  }
  void deallocate(std::byte* data, std::size_t bytes) noexcept override {
    if (data == nullptr) return;
    EXPECT_EQ(sizes[data], bytes);
    sizes.erase(data);
    held -= bytes;
    memory::host_memory()->deallocate(data, bytes);
  }
  std::size_t held = 0;
  std::size_t capacity = std::size_t{1} << 30;
  int calls = 0;
  std::map<std::byte*, std::size_t> sizes;
};

INSTANTIATE_TEST_SUITE_P(memory, resource_conformance,
                         ::testing::Values(resource_maker{"host", [] { return memory::host_memory(); }},
                                           resource_maker{
                                               "pool", [] { return std::make_shared<pool>(memory::host_memory()); }}),
                         [](const auto& info) { return info.param.name; });

TEST(pool, hands_out_again_what_comes_back) {
  const auto upstream = std::make_shared<counting_resource>();
  pool p(upstream);
  std::byte* const first = p.allocate(1'000'000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 512, 0u);
  p.deallocate(first, 1'000'000);
  for (int step = 0; step < 100; ++step) {
    std::byte* const again = p.allocate(1'000'000 - static_cast<std::size_t>(step));  // the same size class
    EXPECT_EQ(again, first);
    p.deallocate(again, 1'000'000 - static_cast<std::size_t>(step));
  }
  EXPECT_EQ(upstream->calls, 1);
}

TEST(pool, size_classes_waste_at_most_a_quarter) {
  const auto upstream = std::make_shared<counting_resource>();
  pool p(upstream);
  for (std::size_t bytes = 1; bytes < 100'000'000; bytes = bytes * 9 / 8 + 1) {
    std::byte* const x = p.allocate(bytes);
    const std::size_t held = p.stats().in_use;
    EXPECT_GE(held, bytes);
    EXPECT_LE(held, std::max<std::size_t>(512, bytes + bytes / 4 + 1));
    p.deallocate(x, bytes);
    EXPECT_EQ(p.stats().in_use, 0u);
  }
  p.trim();
  EXPECT_EQ(upstream->held, 0u);
}

TEST(pool, counts) {
  pool p(std::make_shared<counting_resource>());
  std::byte* const a = p.allocate(512);
  std::byte* const b = p.allocate(1024);
  p.deallocate(a, 512);
  const memory::statistics s = p.stats();
  EXPECT_EQ(s.in_use, 1024u);
  EXPECT_EQ(s.cached, 512u);
  EXPECT_EQ(s.peak_in_use, 1536u);
  EXPECT_EQ(s.limit, 0u);
  EXPECT_EQ(s.allocations, 2u);
  p.deallocate(b, 1024);
  p.trim();
  EXPECT_EQ(p.stats().cached, 0u);
}

TEST(pool, keeps_to_its_limit) {
  const auto upstream = std::make_shared<counting_resource>();
  pool p(upstream);
  p.set_limit(4096);
  std::byte* const a = p.allocate(2048);
  EXPECT_THROW(p.set_limit(1024), value_error);
  try {
    (void)p.allocate(4096);
    ADD_FAILURE() << "the limit was passed";
  } catch (const out_of_memory& e) {
    EXPECT_TRUE(
        std::string(e.what()).starts_with("out of memory: requested 4096 bytes; in use 2048, cached 0, limit 4096"))
        << e.what();
  }
  p.deallocate(a, 2048);
  std::byte* const all = p.allocate(4096);  // what was cached makes room
  EXPECT_EQ(upstream->held, 4096u);
  p.deallocate(all, 4096);
  p.set_limit(1024);  // gives the cache back
  EXPECT_EQ(upstream->held, 0u);
  p.set_limit(0);
  p.deallocate(p.allocate(1 << 20), 1 << 20);
}

TEST(pool, trims_before_it_gives_up) {
  const auto upstream = std::make_shared<counting_resource>();
  upstream->capacity = 10'000;
  pool p(upstream);
  std::byte* const a = p.allocate(8192);
  p.deallocate(a, 8192);
  std::byte* const b = p.allocate(4096);  // no room beside the cached block
  EXPECT_EQ(upstream->held, 4096u);
  EXPECT_THROW((void)p.allocate(8192), out_of_memory);
  p.deallocate(b, 4096);
}

TEST(pool, buffers_return_to_where_they_came_from) {
  const auto upstream = std::make_shared<counting_resource>();
  {
    auto p = std::make_shared<pool>(upstream);
    buffer a(p, 700);
    buffer b = std::move(a);
    EXPECT_EQ(a.data(), nullptr);
    EXPECT_EQ(b.size(), 700u);
    a = buffer(p, 5000);
    b = std::move(a);
    EXPECT_EQ(p->stats().in_use, 5120u);
    p.reset();  // the buffer keeps the pool
    fill(b.data(), b.size(), 3);
  }
  EXPECT_EQ(upstream->held, 0u);
}

}  // namespace
}  // namespace serried::testing
