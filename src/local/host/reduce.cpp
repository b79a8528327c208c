#include <serried/error.hpp>

#include "local/host/copy.hpp"
#include "local/host/host_engine.hpp"
#include "local/ops/reduction.hpp"

#include <algorithm>
#include <cstring>

namespace serried::inline v0::host {
namespace {

using ops::state_array;

/// Rows shorter than this are turned, so that kernels run down them side by side.
constexpr std::int64_t short_row = 64;
/// Fewer columns than this are turned, so that kernels run along them.
constexpr std::int64_t few_columns = 16;
/// Columns that are computed row by row, on the arrays themselves.
constexpr std::int64_t long_row = 256;
/// Elements of several such rows.
constexpr std::int64_t staged_elements = 16384;
/// States of all threads together, where each has some for every result.
constexpr std::int64_t most_states = 1 << 20;

/// The kernels' view of a reduction: complex sums are sums of pairs of real columns.
struct machine {
  reduction r;          ///< of one component
  dtype part;           ///< a component's dtype in the result
  int components;       ///< columns for each element
  std::int64_t item;    ///< bytes of a component
  state_layout layout;  ///< of one component
  reduction_kernels run;
};

machine machine_for(const reduction& r, const kernel_table& kernels) {
  machine m{r, r.type, 1, 0, {}, {}};
  if (r.kind == reduce_kind::sum && is_complex(r.type)) {
    m.components = 2;
    m.part = component_of(r.type);
  }
  dtype type = m.part;
  if (type == dtype::float16 || type == dtype::bfloat16) type = dtype::float32;  // widened by the plan
  m.r.type = type;
  m.item = static_cast<std::int64_t>(item_size(type));
  m.layout = layout_of(m.r);
  if (is_bool(type)) type = dtype::uint8;
  const bool order_matters = r.kind == reduce_kind::min || r.kind == reduce_kind::max;
  if (!order_matters && is_signed_integer(type))
    type =
        static_cast<dtype>(static_cast<int>(type) + (static_cast<int>(dtype::uint8) - static_cast<int>(dtype::int8)));
  m.run = kernels.reductions[static_cast<std::size_t>(r.kind)][static_cast<std::size_t>(type)];
  return m;
}

/// Where a box's results go: as states, or finished numbers.
struct destination {
  std::byte* data;
  std::int64_t count;  ///< of all results
  bool finished;
};

/// Reduces one box on one thread.
class serial_reduction {
 public:
  serial_reduction(const machine& m, const program& p, const plan& code, const tiling& it, scratch_memory& memory)
      : m_(m), it_(it), computer_(p, code, it, memory, capacity) {
    most_results_ = m.layout.words == 1 ? 4096 : 512;
    const auto words = static_cast<std::size_t>(most_results_ * m.components * m.layout.words);
    states_.resize(words * item_size(m.layout.type));
    turned_.resize(static_cast<std::size_t>(capacity * element()));
    if (staged()) staged_.resize(static_cast<std::size_t>(staged_elements * element()));
    at_.at.assign(it.dims.size(), 0);
  }

  /// Stores the results at `first` + their position.
  void run(const destination& results, std::int64_t first) {
    results_ = results;
    over_outer(0, false, first);
  }

 private:
  static constexpr std::int64_t capacity = 2 * tile_elements;

  const iteration_dim& dim(int d) const { return it_.dims[static_cast<std::size_t>(d)]; }
  bool rows_reduced() const { return dim(it_.rows_dim()).reduced; }
  bool columns_reduced() const { return dim(it_.columns_dim()).reduced; }

  /// Walks the outer dimensions, first those kept, then those reduced.
  void over_outer(int d, bool reduced, std::int64_t position) {
    while (d < it_.rows_dim() && dim(d).reduced != reduced) ++d;
    if (d == it_.rows_dim()) {
      if (reduced) add_plane();
      else over_results(position);
      return;
    }
    for (std::int64_t i = 0; i < dim(d).extent; ++i) {
      at_.at[static_cast<std::size_t>(d)] = i;
      over_outer(d + 1, reduced, position + i * dim(d).result_stride);
    }
  }

  /// Results along the rows or columns, a group at a time.
  void over_results(std::int64_t position) {
    const int along = !columns_reduced() ? it_.columns_dim() : !rows_reduced() ? it_.rows_dim() : -1;
    const std::int64_t extent = along < 0 ? 1 : dim(along).extent;
    const std::int64_t stride = along < 0 ? 0 : dim(along).result_stride;
    for (first_ = 0; first_ < extent; first_ += most_results_) {
      results_here_ = std::min(most_results_, extent - first_);
      ops::set_identities(m_.r, states_.data(), accumulators());
      over_outer(0, true, 0);
      store(position + first_ * stride, stride);
    }
  }

  std::int64_t accumulators() const { return results_here_ * m_.components; }

