# find_package(serried) gives the target serried::serried.
include(${CMAKE_CURRENT_LIST_DIR}/serried-targets.cmake)
