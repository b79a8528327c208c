// One read of each field, one write: the neighbors should come from caches and registers.
#include "heat/solver.hpp"
#include "recorder.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sr = serried;

namespace bench {

namespace {

constexpr double alpha = 0.1;

sr::array waves(const sr::shape& s, sr::dtype type) {
  return sr::array(sr::sin(sr::arange(sr::element_count(s)) * 1.7).astype(type)).reshape(s);
}

std::int64_t bytes_of(const sr::shape& s, sr::dtype type) {
  return sr::element_count(s) * static_cast<std::int64_t>(sr::item_size(type));
}

// What fixed borders leave to write.
sr::shape interior(const sr::shape& s) {
  sr::shape inner;
  for (const std::int64_t n : s) inner.push_back(n - 2);
  return inner;
}

void measure_heat(recorder& r, const sr::shape& s, sr::dtype type) {
  if (!r.wants("heat_fixed") && !r.wants("heat_periodic") && !r.wants("heat_insulated")) return;
  const sr::dist::array u = sr::replicate(waves(s, type), sr::mesh(sr::communicator()));
  const std::int64_t field = bytes_of(s, type);
  r.measure({"heat_fixed", s, type}, field + bytes_of(interior(s), type),
            [&] { heat::step(u, alpha, heat::boundary::fixed); });
  r.measure({"heat_periodic", s, type}, 2 * field, [&] { heat::step(u, alpha, heat::boundary::periodic); });
  r.measure({"heat_insulated", s, type}, 2 * field, [&] { heat::step(u, alpha, heat::boundary::insulated); });
}

// Five fields, each diffusing and drawn towards the next, advanced at once.
void measure_five_fields(recorder& r, const sr::shape& s) {
  if (!r.wants("five_fields")) return;
  std::vector<sr::array> u;
  for (int i = 0; i < 5; ++i) u.push_back(waves(s, sr::float32));
  const auto next = [&](std::size_t i) {
    const auto v = sr::with_boundary(u[i], sr::periodic);
    const auto neighbors = at(v, {1, 0, 0}) + at(v, {-1, 0, 0}) + at(v, {0, 1, 0}) + at(v, {0, -1, 0}) +
                           at(v, {0, 0, 1}) + at(v, {0, 0, -1});
    return u[i] + alpha * (neighbors - 6 * u[i]) + 0.01 * (u[(i + 1) % 5] - u[i]);
  };
  r.measure({"five_fields", s, sr::float32}, 10 * bytes_of(s, sr::float32), [&] {
    sr::assign({u[0], u[1], u[2], u[3], u[4]}, {next(0), next(1), next(2), next(3), next(4)});
  });
}

}  // namespace

void measure_stencils(recorder& r) {
  const std::int64_t n = r.quick() ? 16 : 512;
  measure_heat(r, {n, n, n}, sr::float32);
  measure_heat(r, {n - 12, n - 12, n - 12}, sr::float32);
  measure_heat(r, {n + 1, n + 1, n + 1}, sr::float32);
  measure_heat(r, {n, n, n}, sr::float64);
  measure_heat(r, {32 * n, 32 * n}, sr::float32);
  measure_five_fields(r, {n, n, n});

  const sr::dist::array u = sr::replicate(waves({16, 16, 16}, sr::float32), sr::mesh(sr::communicator()));
  r.measure_host({"small_heat", {16, 16, 16}, sr::float32}, [&] { heat::step(u, alpha, heat::boundary::periodic); });
}

}  // namespace bench
