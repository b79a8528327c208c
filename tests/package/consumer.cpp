#include <serried/serried.hpp>

#include <cstdio>
#include <sstream>
#include <string>

namespace sr = serried;

// Returns 0 when an expression, an exception that crosses the library's border and a run of one rank work.
int main(int argc, char** argv) {
  sr::array a = sr::arange(5);
  a(sr::slice(1)) = a(sr::slice(1)) * 1;
  a(sr::_) = a.copy();
  if (sr::sum(a * a + 1).item<std::int64_t>() != 35) return 2;
  try {
    std::ostringstream() << a + sr::ones({4});
    return 3;
  } catch (const sr::shape_error& e) {
    std::printf("consumer: %s\n", e.what());
  }
  return sr::run(argc, argv, [](sr::runtime& rt) {
    const sr::dist::array u = sr::zeros({3, 4}, sr::mesh(rt.world()).layout({sr::whole}));
    u(sr::_) = u + 1;
    return sr::sum(u).item<double>() == 12 ? 0 : 4;
  });
}
