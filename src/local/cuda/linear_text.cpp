#include "local/cuda/kernel_text.hpp"
#include "local/cuda/linear_form.hpp"

#include <fmt/format.h>

#include <string_view>

namespace serried::inline v0::cuda {
namespace {

class writer : kernel_text {
 public:
  writer(const program& p, const linear_form& form) : kernel_text(p), form_(form) {}

  std::string run() {
    take_counts();
    for (std::size_t k = 0; k < form_.loads.size(); ++k) add_load(k);
    add_operands();
    add_finish();
    add_kernel();
    const int words = next_ + may_fail(program_);
    return fmt::format(
        "{}#include \"local/cuda/access.hpp\"\nusing namespace serried::cuda;\n\n"
        "struct arguments {{\n  unsigned long long w[{}];\n}};\n\n"
        "using index = {};  // counts groups of {} elements\n"
        "using offset = {};  // bytes, or places along a dimension\n\n{}",
        preamble_of(program_), words, form_.wide_index ? "unsigned long long" : "unsigned int", form_.group,
        form_.wide_offset ? "long long" : "int", text_);
  }

 private:
  int inner() const { return form_.ndim - 1; }

  // ---- Places.

  void take_counts() {
    take(7);  // groups, blocks, block_step, step, tail, head, span
    add("struct place {{\n  offset");
    for (int d = 0; d < form_.ndim; ++d) add("{} i{}", d == 0 ? "" : ",", d);
    add(";\n}};\n\n");
    if (inner() == 0) return;
    row_of_group_ = take(3);
    row_of_rest_ = take(3);
    add("// The place of column `column` in row number `row`.\n"
        "__device__ place locate(const arguments& a, index row, offset column) {{\n  place at;\n  at.i{} = column;\n",
        inner());
    for (int d = inner() - 1; d > 0; --d) {
      const int divisor = take(3);
      add("  const index above{0} = divide(row, a.w[{1}], a.w[{2}]);\n"
          "  at.i{0} = offset(row - above{0} * index(a.w[{3}]));\n  row = above{0};\n",
          d, divisor + 1, divisor + 2, divisor);
    }
    add("  at.i0 = offset(row);\n  return at;\n}}\n\n");
  }

  /// The address of an array's element at a place, as a number.
  std::string address(const access_form& f, std::string_view item) {
    std::string text = fmt::format("a.w[{}])", take());
    for (int d = 0; d < inner(); ++d)
      if ((f.outer >> d & 1u) != 0) text += fmt::format(" + at.i{} * offset(a.w[{}])", d, take());
    switch (f.inner) {
      case access_form::kind::contiguous: return text + fmt::format(" + at.i{} * offset(sizeof({}))", inner(), item);
      case access_form::kind::constant: return text;
      default: return text + fmt::format(" + at.i{} * offset(a.w[{}])", inner(), take());
    }
  }

  // ---- Loads.

  void add_load(std::size_t k) {
    const access_form& f = form_.loads[k];
    const std::string_view type = type_of(k);
    const bool mapped = f.inner == access_form::kind::mapped;
    if (mapped) add("__device__ {} load_element{}(const arguments& a, const place& at) {{\n", type, k);
    else add("template <int n>\n__device__ pack<{}, n> load{}(const arguments& a, const place& at) {{\n", type, k);
    add("  const char* from = reinterpret_cast<const char*>({};\n", address(f, type));
    const int stride = next_ - 1;
    for (const guard_form& g : form_.guards[k]) add_guard(g, k, mapped);
    switch (f.inner) {
      case access_form::kind::mapped: add("  return load<{}, 1, {}>(from).at[0];\n}}\n", type, f.width); break;
      case access_form::kind::contiguous: add("  return load<{}, n, {}>(from);\n}}\n\n", type, f.width); return;
      case access_form::kind::constant:
        add("  return fill<{0}, n>(load<{0}, 1, {1}>(from).at[0]);\n}}\n\n", type, f.width);
        return;
      case access_form::kind::strided:
        add("  return load_strided<{}, n, {}>(from, offset(a.w[{}]));\n}}\n\n", type, f.width, stride);
        return;
    }
    add("template <int n>\n__device__ pack<{0}, n> load{1}(const arguments& a, place at) {{\n  pack<{0}, n> x;\n"
        "  for (int i = 0; i < n; ++i, ++at.i{2}) x.at[i] = load_element{1}(a, at);\n  return x;\n}}\n\n",
        type, k, inner());
  }

