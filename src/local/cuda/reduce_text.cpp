// Reductions' kernels as text.
#include "local/cuda/emit.hpp"
#include "local/cuda/reduce_form.hpp"
#include "local/ops/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace serried::inline v0::cuda {
namespace {

template <class... Args>
void append(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

/// The type that a thread adds up: 16-bit floats are widened.
std::string_view value_type(dtype t) { return ops::is_narrow(t) ? "float" : element_type(t); }

/// device_reduce.hpp's class for what a thread holds.
std::string accumulator(const reduction& r) {
  const bool extremum = r.kind == reduce_kind::min || r.kind == reduce_kind::max;
  if (r.kind == reduce_kind::sum && is_complex(r.type))
    return fmt::format("complex_sum<{}>", r.type == dtype::complex64 ? "float" : "double");
  if (r.kind == reduce_kind::sum && is_floating(r.type)) return fmt::format("binned_sum<{}>", value_type(r.type));
  if (extremum && is_floating(r.type))
    return fmt::format("extreme<{}, {}>", value_type(r.type), r.kind == reduce_kind::max);
  constexpr const char* operations[] = {"sum_of", "product_of", "minimum_of", "maximum_of"};
  return fmt::format("plain<{}, {}>", operations[static_cast<std::size_t>(r.kind)], element_type(r.type));
}

constexpr const char* opening =
    "#include \"local/cuda/device_reduce.hpp\"\n"
    "using namespace serried::cuda;\n"
    "using namespace serried::cuda::device;\n";

std::string head(const program& p, std::size_t words) {
  return fmt::format(
      "{}{}struct arguments {{ unsigned long long w[{}]; }};\n"
      "extern \"C\" __global__ void __launch_bounds__({}, {}) kernel(const __grid_constant__ arguments a) {{\n",
      preamble_of(p), opening, words, reduction_threads, resident_blocks);
}

class writer {
 public:
  explicit writer(const reduction_form& form) : form_(form) {}

  std::string text() const {
    const std::string_view value = value_type(form_.what.type);
    std::string t = head(form_.code, form_.words.size() + (may_fail(form_.code) ? 1 : 0));
    append(t, "  using index = {};\n", form_.wide ? "long long" : "int");
    append(t, "  constexpr int vector = {}, steps = {}, batch = vector * steps;\n", form_.vector, form_.steps);
    append(t, "  const index elements = {};  // of one result\n", argument(form_.elements_word));
    append(t, "  const int along = {};  // threads for one result\n", argument(form_.along_word));
    append(t, "  const int across = {} / along;\n", reduction_threads);
    append(t, "  const unsigned splits = {};  // blocks for one result\n", argument(form_.splits_word));
    append(t, "  const unsigned group = blockIdx.x / splits, split = blockIdx.x % splits;\n");
    append(t, "  const int thread = threadIdx.x;\n");
    if (form_.results_inner)
      append(t, "  const int column = thread & (across - 1), lane = thread / across, apart = across;\n");
    else append(t, "  const int lane = thread & (along - 1), column = thread / along, apart = 1;\n");
    append(t, "  const index position = static_cast<index>(group) * across + column;\n");
    t += coordinates("  ", "position", form_.kept, form_.kept_divisors);
    append(t, "  const bool valid = position < static_cast<index>({})", argument(form_.positions_word));
    if (!form_.kept.empty())
      append(t, " && {} < static_cast<index>({})", form_.kept.back().name, argument(form_.inner_word));
    t += ";\n";
    if (may_fail(form_.code))
      append(t, "  unsigned* const failed = reinterpret_cast<unsigned*>(a.w[{}]);\n", form_.words.size());
    for (std::size_t l = 0; l < form_.loads.size(); ++l) append_base(t, static_cast<int>(l));

    append(t, "\n  {} total;\n", accumulator(form_.what));
    t += "  if (valid) {\n";
    for (std::size_t l = 0; l < form_.loads.size(); ++l)
      if (form_.walk.loads[l].uniform())
        append(t, "    const {0} y{1} = load<{0}, 1, {2}>(x{1}).at[0];\n", leaf_type(l), l,
               form_.width(form_.walk.loads[l]));
    for (std::size_t l = 0; l < form_.loads.size(); ++l)
      if (form_.reduced.size() == 1 && form_.last_stride(form_.walk.loads[l]) != 0)
        append(t, "    const long long stride{} = static_cast<index>({});\n", l,
               argument(form_.loads[l].stride[static_cast<std::size_t>(form_.reduced.back().dim)]));
    t += "    const index pitch = along * vector;\n"
         "    const index step = static_cast<index>(splits) * steps * pitch;\n"
         "    for (index i = static_cast<index>(split) * steps * pitch + lane * vector; i < elements; i += step) {\n"
         "      const bool full = i + (steps - 1) * pitch + vector <= elements;\n";
    append_loads(t);
    append(t, "      {} values[batch];\n#pragma unroll\n      for (int e = 0; e < batch; ++e) {{\n", value);
    append_values(t);
    t += "      }\n";
    if (form_.what.kind == reduce_kind::sum || form_.what.kind == reduce_kind::prod) {
      const std::string neutral = form_.what.kind == reduce_kind::sum ? fmt::format("{}{{}}", value)
                                                                      : fmt::format("neutral<product_of, {}>()", value);
      append(t,
             "      if (!full) {{\n#pragma unroll\n        for (int e = 0; e < batch; ++e)\n"
             "          if (i + (e / vector) * pitch + e % vector >= elements) values[e] = {};\n      }}\n",
             neutral);
    }
    t += "      total.add(values);\n    }\n  }\n\n"
         "  const auto state = state_of(merge_block(total.finished(), lane, along, apart));\n"
         "  if (!valid || lane != 0) return;\n"
         "  const long long result = 0";
    for (std::size_t k = 0; k < form_.kept.size(); ++k)
      append(t, " + static_cast<long long>({}) * static_cast<long long>({})", form_.kept[k].name,
             argument(form_.result_strides[k]));
    append(t, ";\n  char* const out = reinterpret_cast<char*>({});\n", argument(form_.out_word));
    if (form_.finished)
      append(t, "  reinterpret_cast<{0}*>(out)[result] = finish<{0}>(state);\n", element_type(form_.what.type));
    else
      append(t, "  const long long results = {};\n  write(out, results * splits, split * results + result, state);\n",
             argument(form_.results_word));
    t += "}\n";
    return t;
  }

 private:
  static std::string argument(int word) { return fmt::format("a.w[{}]", word); }

  std::string_view leaf_type(std::size_t load) const {
    return element_type(form_.code.leaves[form_.code.loads[load].leaf]);
  }

  /// Declares the coordinates of a position, the last dimension counting fastest.
  std::string coordinates(std::string_view indent, std::string_view of, const std::vector<reduction_axis>& axes,
                          const std::vector<reduction_form::divisor>& divisors) const {
    std::string t;
    std::string rest(of);
    for (std::size_t d = axes.size(); d-- > 0;) {
      const reduction_axis& x = axes[d];
      if (d == 0) {
        append(t, "{}const index {} = {};\n", indent, x.name, rest);
        break;
      }
      const reduction_form::divisor& v = divisors[d];
      append(t, "{}const index over_{} = divide(static_cast<{}>({}), {}, {});\n", indent, x.name,
             form_.wide ? "unsigned long long" : "unsigned", rest, argument(v.factor), argument(v.shift));
      append(t, "{0}const index {1} = {2} - over_{1} * static_cast<index>({3});\n", indent, x.name, rest,
             argument(v.extent));
      rest = "over_" + x.name;
    }
    return t;
  }

  std::string steps_along(int load, const std::vector<reduction_axis>& axes) const {
    std::string t;
    for (const reduction_axis& x : axes) {
      const int stride = form_.loads[static_cast<std::size_t>(load)].stride[static_cast<std::size_t>(x.dim)];
      if (stride >= 0) append(t, " + static_cast<long long>({}) * static_cast<index>({})", x.name, argument(stride));
    }
    return t;
  }

  void append_base(std::string& t, int load) const {
    append(t, "  const char* const x{} = reinterpret_cast<const char*>({}){};\n", load,
           argument(form_.loads[static_cast<std::size_t>(load)].base), steps_along(load, form_.kept));
  }

  /// Reads a batch of every load that is not uniform.
  void append_loads(std::string& t) const {
    bool any = false;
    for (std::size_t l = 0; l < form_.loads.size(); ++l) {
      if (form_.walk.loads[l].uniform()) continue;
      append(t, "      pack<{}, vector> y{}[steps];\n", leaf_type(l), l);
      any = true;
    }
    if (!any) return;
    const bool guarded = std::any_of(form_.walk.loads.begin(), form_.walk.loads.end(),
                                     [](const load_path& l) { return !l.guards.empty(); });
    if (guarded) {
      t += "      {\n";
    } else {
      const bool one = form_.reduced.size() == 1;  // then addresses run along
      t += "      if (full) {\n#pragma unroll\n        for (int u = 0; u < steps; ++u) {\n";
      append(t, "          const index j = i + u * pitch;\n");
      if (!one) t += coordinates("          ", "j", form_.reduced, form_.reduced_divisors);
      for (std::size_t l = 0; l < form_.loads.size(); ++l) {
        const load_path& path = form_.walk.loads[l];
        if (path.uniform()) continue;
        const std::string address =
            one && form_.last_stride(path) != 0
                ? fmt::format("x{0} + static_cast<long long>(i) * stride{0} + u * (pitch * stride{0})", l)
                : fmt::format("x{}{}", l, steps_along(static_cast<int>(l), form_.reduced));
        const std::string_view type = leaf_type(l);
        if (form_.vector == 1 || form_.last_stride(path) != 0)
          append(t, "          y{}[u] = load<{}, vector, {}>({});\n", l, type,
                 form_.vector == 1 ? form_.width(path) : std::min<std::int64_t>(form_.vector * path.item, 16), address);
        else
          append(t, "          y{0}[u] = fill<{1}, vector>(load<{1}, 1, {2}>({3}).at[0]);\n", l, type,
                 form_.width(path), address);
      }
      t += "        }\n      } else {\n";
    }
    t += "#pragma unroll\n        for (int e = 0; e < batch; ++e) {\n";
    append_element(t, "          ");
    for (std::size_t l = 0; l < form_.loads.size(); ++l)
      if (!form_.walk.loads[l].uniform()) append_single(t, static_cast<int>(l));
    t += "        }\n      }\n";
  }

  /// Declares the coordinates of the batch's element e: beyond the end, the last one's.
  void append_element(std::string& t, std::string_view indent) const {
    append(t,
           "{0}const index wanted = i + (e / vector) * pitch + e % vector;\n"
           "{0}const index j = wanted < elements ? wanted : elements - 1;\n",
           indent);
    t += coordinates(indent, "j", form_.reduced, form_.reduced_divisors);
  }

  void append_single(std::string& t, int load) const {
    const load_path& path = form_.walk.loads[static_cast<std::size_t>(load)];
    const std::string_view type = leaf_type(static_cast<std::size_t>(load));
    const std::string target = fmt::format("y{}[e / vector].at[e % vector]", load);
    const std::string address = fmt::format("x{}{}", load, steps_along(load, form_.reduced));
    if (path.guards.empty()) {
      append(t, "          {} = load<{}, 1, {}>({}).at[0];\n", target, type, form_.width(path), address);
      return;
    }
    append(t,
           "          {{\n            const char* from = {};\n            bool given = false;\n            {} "
           "value{{}};\n",
           address, type);
    for (std::size_t g = 0; g < path.guards.size(); ++g)
      append_guard(t, path.guards[g], form_.loads[static_cast<std::size_t>(load)].guards[g], type);
    append(t, "            {} = given ? value : load<{}, 1, {}>(from).at[0];\n          }}\n", target, type,
           form_.width(path));
  }

  /// Brings an address inside the window along one dimension; the first dimension that gives a value decides.
  void append_guard(std::string& t, const guard& g, const reduction_form::guard_words& w, std::string_view type) const {
    std::string at = fmt::format("static_cast<long long>({})", argument(w.first));
    if (g.dim >= 0) append(at, " + {}{}", form_.walk.dims[static_cast<std::size_t>(g.dim)].reduced ? "r" : "k", g.dim);
    append(t,
           "            if (const long long at = {}, extent = {}; !given && (at < static_cast<long long>({}) || at >= "
           "static_cast<long long>({}))) {{\n",
           at, argument(w.extent), argument(w.lo), argument(w.hi));
    const auto answer = [&](const face& f, int value) -> std::string {
      const std::string move = fmt::format("from += ({{}} - at) * static_cast<long long>({});", argument(w.stride));
      switch (f.kind) {
        case boundary_kind::periodic: return fmt::format(fmt::runtime(move), "wrap(at, extent)");
        case boundary_kind::edge: return fmt::format(fmt::runtime(move), "(at < 0 ? 0 : extent - 1)");
        case boundary_kind::value:
          return fmt::format("{{ given = true; value = {}({}); }}", type, scalar_text(f.value.type, value));
        case boundary_kind::none: break;
      }
      return "{}";
    };
    append(t, "              if (at < 0) {}\n              else if (at >= extent) {}\n            }}\n",
           answer(g.boundary.low, w.low_value), answer(g.boundary.high, w.high_value));
  }

  void append_values(std::string& t) const {
    const auto reduced_index = [&](const index_path& i) {
      return form_.used(i) && i.dim >= 0 && form_.walk.dims[static_cast<std::size_t>(i.dim)].reduced;
    };
    if (std::any_of(form_.walk.indices.begin(), form_.walk.indices.end(), reduced_index)) append_element(t, "        ");
    operands from;
    from.load = [&](int l) {
      return form_.walk.loads[static_cast<std::size_t>(l)].uniform() ? fmt::format("y{}", l)
                                                                     : fmt::format("y{}[e / vector].at[e % vector]", l);
    };
    from.scalar = [&](int s) {
      return scalar_text(form_.code.scalars[static_cast<std::size_t>(s)].type,
                         form_.scalars[static_cast<std::size_t>(s)]);
    };
    from.index = [&](int axis) {
      const index_path& i = form_.walk.indices[static_cast<std::size_t>(axis)];
      std::string at =
          fmt::format("static_cast<long long>({})", argument(form_.indices[static_cast<std::size_t>(axis)]));
      if (i.dim >= 0)
        append(at, " + {}{}", form_.walk.dims[static_cast<std::size_t>(i.dim)].reduced ? "r" : "k", i.dim);
      return at;
    };
    from.gather = [&](int leaf) { return form_.gathers[static_cast<std::size_t>(leaf)]; };
    const std::string result = fmt::format("v{}", form_.code.outputs[0]);
    t += statements(form_.code, from, "v", "        ");
    append(t, "        values[e] = {};\n",
           ops::is_narrow(form_.what.type) ? fmt::format("ops::to_float({})", result) : result);
  }

  const reduction_form& form_;
};

}  // namespace

std::string reduction_text(const reduction_form& form) { return writer(form).text(); }

std::string merge_text(const reduction& what, bool finished) {
  std::string t = head({}, merge_words);
  append(t,
         "  const long long results = a.w[1], splits = a.w[2];\n"
         "  const int along = a.w[3], across = {} / along;\n"
         "  const int thread = threadIdx.x, column = thread & (across - 1), lane = thread / across;\n"
         "  const long long result = static_cast<long long>(blockIdx.x) * across + column;\n"
         "  const char* const states = reinterpret_cast<const char*>(a.w[0]);\n"
         "  {}::whole state{{}}, next;\n"
         "  if (result < results) {{\n"
         "    read(states, results * splits, lane * results + result, state);\n"
         "    for (long long s = lane + along; s < splits; s += along) {{\n"
         "      read(states, results * splits, s * results + result, next);\n"
         "      merge(state, next);\n"
         "    }}\n"
         "  }}\n"
         "  state = merge_block(state, lane, along, across);\n"
         "  if (result >= results || lane != 0) return;\n"
         "  char* const out = reinterpret_cast<char*>(a.w[4]);\n",
         reduction_threads, accumulator(what));
  if (finished) append(t, "  reinterpret_cast<{0}*>(out)[result] = finish<{0}>(state);\n", element_type(what.type));
  else t += "  write(out, results, result, state);\n";
  return t + "}\n";
}

std::string align_text() {
  return head({}, align_words) +
         "  const long long count = a.w[2], components = a.w[3];\n"
         "  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;\n"
         "  if (i >= count * components) return;\n"
         "  char* const states = reinterpret_cast<char*>(a.w[0]) + i / count * bins::words * count * sizeof(i64);\n"
         "  bins::state s;\n"
         "  read(states, count, i % count, s);\n"
         "  bins::normalize(s);\n"
         "  bins::raise(s, reinterpret_cast<const i64*>(a.w[1])[i]);\n"
         "  write(states, count, i % count, s);\n"
         "}\n";
}

}  // namespace serried::inline v0::cuda
