// The command line of serried-heat.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace heat {

/// A command line that does not make sense: exit code 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class boundary { fixed, periodic, insulated };

struct options {
  std::string input;
  std::int64_t steps = 0;
  double alpha = 0;
  heat::boundary boundary = heat::boundary::fixed;
  std::string output;     ///< empty: none
  std::string png;        ///< empty: none
  std::vector<int> mesh;  ///< ranks along each axis; empty: chosen
  std::int64_t every = 100;
  bool quiet = false;
  bool check = false;
};

/// Nothing when the user asked for help. Throws usage_error.
[[nodiscard]] std::optional<options> parse(int argc, char** argv);
void print_help(std::ostream& out);

}  // namespace heat
