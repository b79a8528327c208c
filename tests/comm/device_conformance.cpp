#include "device_conformance.hpp"

#include <serried/error.hpp>

#include <chrono>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>

#include "comm/mpi/messages.hpp"
#include "late_device.hpp"
#include "local/context.hpp"

namespace serried::test {

using comm::reduce_op;
using comm::work;

namespace {

std::size_t index(int r) { return static_cast<std::size_t>(r); }

std::vector<int> numbers(std::size_t n, int first) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), first);
  return v;
}

}  // namespace

std::shared_ptr<engine> late_device() {
  static const std::shared_ptr<engine> device = make_late_device();
  return device;
}

std::shared_ptr<engine> gpu() {
  const std::shared_ptr<engine> device = context::current().device_engine();
  return device->name() == "cuda" ? device : nullptr;
}

void device_communicators::SetUp() {
  device = GetParam().device();
  if (!device) GTEST_SKIP() << "the device or the library is not here";
  guard_.emplace(context_of(std::make_shared<context_state>(context_state{device, 1})));
  comm::message_piece = GetParam().piece;
  comm = GetParam().make(device);
  rank = comm.rank();
  size = comm.size();
}

void device_communicators::TearDown() {
  if (!device) return;
  device->synchronize();
  comm.barrier().wait();
  comm::message_piece = std::size_t{4} << 20;
}

memory::buffer device_communicators::filled(const void* values, std::size_t bytes) {
  memory::buffer b = device->allocate(bytes);
  sources_.emplace_back(std::shared_ptr<memory::resource>(device, &device->pinned()), bytes);
  if (bytes == 0) return b;
  std::memcpy(sources_.back().data(), values, bytes);
  device->issue_copy(b.data(), sources_.back().data(), bytes);
  return b;
}

// Lengths that fit a piece, fill it, and take several, where pieces are short.
constexpr std::size_t lengths[] = {1, 5, 16, 17, 100};

TEST_P(device_communicators, broadcast_from_every_root) {
  for (const std::size_t n : lengths)
    for (int root = 0; root < size; ++root) {
      const auto b = on_device(rank == root ? numbers(n, 1000 * root) : std::vector<int>(n, -1));
      comm.broadcast(b.data(), n, int32, root).wait();
      EXPECT_EQ(values_of<int>(b), numbers(n, 1000 * root));
    }
}

TEST_P(device_communicators, all_reduce) {
  for (const std::size_t n : lengths) {
    std::vector<std::int64_t> mine(n), sum(n), most(n);
    for (std::size_t i = 0; i < n; ++i) {
      mine[i] = (rank + 1) * (static_cast<std::int64_t>(i) - 20) * 1'000'000'007;
      sum[i] = size * (size + 1) / 2 * (static_cast<std::int64_t>(i) - 20) * 1'000'000'007;
      most[i] = (i < 20 ? 1 : size) * (static_cast<std::int64_t>(i) - 20) * 1'000'000'007;
    }
    const auto in = on_device(mine), in_place = on_device(mine), out = room_for<std::int64_t>(n);
    work first = comm.all_reduce(in.data(), out.data(), n, int64, reduce_op::sum);
    work second = comm.all_reduce(in_place.data(), in_place.data(), n, int64, reduce_op::max);
    first.wait();
    second.wait();
    EXPECT_EQ(values_of<std::int64_t>(out), sum);
    EXPECT_EQ(values_of<std::int64_t>(in_place), most);
    EXPECT_EQ(values_of<std::int64_t>(in), mine);
  }
}

