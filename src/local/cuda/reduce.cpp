#include "local/cuda/reduce.hpp"

#include "local/cuda/divisor.hpp"
#include "local/cuda/emit.hpp"
#include "local/cuda/reduce_form.hpp"
#include "local/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace serried::inline v0::cuda {
namespace {

/// What one block may add up: device_reduce.hpp's integers hold so many digits.
constexpr std::int64_t most_elements = std::int64_t{1} << 22;

std::int64_t power_of_two_from(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}
std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Decides how a reduction is computed, and writes the words down.
class planner {
 public:
  planner(const program& p, const iteration& it, const reduction& r, const device_traits& device) {
    form_.code = p;
    form_.walk = it;
    form_.what = r;
    for (std::size_t d = 0; d < form_.walk.dims.size(); ++d) {
      auto& axes = form_.walk.dims[d].reduced ? form_.reduced : form_.kept;
      axes.push_back({static_cast<int>(d), form_.walk.dims[d].extent,
                      fmt::format("{}{}", form_.walk.dims[d].reduced ? "r" : "k", d)});
    }
    for (const reduction_axis& x : form_.reduced) form_.elements *= x.extent;
    for (const reduction_axis& x : form_.kept) form_.results *= x.extent;
    form_.results_inner = !form_.walk.dims.empty() && !form_.walk.dims.back().reduced;
    choose_vector();
    share(device);
    choose_index();
  }

  std::int64_t splits() const { return form_.splits; }

  /// To be called once.
  launch make(bool finished, std::byte* out) {
    form_.finished = finished;
    add_words(out);
    launch l;
    l.key = key();
    l.words = form_.words;
    l.blocks = static_cast<std::uint32_t>(groups() * form_.splits);
    l.threads = reduction_threads;
    l.text = [form = std::make_shared<const reduction_form>(std::move(form_))] { return reduction_text(*form); };
    return l;
  }

 private:
  std::int64_t across() const { return reduction_threads / form_.along; }
  std::int64_t inner() const { return form_.kept.empty() ? 1 : form_.kept.back().extent; }
  /// Results that lie side by side are given this many places, so that none of a block's are in the next row.
  std::int64_t padded() const {
    return form_.results_inner && power_of_two_from(inner()) == across() ? across() : inner();
  }
  std::int64_t positions() const { return form_.results / inner() * padded(); }
  std::int64_t groups() const { return divide_up(positions(), across()); }
  std::int64_t batch() const { return std::int64_t{form_.vector} * form_.steps; }

  /// Neighboring elements that a thread reads at once, and how many times in flight.
  void choose_vector() {
    std::int64_t widest = 1;
    std::int64_t bytes = 0;
    // Products of floating numbers round in an order that must not depend on addresses.
    const bool rounds =
        form_.what.kind == reduce_kind::prod && (is_floating(form_.what.type) || is_complex(form_.what.type));
    bool may = !form_.results_inner && !form_.reduced.empty() && !rounds;
    for (const load_path& l : form_.walk.loads) {
      if (l.uniform()) continue;
      widest = std::max(widest, l.item);
      bytes += l.item;
      may &= l.guards.empty() && (form_.last_stride(l) == l.item || form_.last_stride(l) == 0);
    }
    for (const index_path& i : form_.walk.indices) may &= !form_.used(i) || i.dim < 0;
    form_.vector = may ? static_cast<int>(std::max<std::int64_t>(16 / widest, 1)) : 1;
    for (const load_path& l : form_.walk.loads)
      while (form_.vector > 1 && form_.last_stride(l) != 0 &&
             form_.alignment(l, true) < std::min<std::int64_t>(form_.vector * l.item, 16))
        form_.vector /= 2;
    while (form_.vector > 1 && (form_.elements < form_.vector ||
                                (form_.reduced.size() > 1 && form_.reduced.back().extent % form_.vector != 0)))
      form_.vector /= 2;
    // 64 bytes in flight, but not too many copies of the program.
    std::int64_t wanted = std::clamp<std::int64_t>(bytes == 0 ? 8 : 64 / bytes, 4, 16);
    constexpr int most_instructions = 31;
    if (weight_of(form_.code) > most_instructions) wanted = 4;
    form_.steps = static_cast<int>(std::max<std::int64_t>(wanted / form_.vector, 1));
    form_.steps = static_cast<int>(std::bit_floor(static_cast<unsigned>(form_.steps)));
  }

