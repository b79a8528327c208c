#include "comm/mpi/session.hpp"

#include <mpi.h>
#include <serried/error.hpp>
#include <serried/mpi.hpp>

#include "comm/mpi/mpi_backend.hpp"
#include "comm/mpi/mpi_calls.hpp"
#include "comm/settings.hpp"

namespace serried::inline v0 {

namespace comm {

namespace {

bool answers(int (*question)(int*)) {
  int yes = 0;
  question(&yes);
  return yes != 0;
}

}  // namespace

mpi_session::mpi_session(int& argc, char**& argv) {
  if (answers(MPI_Finalized)) throw comm_error("MPI has been finalized; a program can run only once");
  int level = MPI_THREAD_SINGLE;
  if (answers(MPI_Initialized)) {
    check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  } else {
    check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread");
    initialized_here_ = true;
  }
  try {
    if (initialized_here_ && level < MPI_THREAD_SERIALIZED)
      throw comm_error("this MPI lacks thread support: Serried needs MPI_THREAD_SERIALIZED or better");
    // All MPI calls are ours when we initialized; otherwise the program's own calls may meet the thread's.
    const bool thread = level >= (initialized_here_ ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE);
    const auto world = make_mpi(MPI_COMM_WORLD, thread);
    driver_ = world->driver();
    world_ = world;
  } catch (...) {
    if (initialized_here_) MPI_Finalize();
    throw;
  }
}

mpi_session::~mpi_session() {
  driver_->stop();
  world_.reset();
  if (initialized_here_) MPI_Finalize();
}

}  // namespace comm

communicator from_mpi(MPI_Comm group) {
  if (!comm::answers(MPI_Initialized)) throw comm_error("from_mpi: call MPI_Init_thread first");
  int level = MPI_THREAD_SINGLE;
  comm::check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  const communicator c(comm::handle_of(comm::make_mpi(group, level >= MPI_THREAD_MULTIPLE)));
  comm::check_environment(c);
  return c;
}

}  // namespace serried::inline v0
