#include <serried/dtype.hpp>

#include <cstdio>
#include <string>

namespace sr = serried;

int main() {
  if (sr::name(sr::promote(sr::int32, sr::float32)) != "float64") return 1;
  std::printf("consumer: %s\n", std::string(sr::name(sr::float32)).c_str());
  return 0;
}
