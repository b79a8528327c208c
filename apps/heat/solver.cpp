#include "solver.hpp"

#include <array>
#include <limits>
#include <utility>

namespace sr = serried;

namespace heat {

namespace {

std::int64_t block(std::int64_t n, int parts) { return n / parts + (n % parts != 0); }

// alpha · (sum of neighbors − 2 · ndim · u), the neighbors as `field` gives them.
template <class Field>
sr::dist::expr increment(const Field& field, const sr::dist::array& u, double alpha) {
  std::optional<sr::dist::expr> neighbors;
  for (int d = 0; d < u.ndim(); ++d)
    for (const int side : {+1, -1}) {
      sr::dims offset = sr::dims::filled(u.ndim(), 0);
      offset[d] = side;
      neighbors = neighbors ? *neighbors + at(field, offset) : at(field, offset);
    }
  return alpha * (*neighbors - 2 * u.ndim() * u);
}

}  // namespace

std::vector<int> choose_mesh(const sr::shape& field, int ranks) {
  const int ndim = field.size();
  std::vector<int> best;
  std::pair<std::int64_t, std::int64_t> least{std::numeric_limits<std::int64_t>::max(), 0};
  std::vector<int> factors(static_cast<std::size_t>(ndim), 1);
  const auto consider = [&](auto&& self, int d, int left) -> void {
    if (d == ndim - 1) {
      factors.back() = left;
      std::int64_t cells = 1;
      for (int i = 0; i < ndim; ++i) cells *= block(field[i], factors[static_cast<std::size_t>(i)]);
      std::int64_t border = 0;
      for (int i = 0; i < ndim; ++i)
        if (factors[static_cast<std::size_t>(i)] > 1 && field[i] > 0)
          border += cells / block(field[i], factors[static_cast<std::size_t>(i)]) * (i == ndim - 1 && ndim > 1 ? 4 : 1);
      const std::pair cost{cells, border};
      if (cost < least) {
        least = cost;
        best = factors;
      }
      return;
    }
    for (int f = left; f >= 1; --f) {
      if (left % f != 0) continue;
      factors[static_cast<std::size_t>(d)] = f;
      self(self, d + 1, left / f);
    }
  };
  consider(consider, 0, ranks);
  return best;
}

void step(const sr::dist::array& u, double alpha, boundary kind) {
  switch (kind) {
    case boundary::fixed: {
      const std::vector<sr::index_item> inside(static_cast<std::size_t>(u.ndim()), sr::slice(1, -1));
      u.select(inside) += increment(u, u, alpha).select(inside);
      break;
    }
    case boundary::periodic: u += increment(with_boundary(u, sr::periodic), u, alpha); break;
    case boundary::insulated: u += increment(with_boundary(u, sr::edge), u, alpha); break;
  }
}

std::optional<sr::dims> first_not_finite(const sr::dist::array& u) {
  const std::int64_t count = u.size();
  if (count == 0) return std::nullopt;
  std::optional<sr::dist::expr> position;
  for (int d = 0; d < u.ndim(); ++d) position = position ? *position * u.shape()[d] + index(u, d) : index(u, d);
  std::int64_t first = sr::min(where(isfinite(u), count, *position)).item<std::int64_t>();
  if (first == count) return std::nullopt;
  sr::dims where = u.shape();
  for (int d = u.ndim() - 1; d >= 0; --d) {
    where[d] = first % u.shape()[d];
    first /= u.shape()[d];
  }
  return where;
}

}  // namespace heat
