#include "comm/last_words.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace serried::inline v0::comm {

void print_error(std::string_view message) {
  std::string line = fmt::format("{}: error: {}", program_invocation_short_name, message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);  // in one write: lines of several ranks do not mix
}

std::string stall_message(int rank, int size, double seconds, std::string_view what) {
  return fmt::format(
      "rank {} of {} has waited {} s for {}; another rank is stuck or gone (SERRIED_TIMEOUT sets the "
      "limit)",
      rank, size, seconds, what);
}

void end_with_error(backend& world, std::string_view message) {
  std::this_thread::sleep_for(std::chrono::milliseconds(250) * std::min(world.rank(), 8));
  print_error(message);
  world.abort(1);
  std::abort();  // never reached
}

}  // namespace serried::inline v0::comm
