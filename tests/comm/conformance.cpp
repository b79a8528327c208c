#include "conformance.hpp"

#include <serried/error.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "comm/backend.hpp"

namespace serried::test {

namespace {

using comm::reduce_op;
using comm::work;

/// A different element for every k (as far as T has them), made of bits, so that float16 and the like need no help.
template <class T>
T element(std::int64_t k) {
  if constexpr (std::is_same_v<T, bool>) return k % 3 == 0;
  else if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>)
    return T::from_bits(static_cast<std::uint16_t>(k));
  else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return {static_cast<typename T::value_type>(k), static_cast<typename T::value_type>(-k)};
  else return static_cast<T>(k);
}

template <class T>
bool same(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) return a.bits == b.bits;
  else return a == b;
}

/// std::vector<bool> has no data().
template <class T>
struct buffer {
  explicit buffer(std::size_t n) : size(n), data(new T[n + 1]()) {}
  T& operator[](std::size_t i) { return data[i]; }
  std::size_t size;
  std::unique_ptr<T[]> data;
};

/// Calls f<T>() for every dtype.
template <class F>
void for_all_dtypes(F f) {
  for (int t = 0; t < dtype_count; ++t) {
    SCOPED_TRACE(std::string(name(static_cast<dtype>(t))));
    visit_dtype(static_cast<dtype>(t), f);
  }
}

std::size_t index(int r) { return static_cast<std::size_t>(r); }

}  // namespace

TEST_P(communicators, knows_its_ranks) {
  EXPECT_GE(size, 1);
  EXPECT_GE(rank, 0);
  EXPECT_LT(rank, size);
  EXPECT_GE(comm.node_rank(), 0);
  EXPECT_LT(comm.node_rank(), comm.node_size());
  EXPECT_LE(comm.node_size(), size);
  EXPECT_TRUE(comm.valid());
  EXPECT_EQ(comm, comm);
  EXPECT_NE(comm, communicator());
}

TEST_P(communicators, broadcast_of_every_dtype_from_every_root) {
  for_all_dtypes([&]<class T>() {
    for (int root = 0; root < size; ++root) {
      buffer<T> data(5);
      for (std::size_t i = 0; i < 5; ++i) data[i] = element<T>(rank == root ? 10 * root + static_cast<int>(i) : 99);
      comm.broadcast(data.data.get(), 5, dtype_of<T>, root).wait();
      for (std::size_t i = 0; i < 5; ++i)
        EXPECT_TRUE(same(data[i], element<T>(10 * root + static_cast<int>(i)))) << root << " " << i;
    }
  });
}

TEST_P(communicators, all_gather_of_every_dtype) {
  for_all_dtypes([&]<class T>() {
    buffer<T> mine(3), all(3 * index(size));
    for (std::size_t i = 0; i < 3; ++i) mine[i] = element<T>(3 * rank + static_cast<int>(i));
    comm.all_gather(mine.data.get(), all.data.get(), 3, dtype_of<T>).wait();
    for (std::size_t i = 0; i < all.size; ++i) EXPECT_TRUE(same(all[i], element<T>(static_cast<int>(i)))) << i;
  });
}

TEST_P(communicators, all_gatherv_of_uneven_and_empty_parts) {
  for_all_dtypes([&]<class T>() {
    std::vector<std::size_t> counts;
    for (int r = 0; r < size; ++r) counts.push_back(r % 3 == 1 ? 0 : index(2 * r + 1));
    const std::size_t first = std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0});
    const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    buffer<T> mine(counts[index(rank)]), all(total);
    for (std::size_t i = 0; i < mine.size; ++i) mine[i] = element<T>(static_cast<int>(first + i));
    comm.all_gatherv(mine.data.get(), all.data.get(), counts, dtype_of<T>).wait();
    for (std::size_t i = 0; i < total; ++i) EXPECT_TRUE(same(all[i], element<T>(static_cast<int>(i)))) << i;
  });
}

TEST_P(communicators, all_to_all_of_every_dtype) {
  for_all_dtypes([&]<class T>() {
    buffer<T> out(2 * index(size)), in(2 * index(size));
    for (int r = 0; r < size; ++r)
      for (std::size_t i = 0; i < 2; ++i) out[2 * index(r) + i] = element<T>(20 * rank + 2 * r + static_cast<int>(i));
    comm.all_to_all(out.data.get(), in.data.get(), 2, dtype_of<T>).wait();
    for (int r = 0; r < size; ++r)
      for (std::size_t i = 0; i < 2; ++i)
        EXPECT_TRUE(same(in[2 * index(r) + i], element<T>(20 * r + 2 * rank + static_cast<int>(i)))) << r << " " << i;
  });
}

