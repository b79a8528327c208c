#include "runtime/launcher.hpp"

#include <serried/error.hpp>

#include <cstdlib>

namespace serried::inline v0 {

bool started_by_launcher() {
  // Open MPI's mpirun; PMIx (srun, prun); PMI-1 and PMI-2 (MPICH's mpiexec, srun).
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"})
    if (std::getenv(name) != nullptr) return true;
  // Without PMI every task would be a run of its own, all writing the same files. Batch scripts see one task.
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (tasks != nullptr && std::atoi(tasks) > 1 && std::getenv("SLURM_PROCID") != nullptr)
    throw comm_error("srun started several tasks without MPI support: use srun --mpi=pmix or --mpi=pmi2, or mpirun");
  return false;
}

}  // namespace serried::inline v0
