// Bad input to serried-heat: one clear line, the right exit code, nothing half-written; the same under mpirun.
#include <serried/serried.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <complex>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "run_heat.hpp"

namespace sr = serried;
using heat_test::contents;
using heat_test::run_heat;

namespace {

const std::string good = std::string(DATA) + "/heat_2d_float32.npy";

void expect_refusal(const std::string& arguments, int code, const std::string& says, bool also_on_ranks = false) {
  for (const int ranks : {0, 3}) {
    if (ranks > 0 && (!also_on_ranks || MOST_RANKS < 3 || std::string(LAUNCHER).empty())) continue;
    const auto r = run_heat(arguments, ranks);
    EXPECT_EQ(r.code, code) << arguments << " on " << ranks;
    ASSERT_EQ(r.errors.size(), 1U) << arguments << " on " << ranks << (r.errors.empty() ? "" : ": " + r.errors.back());
    EXPECT_EQ(r.errors[0].find("serried-heat: error: "), 0U) << r.errors[0];
    EXPECT_NE(r.errors[0].find(says), std::string::npos) << r.errors[0] << "\nshould say " << says;
  }
}

}  // namespace

TEST(heat_errors, options) {
  const std::string rest = " --input " + good;
  expect_refusal("--steps 1 --alpha 0.1", 2, "--input", true);
  expect_refusal(rest + " --alpha 0.1", 2, "--steps");
  expect_refusal(rest + " --steps 1", 2, "--alpha");
  expect_refusal(rest + " --steps 1 --alpha 0.1 --wrong", 2, "wrong", true);
  expect_refusal(rest + " --steps 1 --alpha 0.1 stray", 2, "");
  expect_refusal(rest + " --steps -1 --alpha 0.1", 2, "--steps");
  expect_refusal(rest + " --steps 1e3 --alpha 0.1", 2, "1e3");
  expect_refusal(rest + " --steps 99999999999999999999 --alpha 0.1", 2, "--steps");
  expect_refusal(rest + " --steps 1 --alpha warm", 2, "warm");
  expect_refusal(rest + " --steps 1 --alpha nan", 2, "nan");
  expect_refusal(rest + " --steps 1 --alpha 0.1 --every 0", 2, "--every");
  expect_refusal(rest + " --steps 1 --alpha 0.1 --boundary open", 2, "open");
  expect_refusal(rest + " --steps 1 --steps 2 --alpha 0.1", 2, "steps");
  for (const char* mesh : {"x", "2x", "0x1", "-1", "two", "2,2", "1x1x", "99999999999"})
    expect_refusal(rest + " --steps 1 --alpha 0.1 --mesh " + mesh, 2, "--mesh");
}

TEST(heat_errors, unstable_alpha_names_the_bound) {
  expect_refusal("--steps 1 --alpha 0.2501 --input " + good, 2, "0.25", true);
  expect_refusal("--steps 1 --alpha=-0.1 --input " + good, 2, "0.25");
  EXPECT_EQ(run_heat("--quiet --steps 1 --alpha 0.25 --input " + good).code, 0);
  EXPECT_EQ(run_heat("--quiet --steps 1 --alpha 0 --input " + good).code, 0);
  expect_refusal(fmt::format("--steps 1 --alpha 0.2 --input {}/heat_3d_float32.npy", DATA), 2, "0.166667");
}

TEST(heat_errors, a_mesh_that_does_not_fit) {
  expect_refusal("--steps 1 --alpha 0.1 --mesh 5 --input " + good, 2, "5", true);
  expect_refusal("--steps 1 --alpha 0.1 --mesh 1x1x1 --input " + good, 2, "dimensions", true);
}

TEST(heat_errors, files) {
  const heat_test::scratch folder;
  const auto input = [&](const std::string& name) { return "--steps 1 --alpha 0.1 --input " + folder.path(name); };
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder.path(name), std::ios::binary) << bytes;
  };
  const std::string whole = contents(good);
  expect_refusal(input("missing.npy"), 1, "missing.npy", true);
  write("short.npy", whole.substr(0, whole.size() - 1));
  expect_refusal(input("short.npy"), 1, "truncated", true);
  write("magic.npy", "NOT" + whole.substr(3));
  expect_refusal(input("magic.npy"), 1, "magic.npy");
  write("empty.npy", "");
  expect_refusal(input("empty.npy"), 1, "empty.npy");
  std::string absurd = whole;
  absurd[8] = '\xff';
  absurd[9] = '\xff';
  write("absurd.npy", absurd);
  expect_refusal(input("absurd.npy"), 1, "absurd.npy");
  expect_refusal("--steps 1 --alpha 0.1 --input " + folder.path(""), 1, "");
  write("trailing.npy", whole + "more");
  EXPECT_EQ(run_heat("--quiet " + input("trailing.npy")).code, 0);
}

