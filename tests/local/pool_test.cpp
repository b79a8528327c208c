#include "local/memory/pool.hpp"
#include "local/deferred_engine.hpp"
#include "local/memory/address_map.hpp"
#include "local/memory/buffer.hpp"
#include "local/resource_conformance.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace serried::testing {
namespace {

using memory::buffer;
using memory::pool;

/// Counts what it lends, and can be told to have run out.
class counting_resource final : public memory::resource {
 public:
  std::byte* allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    ++requests;
    if (broken) throw device_error("the device failed");
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
  std::optional<std::size_t> available() const noexcept override { return capacity - held; }
  std::size_t held = 0;
  std::size_t capacity = std::size_t{1} << 30;
  int calls = 0;
  int requests = 0;  ///< also refused ones
  bool broken = false;
  std::map<std::byte*, std::size_t> sizes;
};

INSTANTIATE_TEST_SUITE_P(memory, resource_conformance,
                         ::testing::Values(resource_maker{"host", [] { return memory::host_memory(); }},
                                           resource_maker{
                                               "pool", [] { return std::make_shared<pool>(memory::host_memory()); }}),
                         [](const auto& info) { return info.param.name; });

constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST(pool, hands_out_again_what_comes_back) {
  const auto upstream = std::make_shared<counting_resource>();
  pool p(upstream);
  std::byte* const first = p.allocate(1'000'000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 512, 0u);
  p.deallocate(first, 1'000'000);
  for (std::size_t step = 0; step < 100; ++step) {
    std::byte* const again = p.allocate(1'000'000 - step);
    EXPECT_EQ(again, first);
    p.deallocate(again, 1'000'000 - step);
  }
  EXPECT_EQ(upstream->calls, 1);
}

TEST(pool, wastes_less_than_512_bytes) {
  pool p(std::make_shared<counting_resource>());
  for (std::size_t bytes = 1; bytes < 100'000'000; bytes = bytes * 9 / 8 + 1) {
    std::byte* const x = p.allocate(bytes);
    EXPECT_EQ(p.stats().in_use, (bytes + 511) / 512 * 512);
    p.deallocate(x, bytes);
    EXPECT_EQ(p.stats().in_use, 0u);
  }
  p.trim();
  EXPECT_EQ(p.stats().cached, 0u);
}

TEST(pool, segments_suit_the_requests) {
  const auto upstream = std::make_shared<counting_resource>();
  pool p(upstream);
  const auto held_for = [&](std::size_t bytes) {
    std::byte* const x = p.allocate(bytes);
    const std::size_t held = upstream->held;
    p.deallocate(x, bytes);
    p.trim();
    EXPECT_EQ(upstream->held, 0u);
    return held;
  };
  EXPECT_EQ(held_for(1), 4 * mebibyte);
  EXPECT_EQ(held_for(mebibyte), 4 * mebibyte);
  EXPECT_EQ(held_for(mebibyte + 1), 32 * mebibyte);
  EXPECT_EQ(held_for(10 * mebibyte), 10 * mebibyte);
  EXPECT_EQ(held_for(101 * mebibyte), 102 * mebibyte);
}

TEST(pool, takes_the_smallest_block_that_fits) {
  pool p(std::make_shared<counting_resource>());
  std::vector<std::byte*> blocks;
  for (const std::size_t n : {100, 1, 60, 1, 80, 1}) blocks.push_back(p.allocate(n * 1024));
  for (const std::size_t i : {0, 2, 4}) p.deallocate(blocks[i], 0);
  EXPECT_EQ(p.allocate(70 * 1024), blocks[4]);
  EXPECT_EQ(p.allocate(60 * 1024), blocks[2]);
  EXPECT_EQ(p.allocate(10 * 1024), blocks[4] + 70 * 1024);
  EXPECT_EQ(p.allocate(99 * 1024), blocks[0]);
  for (const std::size_t i : {0, 1, 2, 3, 4, 5}) p.deallocate(blocks[i], 0);
  p.deallocate(blocks[4] + 70 * 1024, 0);
  EXPECT_EQ(p.stats().in_use, 0u);
}

TEST(pool, neighbors_join) {
  const auto upstream = std::make_shared<counting_resource>();
  pool p(upstream);
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(p.allocate(64 * 1024));
  EXPECT_EQ(upstream->calls, 1);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));
  for (std::byte* const b : blocks) p.deallocate(b, 64 * 1024);
  std::vector<std::byte*> large;
  for (int i = 0; i < 4; ++i) large.push_back(p.allocate(mebibyte));
  EXPECT_EQ(upstream->calls, 1);
  for (std::byte* const b : large) p.deallocate(b, mebibyte);
}

