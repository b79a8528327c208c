// main() of the tests that run under mpirun: every rank runs every test, and all fail when one does.
#include "mpi_main.hpp"

#include <gtest/gtest.h>
#include <serried/runtime.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace serried::test {

namespace {

const runtime* current_run = nullptr;

/// Without this a test that stops early on one rank would meet the next test of the others.
class meet_after_each_test : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.failed() && world().rank() != 0)
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", world().rank(), part.file_name(), part.line_number(),
                   part.message());
  }
  void OnTestEnd(const testing::TestInfo& info) override {
    int failed = info.result()->Failed() ? 1 : 0;
    const int mine = failed;
    try {
      world().all_reduce(&failed, &failed, 1, int32, comm::reduce_op::max).wait();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "rank %d after %s.%s: %s\n", world().rank(), info.test_suite_name(), info.name(), e.what());
    }
    if (failed && !mine && world().rank() == 0)
      std::fprintf(stderr, "%s.%s failed on another rank\n", info.test_suite_name(), info.name());
  }
};

}  // namespace

const communicator& world() { return current_run->world(); }

}  // namespace serried::test

int main(int argc, char** argv) {
  setenv("SERRIED_TIMEOUT", "60", 0);  // a test that hangs says where
  testing::InitGoogleTest(&argc, argv);
  return serried::run(argc, argv, [](serried::runtime& rt) {
    serried::test::current_run = &rt;
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    if (rt.rank() != 0) delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new serried::test::meet_after_each_test);
    int failed = RUN_ALL_TESTS();
    rt.world().all_reduce(&failed, &failed, 1, serried::int32, serried::comm::reduce_op::max).wait();
    return failed;
  });
}
