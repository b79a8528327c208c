// .npy files read and written by all ranks together.
#include <serried/serried.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "mpi_main.hpp"

namespace sr = serried;
namespace fs = std::filesystem;
using serried::test::world;

namespace {

// A folder of this run's own, the same on every rank.
class dist_io : public testing::Test {
 protected:
  void SetUp() override {
    std::int64_t id = getpid();
    world().broadcast(&id, 1, sr::int64, 0).wait();
    folder = fs::temp_directory_path() / ("serried-dist-io-" + std::to_string(id));
    if (world().rank() == 0) fs::create_directories(folder);
    world().barrier().wait();
  }
  void TearDown() override {
    world().barrier().wait();
    if (world().rank() == 0) fs::remove_all(folder);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder / name; }

  fs::path folder;
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<sr::layout> layouts() {
  const sr::mesh m(world(), {{"x", 0}, {"y", 0}});
  const auto x = m.axis("x");
  const auto y = m.axis("y");
  return {m.layout({x, y}), m.layout({y, x}), m.layout({sr::whole, x * y}), m.layout({x}), m.layout()};
}

template <class F>
void expect_io_error_everywhere(F&& f, const std::string& contains) {
  try {
    f();
    ADD_FAILURE() << "no error";
  } catch (const sr::io_error& e) {
    EXPECT_TRUE(e.collective());
    EXPECT_NE(std::string(e.what()).find(contains), std::string::npos) << e.what();
  }
}

}  // namespace

TEST_F(dist_io, files_do_not_depend_on_ranks) {
  const sr::array a = (sr::arange(7 * 5) * 0.5).eval().reshape({7, 5});
  if (world().rank() == 0) sr::save(path("local.npy"), a);
  world().barrier().wait();
  const std::string wanted = bytes_of(path("local.npy"));
  for (const auto& l : layouts()) {
    sr::save(path("dist.npy"), sr::distribute(a, l));
    EXPECT_EQ(bytes_of(path("dist.npy")), wanted) << to_string(l);
    world().barrier().wait();
    EXPECT_EQ(sr::load(path("local.npy"), l).to_vector<double>(), a.to_vector<double>()) << to_string(l);
  }
}

TEST_F(dist_io, fewer_rows_than_ranks_and_none) {
  for (const sr::shape& s : {sr::shape{1, 6}, sr::shape{3, 2}, sr::shape{0, 4}, sr::shape{2, 1}})
    for (const auto& l : layouts()) {
      const sr::array a = sr::arange(sr::element_count(s)).reshape(s);
      sr::save(path("a.npy"), sr::distribute(a, l));
      const sr::dist::array back = sr::load(path("a.npy"), l);
      EXPECT_EQ(back.shape(), s);
      EXPECT_EQ(back.to_vector<std::int64_t>(), a.to_vector<std::int64_t>());
    }
}

TEST_F(dist_io, an_expression_is_saved) {
  const auto l = layouts().front();
  const sr::dist::array d = sr::ones({4, 4}, l);
  sr::save(path("e.npy"), d(sr::slice(1, 3)) * 2);
  EXPECT_EQ(sr::load(path("e.npy"), l).to_vector<double>(), std::vector<double>(8, 2));
}

TEST_F(dist_io, errors_are_the_same_on_every_rank) {
  const auto l = layouts().front();
  expect_io_error_everywhere([&] { (void)sr::load(path("missing.npy"), l); }, "missing.npy");
  expect_io_error_everywhere([&] { (void)sr::inspect(path("missing.npy"), world()); }, "missing.npy");
  if (world().rank() == 0) std::ofstream(path("text.npy")) << "not a npy file at all, but long enough";
  world().barrier().wait();
  expect_io_error_everywhere([&] { (void)sr::load(path("text.npy"), l); }, "text.npy");
  const sr::dist::array d = sr::ones({4, 4}, l);
  expect_io_error_everywhere([&] { sr::save(path("no/such/folder.npy"), d); }, "folder.npy");
  expect_io_error_everywhere([&] { sr::save(folder.string(), d); }, "directory");
}

TEST_F(dist_io, a_failed_save_leaves_what_was_there) {
  const auto l = layouts().front();
  if (world().rank() == 0) {
    std::ofstream(path("kept.npy")) << "old";
    mkfifo(path("pipe").c_str(), 0600);
  }
  world().barrier().wait();
  expect_io_error_everywhere([&] { sr::save(path("pipe"), sr::ones({4}, l.mesh().layout())); }, "regular");
  EXPECT_EQ(bytes_of(path("kept.npy")), "old");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++files;
  EXPECT_EQ(files, 2U);  // no temporary file stays
}