TEST(pool, counts) {
  pool p(std::make_shared<counting_resource>());
  std::byte* const a = p.allocate(512);
  std::byte* const b = p.allocate(1024);
  p.deallocate(a, 512);
  const memory::statistics s = p.stats();
  EXPECT_EQ(s.in_use, 1024u);
  EXPECT_EQ(s.cached, 4 * mebibyte - 1024);
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
  EXPECT_LE(upstream->held, 4096u);
  EXPECT_THROW(p.set_limit(1024), value_error);
  try {
    (void)p.allocate(4096);
    ADD_FAILURE() << "the limit was passed";
  } catch (const out_of_memory& e) {
    EXPECT_EQ(e.what(), "out of memory: requested 4096 bytes; in use 2048, cached 2048, limit 4096, free " +
                            std::to_string((std::size_t{1} << 30) - 4096));
  }
  p.deallocate(a, 2048);
  std::byte* const all = p.allocate(4096);
  EXPECT_EQ(upstream->held, 4096u);
  p.deallocate(all, 4096);
  p.set_limit(1024);  // gives the cache back
  EXPECT_EQ(upstream->held, 0u);
  p.set_limit(0);
  p.deallocate(p.allocate(1 << 20), 1 << 20);
}

TEST(pool, trims_before_it_gives_up) {
  const auto upstream = std::make_shared<counting_resource>();
  upstream->capacity = 20 * mebibyte;
  pool p(upstream);
  p.deallocate(p.allocate(16 * mebibyte), 16 * mebibyte);
  std::byte* const small = p.allocate(1000);  // not out of the large segment
  EXPECT_EQ(upstream->held, 20 * mebibyte);
  std::byte* const b = p.allocate(12 * mebibyte);
  EXPECT_EQ(upstream->held, 20 * mebibyte);
  p.deallocate(b, 12 * mebibyte);
  EXPECT_THROW((void)p.allocate(18 * mebibyte), out_of_memory);
  p.deallocate(small, 1000);
  std::byte* const c = p.allocate(18 * mebibyte);
  EXPECT_EQ(upstream->held, 18 * mebibyte);
  p.deallocate(c, 18 * mebibyte);
}

TEST(pool, does_with_less_than_a_segment) {
  const auto upstream = std::make_shared<counting_resource>();
  upstream->capacity = 10'000;
  pool p(upstream);
  std::byte* const a = p.allocate(8192);
  EXPECT_EQ(upstream->held, 8192u);
  EXPECT_THROW((void)p.allocate(4096), out_of_memory);
  p.deallocate(a, 8192);
  p.deallocate(p.allocate(4096), 4096);
}

TEST(pool, asks_once_for_what_it_cannot_have) {
  const auto upstream = std::make_shared<counting_resource>();
  upstream->capacity = 20 * mebibyte;
  pool p(upstream);
  EXPECT_THROW((void)p.allocate(22 * mebibyte), out_of_memory);
  EXPECT_EQ(upstream->requests, 2);  // now, and when all that was cached is given back
}

TEST(pool, goes_on_after_an_error_of_the_device) {
  const auto upstream = std::make_shared<counting_resource>();
  pool p(upstream);
  upstream->broken = true;
  for (int i = 0; i < 100; ++i) EXPECT_THROW((void)p.allocate(1000), device_error);
  EXPECT_EQ(p.stats().in_use, 0u);
  upstream->broken = false;
  p.deallocate(p.allocate(1000), 1000);
  EXPECT_EQ(p.stats().cached, upstream->held);
}

// ---- queues