TEST_P(device_communicators, all_reduce_of_every_dtype_and_operation) {
  // Ranks hold 1, 2, 1, 2, ...: every result fits every dtype.
  for (int t = 0; t < dtype_count; ++t) {
    const auto type = static_cast<dtype>(t);
    SCOPED_TRACE(std::string(name(type)));
    visit_dtype(type, [&]<class T>() {
      if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) {
        const auto b = room_for<T>(1);
        EXPECT_THROW((void)comm.all_reduce(b.data(), b.data(), 1, type, reduce_op::sum), dtype_error);
      } else if constexpr (std::is_same_v<T, bool>) {
        const auto in = on_device(std::vector<std::uint8_t>{rank == 0, rank != size - 1});
        for (const reduce_op op : {reduce_op::sum, reduce_op::prod, reduce_op::min, reduce_op::max}) {
          const auto out = room_for<T>(2);
          comm.all_reduce(in.data(), out.data(), 2, type, op).wait();
          const bool any = op == reduce_op::sum || op == reduce_op::max;
          EXPECT_EQ(values_of<std::uint8_t>(out), (std::vector<std::uint8_t>{any || size == 1, any && size > 1}));
        }
      } else {
        const auto in = on_device(std::vector<T>{static_cast<T>(1 + rank % 2)});
        const auto reduced = [&](reduce_op op) {
          const auto out = room_for<T>(1);
          comm.all_reduce(in.data(), out.data(), 1, type, op).wait();
          return values_of<T>(out)[0];
        };
        EXPECT_EQ(reduced(reduce_op::sum), static_cast<T>(size + size / 2));
        EXPECT_EQ(reduced(reduce_op::prod), static_cast<T>(1 << (size / 2)));
        if constexpr (!is_complex(dtype_of<T>)) {
          EXPECT_EQ(reduced(reduce_op::min), static_cast<T>(1));
          EXPECT_EQ(reduced(reduce_op::max), static_cast<T>(size > 1 ? 2 : 1));
        }
      }
    });
  }
}

TEST_P(device_communicators, min_and_max_keep_nan_and_order_zeros) {
  for (int special = 0; special < size; ++special) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto in = on_device(std::vector<double>{rank == special ? nan : 1.0 + rank, rank == special ? -0.0 : 0.0});
    const auto low = room_for<double>(2), high = room_for<double>(2);
    comm.all_reduce(in.data(), low.data(), 2, float64, reduce_op::min).wait();
    comm.all_reduce(in.data(), high.data(), 2, float64, reduce_op::max).wait();
    const auto l = values_of<double>(low), h = values_of<double>(high);
    EXPECT_TRUE(std::isnan(l[0]) && std::isnan(h[0]));
    EXPECT_TRUE(std::signbit(l[1]));
    EXPECT_EQ(std::signbit(h[1]), size == 1);
  }
}

TEST_P(device_communicators, all_gather) {
  for (const std::size_t n : lengths) {
    const auto in = on_device(numbers(n, static_cast<int>(n) * rank)), out = room_for<int>(n * index(size));
    comm.all_gather(in.data(), out.data(), n, int32).wait();
    EXPECT_EQ(values_of<int>(out), numbers(n * index(size), 0));
  }
}

TEST_P(device_communicators, all_gatherv_of_uneven_and_empty_parts) {
  for (const std::size_t n : lengths) {
    std::vector<std::size_t> counts;
    for (int r = 0; r < size; ++r) counts.push_back(r % 3 == 1 ? 0 : n + index(r));
    const auto first = std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0});
    const auto total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    const auto in = on_device(numbers(counts[index(rank)], static_cast<int>(first))), out = room_for<int>(total);
    comm.all_gatherv(in.data(), out.data(), counts, int32).wait();
    EXPECT_EQ(values_of<int>(out), numbers(total, 0));
  }
}

TEST_P(device_communicators, all_to_all) {
  for (const std::size_t n : lengths) {
    const auto part = [&](int from, int to) { return 10000 * from + 1000 * to; };
    std::vector<int> sent, expected;
    for (int r = 0; r < size; ++r)
      for (std::size_t i = 0; i < n; ++i) {
        sent.push_back(part(rank, r) + static_cast<int>(i));
        expected.push_back(part(r, rank) + static_cast<int>(i));
      }
    const auto in = on_device(sent), out = room_for<int>(n * index(size));
    comm.all_to_all(in.data(), out.data(), n, int32).wait();
    EXPECT_EQ(values_of<int>(out), expected);
  }
}

