// A program that has MPI already and lends Serried a communicator. Its argument is the thread level it asks for.
#include <mpi.h>
#include <serried/mpi.hpp>
#include <serried/runtime.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace sr = serried;

#define REQUIRE(condition)                                         \
  do {                                                             \
    if (!(condition)) {                                            \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                \
    }                                                              \
  } while (false)

int sum_of_ones(const sr::communicator& c) {
  int x = 1;
  c.all_reduce(&x, &x, 1, sr::int32, sr::comm::reduce_op::sum).wait();
  return x;
}

int main(int argc, char** argv) {
  bool refused = false;
  try {
    (void)sr::from_mpi(MPI_COMM_WORLD);
  } catch (const std::exception&) {
    refused = true;  // MPI is not initialized
  }

  const bool multiple = argc > 1 && std::string(argv[1]) == "multiple";
  int level = 0, rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &level);
  REQUIRE(refused);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int half_rank = 0, half_size = 0;
  MPI_Comm_rank(half, &half_rank);
  MPI_Comm_size(half, &half_size);
  {
    sr::runtime rt(half);
    REQUIRE(rt.rank() == half_rank && rt.size() == half_size);
    REQUIRE(sum_of_ones(rt.world()) == half_size);
    // a message of the program's own passes between Serried's calls
    int token = rank, other = -1;
    MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, 0, &other, 1, MPI_INT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    REQUIRE(other == (rank + size - 1) % size);
  }
  MPI_Comm_free(&half);

  // one runtime after another, and over all ranks of a program that initialized MPI itself
  for (int i = 0; i < 2; ++i) {
    sr::runtime rt(argc, argv);
    REQUIRE(rt.size() == (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr ? size : 1));
    REQUIRE(sum_of_ones(rt.world()) == rt.size());
  }

  // without a runtime; the communicators go before MPI does
  {
    const sr::communicator c = sr::from_mpi(MPI_COMM_WORLD);
    const sr::communicator part = c.split(0, -rank);
    REQUIRE(sum_of_ones(part) == size);
    REQUIRE(part.rank() == size - 1 - rank);
  }
  int finalized = 1;
  MPI_Finalized(&finalized);
  REQUIRE(!finalized);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
