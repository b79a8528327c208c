// What every memory resource has to do, also one that a user brings. Instantiate the suite with makers.
#pragma once

#include <serried/error.hpp>
#include <serried/memory.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace serried::testing {

struct resource_maker {
  std::string name;
  std::function<std::shared_ptr<memory::resource>()> make;
};
inline void PrintTo(const resource_maker& m, std::ostream* out) { *out << m.name; }

class resource_conformance : public ::testing::TestWithParam<resource_maker> {};

inline void fill(std::byte* p, std::size_t n, int value) { std::memset(p, value, n); }
inline bool holds(const std::byte* p, std::size_t n, int value) {
  for (std::size_t i = 0; i < n; i += n / 16 + 1)
    if (p[i] != static_cast<std::byte>(value)) return false;
  return n == 0 || p[n - 1] == static_cast<std::byte>(value);
}

TEST_P(resource_conformance, nothing_is_null) {
  const auto r = GetParam().make();
  EXPECT_EQ(r->allocate(0), nullptr);
  r->deallocate(nullptr, 0);
}

TEST_P(resource_conformance, blocks_are_aligned_and_apart) {
  const auto r = GetParam().make();
  std::mt19937 g(1);
  struct block {
    std::byte* data;
    std::size_t bytes;
    int value;
  };
  std::vector<block> live;
  for (int i = 0; i < 3000; ++i) {
    if (!live.empty() && g() % 2 == 0) {
      const std::size_t k = g() % live.size();
      ASSERT_TRUE(holds(live[k].data, live[k].bytes, live[k].value));
      r->deallocate(live[k].data, live[k].bytes);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(k));
    } else {
      const std::size_t bytes = 1 + g() % (std::size_t{1} << (g() % 18));
      block b{r->allocate(bytes), bytes, i % 256};
      ASSERT_NE(b.data, nullptr);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(b.data) % 64, 0u);
      fill(b.data, bytes, b.value);
      live.push_back(b);
    }
  }
  for (const block& b : live) {
    EXPECT_TRUE(holds(b.data, b.bytes, b.value));
    r->deallocate(b.data, b.bytes);
  }
}

TEST_P(resource_conformance, too_much_is_out_of_memory) {
  const auto r = GetParam().make();
  EXPECT_THROW((void)r->allocate(std::size_t{1} << 60), out_of_memory);
  EXPECT_THROW((void)r->allocate(~std::size_t{0}), out_of_memory);
  std::byte* const after = r->allocate(100);
  EXPECT_NE(after, nullptr);
  r->deallocate(after, 100);
}

TEST_P(resource_conformance, serves_several_threads) {
  const auto r = GetParam().make();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 g(static_cast<unsigned>(t));
      for (int i = 0; i < 500; ++i) {
        const std::size_t bytes = 1 + g() % 5000;
        std::byte* const p = r->allocate(bytes);
        fill(p, bytes, t);
        std::this_thread::yield();
        wrong[static_cast<std::size_t>(t)] += !holds(p, bytes, t);
        r->deallocate(p, bytes);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace serried::testing