TEST_P(device_communicators, all_to_allv_of_uneven_and_empty_parts) {
  // Rank 1, where there is one, neither sends nor receives: its buffers are null.
  const auto part = [](int from, int to) { return from == 1 || to == 1 ? 0 : index((from + 2 * to) % 4) * 17; };
  std::vector<std::size_t> send_counts, recv_counts;
  std::vector<int> sent, expected;
  for (int r = 0; r < size; ++r) {
    send_counts.push_back(part(rank, r));
    recv_counts.push_back(part(r, rank));
    for (std::size_t i = 0; i < part(rank, r); ++i) sent.push_back(10000 * rank + 1000 * r + static_cast<int>(i));
    for (std::size_t i = 0; i < part(r, rank); ++i) expected.push_back(10000 * r + 1000 * rank + static_cast<int>(i));
  }
  for (int round = 0; round < 3; ++round) {
    const auto in = on_device(sent), out = room_for<int>(expected.size());
    comm.all_to_allv(in.data(), send_counts, out.data(), recv_counts, int32).wait();
    EXPECT_EQ(values_of<int>(out), expected);
  }
}

TEST_P(device_communicators, send_and_recv_around_a_ring) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (const std::size_t n : lengths) {
    const auto out = on_device(numbers(n, 1000 * rank)), in = room_for<int>(n);
    work received = comm.recv(in.data(), n, int32, previous);
    comm.send(out.data(), n, int32, next).wait();
    received.wait();
    EXPECT_EQ(values_of<int>(in), numbers(n, 1000 * previous));
  }
}

TEST_P(device_communicators, messages_of_one_pair_arrive_in_order_whatever_their_lengths) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  constexpr int n = 20;
  std::vector<memory::buffer> out, in;
  std::vector<work> works;
  for (int i = 0; i < n; ++i) {
    const std::size_t length = i % 3 == 0 ? 100 : index(i);
    out.push_back(on_device(numbers(length, 10000 * rank + 100 * i)));
    in.push_back(room_for<int>(length));
    works.push_back(comm.send(out.back().data(), length, int32, next));
    works.push_back(comm.recv(in.back().data(), length, int32, previous));
  }
  for (auto w = works.rbegin(); w != works.rend(); ++w) w->wait();
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(values_of<int>(in[index(i)]), numbers(in[index(i)].size() / 4, 10000 * previous + 100 * i));
}

TEST_P(device_communicators, exchange_with_all_ranks_oneself_included) {
  // Two messages of every pair, of different lengths, some empty; all in one buffer each way.
  const auto length = [](int from, int to, int k) { return index((3 * from + to + k) % 5) * 13; };
  for (int round = 0; round < 2; ++round) {
    std::vector<int> values;
    std::size_t received = 0;
    for (int r = 0; r < size; ++r)
      for (int k = 0; k < 2; ++k) {
        for (std::size_t i = 0; i < length(rank, r, k); ++i)
          values.push_back(100000 * rank + 10000 * r + 1000 * k + static_cast<int>(i));
        received += length(r, rank, k);
      }
    const auto out = on_device(values), in = room_for<int>(received);
    std::vector<comm::send_part> sends;
    std::vector<comm::recv_part> receives;
    std::vector<int> expected;
    std::byte *from = out.data(), *to = in.data();
    for (int r = 0; r < size; ++r)
      for (int k = 0; k < 2; ++k) {
        sends.push_back({r, from, length(rank, r, k) * sizeof(int)});
        receives.push_back({r, to, length(r, rank, k) * sizeof(int)});
        from += sends.back().bytes;
        to += receives.back().bytes;
        for (std::size_t i = 0; i < length(r, rank, k); ++i)
          expected.push_back(100000 * r + 10000 * rank + 1000 * k + static_cast<int>(i));
      }
    comm.exchange(sends, receives).wait();
    EXPECT_EQ(values_of<int>(in), expected);
  }
}

