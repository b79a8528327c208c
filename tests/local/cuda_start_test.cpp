// What a program gets from SERRIED_DEVICE, with a GPU or without.
#include <serried/context.hpp>
#include <serried/error.hpp>

#include "local/engine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace serried::testing {
namespace {

class cuda_start : public ::testing::Test {
 protected:
  cuda_start() {
    if (const char* old = std::getenv("SERRIED_DEVICE")) old_ = old;
  }
  ~cuda_start() override {
    if (old_.empty()) unsetenv("SERRIED_DEVICE");
    else setenv("SERRIED_DEVICE", old_.c_str(), 1);
  }
  static context make(const char* device) {
    setenv("SERRIED_DEVICE", device, 1);
    return context::make();
  }
  const bool gpu_ = make_cuda_engine() != nullptr;

 private:
  std::string old_;
};

TEST_F(cuda_start, auto_takes_the_gpu_or_the_host) {
  EXPECT_EQ(make("auto").device(), gpu_ ? "cuda" : "host");
  EXPECT_EQ(make("").device(), gpu_ ? "cuda" : "host");
}

TEST_F(cuda_start, host_is_the_host) { EXPECT_EQ(make("host").device(), "host"); }

TEST_F(cuda_start, cuda_is_the_gpu_or_an_error_that_says_why) {
  if (gpu_) {
    EXPECT_EQ(make("cuda").device(), "cuda");
    return;
  }
  try {
    (void)make("cuda");
    ADD_FAILURE() << "there is no GPU";
  } catch (const device_error& e) {
    EXPECT_EQ(e.what(), "SERRIED_DEVICE=cuda: " + why_no_cuda_engine() + " (auto would run on the host)");
    EXPECT_GT(why_no_cuda_engine().size(), 10u);
  }
}

TEST_F(cuda_start, other_devices_are_refused) { EXPECT_THROW((void)make("rocm"), value_error); }

TEST_F(cuda_start, ranks_of_a_machine_take_gpus_in_turn) {
  for (const int rank : {0, 1, 7}) EXPECT_EQ(make_cuda_engine(rank) != nullptr, gpu_);
}

}  // namespace
}  // namespace serried::testing
