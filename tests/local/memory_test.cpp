// The current device's memory as users see it.
#include <serried/array.hpp>
#include <serried/context.hpp>
#include <serried/creation.hpp>
#include <serried/memory.hpp>

#include "local/engine.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sr = serried;

namespace {

// Counts what it gives and takes of the device's memory.
class counting final : public sr::memory::resource {
 public:
  std::byte* allocate(std::size_t bytes) override {
    if (bytes != 0) ++alive;
    return pool_.allocate(bytes);
  }
  void deallocate(std::byte* data, std::size_t bytes) noexcept override {
    --alive;
    pool_.deallocate(data, bytes);
  }
  int alive = 0;

 private:
  sr::memory::pool& pool_ = sr::context::current().device_engine()->memory().pool();
};

}  // namespace

TEST(memory, statistics_follow_arrays) {
  const sr::context_guard own(sr::context::make());
  EXPECT_EQ(sr::memory::stats().in_use, 0U);
  {
    const sr::array a = sr::zeros({1000, 1000});
    EXPECT_GE(sr::memory::stats().in_use, 8'000'000U);
    EXPECT_LT(sr::memory::stats().in_use, 11'000'000U);
  }
  EXPECT_EQ(sr::memory::stats().in_use, 0U);
  EXPECT_GE(sr::memory::stats().cached, 8'000'000U);
  EXPECT_GE(sr::memory::stats().peak_in_use, 8'000'000U);
  sr::memory::trim();
  EXPECT_EQ(sr::memory::stats().cached, 0U);
}

