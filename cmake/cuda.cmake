# Sets SERRIED_CUDA_FOUND and cuda_libraries. The toolkit's headers and two of its libraries suffice: kernels are
# compiled at run time, so there is no CUDA language here. The driver's library is never linked: a program must start
# without it (which CMake's target CUDA::nvrtc does not know, so only its file is used).
set(SERRIED_CUDA_FOUND FALSE)
set(cuda_libraries)
if(SERRIED_CUDA)
  find_package(CUDAToolkit 12.4 QUIET)
  if(TARGET CUDA::cudart_static AND TARGET CUDA::nvrtc)
    set(SERRIED_CUDA_FOUND TRUE)
    get_target_property(nvrtc_library CUDA::nvrtc IMPORTED_LOCATION)
    set(cuda_libraries CUDA::cudart_static ${nvrtc_library})
    message(STATUS "CUDA engine: with CUDA ${CUDAToolkit_VERSION}")
  else()
    message(STATUS "CUDA engine: not built, no CUDA toolkit 12.4 or newer was found")
  endif()
endif()