TEST_P(communicators, all_to_allv_of_uneven_and_empty_parts) {
  const auto part = [](int from, int to) { return index((from + 2 * to) % 4); };  // 0 to 3 elements
  for_all_dtypes([&]<class T>() {
    std::vector<std::size_t> sent, received;
    std::size_t out_total = 0, in_total = 0;
    for (int r = 0; r < size; ++r) {
      out_total += sent.emplace_back(part(rank, r));
      in_total += received.emplace_back(part(r, rank));
    }
    buffer<T> out(out_total), in(in_total);
    std::size_t k = 0;
    for (int r = 0; r < size; ++r)
      for (std::size_t i = 0; i < sent[index(r)]; ++i) out[k++] = element<T>(40 * rank + 4 * r + static_cast<int>(i));
    comm.all_to_allv(out.data.get(), sent, in.data.get(), received, dtype_of<T>).wait();
    k = 0;
    for (int r = 0; r < size; ++r)
      for (std::size_t i = 0; i < received[index(r)]; ++i, ++k)
        EXPECT_TRUE(same(in[k], element<T>(40 * r + 4 * rank + static_cast<int>(i)))) << r << " " << i;
  });
}

TEST_P(communicators, all_reduce_of_every_dtype_and_operation) {
  for_all_dtypes([&]<class T>() {
    for (reduce_op op : {reduce_op::sum, reduce_op::prod, reduce_op::min, reduce_op::max}) {
      const bool ordered = op == reduce_op::min || op == reduce_op::max;
      buffer<T> in(2), out(2);
      if (is_complex(dtype_of<T>) && ordered) {
        EXPECT_THROW((void)comm.all_reduce(in.data.get(), out.data.get(), 2, dtype_of<T>, op), dtype_error);
      } else if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) {
        EXPECT_THROW((void)comm.all_reduce(in.data.get(), out.data.get(), 2, dtype_of<T>, op), dtype_error);
      } else if constexpr (std::is_same_v<T, bool>) {
        // [only rank 0 true, all but the last true]
        in[0] = rank == 0;
        in[1] = rank != size - 1;
        comm.all_reduce(in.data.get(), out.data.get(), 2, bool_, op).wait();
        const bool any = op == reduce_op::sum || op == reduce_op::max;
        EXPECT_EQ(out[0], any || size == 1);
        EXPECT_EQ(out[1], any && size > 1);
      } else {
        // ranks hold 1, 2, 1, 2, ...: every result fits every dtype
        in[0] = element<T>(1 + rank % 2);
        in[1] = element<T>(2 - rank % 2);
        comm.all_reduce(in.data.get(), out.data.get(), 2, dtype_of<T>, op).wait();
        for (std::size_t i = 0; i < 2; ++i) {
          T expected = element<T>(i == 0 ? 1 : 2);
          for (int r = 1; r < size; ++r) {
            const T next = element<T>(i == 0 ? 1 + r % 2 : 2 - r % 2);
            if (op == reduce_op::sum) expected = static_cast<T>(expected + next);
            if (op == reduce_op::prod) expected = static_cast<T>(expected * next);
            if constexpr (!is_complex(dtype_of<T>)) {
              if (op == reduce_op::min) expected = std::min(expected, next);
              if (op == reduce_op::max) expected = std::max(expected, next);
            }
          }
          EXPECT_EQ(out[i], expected) << static_cast<int>(op);
        }
      }
    }
  });
}