TEST_P(device_communicators, only_some_ranks_exchange) {
  if (size > 1 && (rank == 0 || rank == size - 1)) {
    const auto b = on_device(numbers(100, rank));
    const comm::send_part sends[] = {{size - 1, b.data(), b.size()}};
    const comm::recv_part receives[] = {{0, b.data(), b.size()}};
    (rank == 0 ? comm.exchange(sends, {}) : comm.exchange({}, receives)).wait();
    EXPECT_EQ(values_of<int>(b), numbers(100, 0));
  }
  comm.exchange({}, {}).wait();
}

TEST_P(device_communicators, calls_are_ordered_with_the_callers_queue) {
  // A value goes around the ring: each exchange sends what the one before received, and copies in between go to the
  // caller's queue; nobody waits for the device until the end.
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  constexpr std::size_t n = 50;
  const auto a = on_device(numbers(n, 1000 * rank)), b = room_for<int>(n), sum = room_for<int>(n);
  const int rounds = 3 * size + 1;
  for (int i = 0; i < rounds; ++i) {
    const comm::send_part sends[] = {{next, a.data(), a.size()}};
    const comm::recv_part receives[] = {{previous, b.data(), b.size()}};
    comm.exchange(sends, receives).wait();
    device->issue_copy(a.data(), b.data(), a.size());
    comm.all_reduce(a.data(), sum.data(), n, int32, reduce_op::max).wait();
  }
  EXPECT_EQ(values_of<int>(a), numbers(n, 1000 * ((rank + rounds * (size - 1)) % size)));
  EXPECT_EQ(values_of<int>(sum), numbers(n, 1000 * (size - 1)));
}

TEST_P(device_communicators, what_was_sent_may_be_overwritten_after_the_wait) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  constexpr std::size_t n = 1000;
  const auto out = on_device(numbers(n, rank)), junk = on_device(std::vector<int>(n, -7)), in = room_for<int>(n);
  const comm::send_part sends[] = {{next, out.data(), out.size()}};
  const comm::recv_part receives[] = {{previous, in.data(), in.size()}};
  comm.exchange(sends, receives).wait();
  device->issue_copy(out.data(), junk.data(), out.size());
  EXPECT_EQ(values_of<int>(in), numbers(n, previous));
}

TEST_P(device_communicators, begins_on_one_queue_and_is_waited_for_on_another) {
  const std::shared_ptr<queue> here = device->make_queue(false), there = device->make_queue(false);
  constexpr std::size_t n = 300;
  const auto b = room_for<int>(n), copy = room_for<int>(n);
  device->synchronize();
  work w;
  {
    const queue_guard guard(*device, here);
    const auto values = on_device(numbers(n, rank == 0 ? 5 : -1));
    device->issue_copy(b.data(), values.data(), b.size());
    w = comm.broadcast(b.data(), n, int32, 0);
    device->synchronize();
  }
  const queue_guard guard(*device, there);
  w.wait();
  device->issue_copy(copy.data(), b.data(), b.size());
  EXPECT_EQ(values_of<int>(copy), numbers(n, 5));
}

TEST_P(device_communicators, done_and_seconds) {
  const auto b = on_device(numbers(100, rank));
  work w = comm.all_reduce(b.data(), b.data(), 100, int32, reduce_op::max);
  const auto start = std::chrono::steady_clock::now();
  while (!w.done() && std::chrono::steady_clock::now() - start < std::chrono::seconds(30)) std::this_thread::yield();
  EXPECT_TRUE(w.done());
  EXPECT_GE(w.seconds(), 0);
  EXPECT_LT(w.seconds(), 30);
  w.wait();
  EXPECT_EQ(values_of<int>(b), numbers(100, size - 1));
}

TEST_P(device_communicators, a_dropped_work_completes_and_frees_what_it_keeps_alive) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  auto out = std::make_shared<memory::buffer>(on_device(numbers(500, 1000 * rank)));
  const std::weak_ptr<memory::buffer> watched = out;
  const auto in = room_for<int>(500);
  const comm::send_part sends[] = {{next, out->data(), out->size()}};
  const comm::recv_part receives[] = {{previous, in.data(), in.size()}};
  {
    work dropped = comm.exchange(sends, receives);
    dropped.keep_alive(std::move(out));
  }
  comm.barrier().wait();
  for (int i = 0; i < 5000 && !watched.expired(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (comm.overlaps()) continue;
    (void)comm.send(nullptr, 0, int8, rank);
    comm.recv(nullptr, 0, int8, rank).wait();
  }
  EXPECT_TRUE(watched.expired());
  comm.barrier().wait();
  EXPECT_EQ(values_of<int>(in), numbers(500, 1000 * previous));
}