TEST(memory, a_limit_is_kept_and_named) {
  const sr::context_guard own(sr::context::make());
  const sr::array kept = sr::ones({1000});
  sr::memory::set_limit(1'000'000);
  try {
    (void)sr::zeros({1000, 1000});
    FAIL();
  } catch (const sr::out_of_memory& e) {
    const std::string text = e.what();
    for (const char* part : {"8000000", "in use", "cached", "limit 1000000"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_EQ(sr::sum(kept).item<double>(), 1000);  // nothing was lost
  EXPECT_THROW(sr::memory::set_limit(10), sr::value_error);
  sr::memory::set_limit(0);
  EXPECT_EQ(sr::zeros({1000, 1000}).size(), 1'000'000);
}

TEST(memory, a_resource_of_ones_own) {
  const sr::context_guard own(sr::context::make());
  const auto mine = std::make_shared<counting>();
  const sr::array before = sr::ones({100});
  {
    sr::memory::set_resource(mine);
    const sr::array a = sr::ones({100}) + before;
    EXPECT_GT(mine->alive, 0);
    sr::memory::set_resource(nullptr);
    const sr::array b = a + 1;
    EXPECT_EQ(sr::sum(b).item<double>(), 300);
  }
  EXPECT_EQ(mine->alive, 0);
}

TEST(memory, a_resource_that_gives_nothing_is_out_of_memory) {
  class empty_handed final : public sr::memory::resource {
   public:
    std::byte* allocate(std::size_t) override { return nullptr; }
    void deallocate(std::byte*, std::size_t) noexcept override {}
  };
  const sr::context_guard own(sr::context::make());
  sr::memory::set_resource(std::make_shared<empty_handed>());
  EXPECT_THROW((void)sr::ones({1000}), sr::out_of_memory);
  sr::memory::set_resource(nullptr);
  EXPECT_EQ(sr::sum(sr::ones({1000})).item<double>(), 1000);
}

TEST(memory, the_pool_can_be_gone_around) {
  setenv("SERRIED_POOL", "off", 1);
  const sr::context own = sr::context::make();
  setenv("SERRIED_POOL", "sometimes", 1);
  EXPECT_THROW((void)sr::context::make(), sr::value_error);
  unsetenv("SERRIED_POOL");
  const sr::context_guard here(own);
  sr::array u = sr::ones({100, 100});
  u += at(with_boundary(u, sr::periodic), {1, 0});
  EXPECT_EQ(sr::sum(u).item<double>(), 20000);
  EXPECT_EQ(sr::memory::stats().in_use, 0U);
}

TEST(memory, a_steady_loop_allocates_nothing_new) {
  const sr::context_guard own(sr::context::make());
  sr::array u = sr::ones({100, 100});
  const auto U = with_boundary(u, sr::periodic);
  u += at(U, {1, 0}) * 0.5;
  const auto held = sr::memory::stats().in_use + sr::memory::stats().cached;
  for (int i = 0; i < 100; ++i) u += at(U, {1, 0}) * 0.5;
  EXPECT_EQ(sr::memory::stats().in_use + sr::memory::stats().cached, held);
}

TEST(context, threads_join_with_a_guard) {
  const sr::context own = sr::context::make();
  const sr::context_guard here(own);
  const sr::array a = sr::ones({10});
  double total = 0;
  std::thread([&] {
    const sr::context_guard there(own);
    total = sr::sum(a + sr::ones({10})).item<double>();
  }).join();
  EXPECT_EQ(total, 20);
}

TEST(context, arrays_of_several_contexts_on_one_device_mix) {
  const sr::array a = sr::ones({10});
  const sr::context_guard other(sr::context::make());
  const sr::array b = sr::ones({10});
  EXPECT_EQ(sr::sum(a + b).item<double>(), 20);
}

TEST(context, a_forked_child_computes) {
  const sr::context_guard own(sr::context::make());
  if (sr::context::current().device() != "host") GTEST_SKIP() << "a GPU is not passed on to forked children";
  const sr::array a = sr::ones({1000, 1000});
  const sr::array b = a + a;  // the threads have started
  const pid_t child = fork();
  if (child == 0) _exit(sr::sum(a * 2 + b).item<double>() == 4e6 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(context, complex_products_are_rounded_alike_by_all_instructions) {
  std::vector<std::complex<double>> x, expected;
  for (int i = 0; i < 1000; ++i) x.emplace_back(std::sin(i) * 1.1, std::cos(i * 1.7) / 3);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto a = x[i];
    const auto b = x[x.size() - 1 - i];
    volatile const double products[] = {a.real() * b.real(), a.imag() * b.imag(), a.real() * b.imag(),
                                        a.imag() * b.real()};
    expected.emplace_back(products[0] - products[1], products[2] + products[3]);
  }
  for (const char* simd : {"baseline", "avx2", "avx512"}) {
    setenv("SERRIED_SIMD", simd, 1);
    std::optional<sr::context> own;
    try {
      own = sr::context::make();
    } catch (const sr::value_error&) {
      continue;  // the machine has no such instructions
    }
    const sr::context_guard here(*own);
    const sr::array a = sr::from_vector(x);
    EXPECT_EQ((a * a(sr::slice(sr::_, sr::_, -1))).to_vector<std::complex<double>>(), expected) << simd;
  }
  unsetenv("SERRIED_SIMD");
}

TEST(context, threads_can_be_set) {
  setenv("SERRIED_THREADS", "3", 1);
  EXPECT_EQ(sr::context::make().threads(), 3);
  EXPECT_EQ(sr::context::make(2).threads(), 3);
  for (const char* bad : {"0", "-1", "two", "3 ", "99999999999"}) {
    setenv("SERRIED_THREADS", bad, 1);
    EXPECT_THROW((void)sr::context::make(), sr::value_error) << bad;
  }
  unsetenv("SERRIED_THREADS");
  EXPECT_GE(sr::context::make(1000).threads(), 1);
}

TEST(context, the_device_can_be_chosen) {
  const char* const before = std::getenv("SERRIED_DEVICE");
  const std::string restored = before == nullptr ? "auto" : before;
  setenv("SERRIED_DEVICE", "host", 1);
  EXPECT_EQ(sr::context::make().device(), "host");
  setenv("SERRIED_DEVICE", "cuda", 1);
  if (sr::make_cuda_engine()) {
    EXPECT_EQ(sr::context::make().device(), "cuda");
  } else {
    EXPECT_THROW((void)sr::context::make(), sr::device_error);
  }
  setenv("SERRIED_DEVICE", "tpu", 1);
  EXPECT_THROW((void)sr::context::make(), sr::value_error);
  setenv("SERRIED_DEVICE", restored.c_str(), 1);
}
