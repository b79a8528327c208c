#include <gtest/gtest.h>
#include <mpi.h>
#include <serried/error.hpp>
#include <serried/mpi.hpp>

#include <climits>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "comm/backend.hpp"
#include "comm/mpi/check.hpp"
#include "comm/mpi/mpi_calls.hpp"
#include "conformance.hpp"
#include "device_conformance.hpp"
#include "late_device.hpp"
#include "local/context.hpp"
#include "mpi_main.hpp"

namespace serried::test {

namespace {

using comm::reduce_op;
using comm::work;

/// Lowers the longest count that MPI is trusted with.
class pieces {
 public:
  explicit pieces(std::size_t limit) { comm::mpi_count_limit = limit; }
  ~pieces() { comm::mpi_count_limit = INT_MAX; }
};

/// One more communicator over the world, its calls made by the callers.
communicator inline_world() {
  setenv("SERRIED_PROGRESS", "inline", 1);
  communicator c = from_mpi(MPI_COMM_WORLD);
  unsetenv("SERRIED_PROGRESS");
  return c;
}

communicator unchecked_world() {
  const char* before = std::getenv("SERRIED_CHECK");
  const std::string value = before == nullptr ? "0" : before;
  setenv("SERRIED_CHECK", "0", 1);
  communicator c = from_mpi(MPI_COMM_WORLD);
  setenv("SERRIED_CHECK", value.c_str(), 1);
  return c;
}

communicator checked_world() {
  const char* before = std::getenv("SERRIED_CHECK");
  const std::string value = before == nullptr ? "0" : before;
  setenv("SERRIED_CHECK", "1", 1);
  communicator c = from_mpi(MPI_COMM_WORLD);
  setenv("SERRIED_CHECK", value.c_str(), 1);
  return c;
}

communicator reversed_half() { return world().split(world().rank() % 2, -world().rank()); }

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    mpi, communicators,
    testing::Values(implementation{"world", [] { return world(); }}, implementation{"reversed_half", reversed_half},
                    implementation{"inline_progress", inline_world}, implementation{"unchecked", unchecked_world},
                    implementation{"checked", checked_world}, implementation{"self", [] { return communicator(); }}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    mpi, device_communicators,
    testing::Values(
        device_implementation{"late", late_device, [](const auto&) { return checked_world(); }},
        device_implementation{"late_in_pieces", late_device, [](const auto&) { return checked_world(); }, 64},
        device_implementation{"late_inline", late_device, [](const auto&) { return inline_world(); }, 64},
        device_implementation{"late_unchecked", late_device, [](const auto&) { return unchecked_world(); }, 64},
        device_implementation{"gpu", gpu, [](const auto&) { return checked_world(); }},
        device_implementation{"gpu_in_pieces", gpu, [](const auto&) { return unchecked_world(); }, 64}),
    device_name_of);

// Where the run itself is over NCCL.
INSTANTIATE_TEST_SUITE_P(nccl, device_communicators,
                         testing::Values(device_implementation{
                             "world", [] { return world().name() == "nccl" ? gpu() : nullptr; },
                             [](const auto&) { return world(); }, std::size_t{4} << 20, true}),
                         device_name_of);

TEST(mpi, joins_the_ranks_of_the_launcher) {
  int rank = -1, size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(world().rank(), rank);
  EXPECT_EQ(world().size(), size);
  EXPECT_EQ(world().name(), gpu() && world().name() == "nccl" ? "nccl" : "mpi");
  EXPECT_EQ(world().node_rank(), rank);  // one machine
  EXPECT_EQ(world().node_size(), size);
}

TEST(mpi, only_errors_of_the_whole_run_are_collective) {
  EXPECT_TRUE(world().backend()->spans_run());
  EXPECT_TRUE(world().split(0, -world().rank()).backend()->spans_run());
  EXPECT_EQ(reversed_half().backend()->spans_run(), world().size() == 1);
  EXPECT_FALSE(communicator().backend()->spans_run());
  if (world().size() == 1) return;
  const communicator half = world().split(world().rank() % 2, 0);
  try {
    half.agree(half.rank() == 0 ? std::make_exception_ptr(value_error("ours")) : nullptr);
    FAIL() << "no error";
  } catch (const value_error& e) {
    EXPECT_FALSE(e.collective());
  }
}

class counts_beyond_the_limit : public testing::TestWithParam<std::size_t> {
 protected:
  const int rank = world().rank(), size = world().size();
};

TEST_P(counts_beyond_the_limit, broadcast_and_all_reduce) {
  const pieces limit(GetParam());
  std::vector<std::int64_t> data(1000);
  if (rank == size - 1) std::iota(data.begin(), data.end(), 5);
  world().broadcast(data.data(), data.size(), int64, size - 1).wait();
  std::vector<std::int64_t> sum(data.size());
  world().all_reduce(data.data(), sum.data(), data.size(), int64, reduce_op::sum).wait();
  world().all_reduce(data.data(), data.data(), data.size(), int64, reduce_op::max).wait();
  for (std::size_t i = 0; i < data.size(); ++i) {
    ASSERT_EQ(data[i], static_cast<std::int64_t>(i) + 5);
    ASSERT_EQ(sum[i], (static_cast<std::int64_t>(i) + 5) * size);
  }
}

TEST_P(counts_beyond_the_limit, gathers) {
  const pieces limit(GetParam());
  const std::size_t n = 300, ranks = static_cast<std::size_t>(size);
  std::vector<int> mine(n), all(n * ranks);
  std::iota(mine.begin(), mine.end(), static_cast<int>(n) * rank);
  world().all_gather(mine.data(), all.data(), n, int32).wait();
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<int>(i));