  void add_guard(const guard_form& g, std::size_t k, bool mapped) {
    const dtype type = program_.leaves[program_.loads[k].leaf];
    const auto take_value = [&] {
      const std::string value = scalar_text(type, take(words_of(type)));
      return mapped ? fmt::format("return {};", value)
                    : fmt::format("return fill<{}, n>({});", element_type(type), value);
    };
    if (g.dim < 0) {
      add("  {}  // all of it lies outside\n", take_value());
      return;
    }
    const int first = take(5);
    const auto face = [&](boundary_kind kind, std::string_view nearest) {
      switch (kind) {
        case boundary_kind::none: return std::string("{}");
        case boundary_kind::value: return take_value();
        case boundary_kind::edge: return fmt::format("from += ({} - i) * offset(a.w[{}]);", nearest, first + 4);
        case boundary_kind::periodic: break;
      }
      return fmt::format("from += (wrap(i, offset(a.w[{}])) - i) * offset(a.w[{}]);", first + 3, first + 4);
    };
    const std::string low = face(g.low, "0");
    const std::string high = face(g.high, fmt::format("offset(a.w[{}]) - 1", first + 3));
    add("  {{\n    const offset i = at.i{} + offset(a.w[{}]);\n"
        "    if (i < offset(a.w[{}]) || i >= offset(a.w[{}])) {{\n"
        "      if (i < 0) {}\n      else {}\n    }}\n  }}\n",
        g.dim, first, first + 1, first + 2, low, high);
  }

  void add_operands() {
    add("template <int n>\nstruct operands {{\n");
    for (std::size_t k = 0; k < form_.loads.size(); ++k) add("  pack<{}, n> x{};\n", type_of(k), k);
    add("}};\n\ntemplate <int n>\n__device__ operands<n> fetch(const arguments& a, const place& at) {{\n"
        "  operands<n> in;\n");
    for (std::size_t k = 0; k < form_.loads.size(); ++k) add("  in.x{0} = load{0}<n>(a, at);\n", k);
    add("  return in;\n}}\n\n");
  }

  // ---- Computing and storing.

  void add_finish() {
    std::string stores, results;
    for (std::size_t k = 0; k < form_.outputs.size(); ++k) {
      const access_form& f = form_.outputs[k];
      const std::string_view type = element_type(program_.code[program_.outputs[k]].out);
      results += fmt::format("  pack<{}, n> y{};\n", type, k);
      const std::string to = fmt::format("reinterpret_cast<char*>({}", address(f, type));
      if (f.inner == access_form::kind::strided)
        stores +=
            fmt::format("  store_strided<{}, n, {}>({}, offset(a.w[{}]), y{});\n", type, f.width, to, next_ - 1, k);
      else stores += fmt::format("  store<{}, n, {}>({}, y{});\n", type, f.width, to, k);
    }
    const int first_index = take(static_cast<int>(form_.indices.size()));
    std::vector<int> gathers(program_.leaves.size());
    for (const std::uint16_t leaf : gathered_leaves(program_)) gathers[leaf] = take(2);
    std::vector<int> scalars;
    for (const scalar_value& s : program_.scalars) scalars.push_back(take(words_of(s.type)));

    const auto index_text = [&](int axis) {
      std::size_t i = 0;
      while (form_.indices[i].axis != axis) ++i;
      const int d = form_.indices[i].dim;
      const std::string start = fmt::format("static_cast<long long>(a.w[{}])", first_index + static_cast<int>(i));
      return d < 0 ? start : fmt::format("{} + at.i{}{}", start, d, d == inner() ? " + i" : "");
    };
    const std::string body = statements(program_,
                                        {[](int load) { return fmt::format("in.x{}.at[i]", load); },
                                         [&](int s) {
                                           const auto k = static_cast<std::size_t>(s);
                                           return scalar_text(program_.scalars[k].type, scalars[k]);
                                         },
                                         index_text, [&](int leaf) { return gathers[static_cast<std::size_t>(leaf)]; }},
                                        "r", "    ");
    add("template <int n>\n__device__ void finish(const arguments& a, const place& at, const operands<n>& in) {{\n{}",
        results);
    if (may_fail(program_)) add("  unsigned* const failed = reinterpret_cast<unsigned*>(a.w[{}]);\n", next_);
    add("#pragma unroll\n  for (int i = 0; i < n; ++i) {{\n");
    text_ += body;
    for (std::size_t k = 0; k < form_.outputs.size(); ++k) add("    y{}.at[i] = r{};\n", k, program_.outputs[k]);
    add("  }}\n{}}}\n\n", stores);
  }