  void store(std::int64_t position, std::int64_t stride) {
    if (results_.finished) return finish(position, stride);
    const auto item = static_cast<std::int64_t>(item_size(m_.layout.type));
    for (std::int64_t component = 0; component < m_.components; ++component)
      for (std::int64_t w = 0; w < m_.layout.words; ++w)
        copy_strided(results_.data + ((component * m_.layout.words + w) * results_.count + position) * item,
                     stride * item, states_.data() + (w * accumulators() + component) * item, m_.components * item,
                     results_here_, item);
  }

  /// While the states are in the cache. The components of a complex number stand side by side, as they do in it.
  void finish(std::int64_t position, std::int64_t stride) {
    const reduction one{m_.r.kind, m_.r.axes, m_.part};
    const auto item = static_cast<std::int64_t>(item_size(m_.part)) * m_.components;
    std::byte* const to = results_.data + position * item;
    const state_array states{states_.data(), accumulators()};
    if (stride == 1 || results_here_ == 1) return ops::finish(one, states, to);
    numbers_.resize(static_cast<std::size_t>(results_here_ * item));
    ops::finish(one, states, numbers_.data());
    copy_strided(to, stride * item, numbers_.data(), item, results_here_, item);
  }

  /// Adds the rows × columns at the present outer index, all of it or the group of results.
  void add_plane() {
    const std::int64_t row_begin = !rows_reduced() && columns_reduced() ? first_ : 0;
    const std::int64_t row_end = !rows_reduced() && columns_reduced() ? first_ + results_here_ : it_.rows();
    const std::int64_t column_begin = columns_reduced() ? 0 : first_;
    const std::int64_t column_end = columns_reduced() ? it_.columns() : first_ + results_here_;
    const std::int64_t columns = tile_columns(column_end - column_begin);
    const std::int64_t rows = tile_rows(columns);
    for (std::int64_t c = column_begin; c < column_end; c += columns) {
      for (std::int64_t r = row_begin; r < row_end; r += rows) {
        at_.at[at_.at.size() - 2] = r;
        at_.at.back() = c;
        at_.rows = std::min(rows, row_end - r);
        at_.columns = std::min(columns, column_end - c);
        add_tile(r - first_, c - first_);
      }
    }
  }

  /// Whether rows of results are computed one by one and then added up together.
  bool staged() const { return !columns_reduced() && !computer_.passes_through() && it_.columns() >= long_row; }

  std::int64_t tile_columns(std::int64_t wanted) const {
    if (columns_reduced()) {
      constexpr std::int64_t long_run = 1 << 16;
      return std::min(wanted, computer_.passes_through() && wanted >= short_row ? long_run : tile_elements);
    }
    if (computer_.passes_through()) return wanted;
    return std::min(wanted, staged() ? tile_elements : capacity / few_columns);
  }
  std::int64_t tile_rows(std::int64_t columns) const {
    if (columns_reduced() && columns >= long_row) return 1;
    if (staged()) return staged_elements / padded(columns);
    if (!columns_reduced() && computer_.passes_through() && columns * m_.components >= few_columns) return 1024;
    return std::max<std::int64_t>(1, capacity / columns);
  }
  static std::int64_t padded(std::int64_t columns) { return (columns + grain - 1) / grain * grain; }

  tile_computer::view tile_values() {
    if (!staged()) return computer_.values(at_);
    const std::int64_t stride = padded(at_.columns);
    tile row = at_;
    row.rows = 1;
    for (std::int64_t r = 0; r < at_.rows; ++r) {
      row.at[row.at.size() - 2] = at_.at[at_.at.size() - 2] + r;
      computer_.values_to(row, staged_.data() + r * stride * element());
    }
    return {staged_.data(), stride};
  }

  /// `row` and `column`: the tile's first ones, counted from the group's first result.
  void add_tile(std::int64_t row, std::int64_t column) {
    const tile_computer::view v = tile_values();
    if (!columns_reduced()) {
      add_down(v, column);
    } else if (rows_reduced()) {
      for (std::int64_t r = 0; r < at_.rows; ++r) add_along(v.data + r * v.stride * element(), at_.columns, 0);
    } else if (at_.columns >= short_row) {
      for (std::int64_t r = 0; r < at_.rows; ++r) add_along(v.data + r * v.stride * element(), at_.columns, row + r);
    } else {
      turn(v, element());
      const std::int64_t down = at_.rows * m_.components;
      m_.run.columns(turned_.data(), at_.columns, down, down, at(row), accumulators());
    }
  }

  std::int64_t element() const { return m_.item * m_.components; }
  /// The states from result `i` on.
  std::byte* at(std::int64_t i) {
    return states_.data() + i * m_.components * static_cast<std::int64_t>(item_size(m_.layout.type));
  }

  /// n elements into result `i`.
  void add_along(const std::byte* x, std::int64_t n, std::int64_t i) {
    if (m_.components == 1) return m_.run.row(x, n, states_.data(), accumulators(), i);
    for (std::int64_t begin = 0; begin < n; begin += tile_elements) {
      const std::int64_t part = std::min(tile_elements, n - begin);
      transpose(turned_.data(), x + begin * element(), part, m_.components, m_.item);
      for (int component = 0; component < m_.components; ++component)
        m_.run.row(turned_.data() + component * part * m_.item, part, states_.data(), accumulators(),
                   i * m_.components + component);
    }
  }

