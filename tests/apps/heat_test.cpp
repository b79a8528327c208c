// serried-heat against NumPy, and against itself on other ranks, meshes, threads and instruction sets.
#include <serried/serried.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "run_heat.hpp"

namespace sr = serried;
using heat_test::contents;
using heat_test::run_heat;

namespace {

struct field {
  std::string name;
  int ndim;
  std::vector<std::pair<int, std::string>> runs;  // ranks and mesh
};

const std::vector<field> fields{
    {"1d", 1, {{2, "2"}, {3, ""}, {4, "4"}, {6, "6"}}},
    {"2d", 2, {{2, "1x2"}, {3, "3x1"}, {4, "2x2"}, {6, "6x1"}, {6, "3x2"}, {6, "1x6"}}},
    {"3d", 3, {{2, "1x1x2"}, {3, "1x3"}, {4, "2x1x2"}, {6, "1x2x3"}}},
    {"row", 2, {{2, ""}, {3, "3x1"}, {6, "2x3"}}},
    {"two", 2, {{3, "3x1"}, {4, ""}, {6, "6x1"}}},
    {"cube", 3, {{4, "2x2"}, {6, ""}}},
};
const std::vector<std::string> kinds{"fixed", "periodic", "insulated"};
const std::vector<std::string> dtypes{"float32", "float64"};

std::string arguments(const field& f, const std::string& dtype, const std::string& kind, const std::string& output) {
  return fmt::format("--input {}/heat_{}_{}.npy --steps 500 --alpha {} --boundary {} --quiet --output {}", DATA, f.name,
                     dtype, 0.4 / f.ndim, kind, output);
}

double largest(const std::vector<double>& v) {
  double most = 0;
  for (const double x : v) most = std::max(most, std::abs(x));
  return most;
}

}  // namespace

TEST(heat, agrees_with_numpy) {
  const heat_test::scratch folder;
  for (const auto& f : fields)
    for (const auto& dtype : dtypes)
      for (const auto& kind : kinds) {
        SCOPED_TRACE(f.name + " " + dtype + " " + kind);
        const auto got_path = folder.path("u.npy");
        const auto r = run_heat(arguments(f, dtype, kind, got_path));
        ASSERT_EQ(r.code, 0) << (r.errors.empty() ? "" : r.errors[0]);
        EXPECT_EQ(r.out, "");
        const sr::array input = sr::load(fmt::format("{}/heat_{}_{}.npy", DATA, f.name, dtype));
        const sr::array got = sr::load(got_path);
        EXPECT_EQ(got.dtype(), input.dtype());
        EXPECT_EQ(got.shape(), input.shape());
        const auto expected =
            sr::load(fmt::format("{}/heat_{}_{}_{}.npy", DATA, f.name, dtype, kind)).to_vector<double>();
        auto difference = got.to_vector<double>();
        for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= expected[i];
        EXPECT_LE(largest(difference), (dtype == "float32" ? 1e-5 : 1e-12) * largest(input.to_vector<double>()));
      }
}

TEST(heat, the_same_bits_on_any_ranks_and_mesh) {
  const heat_test::scratch folder;
  std::size_t number = 0;
  for (const auto& f : fields)
    for (const auto& dtype : dtypes)
      for (const auto& kind : kinds) {
        ASSERT_EQ(run_heat(arguments(f, dtype, kind, folder.path("one.npy"))).code, 0);
        const std::string wanted = contents(folder.path("one.npy"));
        // Two dimensions in full; of the others some, each mesh in turn.
        const std::size_t count = f.name == "2d" ? f.runs.size() : 1;
        for (std::size_t k = 0; k < count; ++k) {
          const auto& [ranks, mesh] = f.runs[number++ % f.runs.size()];
          if (ranks > MOST_RANKS || std::string(LAUNCHER).empty()) continue;
          SCOPED_TRACE(fmt::format("{} {} {} on {} ranks, mesh '{}'", f.name, dtype, kind, ranks, mesh));
          const auto r = run_heat(
              arguments(f, dtype, kind, folder.path("many.npy")) + (mesh.empty() ? "" : " --mesh " + mesh), ranks);
          ASSERT_EQ(r.code, 0) << (r.errors.empty() ? "" : r.errors[0]);
          EXPECT_TRUE(contents(folder.path("many.npy")) == wanted);
        }
      }
}

TEST(heat, the_same_bits_with_any_threads_and_instructions) {
  const heat_test::scratch folder;
  for (const auto& dtype : dtypes)
    for (const auto& kind : kinds) {
      ASSERT_EQ(run_heat(arguments(fields[1], dtype, kind, folder.path("one.npy")), 0,
                         "SERRIED_SIMD=baseline SERRIED_THREADS=1")
                    .code,
                0);
      const std::string wanted = contents(folder.path("one.npy"));
      for (const char* how : {"SERRIED_THREADS=2", "SERRIED_THREADS=5", "SERRIED_SIMD=avx2", "SERRIED_SIMD=avx512"}) {
        const auto r = run_heat(arguments(fields[1], dtype, kind, folder.path("other.npy")), 0, how);
        // A machine without the instructions says so, and there is nothing to compare.
        if (r.code == 1 && !r.errors.empty() && r.errors[0].find("SERRIED_SIMD") != std::string::npos) continue;
        ASSERT_EQ(r.code, 0) << how;
        EXPECT_TRUE(contents(folder.path("other.npy")) == wanted) << how << ' ' << dtype << ' ' << kind;
      }
    }
}

