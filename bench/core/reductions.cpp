// One read of the operand.
#include "recorder.hpp"

namespace sr = serried;

namespace bench {

void measure_reductions(recorder& r) {
  const std::int64_t n = std::int64_t{1} << (r.quick() ? 12 : 28);
  const std::int64_t side = std::int64_t{1} << (r.quick() ? 6 : 14);
  for (const sr::dtype type : {sr::float32, sr::float64}) {
    // Both signs, magnitudes from 1e-8 on: what a sum meets.
    const sr::array x = sr::sin(sr::arange(n) * 1.7).astype(type);
    const std::int64_t bytes = n * static_cast<std::int64_t>(sr::item_size(type));
    r.measure({"sum", {n}, type}, bytes, [&] { const sr::array s = sr::sum(x); });
    r.measure({"max", {n}, type}, bytes, [&] { const sr::array s = sr::max(x); });
    r.measure({"dot", {n}, type}, 2 * bytes, [&, y = x.copy()] { const sr::array s = sr::sum(x * y); });
    if (type != sr::float32) continue;
    const sr::array square = x.reshape({side, side});
    r.measure({"sum_axis_0", {side, side}, type}, bytes, [&] { const sr::array s = sr::sum(square, {.axis = 0}); });
    r.measure({"sum_axis_1", {side, side}, type}, bytes, [&] { const sr::array s = sr::sum(square, {.axis = 1}); });
  }
}

}  // namespace bench