TEST_P(communicators, all_reduce_may_work_in_place) {
  std::vector<std::int64_t> data(1000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::int64_t>(i) * (rank + 1);
  comm.all_reduce(data.data(), data.data(), data.size(), int64, reduce_op::sum).wait();
  for (std::size_t i = 0; i < data.size(); ++i)
    ASSERT_EQ(data[i], static_cast<std::int64_t>(i) * size * (size + 1) / 2);
}

TEST_P(communicators, all_reduce_may_work_in_place_on_some_ranks) {
  std::vector<int> data(100'000), result(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int>(i) * (rank + 1);
  int* const out = rank % 2 != 0 ? data.data() : result.data();
  comm.all_reduce(data.data(), out, data.size(), int32, reduce_op::sum).wait();
  for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(out[i], static_cast<int>(i) * size * (size + 1) / 2);
}

TEST_P(communicators, min_and_max_keep_nan_and_order_zeros) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int special = 0; special < size; ++special) {
    const double in[2] = {rank == special ? nan : 1.0 + rank, rank == special ? -0.0 : 0.0};
    double low[2], high[2];
    comm.all_reduce(in, low, 2, float64, reduce_op::min).wait();
    comm.all_reduce(in, high, 2, float64, reduce_op::max).wait();
    EXPECT_TRUE(std::isnan(low[0]) && std::isnan(high[0])) << special;
    EXPECT_TRUE(std::signbit(low[1])) << special;
    EXPECT_EQ(std::signbit(high[1]), size == 1) << special;
    const float in32[2] = {static_cast<float>(in[0]), static_cast<float>(in[1])};
    float high32[2];
    comm.all_reduce(in32, high32, 2, float32, reduce_op::max).wait();
    EXPECT_TRUE(std::isnan(high32[0])) << special;
    EXPECT_EQ(std::signbit(high32[1]), size == 1) << special;
  }
}

TEST_P(communicators, nothing_is_a_count) {
  const std::vector<std::size_t> none(index(size), 0);
  comm.broadcast(nullptr, 0, float64, 0).wait();
  comm.all_reduce(nullptr, nullptr, 0, float64, reduce_op::sum).wait();
  comm.all_gather(nullptr, nullptr, 0, float64).wait();
  comm.all_gatherv(nullptr, nullptr, none, float64).wait();
  comm.all_to_all(nullptr, nullptr, 0, float64).wait();
  comm.all_to_allv(nullptr, none, nullptr, none, float64).wait();
  comm.exchange({}, {}).wait();
  work sent = comm.send(nullptr, 0, float64, (rank + 1) % size);
  work received = comm.recv(nullptr, 0, float64, (rank + size - 1) % size);
  sent.wait();
  received.wait();
  comm.barrier().wait();
  EXPECT_TRUE(sent.done() && received.done());
}

TEST_P(communicators, send_and_recv_of_every_dtype_around_a_ring) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for_all_dtypes([&]<class T>() {
    buffer<T> out(4), in(4);
    for (std::size_t i = 0; i < 4; ++i) out[i] = element<T>(4 * rank + static_cast<int>(i));
    work received = comm.recv(in.data.get(), 4, dtype_of<T>, previous);
    comm.send(out.data.get(), 4, dtype_of<T>, next).wait();
    received.wait();
    for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(same(in[i], element<T>(4 * previous + static_cast<int>(i)))) << i;
  });
}

TEST_P(communicators, messages_of_one_pair_arrive_in_order) {
  constexpr int n = 50;
  std::vector<int> out(n), in(n, -1);
  std::vector<work> works;
  for (int i = 0; i < n; ++i) {
    out[index(i)] = 1000 * rank + i;
    works.push_back(comm.send(&out[index(i)], 1, int32, (rank + 1) % size));
    works.push_back(comm.recv(&in[index(i)], 1, int32, (rank + size - 1) % size));
  }
  for (auto w = works.rbegin(); w != works.rend(); ++w) w->wait();
  for (int i = 0; i < n; ++i) EXPECT_EQ(in[index(i)], 1000 * ((rank + size - 1) % size) + i);
}

TEST_P(communicators, exchange_with_all_ranks_oneself_included) {
  std::vector<int> out(index(size)), in(index(size), -1);
  std::vector<comm::send_part> sends;
  std::vector<comm::recv_part> receives;
  for (int r = 0; r < size; ++r) {
    out[index(r)] = 100 * rank + r;
    sends.push_back({r, &out[index(r)], sizeof(int)});
    receives.push_back({size - 1 - r, &in[index(size - 1 - r)], sizeof(int)});
  }
  comm.exchange(sends, receives).wait();
  for (int r = 0; r < size; ++r) EXPECT_EQ(in[index(r)], 100 * r + rank);
}

TEST_P(communicators, exchange_matches_parts_of_one_pair_in_order) {
  // Left and right neighbor are the same rank when there are one or two.
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  const int out[2] = {10 * rank, 10 * rank + 1};  // to the left, to the right
  int in[2] = {-1, -1};                           // from the right, from the left
  const comm::send_part sends[] = {{left, &out[0], sizeof(int)}, {right, &out[1], sizeof(int)}};
  const comm::recv_part receives[] = {{right, &in[0], sizeof(int)}, {left, &in[1], sizeof(int)}};
  comm.exchange(sends, receives).wait();
  EXPECT_EQ(in[0], 10 * right);
  EXPECT_EQ(in[1], 10 * left + 1);
}

