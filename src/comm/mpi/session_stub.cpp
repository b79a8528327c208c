#include <serried/error.hpp>

#include "comm/mpi/session.hpp"

namespace serried::inline v0::comm {

mpi_session::mpi_session(int&, char**&) {
  throw comm_error("this build has no MPI: start the program without a launcher, or build Serried with MPI");
}
mpi_session::~mpi_session() = default;

}  // namespace serried::inline v0::comm