struct two_queues : public ::testing::Test {
  std::shared_ptr<deferred_device> device = std::make_shared<deferred_device>(1);
  std::shared_ptr<deferred_queue> a = std::make_shared<deferred_queue>(device);
  std::shared_ptr<deferred_queue> b = std::make_shared<deferred_queue>(device);
  std::shared_ptr<counting_resource> upstream = std::make_shared<counting_resource>();
  std::shared_ptr<pool> p = std::make_shared<pool>(upstream);
};
using pool_queues = two_queues;
using buffer_queues = two_queues;

TEST_F(pool_queues, a_freed_block_is_at_once_its_home_s) {
  std::byte* const x = p->allocate(1000, a);
  a->issue([] {});
  p->deallocate(x, 1000);
  EXPECT_EQ(p->allocate(1000, a), x);
  EXPECT_EQ(device->marks, 0);
  p->deallocate(x, 1000);
}

TEST_F(pool_queues, others_get_it_when_its_home_has_come_so_far) {
  std::byte* const x = p->allocate(mebibyte, a);
  std::byte* const rest = p->allocate(3 * mebibyte / 4, a);
  a->issue([] {});
  p->deallocate(x, mebibyte);
  std::byte* const y = p->allocate(mebibyte, b);
  EXPECT_NE(y, x);
  device->run_all();
  std::byte* const z = p->allocate(mebibyte, b);
  // Freed after the mark was recorded: not before another.
  p->deallocate(z, mebibyte);
  p->deallocate(y, mebibyte);
  p->deallocate(rest, 0);
  EXPECT_EQ(device->waits, 0);  // no queue was made to wait
}

TEST_F(pool_queues, joined_blocks_are_as_late_as_the_last_of_them) {
  for (const bool left_first : {false, true}) {
    p->deallocate(p->allocate(40 * mebibyte, a), 0);
    std::byte* const left = p->allocate(20 * mebibyte, a);
    std::byte* const right = p->allocate(20 * mebibyte, a);
    EXPECT_EQ(right, left + 20 * mebibyte);
    p->deallocate(left_first ? left : right, 0);
    std::byte* const y = p->allocate(20 * mebibyte, b);  // now a mark is recorded
    device->run_all();
    a->issue([] {});
    p->deallocate(left_first ? right : left, 0);
    std::byte* const z = p->allocate(40 * mebibyte, b);
    EXPECT_NE(z, left) << left_first;
    for (std::byte* const other : {y, z}) p->deallocate(other, 0);
    device->run_all();
    p->trim();
  }
}

TEST_F(pool_queues, memory_that_was_never_used_is_anybody_s) {
  std::byte* const x = p->allocate(1000, a);
  std::byte* const y = p->allocate(1000, b);
  EXPECT_EQ(upstream->calls, 1);
  EXPECT_EQ(device->marks, 0);
  p->deallocate(x, 1000);
  p->deallocate(y, 1000);
}

TEST_F(pool_queues, out_of_memory_makes_queues_wait_for_each_other) {
  upstream->capacity = 20 * mebibyte;
  bool used = false;
  std::byte* const x = p->allocate(20 * mebibyte, a);
  a->issue([&] { used = true; });
  p->deallocate(x, 20 * mebibyte);
  std::byte* const y = p->allocate(12 * mebibyte, b);
  EXPECT_EQ(y, x);
  EXPECT_EQ(device->waits, 1);
  EXPECT_FALSE(used);  // the thread did not wait
  bool after = false;
  b->issue([&] { after = used; });
  b->synchronize();
  EXPECT_TRUE(after);
  p->deallocate(y, 12 * mebibyte);
}

TEST_F(pool_queues, pieces_of_several_queues_become_one_when_nothing_else_helps) {
  upstream->capacity = 20 * mebibyte;
  std::byte* const x = p->allocate(10 * mebibyte, a);
  std::byte* const y = p->allocate(10 * mebibyte, b);
  bool used = false;
  a->issue([&] { used = true; });
  p->deallocate(x, 0);
  p->deallocate(y, 0);
  std::byte* const z = p->allocate(20 * mebibyte, b);
  EXPECT_TRUE(used);
  EXPECT_THROW((void)p->allocate(2 * mebibyte, a), out_of_memory);
  p->deallocate(z, 0);
}