TEST(heat_errors, data) {
  const heat_test::scratch folder;
  const auto refuse = [&](const sr::array& a, const std::string& says) {
    sr::save(folder.path("a.npy"), a);
    expect_refusal("--steps 1 --alpha 0.1 --input " + folder.path("a.npy"), 1, says, true);
  };
  refuse(sr::zeros({4, 4}, {.dtype = sr::int32}), "int32");
  refuse(sr::zeros({4, 4}, {.dtype = sr::float16}), "float16");
  refuse(sr::zeros({4}, {.dtype = sr::complex64}), "complex64");
  refuse(sr::zeros({}), "dimensions");
  refuse(sr::zeros({2, 2, 2, 2}), "dimensions");
  sr::array a = sr::zeros({5, 6}, {.dtype = sr::float32});
  a(3, 4) = std::numeric_limits<float>::infinity();
  a(2, 5) = std::nan("");
  refuse(a, "(2, 5)");  // the first in C order
  a(2, 5) = 0;
  refuse(a, "(3, 4)");
}

TEST(heat_errors, output) {
  const heat_test::scratch folder;
  const auto output = [&](const std::string& path) {
    return "--steps 1000000000 --alpha 0.1 --input " + good + " --output " + path;  // refused before step 1
  };
  expect_refusal(output(folder.path("no/such/folder/u.npy")), 1, "u.npy", true);
  expect_refusal(output(folder.path("")), 1, "");
  expect_refusal(output("/dev/null"), 1, "/dev/null", true);
  mkfifo(folder.path("pipe").c_str(), 0600);
  expect_refusal(output(folder.path("pipe")), 1, "pipe");
  expect_refusal("--steps 1000000000 --alpha 0.1 --input " + good + " --png /dev/null", 1, "/dev/null");
  expect_refusal("--steps 1 --alpha 0.1 --input " + good + " --output u --png u", 2, "same");
  EXPECT_TRUE(heat_test::fs::is_character_file("/dev/null"));
  EXPECT_EQ(folder.files(), 1U);
}

TEST(heat_errors, files_that_are_one) {
  const heat_test::scratch folder;
  const std::string input = folder.path("in.npy");
  heat_test::fs::copy_file(good, input);
  const std::string call = "--steps 1 --alpha 0.1 --input " + input;
  expect_refusal(call + " --png " + folder.path("./in.npy"), 1, "input");
  expect_refusal(call + " --output " + folder.path("u") + " --png " + folder.path("./u"), 1, "same file");
  EXPECT_TRUE(contents(input) == contents(good));
  EXPECT_EQ(folder.files(), 1U);
}

TEST(heat_errors, an_empty_field_cannot_be_drawn) {
  const heat_test::scratch folder;
  sr::save(folder.path("none.npy"), sr::zeros({0, 3}));
  expect_refusal("--steps 1 --alpha 0.1 --input " + folder.path("none.npy") + " --output " + folder.path("u.npy") +
                     " --png " + folder.path("u.png"),
                 1, "empty", true);
  EXPECT_EQ(folder.files(), 1U);
}

TEST(heat_errors, line_breaks_in_options) {
  expect_refusal("--steps 1 --alpha 0.1 --input " + good + " --boundary \"$(printf 'a\\nb')\"", 2, "a b");
}

TEST(heat_errors, a_full_disk_leaves_the_old_file) {
  const heat_test::scratch folder;
  sr::save(folder.path("big.npy"), sr::zeros({1000, 1000}));
  std::ofstream(folder.path("u.npy")) << "old";
  // A limit on the size of files stands for a full disk: 512 blocks of 1 KiB.
  const auto r = heat_test::run_heat(
      "--quiet --steps 1 --alpha 0.1 --input " + folder.path("big.npy") + " --output " + folder.path("u.npy"), 0,
      "bash -c 'ulimit -f 512; exec \"$@\"' limited");
  EXPECT_EQ(r.code, 1);
  ASSERT_EQ(r.errors.size(), 1U);
  EXPECT_NE(r.errors[0].find("u.npy"), std::string::npos);
  EXPECT_EQ(contents(folder.path("u.npy")), "old");
  EXPECT_EQ(folder.files(), 2U);
}

TEST(heat_errors, a_failed_check_writes_nothing) {
  const heat_test::scratch folder;
  // Neighbours of opposite sign at the end of float32's range: their sum is infinite, then not a number.
  sr::array a = sr::full({8, 8}, 3e38, {.dtype = sr::float32});
  a(sr::_, sr::slice(0, sr::_, 2)) = -3e38;
  sr::save(folder.path("a.npy"), a);
  const std::string call = "--steps 20 --every 5 --alpha 0.25 --boundary periodic --input " + folder.path("a.npy") +
                           " --output " + folder.path("u.npy") + " --png " + folder.path("u.png");
  expect_refusal("--check " + call, 1, "step", true);
  EXPECT_EQ(folder.files(), 1U);
}

TEST(heat_errors, environment) {
  const std::string call = "--quiet --steps 1 --alpha 0.1 --input " + good;
  for (const char* bad : {"SERRIED_THREADS=many", "SERRIED_SIMD=sse9", "SERRIED_DEVICE=tpu", "SERRIED_PROGRESS=no"}) {
    const auto r = run_heat(call, 0, bad);
    EXPECT_EQ(r.code, 1) << bad;
    ASSERT_EQ(r.errors.size(), 1U) << bad;
    EXPECT_NE(r.errors[0].find(std::string(bad).substr(0, std::string(bad).find('='))), std::string::npos)
        << r.errors[0];
  }
}
