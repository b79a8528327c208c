// How long a user waits when an expression is new: for the compiler, or for the disk.
#include "recorder.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>

namespace sr = serried;

namespace bench {

namespace {

constexpr int different = 16;

// The structure depends on the bits of k: no two are alike.
sr::expr vary(sr::expr e, int k) {
  for (int bit = 0; bit < 4; ++bit) e = (k >> bit & 1) != 0 ? sr::expr(sr::sin(e)) : sr::expr(e * 2 + 1);
  return e;
}

sr::expr heat_increment(const sr::array& u) {
  const auto v = sr::with_boundary(u, sr::periodic);
  return at(v, {1, 0, 0}) + at(v, {-1, 0, 0}) + at(v, {0, 1, 0}) + at(v, {0, -1, 0}) + at(v, {0, 0, 1}) +
         at(v, {0, 0, -1}) - 6 * u;
}

}  // namespace

void first_use(recorder& r, const std::string& name) {
  const sr::array x = sr::ones({1000}, {.dtype = sr::float32});
  const sr::array u = sr::ones({10, 10, 10}, {.dtype = sr::float32});
  synchronize();
  r.measure_each({name + "_elementwise", {1000}, sr::float32}, different,
                 [&](int k) { const sr::array y = vary(x, k); });
  r.measure_each({name + "_stencil", {10, 10, 10}, sr::float32}, different,
                 [&](int k) { const sr::array y = vary(heat_increment(u), k); });
  r.measure_each({name + "_sum", {1000}, sr::float32}, different,
                 [&](int k) { const sr::array y = sr::sum(vary(x, k)); });
}

void measure_first_use(recorder& r) {
  if (!r.wants("first_use")) return;
  namespace files = std::filesystem;
  std::string folder = (files::temp_directory_path() / "serried-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make a folder " + folder);
  const std::string program = files::read_symlink("/proc/self/exe").string();
  int failed = 0;
  // The second process finds what the first has compiled.
  for (const char* const name : {"first_use_compiled", "first_use_from_disk"})
    failed |= std::system(fmt::format("SERRIED_CACHE_DIR='{}' '{}' --first-use {}", folder, program, name).c_str());
  files::remove_all(folder);
  if (failed != 0) throw std::runtime_error("a process that measures first uses failed");
}

}  // namespace bench
