// A run that ends in the way its argument names; expect_end.cmake looks at what the user would see.
#include <serried/array.hpp>
#include <serried/creation.hpp>
#include <serried/error.hpp>
#include <serried/runtime.hpp>
#include <serried/stream.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace sr = serried;
using sr::comm::reduce_op;

int numbers[4] = {1, 2, 3, 4};  // outlives the run

void sum_over_ranks(sr::runtime& rt) { rt.world().all_reduce(numbers, numbers, 4, sr::int32, reduce_op::sum).wait(); }

// The same in the device's memory, whose communicator may be another.
void sum_on_device(sr::runtime& rt) {
  const sr::array values = sr::ones({4}, {.dtype = sr::int32});
  auto* const data = values.data<std::int32_t>();
  rt.world().all_reduce(data, data, 4, sr::int32, reduce_op::sum).wait();
  sr::current_stream().synchronize();
}

void compute(std::chrono::seconds length) {
  const auto end = std::chrono::steady_clock::now() + length;
  while (std::chrono::steady_clock::now() < end) {
  }
}

bool is_last(const sr::runtime& rt) { return rt.rank() == rt.size() - 1; }

const std::map<std::string, std::function<int(sr::runtime&)>> endings = {
    {"well", [](sr::runtime& rt) { return sum_over_ranks(rt), numbers[3] == 4 * rt.size() ? 0 : 1; }},
    {"code", [](sr::runtime& rt) { return sum_over_ranks(rt), 7; }},
    {"throw_while_others_reduce",
     [](sr::runtime& rt) {
       if (is_last(rt)) throw std::runtime_error("lost\nthe plot");
       return sum_over_ranks(rt), 0;
     }},
    {"throw_while_others_meet",
     [](sr::runtime& rt) {
       if (is_last(rt)) throw sr::io_error("no such file: plate.npy");
       rt.world().barrier().wait();
       return 0;
     }},
    {"throw_while_others_compute",
     [](sr::runtime& rt) {
       if (is_last(rt)) throw std::bad_alloc();
       compute(std::chrono::seconds(30));
       return 0;
     }},
    {"throw_while_others_split",
     [](sr::runtime& rt) {
       if (is_last(rt)) throw std::logic_error("split personality");
       (void)rt.world().split(0, 0);
       return 0;
     }},
    {"throw_while_others_have_ended",
     [](sr::runtime& rt) {
       if (!is_last(rt)) return 0;
       std::this_thread::sleep_for(std::chrono::seconds(1));
       throw std::runtime_error("too late");
     }},
    {"throw_something_else",
     [](sr::runtime& rt) {
       if (is_last(rt)) throw 42;
       return sum_over_ranks(rt), 0;
     }},
    {"throw_with_messages_pending",
     [](sr::runtime& rt) -> int {
       auto pending = rt.world().recv(numbers, 4, sr::int32, 0);
       throw std::runtime_error("never mind");
     }},
    {"agree",
     [](sr::runtime& rt) {
       rt.world().agree(is_last(rt) ? std::make_exception_ptr(sr::io_error("disk full")) : nullptr);
       return 0;
     }},
    {"exit",
     [](sr::runtime& rt) {
       if (is_last(rt)) std::exit(3);
       return sum_over_ranks(rt), 0;
     }},
    {"kill",
     [](sr::runtime& rt) {
       if (is_last(rt)) std::abort();
       return sum_over_ranks(rt), 0;
     }},
    {"mismatch",
     [](sr::runtime& rt) {
       if (is_last(rt)) rt.world().barrier().wait();
       return sum_over_ranks(rt), 0;
     }},
    {"end_early",
     [](sr::runtime& rt) {
       if (!is_last(rt)) sum_over_ranks(rt);
       return 0;
     }},
    {"stall",
     [](sr::runtime& rt) {
       if (is_last(rt)) std::this_thread::sleep_for(std::chrono::seconds(30));
       return sum_over_ranks(rt), 0;
     }},
    {"stall_on_device",
     [](sr::runtime& rt) {
       sum_on_device(rt);
       if (is_last(rt)) std::this_thread::sleep_for(std::chrono::seconds(30));
       return sum_on_device(rt), 0;
     }},
    {"throw_while_others_reduce_on_device",
     [](sr::runtime& rt) {
       sum_on_device(rt);
       if (is_last(rt)) throw std::runtime_error("lost the plot");
       return sum_on_device(rt), 0;
     }},
    {"kill_while_others_reduce_on_device",
     [](sr::runtime& rt) {
       sum_on_device(rt);
       if (is_last(rt)) std::abort();
       return sum_on_device(rt), 0;
     }},
    {"stall_at_end",
     [](sr::runtime& rt) {
       (void)rt.world().recv(numbers, 4, sr::int32, 0);  // nobody sends
       return 0;
     }},
    {"pending",
     [](sr::runtime& rt) {
       const int next = (rt.rank() + 1) % rt.size(), previous = (rt.rank() + rt.size() - 1) % rt.size();
       static const int sent = 100 + rt.rank();
       if (rt.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
       (void)rt.world().recv(&numbers[0], 1, sr::int32, previous);
       (void)rt.world().send(&sent, 1, sr::int32, next);
       (void)rt.world().all_reduce(&numbers[1], &numbers[1], 1, sr::int32, reduce_op::sum);
       numbers[2] = 100 + previous;
       numbers[3] = 2 * rt.size();
       return 0;
     }},
    {"dropped_error",
     [](sr::runtime& rt) {
       static const int sent[2] = {};
       (void)rt.world().send(sent, 2, sr::int32, rt.rank());
       (void)rt.world().recv(numbers, 1, sr::int32, rt.rank());
       return 0;
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string ending = argc > 1 ? argv[1] : "";
  if (ending == "pending") {
    const int code = sr::run(argc, argv, endings.at(ending));
    return code == 0 && numbers[0] == numbers[2] && numbers[1] == numbers[3] ? 0 : 1;
  }
  if (ending == "bare") {
    sr::runtime rt(argc, argv);
    sum_over_ranks(rt);
    return 5;
  }
  if (ending == "bare_throw") {
    try {
      sr::runtime rt(argc, argv);
      if (is_last(rt)) throw std::runtime_error("unseen");
      sum_over_ranks(rt);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "caught: %s\n", e.what());
    }
    return 6;
  }
  return sr::run(argc, argv, endings.at(ending));
}
