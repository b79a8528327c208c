#include <gtest/gtest.h>
#include <serried/error.hpp>

#include "comm/nccl/nccl.hpp"
#include "comm/settings.hpp"
#include "conformance.hpp"
#include "device_conformance.hpp"

namespace serried::test {

INSTANTIATE_TEST_SUITE_P(self, communicators, testing::Values(implementation{"self", [] { return communicator(); }}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(self, device_communicators,
                         testing::Values(device_implementation{"late", late_device,
                                                               [](const auto&) { return communicator(); }},
                                         device_implementation{"gpu", gpu, [](const auto&) { return communicator(); }}),
                         device_name_of);

TEST(self, is_one_rank) {
  const communicator c;
  EXPECT_EQ(c.rank(), 0);
  EXPECT_EQ(c.size(), 1);
  EXPECT_EQ(c.node_rank(), 0);
  EXPECT_EQ(c.node_size(), 1);
  EXPECT_EQ(c.name(), "self");
}

TEST(self, waiting_for_a_message_that_nobody_sends_is_an_error) {
  const communicator c;
  int x = 0;
  comm::work w = c.recv(&x, 1, int32, 0);
  EXPECT_FALSE(w.done());
  EXPECT_EQ(w.seconds(), 0);
  EXPECT_THROW(w.wait(), comm_error);
  int y = 7;
  c.send(&y, 1, int32, 0).wait();
  w.wait();
  EXPECT_EQ(x, 7);
}

TEST(nccl, needs_a_gpu) {
  EXPECT_THROW((void)comm::make_nccl(communicator(), make_host_engine(1)), comm_error);
  EXPECT_EQ(make_host_engine(1)->place(), "host");
}

class environment : public testing::Test {
 protected:
  static void set(const char* name, const char* value) { setenv(name, value, 1); }
  void TearDown() override {
    for (const char* name : {"SERRIED_PROGRESS", "SERRIED_CHECK", "SERRIED_TIMEOUT", "SERRIED_COMM"}) unsetenv(name);
  }
};

TEST_F(environment, has_defaults) {
  TearDown();
  const comm::settings s = comm::settings_from_environment();
  EXPECT_TRUE(s.progress_thread);
  EXPECT_FALSE(s.check);
  EXPECT_EQ(s.devices, comm::carrier::automatic);
  EXPECT_GE(s.stall_limit.count(), 300);
}

TEST_F(environment, is_read) {
  set("SERRIED_PROGRESS", "inline");
  set("SERRIED_CHECK", "1");
  set("SERRIED_TIMEOUT", "2.5");
  set("SERRIED_COMM", "nccl");
  const comm::settings s = comm::settings_from_environment();
  EXPECT_FALSE(s.progress_thread);
  EXPECT_TRUE(s.check);
  EXPECT_EQ(s.stall_limit.count(), 2.5);
  EXPECT_EQ(s.devices, comm::carrier::nccl);
}

TEST_F(environment, complains_about_what_it_does_not_understand) {
  for (auto [name, value] : {std::pair{"SERRIED_PROGRESS", "thraed"},
                             {"SERRIED_CHECK", "yes"},
                             {"SERRIED_COMM", "rccl"},
                             {"SERRIED_TIMEOUT", "5s"},
                             {"SERRIED_TIMEOUT", "-1"},
                             {"SERRIED_TIMEOUT", "inf"},
                             {"SERRIED_TIMEOUT", "nan"}}) {
    set(name, value);
    try {
      (void)comm::settings_from_environment();
      ADD_FAILURE() << name << "=" << value;
    } catch (const value_error& e) {
      EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
    }
    TearDown();
  }
}

}  // namespace serried::test
