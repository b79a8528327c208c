// A wrong program: rank 0 alone prints a distributed array.
#include <serried/serried.hpp>

#include <iostream>

namespace sr = serried;

int main(int argc, char** argv) {
  return sr::run(argc, argv, [](sr::runtime& rt) {
    const sr::mesh m(rt.world());
    const sr::dist::array a = sr::ones({6}, m.layout({m.axis(0)}));
    if (rt.rank() == 0) std::cout << a << "\n";
  });
}
