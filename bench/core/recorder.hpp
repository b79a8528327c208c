// Measures pieces of work on the current device and prints what it finds, one line of JSON each.
#pragma once

#include <serried/serried.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct options {
  bool quick = false;  ///< small sizes: to see that everything runs
  std::string filter;  ///< only names that contain it; "copy" is always measured
};

/// What a measurement is of. The three together say which line of a peer it goes with.
struct subject {
  std::string name;
  serried::shape shape;
  serried::dtype type;
};

/// Milliseconds on the device for one call, and microseconds until the call returned.
struct timing {
  double ms;
  double host_us;
};

class recorder {
 public:
  explicit recorder(options o);

  [[nodiscard]] bool quick() const noexcept { return options_.quick; }
  [[nodiscard]] bool wants(const std::string& name) const;

  /// Times `work`, which moves at least `bytes` (read and written): the median of many calls, timed by events on a GPU
  /// and by a clock on the host. The calls are issued without a stop, so that a GPU has the next one at hand.
  void measure(const subject& s, std::int64_t bytes, const std::function<void()>& work);

  /// Times small work as its caller sees it: many calls between two synchronizations.
  void measure_host(const subject& s, const std::function<void()>& work);

  /// Times single uses, each waited for: the median of f(0), f(1), … f(uses − 1).
  void measure_each(const subject& s, int uses, const std::function<void(int)>& f);

 private:
  void print(const subject& s, const timing& t, std::int64_t bytes);

  options options_;
  double copy_rate_ = 0;  // GB/s
};

/// Returns when the current device has done all that was asked of it.
void synchronize();
[[nodiscard]] double median(std::vector<double> values);

// What there is to measure.
void measure_elementwise(recorder& r);
void measure_reductions(recorder& r);
void measure_stencils(recorder& r);
/// Kernels that were never used before: compiled, then from the disk, each in a process of its own.
void measure_first_use(recorder& r);
/// In such a process; the name says where the kernels come from.
void first_use(recorder& r, const std::string& name);

}  // namespace bench
