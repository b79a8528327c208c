// Linked into every program of an address sanitizer build: what Open MPI leaves behind is no leak of ours. lsan.supp
// says so by the names of its libraries; here is what that cannot reach.
#include <mpi.h>
#include <sanitizer/lsan_interface.h>

// Open MPI unloads its components before the leaks are reported, and a library that is gone has no name.
extern "C" __attribute__((visibility("default"))) int dlclose(void*) { return 0; }

// Strings that it makes with asprintf: the stack ends in the C library, which has no name without debug information.
extern "C" __attribute__((visibility("default"))) int MPI_Init_thread(int* argc, char*** argv, int required,
                                                                      int* provided) {
  const __lsan::ScopedDisabler quiet;
  return PMPI_Init_thread(argc, argv, required, provided);
}