TEST_F(pool_queues, a_trim_waits_for_the_work_in_freed_blocks) {
  bool used = false;
  std::byte* const x = p->allocate(1000, a);
  a->issue([&] { used = true; });
  p->deallocate(x, 1000);
  p->trim();
  EXPECT_TRUE(used);
  EXPECT_EQ(upstream->held, 0u);
}

TEST_F(pool_queues, what_a_queue_leaves_behind_is_anybody_s) {
  std::byte* const x = p->allocate(4 * mebibyte, a);
  a->issue([] {});
  p->deallocate(x, 0);
  const std::weak_ptr<queue> watch = a;
  a.reset();
  std::vector<std::byte*> others;
  for (int i = 0; i < 5; ++i) {
    others.push_back(p->allocate(8 * mebibyte, b));
    device->run_all();
  }
  EXPECT_TRUE(watch.expired());
  for (std::byte* const o : others) p->deallocate(o, 0);
}

TEST_F(buffer_queues, freeing_waits_for_other_readers) {
  bool read = false;
  std::byte* first = nullptr;
  {
    buffer x(p, 20 * mebibyte, a);
    first = x.data();
    x.write_on(a);
    a->issue([] {});
    x.read_on(b);
    b->issue([&] { read = true; });
  }
  EXPECT_FALSE(read);
  buffer y(p, 20 * mebibyte, a);
  EXPECT_EQ(y.data(), first);
  bool written_after_read = false;
  a->issue([&] { written_after_read = read; });
  device->run_all();
  EXPECT_TRUE(written_after_read);
}

TEST_F(buffer_queues, one_queue_alone_records_nothing) {
  for (int i = 0; i < 10; ++i) {
    buffer x(p, 1000, a);
    x.write_on(a);
    x.read_on(a);
    EXPECT_EQ(x.only_user(), a.get());
  }
  EXPECT_EQ(device->marks, 0);
  EXPECT_EQ(a->waiting(), 0u);
}

TEST_F(buffer_queues, a_reader_waits_once_for_a_write) {
  buffer x(p, 1000, a);
  x.write_on(a);
  x.read_on(b);
  x.read_on(b);
  EXPECT_EQ(device->waits, 1);
  x.write_on(a);
  EXPECT_EQ(device->waits, 2);
  x.write_on(a);
  EXPECT_EQ(device->waits, 2);
  x.read_on(b);
  EXPECT_EQ(device->waits, 3);
  device->run_all();
}

TEST_F(buffer_queues, many_readers_are_not_kept) {
  buffer x(p, 1000, a);
  x.write_on(a);
  std::vector<std::weak_ptr<queue>> readers;
  int reads = 0;
  for (int i = 0; i < 100; ++i) {
    const auto q = std::make_shared<deferred_queue>(device);
    readers.emplace_back(q);
    x.read_on(q);
    q->issue([&] { ++reads; });
  }
  EXPECT_LE(std::count_if(readers.begin(), readers.end(), [](const auto& r) { return !r.expired(); }), 9);
  int seen = 0;
  x.write_on(b);
  b->issue([&] { seen = reads; });
  device->run_all();
  EXPECT_EQ(seen, 100);
}

TEST_F(buffer_queues, readers_that_are_yet_to_issue_their_work_are_kept) {
  for (const bool at_home : {false, true}) {
    buffer x(p, 1000, a);
    x.write_on(at_home ? a : b);
    const auto slow = std::make_shared<deferred_queue>(device);
    x.read_on(slow);
    std::vector<std::shared_ptr<deferred_queue>> held;
    int reads = 0;
    for (int i = 0; i < 30; ++i) {
      const auto q = std::make_shared<deferred_queue>(device);
      if (i % 3 == 0) held.push_back(q);
      x.read_on(q);
      q->issue([&] { ++reads; });
    }
    x.read_on(a);
    a->issue([&] { ++reads; });
    device->run_all();
    for (int i = 0; i < 20; ++i) slow->issue([] {});
    slow->issue([&] { ++reads; });
    int seen = 0;
    const auto last = std::make_shared<deferred_queue>(device);
    x.write_on(last);
    last->issue([&] { seen = reads; });
    device->run_all();
    EXPECT_EQ(seen, 32);
  }
}