TEST(heat, large_fields_have_the_same_bits_with_any_threads_and_instructions) {
  const heat_test::scratch folder;
  const sr::array u = sr::sin(sr::arange(301 * 517) * 0.7).eval().reshape({301, 517});
  for (const auto dtype : {sr::float32, sr::float64}) {
    sr::save(folder.path("in.npy"), u.astype(dtype));
    for (const auto& kind : kinds) {
      const std::string call = fmt::format("--input {} --steps 20 --alpha 0.24 --boundary {} --quiet --output ",
                                           folder.path("in.npy"), kind);
      ASSERT_EQ(run_heat(call + folder.path("a.npy"), 0, "SERRIED_SIMD=baseline SERRIED_THREADS=1").code, 0);
      ASSERT_EQ(run_heat(call + folder.path("b.npy"), 0, "SERRIED_THREADS=3").code, 0);
      EXPECT_TRUE(contents(folder.path("a.npy")) == contents(folder.path("b.npy"))) << kind;
      if (MOST_RANKS < 6 || std::string(LAUNCHER).empty()) continue;
      ASSERT_EQ(run_heat(call + folder.path("c.npy") + " --mesh 2x3", 6, "SERRIED_PROGRESS=inline").code, 0);
      EXPECT_TRUE(contents(folder.path("a.npy")) == contents(folder.path("c.npy"))) << kind;
    }
  }
}

TEST(heat, reads_any_order_and_endianness) {
  const heat_test::scratch folder;
  ASSERT_EQ(run_heat(arguments(fields[1], "float64", "fixed", folder.path("a.npy"))).code, 0);
  for (const int ranks : {0, 2}) {
    if (ranks > 0 && std::string(LAUNCHER).empty()) continue;
    ASSERT_EQ(run_heat(fmt::format("--input {}/heat_2d_fortran_big.npy --steps 500 --alpha 0.2 --quiet --output {}",
                                   DATA, folder.path("b.npy")),
                       ranks)
                  .code,
              0);
    EXPECT_TRUE(contents(folder.path("a.npy")) == contents(folder.path("b.npy")));
  }
}

TEST(heat, zero_steps_copy) {
  const heat_test::scratch folder;
  const std::string input = std::string(DATA) + "/heat_3d_float32.npy";
  ASSERT_EQ(run_heat(fmt::format("--input {} --steps 0 --alpha 0 --output {}", input, folder.path("u.npy"))).code, 0);
  EXPECT_TRUE(contents(folder.path("u.npy")) == contents(input));
}

TEST(heat, the_output_may_be_the_input) {
  const heat_test::scratch folder;
  const std::string file = folder.path("u.npy");
  heat_test::fs::copy_file(std::string(DATA) + "/heat_2d_float64.npy", file);
  ASSERT_EQ(run_heat(fmt::format("--input {} --steps 500 --alpha 0.2 --quiet --output {}", file, file)).code, 0);
  ASSERT_EQ(run_heat(arguments(fields[1], "float64", "fixed", folder.path("v.npy"))).code, 0);
  EXPECT_TRUE(contents(file) == contents(folder.path("v.npy")));
}

TEST(heat, empty_fields) {
  const heat_test::scratch folder;
  sr::save(folder.path("none.npy"), sr::zeros({0, 5}));
  for (const int ranks : {0, 2}) {
    if (ranks > 0 && std::string(LAUNCHER).empty()) continue;
    for (const auto& kind : kinds) {
      const auto r = run_heat(fmt::format("--input {} --steps 3 --alpha 0.1 --check --boundary {} --output {}",
                                          folder.path("none.npy"), kind, folder.path("u.npy")),
                              ranks);
      EXPECT_EQ(r.code, 0) << kind;
      EXPECT_TRUE(contents(folder.path("none.npy")) == contents(folder.path("u.npy")));
    }
  }
}

TEST(heat, reports_and_draws) {
  const heat_test::scratch folder;
  for (const auto& f : {fields[0], fields[1], fields[2]}) {
    const auto r =
        run_heat(fmt::format("--input {}/heat_{}_float32.npy --steps 25 --every 10 --alpha 0.1 --check --png {}", DATA,
                             f.name, folder.path("u.png")));
    ASSERT_EQ(r.code, 0);
    EXPECT_TRUE(r.errors.empty());
    for (const char* text :
         {"step 10/25", "step 20/25", "step 25/25", "steps/s", "GB/s", "host engine", "self communicator", "1 rank"})
      EXPECT_NE(r.out.find(text), std::string::npos) << text << " in\n" << r.out;
    EXPECT_EQ(contents(folder.path("u.png")).substr(1, 3), "PNG");
  }
}

TEST(heat, help_is_for_newcomers) {
  const auto r = run_heat("--help");
  EXPECT_EQ(r.code, 0);
  for (const char* text : {"--input", "--steps", "--alpha", "--boundary", "--mesh", "mpirun -n 4", "periodic"})
    EXPECT_NE(r.out.find(text), std::string::npos) << text;
}