TEST_P(device_communicators, host_buffers_as_ever) {
  int x = rank;
  const auto b = on_device(numbers(10, rank));
  work there = comm.all_reduce(b.data(), b.data(), 10, int32, reduce_op::max);
  work here = comm.all_reduce(&x, &x, 1, int32, reduce_op::sum);
  here.wait();
  there.wait();
  EXPECT_EQ(x, size * (size - 1) / 2);
  EXPECT_EQ(values_of<int>(b), numbers(10, size - 1));
}

TEST_P(device_communicators, collectives_of_ranks_with_buffers_on_the_host_and_on_a_device) {
  if (comm.name() == "nccl") GTEST_SKIP() << "its ranks have GPUs";
  // Odd ranks have theirs on the host.
  const auto call_with = [&](const std::vector<int>& in, std::size_t received, auto call) {
    std::vector<int> out(received, -1);
    if (rank % 2 != 0) {
      call(const_cast<int*>(in.data()), out.data()).wait();
      return out;
    }
    const auto there_in = on_device(in), there_out = room_for<int>(received);
    call(there_in.data(), there_out.data()).wait();
    return values_of<int>(there_out);
  };
  for (const std::size_t n : {std::size_t{5}, std::size_t{17}, std::size_t{100}, std::size_t{1'500'000}}) {
    if (n * sizeof(int) > 1000 * GetParam().piece) break;
    const std::size_t all = n * index(size);
    for (int root = 0; root < std::min(size, 2); ++root) {
      const std::vector<int> mine = numbers(n, 1000 * rank);
      const auto cast = [&](void* in, void* out) { return comm.broadcast(rank == root ? in : out, n, int32, root); };
      const std::vector<int> got = call_with(mine, n, cast);
      if (rank != root) {
        EXPECT_EQ(got, numbers(n, 1000 * root));
      }
    }
    const auto reduce = [&](const void* in, void* out) { return comm.all_reduce(in, out, n, int32, reduce_op::max); };
    EXPECT_EQ(call_with(numbers(n, rank), n, reduce), numbers(n, size - 1));
    const auto first = static_cast<int>(n) * rank;
    const auto gather = [&](const void* in, void* out) { return comm.all_gather(in, out, n, int32); };
    EXPECT_EQ(call_with(numbers(n, first), all, gather), numbers(all, 0));
    const std::vector<std::size_t> counts(index(size), n);
    const auto gatherv = [&](const void* in, void* out) { return comm.all_gatherv(in, out, counts, int32); };
    EXPECT_EQ(call_with(numbers(n, first), all, gatherv), numbers(all, 0));
    std::vector<int> sent, expected;
    for (int r = 0; r < size; ++r)
      for (std::size_t i = 0; i < n; ++i) {
        sent.push_back(100 * rank + r);
        expected.push_back(100 * r + rank);
      }
    const auto swap = [&](const void* in, void* out) { return comm.all_to_all(in, out, n, int32); };
    EXPECT_EQ(call_with(sent, all, swap), expected);
  }
}

TEST_P(device_communicators, parts_of_neighboring_allocations) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  constexpr std::size_t big = std::size_t{12} << 20, part = 32;
  device->memory().pool().trim();
  std::vector<memory::buffer> all;
  for (int i = 0; i < 4; ++i) all.push_back(device->allocate(big));
  std::byte* const end[] = {all[0].data() + big - part, all[2].data() + big - part};
  std::byte* const begin[] = {all[1].data(), all[3].data()};
  if (device->name() == "late") {
    ASSERT_EQ(end[0] + part, begin[0]);
  }
  const auto values = on_device(numbers(16, 1000 * rank)), result = room_for<int>(16);
  device->issue_copy(end[0], values.data(), part);
  device->issue_copy(begin[0], values.data() + part, part);
  const comm::send_part sends[] = {{next, end[0], part}, {next, begin[0], part}};
  const comm::recv_part receives[] = {{previous, end[1], part}, {previous, begin[1], part}};
  comm.exchange(sends, receives).wait();
  device->issue_copy(result.data(), end[1], part);
  device->issue_copy(result.data() + part, begin[1], part);
  EXPECT_EQ(values_of<int>(result), numbers(16, 1000 * previous));
}

