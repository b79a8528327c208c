// What every engine has to do. Instantiate the suite with makers of the engine.
#pragma once

#include "local/engine_support.hpp"

#include <gtest/gtest.h>

namespace serried::testing {

class engine_conformance : public ::testing::TestWithParam<engine_maker> {
 protected:
  void SetUp() override {
    engine_ = GetParam().make();
    if (!engine_) GTEST_SKIP() << "this machine does not have " << GetParam().name;
  }
  engine& e() { return *engine_; }

 private:
  std::shared_ptr<engine> engine_;
};

}  // namespace serried::testing
