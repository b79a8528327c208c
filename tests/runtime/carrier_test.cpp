// Who gets NCCL?
#include "runtime/carrier.hpp"

#include <gtest/gtest.h>
#include <serried/error.hpp>

#include <string>
#include <vector>

namespace serried::test {

namespace {

rank_seat seat(const std::string& machine, const std::string& gpu, comm::carrier wish = comm::carrier::automatic) {
  rank_seat s;
  machine.copy(s.machine, sizeof s.machine - 1);
  gpu.copy(s.gpu, sizeof s.gpu - 1);
  std::string("2.28.9").copy(s.nccl_version, sizeof s.nccl_version - 1);
  s.wish = wish;
  s.nccl = true;
  return s;
}

std::string refusal(const std::vector<rank_seat>& seats) {
  try {
    (void)choose_nccl(seats);
  } catch (const comm_error& e) {
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

constexpr comm::carrier nccl = comm::carrier::nccl;

}  // namespace

TEST(carrier, is_nccl_where_every_rank_has_a_gpu_of_its_own) {
  EXPECT_TRUE(choose_nccl(std::vector{seat("a", "01")}));
  EXPECT_TRUE(choose_nccl(std::vector{seat("a", "01"), seat("a", "02"), seat("b", "01"), seat("b", "02")}));
  EXPECT_TRUE(choose_nccl(std::vector{seat("a", "01", nccl), seat("a", "02", nccl)}));
}

TEST(carrier, is_mpi_elsewhere) {
  EXPECT_FALSE(choose_nccl(std::vector{seat("a", "01"), seat("a", "01")}));
  EXPECT_FALSE(choose_nccl(std::vector{seat("a", "01"), seat("a", "02"), seat("a", "01")}));
  EXPECT_FALSE(choose_nccl(std::vector{seat("a", "01"), seat("b", "")}));
  EXPECT_FALSE(choose_nccl(std::vector{seat("a", ""), seat("a", "")}));
  std::vector seats{seat("a", "01"), seat("a", "02")};
  seats[1].nccl = false;
  EXPECT_FALSE(choose_nccl(seats));
}

TEST(carrier, is_mpi_when_that_is_wished) {
  EXPECT_FALSE(choose_nccl(std::vector{seat("a", "01", comm::carrier::mpi), seat("a", "02", comm::carrier::mpi)}));
}

TEST(carrier, the_first_ranks_wish_counts) {
  EXPECT_FALSE(choose_nccl(std::vector{seat("a", "01", comm::carrier::mpi), seat("a", "02", nccl)}));
  EXPECT_FALSE(choose_nccl(std::vector{seat("a", "01"), seat("a", "01", nccl)}));
}

TEST(carrier, ranks_share_a_gpu_where_nccl_lets_them) {
  std::vector seats{seat("a", "01"), seat("a", "01")};
  seats[0].may_share = seats[1].may_share = true;
  EXPECT_TRUE(choose_nccl(seats));
  seats[1].may_share = false;
  EXPECT_FALSE(choose_nccl(seats));
}

TEST(carrier, says_why_it_cannot_be_nccl) {
  EXPECT_EQ(refusal({seat("a", "01", nccl), seat("a", "02", nccl), seat("a", "01", nccl)}),
            "SERRIED_COMM=nccl: ranks 0 and 2 share a GPU, which takes NCCL 2.30.3 or later (this is 2.28.9) and "
            "NCCL_MULTI_RANK_GPU_ENABLE=1; use one rank for each GPU, or SERRIED_COMM=mpi");
  EXPECT_EQ(refusal({seat("a", "01", nccl), seat("a", "", nccl)}),
            "SERRIED_COMM=nccl: rank 1 works on the host; NCCL needs a GPU on every rank");
  std::vector seats{seat("a", "01", nccl)};
  seats[0].nccl = false;
  EXPECT_EQ(refusal(seats), "SERRIED_COMM=nccl: this build has no NCCL");
}

}  // namespace serried::test
