// A program that is started alone.
#include <gtest/gtest.h>
#include <serried/error.hpp>
#include <serried/runtime.hpp>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>

#include "comm/backend.hpp"
#include "runtime/cores.hpp"
#include "runtime/launcher.hpp"

namespace serried::test {

namespace {

struct arguments {
  char program[16] = "/usr/bin/tested";
  char* list[2] = {program, nullptr};
  char** argv = list;
  int argc = 1;
};

}  // namespace

TEST(runtime, alone_is_one_rank_without_mpi) {
  arguments a;
  const runtime rt(a.argc, a.argv);
  EXPECT_EQ(rt.rank(), 0);
  EXPECT_EQ(rt.size(), 1);
  EXPECT_EQ(rt.world().name(), "self");
  EXPECT_TRUE(rt.world().backend()->spans_run());
}

TEST(runtime, may_stand_on_a_communicator) {
  const communicator mine;
  const runtime rt(mine);
  EXPECT_EQ(rt.world(), mine);
}

TEST(run, returns_the_exit_code_of_the_body) {
  arguments a;
  EXPECT_EQ(run(a.argc, a.argv, [](runtime& rt) { return rt.size() + 6; }), 7);
  bool ran = false;
  EXPECT_EQ(run(a.argc, a.argv, [&](runtime&) { ran = true; }), 0);
  EXPECT_TRUE(ran);
}

TEST(run, prints_one_line_for_an_exception) {
  arguments a;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(a.argc, a.argv, [](runtime&) { throw value_error("not\nthis"); }), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), std::string(program_invocation_short_name) + ": error: not this\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(a.argc, a.argv, [](runtime& rt) { rt.world().agree(std::make_exception_ptr(io_error("gone"))); }), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), std::string(program_invocation_short_name) + ": error: gone\n");
}

TEST(run, complains_about_the_environment_once) {
  arguments a;
  setenv("SERRIED_CHECK", "perhaps", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(a.argc, a.argv, [](runtime&) { FAIL() << "the body must not run"; }), 1);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find(": error: SERRIED_CHECK is \"perhaps\""), std::string::npos) << text;
  EXPECT_THROW(runtime(a.argc, a.argv), value_error);
  unsetenv("SERRIED_CHECK");
}

TEST(runtime, an_exception_may_pass_when_there_are_no_other_ranks) {
  arguments a;
  EXPECT_THROW(
      {
        const runtime rt(a.argc, a.argv);
        throw io_error("passing");
      },
      io_error);
}

TEST(launcher, is_recognized_by_its_environment) {
  EXPECT_FALSE(started_by_launcher());
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"}) {
    setenv(name, "1", 1);
    EXPECT_TRUE(started_by_launcher()) << name;
    unsetenv(name);
  }
  // a batch script, and a step of one task, are one rank; more tasks need a way to meet
  setenv("SLURM_PROCID", "0", 1);
  EXPECT_FALSE(started_by_launcher());
  setenv("SLURM_STEP_NUM_TASKS", "1", 1);
  EXPECT_FALSE(started_by_launcher());
  setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  EXPECT_THROW((void)started_by_launcher(), comm_error);
  setenv("PMIX_RANK", "2", 1);
  EXPECT_TRUE(started_by_launcher());
  for (const char* name : {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "PMIX_RANK"}) unsetenv(name);
}

TEST(cores, a_rank_alone_has_them_all) { EXPECT_EQ(processes_on_my_cores(communicator()), 1); }

}  // namespace serried::test