TEST_P(communicators, exchanges_messages_and_collectives_do_not_mix) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  constexpr int rounds = 10;
  struct round {
    int out_message, out_part, in_message = -1, in_part = -1, sum = 0, one = 1;
  };
  std::vector<round> data(rounds);
  std::vector<work> works;
  for (int i = 0; i < rounds; ++i) {
    round& d = data[index(i)];
    d.out_message = 1000 * rank + i;
    d.out_part = 1000 * rank + 500 + i;
    const comm::send_part sends[] = {{right, &d.out_part, sizeof(int)}};
    const comm::recv_part receives[] = {{left, &d.in_part, sizeof(int)}};
    // sender and receiver issue them in different orders
    works.push_back(rank % 2 ? comm.send(&d.out_message, 1, int32, right) : comm.exchange(sends, receives));
    works.push_back(comm.all_reduce(&d.one, &d.sum, 1, int32, reduce_op::sum));
    works.push_back(rank % 2 ? comm.exchange(sends, receives) : comm.send(&d.out_message, 1, int32, right));
    works.push_back(comm.recv(&d.in_message, 1, int32, left));
  }
  for (std::size_t i = 0; i < works.size(); ++i) works[(7 * i + 3) % works.size()].wait();
  for (int i = 0; i < rounds; ++i) {
    EXPECT_EQ(data[index(i)].in_message, 1000 * left + i);
    EXPECT_EQ(data[index(i)].in_part, 1000 * left + 500 + i);
    EXPECT_EQ(data[index(i)].sum, size);
  }
}

TEST_P(communicators, only_some_ranks_exchange) {
  if (size < 2) GTEST_SKIP() << "needs two ranks";
  int data = rank;
  if (rank == 0) {
    const comm::send_part sends[] = {{size - 1, &data, sizeof data}};
    comm.exchange(sends, {}).wait();
  } else if (rank == size - 1) {
    const comm::recv_part receives[] = {{0, &data, sizeof data}};
    comm.exchange({}, receives).wait();
    EXPECT_EQ(data, 0);
  }
  comm.barrier().wait();
}

TEST_P(communicators, many_works_are_waited_for_in_any_order) {
  constexpr std::size_t n = 200;
  std::vector<std::int64_t> in(n), out(n);
  std::vector<work> works;
  for (std::size_t i = 0; i < n; ++i) {
    in[i] = static_cast<std::int64_t>(i) + rank;
    works.push_back(comm.all_reduce(&in[i], &out[i], 1, int64, reduce_op::sum));
  }
  for (std::size_t i = n; i-- > 0;) works[rank % 2 ? i : n - 1 - i].wait();
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], static_cast<std::int64_t>(i) * size + size * (size - 1) / 2);
}

TEST_P(communicators, a_work_may_be_waited_for_again_and_copied) {
  work w = comm.barrier();
  work copy = w;
  w.wait();
  w.wait();
  copy.wait();
  EXPECT_TRUE(w.done());
  EXPECT_TRUE(copy.done());
  EXPECT_GE(w.seconds(), 0);
  EXPECT_LT(w.seconds(), 60);
  work none;
  none.wait();
  EXPECT_TRUE(none.done());
  EXPECT_EQ(none.seconds(), 0);
}

TEST_P(communicators, done_makes_progress) {
  work w = comm.barrier();
  while (!w.done()) std::this_thread::yield();
  EXPECT_TRUE(w.done());
}

TEST_P(communicators, a_dropped_work_completes_and_frees_what_it_keeps_alive) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  auto in = std::make_shared<std::vector<int>>(1000, -1);
  std::weak_ptr<const std::vector<int>> out;
  {
    auto data = std::make_shared<const std::vector<int>>(1000, rank);
    out = data;
    work sent = comm.send(data->data(), 1000, int32, right);
    sent.keep_alive(std::move(data));
  }
  if (size == 1) {
    EXPECT_FALSE(out.expired());  // nobody can have received it
  }
  work received = comm.recv(in->data(), 1000, int32, left);
  received.keep_alive(in);
  received.wait();
  EXPECT_EQ(*in, std::vector<int>(1000, left));
  EXPECT_EQ(in.use_count(), 1);
  // The receiver has it; when the sender knows is a matter of progress, which another work of its own makes.
  int token = 0;
  work pending = comm.recv(&token, 1, int32, left);
  for (int i = 0; i < 5000 && !out.expired(); ++i) {
    (void)pending.done();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(out.expired());
  auto late = std::make_shared<int>(1);
  received.keep_alive(late);  // it is over: nothing to keep
  EXPECT_EQ(late.use_count(), 1);
  comm.barrier().wait();  // a token that came earlier would have ended the progress
  comm.send(&token, 1, int32, right).wait();
  pending.wait();
}

