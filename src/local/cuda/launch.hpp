// A kernel launch as a value: what the planners of this folder make and the engine executes. Making one needs no GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace serried::inline v0::cuda {

/// What plans depend on.
struct device_traits {
  int multiprocessors = 132;
  int major = 9, minor = 0;  ///< compute capability
};

struct launch {
  /// Names the text: equal keys, equal text. Holds all of the program's structure and of the plan that the text depends
  /// on, as bytes.
  std::string key;
  /// Writes the source: one `extern "C" __global__` function called `kernel` with one parameter by value,
  /// `const arguments a`, where `struct arguments { unsigned long long w[N]; };` and N = words.size().
  std::function<std::string()> text;
  std::vector<std::uint64_t> words;  ///< the program's scalars come last, in their order
  std::uint32_t blocks = 1;          ///< along x only: the other dimensions end at 65535
  std::uint32_t threads = 256;
  bool quick = false;  ///< compiled in less time: the optimizer's cheaper passes serve this kind of kernel as well
};

}  // namespace serried::inline v0::cuda
