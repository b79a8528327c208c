#include "local/cuda/transposed.hpp"

#include "local/cuda/divisor.hpp"
#include "local/cuda/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace serried::inline v0::cuda {
namespace {

constexpr int threads = 256;

// The first `count` of n elements, in accesses of `width` bytes where all are there.
constexpr std::string_view helpers = R"(
template <class T, int n, int width>
__device__ pack<T, n> load_some(const char* from, int count) {
  if (count >= n) return load<T, n, width>(from);
  pack<T, n> x{};
  for (int j = 0; j < n; ++j)
    if (j < count) x.at[j] = load<T, 1, width>(from + j * sizeof(T)).at[0];
  return x;
}
template <int width, class T, int n>
__device__ void store_some(char* to, const pack<T, n>& x, int count) {
  if (count >= n) return store<T, n, width>(to, x);
  for (int j = 0; j < n; ++j)
    if (j < count) store<T, 1, width>(to + j * sizeof(T), {{x.at[j]}});
}

)";
constexpr std::int64_t shared_bytes = 40 * 1024;  // leaves room for several blocks on a multiprocessor

/// How one array is read or written.
struct access {
  bool turned;          ///< contiguous along `across`; else along the rows, or one element for all of a row
  bool constant;        ///< along the rows
  int wide;             ///< elements in one access
  int width;            ///< its bytes
  std::uint32_t outer;  ///< bit d: moves along dimension d
};

/// All that the text depends on, besides the program.
struct form {
  int ndim;
  int across;  ///< the dimension along which the turned loads are contiguous
  int side;    ///< of a tile, in elements
  int wide;    ///< elements along a row that a thread computes together
  std::vector<access> loads, outputs;
  std::vector<int> index_dims;  ///< per output axis; −1: constant
};

class writer : kernel_text {
 public:
  writer(const program& p, const form& f) : kernel_text(p), f_(f) {}

  std::string run() {
    add_place();
    std::vector<std::string> from, to;
    for (std::size_t k = 0; k < f_.loads.size(); ++k) from.push_back(address(f_.loads[k]));
    for (const access& a : f_.outputs) to.push_back(address(a));
    for (std::size_t k = 0; k < f_.loads.size(); ++k)
      if (f_.loads[k].turned) add_tile(k, from[k]);
    add("  __syncthreads();\n");
    add_rows(from, to);
    add("}}\n");
    return fmt::format(
        "{}#include \"local/cuda/access.hpp\"\nusing namespace serried::cuda;\n{}"
        "struct arguments {{\n  unsigned long long w[{}];\n}};\n\n"
        "extern \"C\" __global__ void __launch_bounds__({}) kernel(const __grid_constant__ arguments a) {{\n{}",
        preamble_of(program_), helpers, next_, threads, text_);
  }

 private:
  [[nodiscard]] int row() const { return f_.ndim - 1; }

  /// i0, i1, …: the tile's first element; rows, columns: how much of the tile there is.
  void add_place() {
    add("  unsigned rest = blockIdx.x;\n");
    const auto part = [&](int d, int times) {
      const int divisor = take(3);
      add("  const unsigned above{0} = divide(rest, a.w[{1}], a.w[{2}]);\n"
          "  const long long i{0} = (long long)(rest - above{0} * (unsigned)a.w[{3}]) * {4};\n  rest = above{0};\n",
          d, divisor + 1, divisor + 2, divisor, times);
    };
    part(row(), f_.side);
    part(f_.across, f_.side);
    for (int d = row() - 1; d >= 0; --d)
      if (d != f_.across) part(d, 1);
    const int extents = take(2);
    for (const auto& [name, d, word] : {std::tuple("columns", row(), extents), {"rows", f_.across, extents + 1}})
      add("  const int {0} = (int)min({1}ll, (long long)a.w[{2}] - i{3});\n", name, f_.side, word, d);
  }

  /// The address of the tile's first element, and what to add for column c and row r.
  std::string address(const access& a) {
    std::string text = fmt::format("reinterpret_cast<char*>(a.w[{}]", take());
    std::string inside;
    for (int d = 0; d < f_.ndim; ++d) {
      if ((a.outer >> d & 1u) == 0) continue;
      const int stride = take();
      text += fmt::format(" + i{} * a.w[{}]", d, stride);
      if (d == row()) inside += fmt::format(" + c * (long long)a.w[{}]", stride);
      if (d == f_.across) inside += fmt::format(" + r * (long long)a.w[{}]", stride);
    }
    return text + ")" + inside;
  }

  /// A loop over a tile, neighboring threads along one of its sides, `wide` elements each.
  void open_loop(const char* along, const char* other, int wide, const char* along_count, const char* other_count) {
    const int groups = f_.side / wide;
    add("#pragma unroll\n  for (int k = 0; k < {}; ++k) {{\n"
        "    const int position = k * {} + (int)threadIdx.x;\n"
        "    const int {} = position % {} * {}, {} = position / {};\n"
        "    if ({} >= {} || {} >= {}) continue;\n",
        steps(wide), threads, along, groups, wide, other, groups, along, along_count, other, other_count);
  }
  [[nodiscard]] int steps(int wide) const { return std::max(1, f_.side * f_.side / wide / threads); }