TEST_P(communicators, split_by_color_and_key) {
  const communicator part = comm.split(rank % 2, -rank);  // reverse order
  ASSERT_TRUE(part.valid());
  EXPECT_EQ(part.size(), (size + 1 - rank % 2) / 2);
  EXPECT_EQ(part.rank(), part.size() - 1 - rank / 2);
  EXPECT_LE(part.node_size(), part.size());
  std::vector<int> members(index(part.size()));
  part.all_gather(&rank, members.data(), 1, int32).wait();
  for (int r = 0; r < part.size(); ++r) EXPECT_EQ(members[index(r)], 2 * (part.size() - 1 - r) + rank % 2);

  // equal keys: in the order of the ranks
  const communicator again = part.split(0, 0);
  EXPECT_EQ(again.rank(), part.rank());
  EXPECT_EQ(again.size(), part.size());
}

TEST_P(communicators, a_negative_color_is_in_no_part) {
  const communicator part = comm.split(rank == 0 ? -1 : 7, rank);
  EXPECT_EQ(part.valid(), rank != 0);
  if (part.valid()) {
    EXPECT_EQ(part.size(), size - 1);
    EXPECT_EQ(part.rank(), rank - 1);
    part.barrier().wait();
  } else {
    EXPECT_THROW((void)part.rank(), comm_error);
    EXPECT_THROW((void)part.barrier(), comm_error);
    EXPECT_THROW(part.agree(nullptr), comm_error);
  }
}

TEST_P(communicators, parts_work_while_the_whole_does) {
  const communicator part = comm.split(rank % 2, rank);
  int whole = 1, half = 1;
  work w = comm.all_reduce(&whole, &whole, 1, int32, reduce_op::sum);
  work h = part.all_reduce(&half, &half, 1, int32, reduce_op::sum);
  h.wait();
  w.wait();
  EXPECT_EQ(whole, size);
  EXPECT_EQ(half, part.size());
}

TEST_P(communicators, two_communicators_in_opposite_order) {
  const communicator other = comm.split(0, rank);
  int a = 1, b = 2;
  const auto sum = [](const communicator& c, int& x) { return c.all_reduce(&x, &x, 1, int32, reduce_op::sum); };
  work first = rank % 2 ? sum(comm, a) : sum(other, b);
  work second = rank % 2 ? sum(other, b) : sum(comm, a);
  first.wait();
  second.wait();
  EXPECT_EQ(a, size);
  EXPECT_EQ(b, 2 * size);
}

TEST_P(communicators, a_message_may_pass_a_collective) {
  // The last rank enters the barrier after it has received, the first sends after it has entered.
  if (size < 2) GTEST_SKIP() << "needs two ranks";
  int data = rank;
  if (rank == size - 1) comm.recv(&data, 1, int32, 0).wait();
  work met = comm.barrier();
  if (rank == 0) comm.send(&data, 1, int32, size - 1).wait();
  met.wait();
  EXPECT_EQ(data, rank == size - 1 ? 0 : rank);
}

TEST_P(communicators, a_part_may_be_dropped_before_its_works) {
  int data = 1;
  work w;
  {
    const communicator part = comm.split(0, 0);
    w = part.all_reduce(&data, &data, 1, int32, reduce_op::sum);
  }
  w.wait();
  EXPECT_EQ(data, size);
}