TEST_P(device_communicators, buffers_of_both_kinds_in_one_call_are_refused) {
  int x = 0;
  const auto b = room_for<int>(1);
  EXPECT_THROW((void)comm.all_reduce(&x, b.data(), 1, int32, reduce_op::sum), comm_error);
  const comm::send_part sends[] = {{rank, &x, sizeof x}};
  const comm::recv_part receives[] = {{rank, b.data(), b.size()}};
  EXPECT_THROW((void)comm.exchange(sends, receives), comm_error);
}

TEST_P(device_communicators, unmatched_parts_to_oneself_are_an_error) {
  const auto b = on_device(numbers(2, 0));
  const comm::send_part sends[] = {{rank, b.data(), 4}};
  EXPECT_THROW(comm.exchange(sends, {}).wait(), comm_error);
}

TEST_P(device_communicators, parts_of_a_split) {
  const communicator part = comm.split(rank % 2, -rank);
  const int me = part.rank();
  const auto b = on_device(numbers(40, rank)), all = room_for<int>(40 * index(part.size())), in = room_for<int>(40);
  part.all_gather(b.data(), all.data(), 40, int32).wait();
  std::vector<int> expected;
  for (int r = 0; r < part.size(); ++r)
    for (int i = 0; i < 40; ++i) expected.push_back(2 * (part.size() - 1 - r) + rank % 2 + i);
  EXPECT_EQ(values_of<int>(all), expected);
  const int next = (me + 1) % part.size(), previous = (me + part.size() - 1) % part.size();
  const comm::send_part sends[] = {{next, b.data(), b.size()}};
  const comm::recv_part receives[] = {{previous, in.data(), in.size()}};
  part.exchange(sends, receives).wait();
  EXPECT_EQ(values_of<int>(in), numbers(40, 2 * (part.size() - 1 - previous) + rank % 2));
  part.all_reduce(b.data(), b.data(), 40, int32, reduce_op::min).wait();
  EXPECT_EQ(values_of<int>(b), numbers(40, rank % 2));
}

TEST_P(device_communicators, two_communicators_in_opposite_order) {
  if (GetParam().one_order) GTEST_SKIP() << "its calls are made in one order";
  const communicator other = comm.split(0, rank);
  const auto a = on_device(std::vector<int>{1}), b = on_device(std::vector<int>{2});
  const auto sum = [](const communicator& c, const memory::buffer& x) {
    return c.all_reduce(x.data(), x.data(), 1, int32, reduce_op::sum);
  };
  work first = rank % 2 ? sum(comm, a) : sum(other, b);
  work second = rank % 2 ? sum(other, b) : sum(comm, a);
  first.wait();
  second.wait();
  EXPECT_EQ(values_of<int>(a)[0], size);
  EXPECT_EQ(values_of<int>(b)[0], 2 * size);
}

TEST_P(device_communicators, many_works_are_waited_for_in_any_order) {
  constexpr int n = 50;
  std::vector<memory::buffer> data;
  std::vector<work> works;
  for (int i = 0; i < n; ++i) {
    data.push_back(on_device(std::vector<int>(30, i + rank)));
    works.push_back(comm.all_reduce(data.back().data(), data.back().data(), 30, int32, reduce_op::sum));
  }
  for (int i = n; i-- > 0;) works[index(rank % 2 ? i : n - 1 - i)].wait();
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(values_of<int>(data[index(i)]), std::vector<int>(30, i * size + size * (size - 1) / 2));
}

}  // namespace serried::test
