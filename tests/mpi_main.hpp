// What a test under mpirun sees of its run.
#pragma once

#include <serried/communicator.hpp>

namespace serried::test {

/// All ranks of the run, which tests/mpi_main.cpp has joined.
[[nodiscard]] const communicator& world();

}  // namespace serried::test