  void add_tile(std::size_t k, const std::string& from) {
    const access& a = f_.loads[k];
    add("  // Element [c][r] of a tile goes to column c of row r. All is fetched before any of it is waited for.\n"
        "  __shared__ {0} tile{1}[{2}][{3}];\n  pack<{0}, {4}> fetched{1}[{5}];\n",
        type_of(k), k, f_.side, f_.side + 1, a.wide, steps(a.wide));
    open_loop("r", "c", a.wide, "rows", "columns");
    add("    fetched{}[k] = load_some<{}, {}, {}>({}, rows - r);\n  }}\n", k, type_of(k), a.wide, a.width, from);
    open_loop("r", "c", a.wide, "rows", "columns");
    add("    for (int j = 0; j < {0}; ++j) tile{1}[c][r + j] = fetched{1}[k].at[j];\n  }}\n", a.wide, k);
  }

  void add_rows(const std::vector<std::string>& from, const std::vector<std::string>& to) {
    const int indices = take(static_cast<int>(f_.index_dims.size()));
    std::vector<int> scalars;
    for (const scalar_value& s : program_.scalars) scalars.push_back(take(words_of(s.type)));
    open_loop("c", "r", f_.wide, "columns", "rows");
    for (std::size_t k = 0; k < f_.loads.size(); ++k) {
      const access& a = f_.loads[k];
      if (a.turned) continue;
      if (a.constant) add("    const {0} x{1} = load<{0}, 1, {3}>({2}).at[0];\n", type_of(k), k, from[k], a.width);
      else
        add("    const auto x{} = load_some<{}, {}, {}>({}, columns - c);\n", k, type_of(k), f_.wide, a.width, from[k]);
    }
    for (std::size_t k = 0; k < f_.outputs.size(); ++k)
      add("    pack<{}, {}> y{};\n", element_type(program_.code[program_.outputs[k]].out), f_.wide, k);
    add("#pragma unroll\n    for (int j = 0; j < {}; ++j) {{\n", f_.wide);
    text_ += statements(
        program_,
        {[&](int load) {
           const access& a = f_.loads[static_cast<std::size_t>(load)];
           return a.turned     ? fmt::format("tile{}[c + j][r]", load)
                  : a.constant ? fmt::format("x{}", load)
                               : fmt::format("x{}.at[j]", load);
         },
         [&](int s) {
           const auto k = static_cast<std::size_t>(s);
           return scalar_text(program_.scalars[k].type, scalars[k]);
         },
         [&](int axis) {
           const int d = f_.index_dims[static_cast<std::size_t>(axis)];
           const std::string first = fmt::format("(long long)a.w[{}]", indices + axis);
           if (d < 0) return first;
           return fmt::format("{} + i{}{}", first, d, d == row() ? " + c + j" : d == f_.across ? " + r" : "");
         }},
        "r", "      ");
    for (std::size_t k = 0; k < f_.outputs.size(); ++k) add("      y{}.at[j] = r{};\n", k, program_.outputs[k]);
    add("    }}\n");
    for (std::size_t k = 0; k < f_.outputs.size(); ++k)
      add("    store_some<{}>({}, y{}, columns - c);\n", f_.outputs[k].width, to[k], k);
    add("  }}\n");
  }

  const form& f_;
};

class planner {
 public:
  planner(const program& p, const iteration& where) : p_(p), where_(where) {}

  std::optional<launch> run() {
    form_.ndim = static_cast<int>(where_.dims.size());
    if (form_.ndim < 2 || may_fail(p_) || !where_.gathers.empty() || !find_across() || !worthwhile())
      return std::nullopt;
    choose_side();
    if (form_.side == 0) return std::nullopt;
    form_.wide = form_.side;
    for (const output_path& o : where_.outputs) {
      form_.outputs.push_back(access_of(o.stride, o.item, address(o), false));
      form_.wide = std::min(form_.wide, form_.outputs.back().wide);
    }
    for (const load_path& l : where_.loads) form_.loads.push_back(access_of(l.stride, l.item, address(l), turned(l)));
    for (const index_path& i : where_.indices) form_.index_dims.push_back(i.dim);

    launch l;
    l.threads = threads;
    l.quick = true;
    if (!add_words(l)) return std::nullopt;
    l.key = key();
    l.text = [&p = p_, f = std::move(form_)] { return writer(p, f).run(); };
    return l;
  }

 private:
  [[nodiscard]] std::int64_t extent(int d) const { return where_.dims[static_cast<std::size_t>(d)].extent; }
  [[nodiscard]] int row() const { return form_.ndim - 1; }
  [[nodiscard]] static bool turned(const load_path& l) { return l.stride.back() != l.item && l.stride.back() != 0; }
  [[nodiscard]] static std::uint64_t address(const load_path& l) {
    return reinterpret_cast<std::uintptr_t>(l.data + l.offset);
  }
  [[nodiscard]] static std::uint64_t address(const output_path& o) { return reinterpret_cast<std::uintptr_t>(o.data); }

