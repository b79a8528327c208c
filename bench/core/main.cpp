// serried-bench-core: element-wise work, reductions and stencils on the current device, as lines of JSON.
#include "recorder.hpp"

#include <cstdio>
#include <exception>
#include <string_view>

namespace {

constexpr const char* usage =
    "usage: serried-bench-core [--quick] [--filter TEXT]\n"
    "Measures on the device that SERRIED_DEVICE chooses and prints lines of JSON: what was measured, milliseconds for\n"
    "one call, microseconds of the host's time, bytes read and written at least, and the share of a copy's rate.\n"
    "  --quick        small sizes: to see that everything runs\n"
    "  --filter TEXT  only what has TEXT in its name; the copy is always measured\n";

}  // namespace

int main(int argc, char** argv) {
  bench::options options;
  std::string first_use;  // what measure_first_use starts
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--quick") {
      options.quick = true;
    } else if (argument == "--filter" && has_value) {
      options.filter = argv[++i];
    } else if (argument == "--first-use" && has_value) {
      first_use = argv[++i];
    } else {
      std::fputs(usage, argument == "--help" ? stdout : stderr);
      return argument == "--help" ? 0 : 2;
    }
  }
  try {
    bench::recorder r(options);
    if (!first_use.empty()) {
      bench::first_use(r, first_use);
      return 0;
    }
    bench::measure_first_use(r);
    bench::measure_elementwise(r);
    bench::measure_reductions(r);
    bench::measure_stencils(r);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
  return 0;
}
