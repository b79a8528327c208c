// For programs that use MPI themselves. Not part of <serried/serried.hpp>: it needs mpi.h.
#pragma once

#include <mpi.h>
#include <serried/communicator.hpp>
#include <serried/export.hpp>

namespace serried::inline v0 {

/// A communicator over a duplicate of `group`; collective over it. MPI must be initialized, and is never finalized
/// by Serried: let go of the communicator, and of the runtime that uses it, before MPI_Finalize.
///
/// With MPI_THREAD_MULTIPLE a thread of Serried makes its MPI calls; with less, the caller does, as with
/// SERRIED_PROGRESS=inline. Throws comm_error.
[[nodiscard]] SERRIED_API communicator from_mpi(MPI_Comm group);

/// Makes `serried::runtime rt(MPI_COMM_WORLD)` work.
template <>
struct native_communicator<MPI_Comm> {
  static communicator wrap(MPI_Comm group) { return from_mpi(group); }
};

}  // namespace serried::inline v0