  bool find_across() {
    form_.across = -1;
    for (const load_path& l : where_.loads) {
      if (!l.guards.empty() || !l.aligned) return false;
      if (!turned(l)) continue;
      if (form_.across < 0)
        for (int d = 0; d < row(); ++d)
          if (l.stride[static_cast<std::size_t>(d)] == l.item) form_.across = d;
      if (form_.across < 0 || l.stride[static_cast<std::size_t>(form_.across)] != l.item) return false;
    }
    const auto along_rows = [](const output_path& o) { return o.aligned && o.stride.back() == o.item; };
    return form_.across >= 0 && std::all_of(where_.outputs.begin(), where_.outputs.end(), along_rows);
  }
  [[nodiscard]] bool worthwhile() const {
    constexpr std::int64_t shortest = 16, longest = std::int64_t{1} << 30;
    for (const int d : {row(), form_.across})
      if (extent(d) < shortest || extent(d) > longest) return false;
    return true;
  }

  /// Large enough that every row of a tile fills 128 bytes of memory, and that threads have several accesses under way.
  void choose_side() {
    std::int64_t bytes = 0;
    for (const load_path& l : where_.loads)
      if (turned(l)) bytes += l.item;
    std::int64_t widest = 1;
    for (const load_path& l : where_.loads) widest = std::max(widest, l.item);
    for (form_.side = widest <= 2 ? 128 : 64; form_.side >= 16; form_.side /= 2)
      if (form_.side * (form_.side + 1) * bytes <= shared_bytes) return;
    form_.side = 0;
  }

  /// 16 bytes at once where everything begins at multiples of that.
  [[nodiscard]] access access_of(const std::vector<std::int64_t>& stride, std::int64_t item, std::uint64_t first,
                                 bool is_turned) const {
    access a{is_turned, !is_turned && stride.back() == 0, 1, 0, 0};
    const int along = is_turned ? form_.across : row();
    std::uint64_t all = first;
    for (int d = 0; d < form_.ndim; ++d) {
      const std::int64_t s = stride[static_cast<std::size_t>(d)];
      if (s != 0) a.outer |= 1u << d;
      if (d != along) all |= static_cast<std::uint64_t>(s);
    }
    while (!a.constant && a.wide < 8 && 2 * a.wide * item <= 16 &&
           all % static_cast<std::uint64_t>(2 * a.wide * item) == 0)
      a.wide *= 2;
    a.width = static_cast<int>(item == 16 && all % 16 != 0 ? 8 : a.wide * item);
    return a;
  }

  bool add_words(launch& l) const {
    const auto put = [&](std::int64_t n) { l.words.push_back(static_cast<std::uint64_t>(n)); };
    std::int64_t blocks = 1;
    const auto part = [&](std::int64_t count) {
      const auto divisor = divisor_words(count, false);
      l.words.insert(l.words.end(), divisor.begin(), divisor.end());
      blocks = count > (std::int64_t{1} << 31) / blocks ? std::int64_t{1} << 31 : blocks * count;
    };
    const auto tiles = [&](int d) { return (extent(d) + form_.side - 1) / form_.side; };
    part(tiles(row()));
    part(tiles(form_.across));
    for (int d = row() - 1; d >= 0; --d)
      if (d != form_.across) part(extent(d));
    if (blocks >= std::int64_t{1} << 31) return false;
    l.blocks = static_cast<std::uint32_t>(blocks);
    put(extent(row()));
    put(extent(form_.across));
    const auto add = [&](const auto& path, const access& a) {
      l.words.push_back(address(path));
      for (int d = 0; d < form_.ndim; ++d)
        if ((a.outer >> d & 1u) != 0) put(path.stride[static_cast<std::size_t>(d)]);
    };
    for (std::size_t k = 0; k < form_.loads.size(); ++k) add(where_.loads[k], form_.loads[k]);
    for (std::size_t k = 0; k < form_.outputs.size(); ++k) add(where_.outputs[k], form_.outputs[k]);
    for (const index_path& i : where_.indices) put(i.first);
    for (const scalar_value& s : p_.scalars) append_words(l.words, s);
    return true;
  }

  [[nodiscard]] std::string key() const {
    std::string key = "transposed " + structure_key(p_, false);
    const auto put = [&](auto... bytes) { (key.push_back(static_cast<char>(bytes)), ...); };
    put(form_.ndim, form_.across, form_.side, form_.wide);
    for (const auto* all : {&form_.loads, &form_.outputs})
      for (const access& a : *all)
        put(a.turned, a.constant, a.wide, a.width, a.outer, a.outer >> 8, a.outer >> 16, a.outer >> 24);
    for (const int d : form_.index_dims) put(d);
    return key;
  }

  const program& p_;
  const iteration& where_;
  form form_{};
};

}  // namespace

std::optional<launch> plan_transposed(const program& p, const iteration& where) { return planner(p, where).run(); }

}  // namespace serried::inline v0::cuda