TEST_F(buffer_queues, memory_of_others_goes_back_when_it_is_no_longer_used) {
  const auto mine = std::make_shared<counting_resource>();
  bool read = false;
  {
    buffer x(mine, 1000, a);
    x.read_on(b);
    b->issue([&] { read = true; });
  }
  EXPECT_TRUE(read);
  EXPECT_EQ(mine->held, 0u);
}

TEST_F(buffer_queues, a_device_that_failed_is_no_reason_to_throw) {
  std::byte* lost = nullptr;
  {
    buffer x(p, 1000, a);
    lost = x.data();
    x.read_on(b);
    b->broken = true;
  }
  EXPECT_EQ(p->stats().in_use, 1024u);  // nobody gets it
  p->deallocate(lost, 1000);
}

TEST(pool, random_requests_of_many_queues_never_share_a_byte) {
  const auto device = std::make_shared<deferred_device>(7);
  const auto upstream = std::make_shared<counting_resource>();
  upstream->capacity = 96 * mebibyte;
  const auto p = std::make_shared<pool>(upstream);
  std::vector<std::shared_ptr<deferred_queue>> queues;
  for (int i = 0; i < 4; ++i) queues.push_back(std::make_shared<deferred_queue>(device));
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 g(seed);
  // Work of a block: its owner writes a tag, later finds it unchanged. A block that two own at a time fails that.
  struct live {
    std::unique_ptr<buffer> memory;
    int tag;
  };
  std::vector<live> blocks;
  int wrong = 0;
  int refused = 0;
  const auto use = [&](const live& l, const std::shared_ptr<deferred_queue>& q, bool first) {
    std::byte* const data = l.memory->data();
    const std::size_t size = l.memory->size();
    const int tag = l.tag;
    if (first) l.memory->write_on(q);
    else l.memory->read_on(q);
    q->issue([&wrong, data, size, tag, first] {
      for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
        if (first) data[at] = static_cast<std::byte>(tag);
        else wrong += data[at] != static_cast<std::byte>(tag);
      }
    });
  };
  for (int i = 0; i < 20'000; ++i) {
    const auto& q = queues[g() % queues.size()];
    if (blocks.size() < 12 || (blocks.size() < 40 && g() % 2 == 0)) {
      const std::size_t bytes = 1 + g() % (std::size_t{1} << (8 + g() % 17));
      try {
        blocks.push_back({std::make_unique<buffer>(p, bytes, q), i % 251});
        use(blocks.back(), queues[g() % queues.size()], true);
      } catch (const out_of_memory&) {
        ++refused;
      }
    } else {
      const std::size_t k = g() % blocks.size();
      use(blocks[k], q, false);
      if (g() % 4 != 0) {
        std::swap(blocks[k], blocks.back());
        blocks.pop_back();
      }
    }
    if (g() % 500 == 0) queues[g() % queues.size()] = std::make_shared<deferred_queue>(device);
    if (g() % 2000 == 0) p->trim();
    const memory::statistics s = p->stats();
    std::size_t in_use = 0;
    for (const live& l : blocks) in_use += (l.memory->size() + 511) / 512 * 512;
    ASSERT_EQ(s.in_use, in_use);
    ASSERT_EQ(s.in_use + s.cached, upstream->held);
  }
  blocks.clear();
  device->run_all();
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(refused, 5000);
  p->trim();
  EXPECT_EQ(upstream->held, 0u);
}

TEST(address_map, finds_what_was_put_in) {
  struct thing {
    std::byte* data;
  };
  std::mt19937 g(3);
  memory::address_map<thing> m;
  std::vector<std::unique_ptr<thing>> in;
  for (std::uintptr_t i = 1; i < 3000; ++i) {
    m.reserve_one();
    in.push_back(std::make_unique<thing>(thing{reinterpret_cast<std::byte*>(i * 512)}));
    m.put(in.back().get());
    while (!in.empty() && g() % 3 != 0) {
      const std::size_t k = g() % in.size();
      EXPECT_EQ(m.take(in[k]->data), in[k].get());
      in.erase(in.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  for (const auto& t : in) EXPECT_EQ(m.take(t->data), t.get());
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