  /// How many threads and blocks work on each result.
  void share(const device_traits& given) {
    // Products of floating numbers round in an order that must not depend on the device.
    const device_traits device = form_.what.kind == reduce_kind::prod ? device_traits{} : given;
    const std::int64_t slots = device.multiprocessors * resident_blocks;
    const std::int64_t threads = slots * reduction_threads;
    std::int64_t item = 1;
    for (const load_path& l : form_.walk.loads) item = std::max(item, l.item);

    if (form_.results_inner) {
      form_.along = reduction_threads / std::min<std::int64_t>(power_of_two_from(inner()), 64);
      while (form_.along > 1 && (form_.along / 2 >= form_.elements || (form_.elements < form_.along * batch() &&
                                                                       form_.results * form_.along / 2 >= threads)))
        form_.along /= 2;
    } else {
      constexpr std::int64_t line = 128;
      constexpr std::int64_t long_run = 512;
      const std::int64_t together = form_.elements * item <= line / 2 ? 1 : line / (item * form_.vector);
      while (
          form_.along < reduction_threads && form_.along * form_.vector < form_.elements &&
          (form_.along < together || form_.elements > form_.along * long_run || form_.results * form_.along < threads))
        form_.along *= 2;
    }
    while (form_.steps > 1 && form_.elements <= form_.along * form_.vector * std::max(form_.steps / 4, 1))
      form_.steps = std::max(form_.steps / 4, 1);

    // Several blocks for each result where there are too few, in nearly whole waves of blocks; a block is to have
    // something to do, and states are not to cost what elements do.
    const std::int64_t chunks = divide_up(form_.elements, form_.along * batch());
    std::int64_t most = chunks / 2;
    if (form_.results > 1) most = std::min(most, form_.elements * item / (32 * state_bytes()));
    if (chunks <= 4) most = 1;
    double best = 0;
    for (std::int64_t waves = 1; waves <= 4 && best < 0.95; ++waves) {
      const std::int64_t splits =
          std::clamp<std::int64_t>(waves * slots / groups(), 1, std::max<std::int64_t>(most, 1));
      const double share = static_cast<double>(splits * groups()) / static_cast<double>(waves * slots);
      if (share <= best) continue;
      best = share;
      form_.splits = splits;
    }
    form_.splits = std::max(form_.splits, divide_up(form_.elements, most_elements));
    form_.splits = divide_up(chunks, divide_up(chunks, form_.splits));
  }
  std::int64_t state_bytes() const {
    const state_layout layout = layout_of(form_.what);
    return layout.words * static_cast<std::int64_t>(item_size(layout.type));
  }

  void choose_index() {
    constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
    form_.wide = form_.elements + form_.splits * form_.along * batch() > limit ||
                 positions() + reduction_threads > limit || groups() * across() > limit;
    const auto check = [&](std::int64_t stride) { form_.wide |= stride > limit || stride < -limit; };
    for (const load_path& l : form_.walk.loads)
      for (const std::int64_t s : l.stride) check(s);
  }

  // ---- Words. The text names them by their numbers, which depend on the structure alone.

  int word(std::uint64_t value) {
    form_.words.push_back(value);
    return static_cast<int>(form_.words.size()) - 1;
  }
  int word(std::int64_t value) { return word(static_cast<std::uint64_t>(value)); }
  int word(const void* address) { return word(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address))); }
  int scalar(const scalar_value& value) {
    const auto first = static_cast<int>(form_.words.size());
    append_words(form_.words, value);
    return first;
  }

  reduction_form::divisor divide_by(std::int64_t extent) {
    const auto [divisor, factor, shift] = divisor_words(extent, form_.wide);
    return {word(divisor), word(factor), word(shift)};
  }

  void add_words(std::byte* out) {
    form_.elements_word = word(form_.elements);
    form_.along_word = word(form_.along);
    form_.splits_word = word(form_.splits);
    form_.positions_word = word(positions());
    form_.out_word = word(out);
    form_.results_word = word(form_.results);
    for (const reduction_axis& x : form_.kept) {
      form_.kept_divisors.push_back(divide_by(&x == &form_.kept.back() ? padded() : x.extent));
      form_.result_strides.push_back(word(form_.walk.dims[static_cast<std::size_t>(x.dim)].result_stride));
    }
    form_.inner_word = word(inner());
    for (const reduction_axis& x : form_.reduced) form_.reduced_divisors.push_back(divide_by(x.extent));
    for (const load_path& l : form_.walk.loads) form_.loads.push_back(words_of_load(l));
    for (const index_path& i : form_.walk.indices) form_.indices.push_back(word(i.first));
    form_.gathers.resize(form_.code.leaves.size());
    const std::vector<std::uint16_t> gathered = gathered_leaves(form_.code);
    for (std::size_t g = 0; g < gathered.size(); ++g) {
      form_.gathers[gathered[g]] = word(form_.walk.gathers[g].data);
      word(form_.walk.gathers[g].count);
    }
    for (const scalar_value& s : form_.code.scalars) form_.scalars.push_back(scalar(s));
  }

  reduction_form::load_words words_of_load(const load_path& l) {
    reduction_form::load_words w;
    w.base = word(l.data + l.offset);
    for (const std::int64_t s : l.stride) w.stride.push_back(s == 0 ? -1 : word(s));
    for (const guard& g : l.guards) {
      reduction_form::guard_words v{word(g.first), word(g.lo), word(g.hi), word(g.extent), word(g.stride), -1, -1};
      if (g.boundary.low.kind == boundary_kind::value) v.low_value = scalar(g.boundary.low.value);
      if (g.boundary.high.kind == boundary_kind::value) v.high_value = scalar(g.boundary.high.value);
      w.guards.push_back(v);
    }
    return w;
  }

  std::string key() const {
    std::string k = "reduce" + structure_key(form_.code, false);
    const auto add = [&](auto... values) { (k.push_back(static_cast<char>(values)), ...); };
    add(form_.what.kind, form_.what.type, form_.finished, form_.vector, form_.steps, form_.wide, form_.results_inner,
        form_.walk.dims.size());
    for (const iteration_dim& d : form_.walk.dims) add(d.reduced);
    for (const load_path& l : form_.walk.loads) {
      add(l.guards.size(), form_.width(l));
      for (const std::int64_t s : l.stride) add(s != 0);
      if (form_.vector > 1) add(form_.last_stride(l) != 0);
      for (const guard& g : l.guards) add(g.dim, g.boundary.low.kind, g.boundary.high.kind);
    }
    for (const index_path& i : form_.walk.indices) add(form_.used(i) ? i.dim : -2);
    return k;
  }

  reduction_form form_;
};

