// Timelines: what a distributed step leaves in the file that SERRIED_TRACE asks for.
#include <serried/dist/array.hpp>

#include "local/context.hpp"
#include "local/trace.hpp"

#include <serried/creation.hpp>
#include <serried/error.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "mpi_main.hpp"

namespace serried::testing {
namespace {

struct span {
  int rank;
  double begin, end;  // microseconds
};

// Every span of a file, by name; the file's lines must be what they are expected to be, one span each.
std::map<std::string, std::vector<span>> read_spans(const std::string& path) {
  std::map<std::string, std::vector<span>> spans;
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "{\"traceEvents\": [");
  while (std::getline(in, line) && line.find("\"ph\": \"X\"") != std::string::npos) {
    char name[32];
    int rank = 0;
    int lane = 0;
    double at = 0;
    double length = 0;
    EXPECT_EQ(
        std::sscanf(line.c_str(), R"({"name": "%31[a-z]", "ph": "X", "pid": %d, "tid": %d, "ts": %lf, "dur": %lf},)",
                    name, &rank, &lane, &at, &length),
        5)
        << line;
    EXPECT_EQ(line.substr(line.size() - 2), "},");
    spans[name].push_back({rank, at, at + length});
  }
  return spans;
}

TEST(trace, holds_the_parts_of_a_step_in_their_order) {
  const mesh grid(test::world());
  const int ranks = grid.communicator().size();
  const int rank = grid.communicator().rank();
  const std::string path =
      (std::filesystem::temp_directory_path() / ("serried_trace_" + std::to_string(getpid()) + ".json")).string();
  {
    auto state = std::make_shared<context_state>(context_state{make_host_engine(1), 1});
    state->timeline = std::make_unique<event_trace>(*state->device);
    event_trace& timeline = *state->timeline;
    const context_guard here(context_of(state));
    dist::array u = ones({64, 8}, grid.layout({grid.axis(0)}));
    for (int step = 0; step < 3; ++step) u += at(with_boundary(u, periodic), {1, 0});
    EXPECT_EQ(u.gather().to_vector<double>(), std::vector<double>(64 * 8, 8.0));
    timeline.write(path, rank);
  }
  auto spans = read_spans(path);
  std::filesystem::remove(path);
  if (ranks == 1) {
    EXPECT_TRUE(spans.empty());
    return;
  }
  ASSERT_GE(spans["exchange"].size(), 3u);
  ASSERT_GE(spans["interior"].size(), 3u);
  for (int step = 0; step < 3; ++step) {
    const auto i = static_cast<std::size_t>(step);
    const span pack = spans["pack"][i];
    const span exchange = spans["exchange"][i];
    const span interior = spans["interior"][i];
    const span border = spans["border"][i];
    EXPECT_EQ(pack.rank, rank);
    EXPECT_GE(pack.begin, 1e6 * 1.6e9);  // of the clock that counts from 1970
    EXPECT_LE(pack.begin, pack.end);
    EXPECT_LE(pack.end, interior.begin + 1e-3);
    EXPECT_LE(exchange.begin, interior.begin + 1e-3);
    EXPECT_LE(interior.end, exchange.end + 1e-3);  // the host has waited by then
    EXPECT_LE(exchange.end, border.end + 1e-3);
  }
}

TEST(trace, refuses_a_file_it_cannot_write) {
  const auto device = make_host_engine(1);
  event_trace t(*device);
  EXPECT_THROW(t.write("/nowhere/at/all.json", 0), io_error);
}

}  // namespace
}  // namespace serried::testing
