# cmake --install: the library, its public headers and the package that find_package(serried) reads. fmt and MPI are
# private to the shared library, so the package asks for neither.
include(CMakePackageConfigHelpers)

install(TARGETS serried EXPORT serried-targets)
install(DIRECTORY include/ TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc" PATTERN cuda.hpp EXCLUDE
  PATTERN mpi.hpp EXCLUDE)
if(SERRIED_CUDA_FOUND)
  install(FILES include/serried/cuda.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/serried)
endif()
if(MPI_CXX_FOUND)
  install(FILES include/serried/mpi.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/serried OPTIONAL)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/serried)
write_basic_package_version_file(serried-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/serried-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/serried-config-version.cmake
  DESTINATION ${package_dir})
install(EXPORT serried-targets NAMESPACE serried:: DESTINATION ${package_dir})