  /// Rows are reduced, columns are results from number `first` on.
  void add_down(const tile_computer::view& v, std::int64_t first) {
    const std::int64_t across = at_.columns * m_.components;
    if (across >= few_columns || at_.rows < few_columns) {
      m_.run.columns(v.data, at_.rows, v.stride * m_.components, across, at(first), accumulators());
      return;
    }
    turn({v.data, v.stride * m_.components}, m_.item);
    for (std::int64_t c = 0; c < across; ++c)
      m_.run.row(turned_.data() + c * at_.rows * m_.item, at_.rows, states_.data(), accumulators(),
                 first * m_.components + c);
  }

  /// The tile's rows as columns of `turned_`, in units of `item` bytes.
  void turn(const tile_computer::view& v, std::int64_t item) {
    const std::int64_t across = at_.columns * element() / item;
    for (std::int64_t c = 0; c < across; ++c)
      copy_strided(turned_.data() + c * at_.rows * item, item, v.data + c * item, v.stride * item, at_.rows, item);
  }

  const machine& m_;
  const tiling& it_;
  tile_computer computer_;
  tile at_;
  std::int64_t first_ = 0, results_here_ = 1;  // the group of results under way
  std::vector<std::byte> states_;              // of the group, one component each
  std::int64_t most_results_ = 0;              // in a group
  std::vector<std::byte> turned_, staged_, numbers_;
  destination results_{};
};

/// How a box is shared out: into pieces along one dimension.
struct division {
  int dim = 0;
  std::int64_t pieces = 1;
  bool reduced = false;
};

division divide(const box& where, const reduction& r, int threads, std::int64_t results) {
  const std::int64_t volume = where.volume();
  // Products round in an order that must not depend on the number of threads.
  const std::int64_t wanted = volume < parallel_elements ? 1 : r.kind == reduce_kind::prod ? 16 : threads;
  if (wanted == 1) return {};
  // Every piece of a reduced dimension needs all the results' states for itself.
  const bool few_results = results * wanted <= std::min(volume / 8, most_states);
  const shape extents = where.extents();
  int longest = -1;
  for (int d = 0; d < where.ndim(); ++d) {
    const bool reduced = (r.axes >> d & 1u) != 0;
    if (reduced && !few_results) continue;
    if (extents[d] >= 4 * wanted) return {d, wanted, reduced};
    if (longest < 0 || extents[d] > extents[longest]) longest = d;
  }
  return {longest, std::min(wanted, extents[longest]), (r.axes >> longest & 1u) != 0};
}

}  // namespace

void reduce(workers& w, const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
            bool finished, std::byte* out) {
  const plan code = lower(p, w.kernels, true);
  const machine m = machine_for(r, w.kernels);
  const std::int64_t results = ops::results_of(r, where);
  const division cut = divide(where, r, w.pool.threads(), results);

  const state_layout layout = layout_of(r);
  const auto state_bytes = static_cast<std::int64_t>(item_size(layout.type)) * layout.words * results;
  std::vector<std::byte> partial;  // pieces of a reduced dimension
  if (cut.reduced) partial.resize(static_cast<std::size_t>(state_bytes * cut.pieces));

  std::int64_t after = 1;  // results for each index of the divided dimension
  for (int d = cut.dim + 1; d < where.ndim(); ++d)
    if ((r.axes >> d & 1u) == 0) after *= where.hi[d] - where.lo[d];

  const auto compute = [&](std::int64_t piece, scratch_memory& memory) {
    box part = where;
    std::int64_t first = 0;
    if (cut.pieces > 1) {
      const std::int64_t extent = where.hi[cut.dim] - where.lo[cut.dim];
      part.lo[cut.dim] = where.lo[cut.dim] + extent * piece / cut.pieces;
      part.hi[cut.dim] = where.lo[cut.dim] + extent * (piece + 1) / cut.pieces;
      first = cut.reduced ? 0 : extent * piece / cut.pieces * after;
    }
    const tiling it = make_tiling(p, leaves, part, r, where);
    const destination all{out, results, finished};
    const destination own{partial.data() + piece * state_bytes, results, false};
    serial_reduction(m, p, code, it, memory).run(cut.reduced ? own : all, first);
  };
  const int parts = static_cast<int>(std::min<std::int64_t>(cut.pieces, w.pool.threads()));
  w.pool.run(parts, [&](int part) {
    for (std::int64_t piece = cut.pieces * part / parts; piece < cut.pieces * (part + 1) / parts; ++piece)
      compute(piece, w.scratch[static_cast<std::size_t>(part)]);
  });
  if (!cut.reduced) return;
  const state_array merged{partial.data(), results};
  for (std::int64_t piece = 1; piece < cut.pieces; ++piece)
    for (std::int64_t i = 0; i < results; ++i)
      ops::merge(r, merged, i, {partial.data() + piece * state_bytes, results}, i);
  if (finished) ops::finish(r, merged, out);
  else std::memcpy(out, merged.data, static_cast<std::size_t>(state_bytes));
}

}  // namespace serried::inline v0::host