  std::vector<std::size_t> counts(ranks, n);
  counts.front() = 0;
  std::vector<int> most(n * (ranks - 1));
  world().all_gatherv(mine.data(), most.data(), counts, int32).wait();
  for (std::size_t i = 0; i < most.size(); ++i) ASSERT_EQ(most[i], static_cast<int>(i + n));
}

TEST_P(counts_beyond_the_limit, exchanges) {
  const pieces limit(GetParam());
  const std::size_t n = 200, ranks = static_cast<std::size_t>(size);
  std::vector<int> out(n * ranks), in(n * ranks, -1);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = 1000000 * rank + static_cast<int>(i);
  const auto expect = [&] {
    for (std::size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(in[i], 1000000 * static_cast<int>(i / n) + static_cast<int>(n) * rank + static_cast<int>(i % n));
    in.assign(in.size(), -1);
  };
  world().all_to_all(out.data(), in.data(), n, int32).wait();
  expect();
  const std::vector<std::size_t> counts(ranks, n);
  world().all_to_allv(out.data(), counts, in.data(), counts, int32).wait();
  expect();
  std::vector<comm::send_part> sends;
  std::vector<comm::recv_part> receives;
  std::vector<work> works;
  for (int r = 0; r < size; ++r) {
    const std::size_t first = n * static_cast<std::size_t>(r);
    sends.push_back({r, &out[first], n * sizeof(int)});
    receives.push_back({r, &in[first], n * sizeof(int)});
  }
  world().exchange(sends, receives).wait();
  expect();
  for (int r = 0; r < size; ++r) {
    const std::size_t first = n * static_cast<std::size_t>(r);
    works.push_back(world().send(&out[first], n, int32, r));
    works.push_back(world().recv(&in[first], n, int32, r));
  }
  for (work& w : works) w.wait();
  expect();
}

INSTANTIATE_TEST_SUITE_P(mpi, counts_beyond_the_limit, testing::Values(7, 64, 799, 800, 1001));

/// The message of the comm_error that `call` ends with, which must be collective.
template <class F>
std::string collective_message(F call) {
  try {
    call();
  } catch (const comm_error& e) {
    EXPECT_TRUE(e.collective());
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

class checked_mode : public testing::Test {
 protected:
  void SetUp() override {
    if (world().size() < 2) GTEST_SKIP() << "needs two ranks";
  }
  const communicator comm = checked_world();
  const int rank = comm.rank(), size = comm.size();
  int x[8] = {}, y[64] = {};
};

TEST_F(checked_mode, different_operations_are_the_same_error_everywhere) {
  const std::string text = collective_message([&] {
    if (rank == 1) comm.barrier().wait();
    else comm.all_reduce(x, y, 3, float32, reduce_op::max).wait();
  });
  EXPECT_NE(text.find("rank 1 called barrier()"), std::string::npos) << text;
  EXPECT_NE(text.find("called all_reduce(3 x float32, max)"), std::string::npos) << text;
  comm.barrier().wait();  // and life goes on
}

TEST_F(checked_mode, different_dtypes_counts_roots_and_reductions) {
  const int odd = rank == size - 1;
  EXPECT_NE(collective_message([&] { comm.broadcast(x, 1, odd ? int32 : float32, 0).wait(); }).find("int32"),
            std::string::npos);
  EXPECT_NE(collective_message([&] { comm.broadcast(x, odd ? 2 : 1, int32, 0).wait(); }).find("2 x int32"),
            std::string::npos);
  EXPECT_NE(collective_message([&] { comm.broadcast(x, 1, int32, odd).wait(); }).find("root 1"), std::string::npos);
  EXPECT_NE(collective_message([&] {
              comm.all_reduce(x, y, 1, int32, odd ? reduce_op::min : reduce_op::sum).wait();
            }).find("min"),
            std::string::npos);
  collective_message([&] { comm.all_gather(x, y, odd ? 2 : 1, int32).wait(); });
  collective_message([&] { comm.all_to_all(x, y, odd ? 2 : 1, int8).wait(); });
  std::vector<std::size_t> counts(static_cast<std::size_t>(size), 1);
  if (odd) std::swap(counts[0] += 1, counts[1] -= 1);  // the same total
  collective_message([&] { comm.all_gatherv(x, y, counts, int32).wait(); });
}

TEST_F(checked_mode, a_split_that_one_rank_does_not_join) {
  const std::string text = collective_message([&] { rank == 0 ? comm.barrier().wait() : (void)comm.split(0, 0); });
  EXPECT_NE(text.find("split()"), std::string::npos) << text;
}

TEST_F(checked_mode, the_error_of_a_dropped_call_surfaces_at_the_next) {
  if (rank == 0) (void)comm.barrier();
  else (void)comm.broadcast(x, 1, int32, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  int thrown = 0;
  // At most one call passes before the other ranks' answers are in.
  for (int i = 0; i < 1000 && !thrown; ++i) {
    try {
      (void)comm.send(x, 0, int32, rank);
      int dummy;
      comm.recv(&dummy, 0, int32, rank).wait();
    } catch (const comm_error& e) {
      ++thrown;
      EXPECT_TRUE(e.collective());
    }
  }
  EXPECT_EQ(thrown, 1);
  comm.barrier().wait();
}

TEST(stall, the_work_of_the_callers_own_device_does_not_count) {
  const context_guard guard(context_of(std::make_shared<context_state>(context_state{late_device(), 1})));
  const std::shared_ptr<engine> device = late_device();
  for (const char* mode : {"thread", "inline"}) {
    setenv("SERRIED_PROGRESS", mode, 1);
    setenv("SERRIED_TIMEOUT", "1.5", 1);
    const communicator c = from_mpi(MPI_COMM_WORLD);
    unsetenv("SERRIED_PROGRESS");
    unsetenv("SERRIED_TIMEOUT");
    const memory::buffer b = device->allocate(sizeof(int));
    const int mine = c.rank();
    device->copy_from_host(b.data(), &mine, sizeof mine);
    c.barrier().wait();
    keep_busy(*device, std::chrono::seconds(3));
    work there = c.all_reduce(b.data(), b.data(), 1, int32, reduce_op::max);
    c.barrier().wait();  // whose turn comes after
    there.wait();
    int most = -1;
    device->copy_to_host(&most, b.data(), sizeof most);
    EXPECT_EQ(most, c.size() - 1);
    while (!there.done()) std::this_thread::yield();  // inline, nobody else lets go of it
  }
}

TEST(mismatch, a_message_of_another_length_is_an_error_where_it_is_received) {
  const communicator c = unchecked_world();
  const int rank = c.rank(), size = c.size();
  std::vector<int> out(10), in(10);
  for (const std::size_t expected : {std::size_t{5}, std::size_t{0}, std::size_t{9}}) {
    work sent = c.send(out.data(), 5, int32, (rank + 1) % size);
    work received = c.recv(in.data(), expected, int32, (rank + size - 1) % size);
    sent.wait();
    if (expected == 5) EXPECT_NO_THROW(received.wait());
    else EXPECT_THROW(received.wait(), comm_error) << expected;
  }
  c.barrier().wait();
}

TEST(header_check, names_the_ranks_that_differ) {
  const comm::call_header barrier = comm::header_of({.op = comm::operation::barrier});
  const comm::call_header cast = comm::header_of({.op = comm::operation::broadcast, .type = int8, .count = 4});
  const comm::call_header headers[] = {barrier, barrier, cast, barrier, cast};
  try {
    comm::check_headers(headers, 17, true);
    FAIL();
  } catch (const comm_error& e) {
    EXPECT_STREQ(e.what(),
                 "the ranks disagree at collective call 17 of their communicator: ranks 0-1 3 called barrier(); "
                 "ranks 2 4 called broadcast(4 x int8, root 0)");
  }
  EXPECT_NO_THROW(comm::check_headers(std::vector(3, cast), 1, true));
}

TEST(threads, several_may_use_communicators_of_their_own) {
  constexpr int threads = 3;
  std::vector<communicator> comms;
  for (int t = 0; t < threads; ++t) comms.push_back(world().split(0, world().rank()));
  std::vector<std::thread> pool;
  std::vector<int> wrong(threads, 0);
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      const communicator& c = comms[static_cast<std::size_t>(t)];
      for (int i = 0; i < 50; ++i) {
        int sum = c.rank() + t + i;
        c.all_reduce(&sum, &sum, 1, int32, reduce_op::sum).wait();
        if (sum != c.size() * (c.size() - 1) / 2 + c.size() * (t + i)) ++wrong[static_cast<std::size_t>(t)];
      }
    });
  for (std::thread& t : pool) t.join();
  EXPECT_EQ(wrong, std::vector<int>(threads, 0));
}

}  // namespace serried::test
