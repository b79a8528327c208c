// serried-bench-core at its small sizes: every measurement is there and says something.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace {

struct outcome {
  int code;
  std::string text;
};

outcome run(const std::string& arguments) {
  outcome result{-1, {}};
  FILE* const out = popen((std::string(BENCH) + " " + arguments + " 2>&1").c_str(), "r");
  if (out == nullptr) return result;
  std::array<char, 4096> part{};
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), out)) result.text.append(part.data(), n);
  result.code = WEXITSTATUS(pclose(out));
  return result;
}

// How many lines each name has. Every line must be a measurement.
std::map<std::string, int> count_lines(const std::string& text) {
  const std::regex form(
      R"re(\{"library": "serried", "device": "(host|cuda)", "name": "(\w+)", "shape": \[[0-9, ]+\], )re"
      R"re("dtype": "\w+", "ms": ([0-9.e+-]+), "host_us": [0-9.e+-]+)re"
      R"re((, "bytes": \d+, "gb_per_s": [0-9.e+-]+(, "share_of_copy": \d+\.\d+)?)?\})re");
  std::map<std::string, int> count;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, form)) {
      ADD_FAILURE() << "not a measurement: " << line;
      continue;
    }
    ++count[parts[2]];
    EXPECT_GT(std::stod(parts[3]), 0) << line;
  }
  return count;
}

}  // namespace

TEST(bench_core, measures_everything_at_small_sizes) {
  const outcome r = run("--quick");
  ASSERT_EQ(r.code, 0) << r.text;
  const std::map<std::string, int> expected{{"copy", 1},
                                            {"exp", 3},
                                            {"sqrt", 3},
                                            {"poly", 3},
                                            {"add", 7},
                                            {"multiply", 1},
                                            {"add_row", 1},
                                            {"add_column", 1},
                                            {"shifted_rows", 1},
                                            {"transpose", 1},
                                            {"every_second", 1},
                                            {"inner_3", 1},
                                            {"outer_3", 1},
                                            {"small_add", 1},
                                            {"sum", 2},
                                            {"max", 2},
                                            {"dot", 2},
                                            {"sum_axis_0", 1},
                                            {"sum_axis_1", 1},
                                            {"heat_fixed", 5},
                                            {"heat_periodic", 5},
                                            {"heat_insulated", 5},
                                            {"five_fields", 1},
                                            {"small_heat", 1},
                                            {"first_use_compiled_elementwise", 1},
                                            {"first_use_compiled_stencil", 1},
                                            {"first_use_compiled_sum", 1},
                                            {"first_use_from_disk_elementwise", 1},
                                            {"first_use_from_disk_stencil", 1},
                                            {"first_use_from_disk_sum", 1}};
  EXPECT_EQ(count_lines(r.text), expected);
}

TEST(bench_core, measures_what_the_filter_names_and_the_copy) {
  const outcome r = run("--quick --filter heat_fixed");
  ASSERT_EQ(r.code, 0) << r.text;
  EXPECT_EQ(count_lines(r.text), (std::map<std::string, int>{{"copy", 1}, {"heat_fixed", 5}}));
}

TEST(bench_core, refuses_what_it_does_not_know) {
  const outcome r = run("--fast");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.text.find("usage: serried-bench-core"), std::string::npos);
}