  void add_kernel() {
    add(R"(extern "C" __global__ void __launch_bounds__({0}) kernel(const __grid_constant__ arguments a) {{
)",
        linear_threads);
    if (form_.group > 1) add_tail();
    add(R"(  constexpr int count = {0};
  const index groups = a.w[0];
  const index first = blockIdx.x * index(a.w[2]) + threadIdx.x;
  const index step = a.w[3];
  place at[count];
  operands<{1}> in[count];
#pragma unroll
  for (int u = 0; u < count; ++u) {{
    const index past = first + u * step;
    const index g = past < groups ? past : groups - 1;  // reading the last group twice is cheaper than branching
)",
        form_.groups_per_thread, form_.group);
    if (inner() == 0) add("    at[u].i0 = offset(a.w[5]) + offset(g) * {};\n", form_.group);
    else
      add("    const index row = divide(g, a.w[{0}], a.w[{1}]);\n"
          "    at[u] = locate(a, row, offset(a.w[5]) + offset(g - row * index(a.w[{2}])) * {3});\n",
          row_of_group_ + 1, row_of_group_ + 2, row_of_group_, form_.group);
    add("    in[u] = fetch<{}>(a, at[u]);\n  }}\n", form_.group);
    if (form_.rolled)
      add(R"(#pragma unroll 1
  for (int u = 0; u < count; ++u) {{
    if (first + u * step < groups) finish<{}>(a, at[0], in[0]);
#pragma unroll
    for (int next = 1; next < count; ++next) {{
      at[next - 1] = at[next];
      in[next - 1] = in[next];
    }}
  }}
}}
)",
          form_.group);
    else
      add(R"(#pragma unroll
  for (int u = 0; u < count; ++u)
    if (first + u * step < groups) finish<{}>(a, at[u], in[u]);
}}
)",
          form_.group);
  }

  /// Blocks after the others compute what lies before and after the groups of each row.
  void add_tail() {
    add(R"(  const index blocks = a.w[1];
  if (blockIdx.x >= blocks) {{
    const index i = (blockIdx.x - blocks) * {} + threadIdx.x;
    if (i >= a.w[4]) return;
)",
        linear_threads);
    if (inner() == 0) add("    const offset k = offset(i);\n");
    else
      add("    const index row = divide(i, a.w[{}], a.w[{}]);\n    const offset k = offset(i - row * "
          "index(a.w[{}]));\n",
          row_of_rest_ + 1, row_of_rest_ + 2, row_of_rest_);
    add("    const offset column = k < offset(a.w[5]) ? k : k + offset(a.w[6]);\n");
    if (inner() == 0) add("    const place at{{column}};\n");
    else add("    const place at = locate(a, row, column);\n");
    add("    finish<1>(a, at, fetch<1>(a, at));\n    return;\n  }}\n");
  }

  const linear_form& form_;
  int row_of_group_ = 0, row_of_rest_ = 0;  // words of divisors
};

}  // namespace

std::string linear_text(const program& p, const linear_form& form) { return writer(p, form).run(); }

}  // namespace serried::inline v0::cuda