TEST_P(communicators, refuses_wrong_arguments_before_anything_is_sent) {
  int x = 0;
  const std::vector<std::size_t> long_counts(index(size) + 1, 1);
  std::vector<std::size_t> huge(index(size), std::numeric_limits<std::size_t>::max() / 2);
  huge.back() = std::numeric_limits<std::size_t>::max() - 1;
  EXPECT_THROW((void)comm.broadcast(&x, 1, int32, size), comm_error);
  EXPECT_THROW((void)comm.broadcast(&x, 1, int32, -1), comm_error);
  EXPECT_THROW((void)comm.send(&x, 1, int32, size), comm_error);
  EXPECT_THROW((void)comm.recv(&x, 1, int32, -1), comm_error);
  EXPECT_THROW((void)comm.all_gatherv(&x, &x, long_counts, int32), comm_error);
  EXPECT_THROW((void)comm.all_gatherv(&x, &x, huge, int32), comm_error);
  EXPECT_THROW((void)comm.all_to_allv(&x, long_counts, &x, long_counts, int32), comm_error);
  EXPECT_THROW((void)comm.all_gather(&x, &x, std::numeric_limits<std::size_t>::max() / 2, int32), comm_error);
  const comm::send_part wrong[] = {{size, &x, sizeof x}};
  EXPECT_THROW((void)comm.exchange(wrong, {}), comm_error);
  comm.barrier().wait();  // and all is well
}

TEST_P(communicators, unmatched_parts_to_oneself_are_an_error) {
  int x = 0;
  const comm::send_part sends[] = {{rank, &x, sizeof x}};
  EXPECT_THROW(comm.exchange(sends, {}).wait(), comm_error);
  const comm::recv_part short_one[] = {{rank, &x, 2}};
  EXPECT_THROW(comm.exchange(sends, short_one).wait(), comm_error);
}

TEST_P(communicators, the_error_of_a_dropped_work_surfaces_later) {
  int out[2] = {1, 2}, in[2] = {0, 0};
  {
    work sent = comm.send(out, 1, int32, rank);
    work received = comm.recv(in, 2, int32, rank);  // one element is missing
    sent.wait();
    while (!received.done()) std::this_thread::yield();
  }
  EXPECT_THROW((void)comm.send(out, 1, int32, rank), comm_error);
  comm.barrier().wait();  // reported once
}

TEST_P(communicators, agree_passes_when_nobody_objects) { EXPECT_NO_THROW(comm.agree(nullptr)); }

template <class E>
void expect_same_error(const communicator& c, std::vector<int> raisers) {
  const auto mine = std::find(raisers.begin(), raisers.end(), c.rank()) == raisers.end()
                        ? nullptr
                        : std::make_exception_ptr(E("objection of rank " + std::to_string(c.rank())));
  const int lowest = *std::min_element(raisers.begin(), raisers.end());
  try {
    c.agree(mine);
    FAIL() << "no error";
  } catch (const error& e) {
    EXPECT_EQ(typeid(e), typeid(E));
    EXPECT_EQ(e.what(), "objection of rank " + std::to_string(lowest));
    EXPECT_EQ(e.collective(), c.backend()->spans_run());
  }
}

TEST_P(communicators, agree_throws_the_lowest_ranks_error_everywhere_with_its_type) {
  expect_same_error<error>(comm, {size - 1});
  expect_same_error<shape_error>(comm, {0});
  expect_same_error<dtype_error>(comm, {size - 1, 0});
  expect_same_error<index_error>(comm, {size / 2, size - 1});
  expect_same_error<value_error>(comm, {size - 1});
  expect_same_error<out_of_memory>(comm, {size - 1});
  expect_same_error<device_error>(comm, {size - 1});
  expect_same_error<library_error>(comm, {size - 1});
  expect_same_error<comm_error>(comm, {size - 1});
  expect_same_error<io_error>(comm, {size - 1});
}

TEST_P(communicators, agree_turns_other_exceptions_into_error) {
  for (const std::exception_ptr& raised :
       {std::make_exception_ptr(std::out_of_range("too far")), std::make_exception_ptr(42)}) {
    try {
      comm.agree(rank == size - 1 ? raised : nullptr);
      FAIL() << "no error";
    } catch (const error& e) {
      EXPECT_EQ(typeid(e), typeid(error));
      EXPECT_TRUE(e.what() == std::string("too far") ||
                  e.what() == std::string("an exception that is not a std::exception"));
    }
  }
}

TEST_P(communicators, agree_carries_long_and_empty_messages) {
  for (const std::string& text : {std::string(), std::string(100000, 'x')}) {
    try {
      comm.agree(rank == 0 ? std::make_exception_ptr(io_error(text)) : nullptr);
      FAIL() << "no error";
    } catch (const io_error& e) {
      EXPECT_EQ(e.what(), text);
    }
  }
}

}  // namespace serried::test
