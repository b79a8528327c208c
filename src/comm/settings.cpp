#include "comm/settings.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace serried::inline v0::comm {

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// True for `yes`, false for `no` or when the variable is not set.
bool is_set_to(const char* name, std::string_view yes, std::string_view no) {
  const std::string_view value = variable(name);
  if (!value.empty() && value != yes && value != no)
    throw value_error(fmt::format("{} is \"{}\"; it takes {} or {}", name, value, no, yes));
  return value == yes;
}

carrier carrier_from(std::string_view value) {
  if (value.empty() || value == "auto") return carrier::automatic;
  if (value == "mpi") return carrier::mpi;
  if (value == "nccl") return carrier::nccl;
  throw value_error(fmt::format("SERRIED_COMM is \"{}\"; it takes auto, mpi or nccl", value));
}

}  // namespace

settings settings_from_environment() {
  settings s;
  s.devices = carrier_from(variable("SERRIED_COMM"));
  s.progress_thread = !is_set_to("SERRIED_PROGRESS", "inline", "thread");
  s.check = is_set_to("SERRIED_CHECK", "1", "0");
  if (const std::string_view limit = variable("SERRIED_TIMEOUT"); !limit.empty()) {
    char* end = nullptr;
    const double seconds = std::strtod(limit.data(), &end);
    if (end != limit.data() + limit.size() || !(seconds >= 0) || std::isinf(seconds))
      throw value_error(fmt::format("SERRIED_TIMEOUT is \"{}\"; it takes a number of seconds, 0 for no limit", limit));
    s.stall_limit = std::chrono::duration<double>(std::min(seconds, 1e9));  // clocks count 64-bit nanoseconds
  }
  return s;
}

void check_environment(const communicator& c) {
  std::exception_ptr mine;
  try {
    (void)settings_from_environment();
  } catch (...) {
    mine = std::current_exception();
  }
  c.agree(mine);
}

}  // namespace serried::inline v0::comm
