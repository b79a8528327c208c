// Streams and events as users see them, and arrays that several queues of an asynchronous device work on.
#include <serried/serried.hpp>

#include "local/context.hpp"
#include "local/deferred_engine.hpp"
#include "local/evaluate.hpp"
#include "local/io/staging.hpp"
#include "local/storage.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace sr = serried;

namespace serried::testing {
namespace {

/// The calling thread's device is a deferred one.
struct on_deferred_device : public ::testing::Test {
  explicit on_deferred_device(unsigned seed = 5) : engine(std::make_shared<deferred_engine>(seed)) {}
  std::shared_ptr<deferred_engine> engine;
  context_guard here{context_of(std::make_shared<context_state>(context_state{engine, 1}))};
};
using streams = on_deferred_device;

array numbers(std::int64_t n) { return arange(n, {.dtype = float32}); }

TEST(stream, that_was_moved_from_is_what_it_was) {
  stream a;
  const stream b = std::move(a);
  a.synchronize();
  EXPECT_TRUE(a.done());
  EXPECT_EQ(a.work_queue(), b.work_queue());
}

TEST(stream, works_on_the_host_with_nothing_to_wait_for) {
  const context_guard own(context::make());
  stream s({.priority = priority::high});
  event begin;
  EXPECT_TRUE(begin.done());
  begin.synchronize();
  EXPECT_THROW((void)begin.seconds_since(begin), value_error);
  event end;
  array a;
  {
    const stream_guard guard(s);
    EXPECT_EQ(current_stream().work_queue(), s.work_queue());
    begin.record();
    a = ones({1000}) * 2;
    end.record();
  }
  EXPECT_NE(current_stream().work_queue(), s.work_queue());
  current_stream().wait(end);
  s.synchronize();
  EXPECT_TRUE(s.done());
  EXPECT_TRUE(end.done());
  EXPECT_GE(end.seconds_since(begin), 0);
  EXPECT_LT(end.seconds_since(begin), 60);
  EXPECT_EQ(sum(a).item<double>(), 2000);
}

TEST_F(streams, nothing_runs_before_it_must) {
  const array a = numbers(100) * 2;
  event e;
  e.record();
  EXPECT_FALSE(e.done());
  EXPECT_FALSE(current_stream().done());
  e.synchronize();
  EXPECT_TRUE(e.done());
  EXPECT_EQ(sum(a).item<float>(), 9900);
}

TEST_F(streams, a_guard_of_another_device_leaves_this_one_its_main_stream) {
  const stream mine;
  const stream_guard guard(mine);
  EXPECT_EQ(current_stream().work_queue(), mine.work_queue());
  {
    const context_guard other(context::make());
    EXPECT_NE(current_stream().work_queue(), mine.work_queue());
    EXPECT_EQ(sum(ones({10})).item<double>(), 10);
  }
  EXPECT_EQ(current_stream().work_queue(), mine.work_queue());
  std::thread([&] { EXPECT_NE(engine->shared_current_queue(), mine.work_queue()); }).join();
}

TEST_F(streams, one_stream_alone_needs_no_marks) {
  array u = numbers(1000);
  for (int i = 0; i < 10; ++i) {
    u += 1;
    u = u * 2;
    const array s = sum(u);
  }
  EXPECT_EQ(engine->device().marks, 0);
}

TEST_F(streams, a_stream_reads_what_another_wrote) {
  const stream a;
  const stream b;
  std::optional<array> x;
  {
    const stream_guard guard(a);
    x = numbers(1000) + 1;
  }
  const stream_guard guard(b);
  EXPECT_EQ(sum(*x).item<float>(), 500500);
}

TEST_F(streams, a_write_waits_for_other_streams_readers) {
  const stream a;
  const stream b;
  const array x = numbers(100).copy();
  std::optional<array> y;
  {
    const stream_guard guard(b);
    y = x * 1;
  }
  {
    const stream_guard guard(a);
    x(_) = -1;
  }
  EXPECT_EQ(y->to_vector<float>(), numbers(100).to_vector<float>());
  EXPECT_EQ(sum(x).item<float>(), -100);
}

TEST_F(streams, what_is_done_at_an_exported_address_is_in_order) {
  const stream a;
  const stream b;
  std::optional<array> x;
  {
    const stream_guard guard(a);
    x = numbers(1000) + 1;
  }
  float seen = 0;
  {
    const stream_guard guard(b);
    float* const data = x->data<float>();
    engine->current().issue([&seen, data] { seen = std::exchange(data[999], -1.0F); });
  }
  EXPECT_EQ((*x)(999).item<float>(), -1);
  EXPECT_EQ(seen, 1000);
}

TEST_F(streams, freed_while_another_stream_still_reads) {
  const stream b;
  std::optional<array> y;
  {
    const array x = numbers(100).copy();
    const stream_guard guard(b);
    y = x + 1;
  }
  const array z = full({100}, -1, {.dtype = float32});  // takes the place of x
  engine->device().run_all();
  EXPECT_EQ(y->to_vector<float>(), (numbers(100) + 1).eval().to_vector<float>());
}

TEST_F(streams, an_exception_leaves_all_in_order) {
  const stream b;
  const array x = numbers(100).copy();
  const array whole = arange(10);
  {
    const stream_guard guard(b);
    EXPECT_THROW((void)(x + ones({7})).eval(), shape_error);
    EXPECT_THROW(x(slice(0, 3)) = numbers(4), shape_error);
    std::static_pointer_cast<deferred_queue>(b.work_queue())->broken = true;
    EXPECT_THROW(event().record(), device_error);
    std::static_pointer_cast<deferred_queue>(b.work_queue())->broken = false;
    x += 1;
  }
  EXPECT_EQ(sum(x).item<float>(), 5050);
  engine->device().run_all();
}

TEST_F(streams, arrays_are_read_and_written_through_pinned_memory) {
  const std::string path = ::testing::TempDir() + "stream_test.npy";
  const stream b;
  // More than two stretches of the staging memory, in rows that do not divide it.
  const array x = (arange(2'500'000, {.dtype = float64}) * 3).eval().reshape({2, 1250, 1000});
  {
    const stream_guard guard(b);
    save(path, x.transpose({0, 2, 1}));
  }
  const array y = load(path);
  EXPECT_GT(engine->pinned().stats().allocations, 0U);
  EXPECT_EQ(engine->pinned().stats().in_use, 0U);
  EXPECT_EQ(y.to_vector<double>(), x.transpose({0, 2, 1}).copy().to_vector<double>());
  std::filesystem::remove(path);
  EXPECT_EQ(memory::stats(memory::kind::pinned).in_use, 0U);
}

// Destroyed after main, when its stream and its thread's context are gone: the process must end in good order.
std::optional<array> outlives_main;

TEST_F(streams, an_array_may_outlive_main) {
  const stream b;
  outlives_main = numbers(100).copy();
  const stream_guard guard(b);
  EXPECT_EQ(sum(*outlives_main).item<float>(), 4950);
}

TEST(staging, stretches_are_a_box_in_c_order) {
  std::mt19937 g(2);
  for (int round = 0; round < 300; ++round) {
    box where;
    shape whole_shape;
    for (unsigned d = 0, n = g() % 5; d < n; ++d) {
      const auto extent = static_cast<std::int64_t>(g() % 7);
      const auto lo = static_cast<std::int64_t>(g() % 3);
      where.lo.push_back(lo);
      where.hi.push_back(lo + extent);
      whole_shape.push_back(extent);
    }
    const auto most = static_cast<std::int64_t>(1 + g() % 40);
    // The linear index in the box of each stretch's first element is where the last one ended.
    std::int64_t end = 0;
    io::for_each_stretch(where, most, [&](const box& part) {
      EXPECT_LE(part.volume(), most);
      EXPECT_TRUE(contains(where, part));
      const strides step = contiguous_strides(whole_shape, 1);
      std::int64_t first = 0;
      std::int64_t last = 0;
      for (int d = 0; d < where.ndim(); ++d) {
        first += (part.lo[d] - where.lo[d]) * step[d];
        last += (part.hi[d] - 1 - where.lo[d]) * step[d];
      }
      EXPECT_EQ(first, end);
      EXPECT_EQ(last - first + 1, part.volume());
      end = last + 1;
    });
    EXPECT_EQ(end, where.volume());
  }
}

/// Programs of random steps over some arrays, each step in a stream drawn by lot, give what the same steps give on the
/// host.
TEST(streams_property, any_mixture_of_streams_gives_the_same_values) {
  const auto run = [](unsigned seed, bool mixed) {
    std::mt19937 g(seed);
    std::vector<stream> lines;
    for (int i = 0; i < 3; ++i) lines.emplace_back();
    std::vector<array> x;
    for (int i = 0; i < 4; ++i) x.push_back(numbers(64) + i);
    std::vector<float> seen;
    for (int step = 0; step < 200; ++step) {
      const auto line = g() % 4;
      const auto to = g() % x.size();
      const auto a = g() % x.size();
      const auto b = g() % x.size();
      const unsigned what = g() % 8;
      std::optional<stream_guard> guard;
      if (mixed && line < 3) guard.emplace(lines[line]);
      switch (what) {
        case 0: x[to] = x[a] - x[b] * 0.5F; break;
        case 1: x[to] += 1; break;
        case 2: x[to](slice(1, _)) = x[to](slice(0, -1)); break;
        case 3: x[to](slice(_, _, 2)) = 3; break;
        case 4: assign({x[to], x[(to + 1) % 4]}, {x[(to + 1) % 4], x[to] * 1}); break;
        case 5: x[to] = maximum(x[a] * 0.25F, sum(x[b](slice(0, 4))).eval()); break;
        case 6: x[to] = x[a](slice(_, _, -1)).copy(); break;
        default:
          if (g() % 4 == 0) seen.push_back(max(x[to]).item<float>());
          else if (mixed) lines[g() % 3] = stream();
          else (void)g();
      }
    }
    for (const array& a : x)
      for (const float v : a.to_vector<float>()) seen.push_back(v);
    return seen;
  };
  const unsigned first = std::random_device()() % 1'000'000;
  for (unsigned seed = first; seed < first + 40; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<float> expected;
    {
      const context_guard host(context::make());
      expected = run(seed, false);
    }
    const auto engine = std::make_shared<deferred_engine>(seed);
    const context_guard here(context_of(std::make_shared<context_state>(context_state{engine, 1})));
    ASSERT_EQ(run(seed, true), expected);
    EXPECT_EQ(engine->memory().pool().stats().in_use, 0U);
  }
}

/// One of several devices of a name.
struct numbered_engine final : public deferred_engine {
  explicit numbered_engine(int number) : number_("deferred " + std::to_string(number)) {}
  std::string_view place() const override { return number_; }
  const std::string number_;
};

TEST(devices, of_one_name_are_told_apart) {
  const auto one = std::make_shared<numbered_engine>(1), two = std::make_shared<numbered_engine>(2);
  const auto use = [](const std::shared_ptr<numbered_engine>& e) {
    return context_of(std::make_shared<context_state>(context_state{e, 1}));
  };
  array a;
  event on_one;
  {
    const context_guard first(use(one));
    a = numbers(4);
    on_one.record();
  }
  const context_guard second(use(two));
  try {
    (void)(a + 1).eval();
    FAIL() << "no error";
  } catch (const device_error& e) {
    EXPECT_STREQ(e.what(), "an array of shape (4,) is on device deferred 1, the current one is deferred 2");
  }
  array b = numbers(4);
  EXPECT_THROW(assign(b, a * 2), device_error);
  // The other device's mark means nothing to this one's queue: the caller waits.
  const int waits = two->device().waits;
  current_stream().wait(on_one);
  EXPECT_EQ(two->device().waits, waits);
  EXPECT_TRUE(on_one.done());
  event on_two;
  on_two.record();
  on_two.synchronize();
  EXPECT_THROW((void)on_two.seconds_since(on_one), value_error);
}

/// A device whose queues threads may share, with nothing ever to wait for.
struct idle_engine final : public deferred_engine {
  struct idle_mark final : public mark {
    bool reached() override { return true; }
    void wait() override {}
    double seconds_since(const mark&) const override { return 0; }
  };
  struct idle_queue final : public queue {
    std::shared_ptr<mark> record(bool) override { return std::make_shared<idle_mark>(); }
    void wait_for(const mark&) override {}
    void synchronize() override {}
  };
  std::shared_ptr<queue> make_queue(bool) override { return std::make_shared<idle_queue>(); }
  const std::shared_ptr<queue>& main_queue() override { return idle_main; }
  const std::shared_ptr<queue> idle_main = std::make_shared<idle_queue>();
};

TEST(storage, keeps_a_spare_only_while_it_is_of_use) {
  const auto device = std::make_shared<idle_engine>();
  const auto in_use = [&] { return device->memory().pool().stats().in_use; };
  const placement part{0, {3}, {4}, dtype::float32};
  {
    storage s(device, 512);
    const auto install = [&](const std::optional<placement>& what) {
      storage fresh(device, 512);
      s.install(fresh, what);
    };
    install(part);
    EXPECT_EQ(in_use(), 1024U);
    install(std::nullopt);
    EXPECT_EQ(in_use(), 512U);
    EXPECT_EQ(s.take_spare(part).data(), nullptr);
    install(part);
    s.written();
    EXPECT_EQ(in_use(), 512U);
    install(part);
    EXPECT_NE(s.take_spare(part).data(), nullptr);
    install(part);
    EXPECT_TRUE(device->memory().drop_spares());
    EXPECT_FALSE(device->memory().drop_spares());
    EXPECT_EQ(in_use(), 512U);
    install(part);
  }
  EXPECT_FALSE(device->memory().drop_spares());
  EXPECT_EQ(in_use(), 0U);
}

// For the thread sanitizer.
TEST(storage, threads_read_it_at_once_each_in_its_own_queue) {
  const auto device = std::make_shared<idle_engine>();
  storage shared(device, 1000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const queue_guard guard(*device, device->make_queue(false));
      for (int i = 0; i < 1000; ++i) {
        shared.read_on(*device);
        storage own(device, 1000);
        own.write_on(*device);
        std::memset(own.data(), t, own.bytes());
      }
    });
  }
  for (std::thread& t : threads) t.join();
  shared.write_on(*device);
  EXPECT_EQ(device->memory().pool().stats().in_use, 1024U);
}

}  // namespace
}  // namespace serried::testing
