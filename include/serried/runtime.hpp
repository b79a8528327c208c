// Start-up and shut-down of a program that may run on many ranks.
#pragma once

#include <serried/communicator.hpp>
#include <serried/export.hpp>

#include <functional>
#include <memory>
#include <type_traits>

namespace serried::inline v0 {

class runtime;

/// Runs `body` inside a runtime and returns the exit code for main.
///
/// An exception that leaves `body` gives exit code 1 and one line, "PROGRAM: error: MESSAGE", on stderr. If it is
/// collective (the same on every rank) rank 0 prints it and all ranks end in good order; otherwise the rank that
/// threw prints it and ends all ranks at once.
SERRIED_API int run(int argc, char** argv, const std::function<int(runtime&)>& body);
/// Joins the run: under mpirun, srun or another launcher, all its ranks; started alone, one rank without MPI.
/// While it lives, the thread works in a context of its own: the device, and this rank's share of the node's cores.
///
/// Destroying it is collective. When it is destroyed while an exception passes, it cannot finalize in good order
/// (the other ranks may be waiting): it prints that an exception passed and ends all ranks. Use `run`, which
/// prints the exception itself.
///
/// Environment, the same for all ranks:
/// - SERRIED_DEVICE=auto|cuda|host, SERRIED_THREADS=N, SERRIED_SIMD=baseline|avx2|avx512: see context::make.
/// - SERRIED_COMM=auto|mpi|nccl: what carries buffers in GPU memory. auto: NCCL when every rank has a GPU of its own,
///   or when NCCL 2.30.3 or later is told to let ranks share one (NCCL_MULTI_RANK_GPU_ENABLE=1); else MPI through the
///   host's memory, with any number of ranks on a GPU. The ranks of a machine take its GPUs in turn.
/// - SERRIED_PROGRESS=thread|inline: a thread makes all MPI calls (default), or the callers do, and then works
///   progress only inside calls.
/// - SERRIED_CHECK=0|1: compare the ranks' collective calls before each; a mismatch throws the same comm_error on all.
/// - SERRIED_TIMEOUT=seconds (default 1800, 0: for ever): a rank that has waited this long in one call says so and
///   ends all ranks. Ranks that compute look like ranks that are stuck: raise it for longer phases without a call.
///
/// Throws comm_error when the launcher's ranks cannot be joined, or NCCL is asked for where it cannot be; value_error
/// for an environment variable that is not understood.
class SERRIED_API runtime {
 public:
  runtime(int& argc, char**& argv);
  /// On a communicator of the caller's making (see <serried/mpi.hpp> for one from an MPI_Comm).
  explicit runtime(communicator world);
  /// On an MPI_Comm, with <serried/mpi.hpp>: MPI stays the caller's to initialize and finalize.
  template <class T>
    requires requires(T native) { native_communicator<T>::wrap(native); }
  explicit runtime(T native) : runtime(native_communicator<T>::wrap(native)) {}
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  [[nodiscard]] const communicator& world() const;
  [[nodiscard]] int rank() const { return world().rank(); }
  [[nodiscard]] int size() const { return world().size(); }

 private:
  friend int run(int argc, char** argv, const std::function<int(runtime&)>& body);
  struct impl;
  explicit runtime(std::unique_ptr<impl> joined);
  std::unique_ptr<impl> impl_;
};

/// As above for a body that returns nothing: exit code 0.
template <class F>
  requires std::is_void_v<std::invoke_result_t<F&, runtime&>>
int run(int argc, char** argv, F&& body) {
  return run(argc, argv, std::function<int(runtime&)>([&body](runtime& rt) {
               body(rt);
               return 0;
             }));
}

}  // namespace serried::inline v0
