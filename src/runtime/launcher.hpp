// Was this process started as one of several ranks?
#pragma once

namespace serried::inline v0 {

/// True under mpirun, srun with PMI, or another MPI launcher. Throws comm_error when Slurm started several tasks that
/// have no means of finding each other.
[[nodiscard]] bool started_by_launcher();

}  // namespace serried::inline v0