// ---- States.

std::uint64_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

/// `splits` states for each of `count` results, into one or a number.
launch plan_merge(const reduction& r, const std::byte* states, std::int64_t count, std::int64_t splits, bool finished,
                  std::byte* out) {
  const auto all = static_cast<std::uint64_t>(splits);
  const std::uint64_t along = std::min<std::uint64_t>(std::bit_floor(all), reduction_threads);
  launch l;
  l.words = {address(states), static_cast<std::uint64_t>(count), all, along, address(out)};
  l.blocks = static_cast<std::uint32_t>(divide_up(count, reduction_threads / static_cast<std::int64_t>(along)));
  l.threads = reduction_threads;
  l.key = std::string("merge") + static_cast<char>(r.kind) + static_cast<char>(r.type) + static_cast<char>(finished);
  l.text = [r, finished] { return merge_text(r, finished); };
  return l;
}

}  // namespace

std::int64_t reduction_form::last_stride(const load_path& l) const {
  return reduced.empty() ? 0 : l.stride[static_cast<std::size_t>(reduced.back().dim)];
}

std::int64_t reduction_form::alignment(const load_path& l, bool vectors) const {
  std::uint64_t bits = reinterpret_cast<std::uintptr_t>(l.data + l.offset) | 16u;
  for (std::size_t d = 0; d < l.stride.size(); ++d)
    if (!vectors || static_cast<int>(d) != reduced.back().dim) bits |= static_cast<std::uint64_t>(l.stride[d]);
  for (const guard& g : l.guards) bits |= static_cast<std::uint64_t>(g.stride);
  return std::int64_t{1} << std::countr_zero(bits);
}

std::int64_t reduction_form::width(const load_path& l) const { return std::min(alignment(l, false), l.item); }

bool reduction_form::used(const index_path& i) const {
  const auto axis = static_cast<std::uint16_t>(&i - walk.indices.data());
  return std::any_of(code.code.begin(), code.code.end(),
                     [&](const instruction& c) { return c.op == opcode::index && c.args[0] == axis; });
}

reduction_launches plan_reduce(const program& p, const iteration& it, const reduction& r, std::int64_t results,
                               bool finished, std::byte* out, const device_traits& device,
                               const scratch_source& scratch) {
  planner plan(p, it, r, device);
  const std::int64_t splits = plan.splits();
  if (splits == 1) return {plan.make(finished, out), std::nullopt};
  const state_layout layout = layout_of(r);
  const std::int64_t bytes = layout.words * static_cast<std::int64_t>(item_size(layout.type)) * results * splits;
  std::byte* const states = scratch(static_cast<std::size_t>(bytes));
  return {plan.make(false, states), plan_merge(r, states, results, splits, finished, out)};
}

launch plan_finish(const reduction& r, const std::byte* states, std::int64_t count, std::byte* out) {
  return plan_merge(r, states, count, 1, true, out);
}

launch plan_align(const reduction& r, std::byte* states, const std::byte* tops, std::int64_t count) {
  const auto components = static_cast<std::uint64_t>(is_complex(r.type) ? 2 : 1);
  launch l;
  l.words = {address(states), address(tops), static_cast<std::uint64_t>(count), components};
  l.blocks = static_cast<std::uint32_t>(divide_up(count * static_cast<std::int64_t>(components), reduction_threads));
  l.threads = reduction_threads;
  l.key = "align";
  l.text = align_text;
  return l;
}

}  // namespace serried::inline v0::cuda
