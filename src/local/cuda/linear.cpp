#include "local/cuda/linear.hpp"

#include "local/cuda/divisor.hpp"
#include "local/cuda/emit.hpp"
#include "local/cuda/linear_form.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

namespace serried::inline v0::cuda {
namespace {

constexpr std::int64_t most_31_bits = 0x7fffffff;

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::uint64_t word(const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// The largest power of two that divides x, up to 16.
std::int64_t alignment_of(std::uint64_t x) { return std::int64_t{1} << std::min(std::countr_zero(x), 4); }

/// The operands of one launch, loads and outputs alike.
struct operand {
  std::uint64_t address;  ///< of the element at iteration index 0
  std::int64_t item;
  const std::vector<std::int64_t>* stride;

  [[nodiscard]] std::int64_t along(std::size_t d) const { return d < stride->size() ? (*stride)[d] : 0; }
};

class planner {
 public:
  planner(const program& p, const iteration& it, const device_traits& device) : program_(p), it_(it), device_(device) {
    extents_.reserve(it.dims.size() + 1);
    loads_.reserve(it.loads.size());
    outputs_.reserve(it.outputs.size());
    for (const iteration_dim& d : it.dims) extents_.push_back(d.extent);
    if (extents_.empty()) extents_.push_back(1);
    inner_ = extents_.size() - 1;
    for (const load_path& l : it.loads) loads_.push_back({word(l.data + l.offset), l.item, &l.stride});
    for (const output_path& o : it.outputs) outputs_.push_back({word(o.data), o.item, &o.stride});
  }

  launch run() {
    for (std::size_t d = 0; d < inner_; ++d) rows_ *= extents_[d];
    choose_group();
    choose_groups_per_thread();
    groups_in_row_ = (extents_[inner_] - head_) / group_;
    rest_ = extents_[inner_] - groups_in_row_ * group_;
    describe();

    launch l;
    l.threads = linear_threads;
    l.quick = true;
    l.words.reserve(64);
    add_counts(l);
    add_operands(l.words);
    l.key = key();
    l.text = [&p = program_, form = std::move(form_)] { return linear_text(p, form); };
    return l;
  }

 private:
  // ---- How many elements are read and written together.

  bool guarded(std::size_t load, std::size_t dim) const {
    return it_.loads[load].guard_of(static_cast<int>(dim)) != nullptr;
  }
  bool contiguous(const operand& o) const { return o.along(inner_) == o.item || extents_[inner_] == 1; }

  /// As many as 16 bytes of the widest type hold, where every output can be written in such pieces and no load has
  /// another stride along the innermost dimension: its elements are read better by neighboring threads.
  void choose_group() {
    std::int64_t widest = 1;
    for (std::size_t k = 0; k < loads_.size(); ++k) {
      widest = std::max(widest, loads_[k].item);
      const std::int64_t along = loads_[k].along(inner_);
      if (along != 0 && along != loads_[k].item && !guarded(k, inner_)) return;
    }
    for (const operand& o : outputs_) {
      widest = std::max(widest, o.item);
      if (!contiguous(o)) return;
    }
    for (group_ = 16 / widest; group_ > 1; group_ /= 2)
      if (find_head()) return;
    head_ = 0;
  }

  /// Elements of each row before the first group that is aligned in all outputs.
  bool find_head() {
    const operand& first = outputs_.front();
    if (first.address % static_cast<std::uint64_t>(first.item) != 0) return false;
    const std::int64_t bytes = group_ * first.item;
    head_ = (bytes - static_cast<std::int64_t>(first.address % static_cast<std::uint64_t>(bytes))) % bytes / first.item;
    for (const operand& o : outputs_)
      if (alignment(o, group_) < group_ * o.item) return false;
    // Elements outside the groups are computed one by one; there must not be many.
    const std::int64_t n = extents_[inner_];
    return (n - head_) % group_ + head_ == 0 || rows_ == 1 || n >= 32 * group_;
  }

  /// Of the first elements of all groups of this length, up to 16 bytes.
  std::int64_t alignment(const operand& o, std::int64_t group) const {
    std::uint64_t all = (o.address + word(head_ * o.along(inner_))) | word(group * o.along(inner_));
    for (std::size_t d = 0; d < inner_; ++d) all |= word(o.along(d));
    return alignment_of(all);
  }

  /// 64 bytes under way in each thread keep the memory busy; many elements make long code, with guards sooner.
  void choose_groups_per_thread() {
    std::int64_t bytes = 0;
    for (const operand& o : loads_.empty() ? outputs_ : loads_) bytes += o.item * group_;
    const bool guards =
        std::any_of(it_.loads.begin(), it_.loads.end(), [](const load_path& l) { return !l.guards.empty(); });
    const std::int64_t most = guards ? 4 : group_ == 1 ? 8 : 16;  // elements
    const std::int64_t wanted = std::max<std::int64_t>(1, std::min(64 / bytes, most / group_));
    groups_per_thread_ = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(wanted)));
    constexpr int most_instructions = 256;
    form_.rolled = groups_per_thread_ > 1 && weight_of(program_) * group_ * groups_per_thread_ > most_instructions;
  }

  // ---- The text's form.

  void describe() {
    form_.loads.reserve(loads_.size());
    form_.outputs.reserve(outputs_.size());
    form_.guards.reserve(loads_.size());
    form_.ndim = static_cast<std::uint8_t>(extents_.size());
    form_.group = static_cast<std::uint8_t>(group_);
    form_.groups_per_thread = static_cast<std::uint8_t>(groups_per_thread_);
    for (std::size_t k = 0; k < loads_.size(); ++k) {
      form_.loads.push_back(form_of(loads_[k], guarded(k, inner_)));
      form_.guards.emplace_back();
      for (const guard& g : it_.loads[k].guards)
        form_.guards.back().push_back(
            {static_cast<std::int8_t>(g.dim), used_faces(g).low.kind, used_faces(g).high.kind});
    }
    for (const operand& o : outputs_) form_.outputs.push_back(form_of(o, false));
    for (const instruction& i : program_.code)
      if (i.op == opcode::index)
        form_.indices.push_back({i.args[0], static_cast<std::int8_t>(it_.indices[i.args[0]].dim)});
    form_.wide_offset = needs_wide_offset();
    const std::int64_t slack = std::int64_t{2} * linear_threads * groups_per_thread_ * device_.multiprocessors;
    form_.wide_index = rows_ > (most_31_bits - slack) / std::max(std::max(groups_in_row_, rest_), std::int64_t{1});
  }

  access_form form_of(const operand& o, bool mapped) const {
    using kind = access_form::kind;
    access_form f;
    f.inner = mapped                 ? kind::mapped
              : contiguous(o)        ? kind::contiguous
              : o.along(inner_) == 0 ? kind::constant
                                     : kind::strided;
    const bool together = f.inner == kind::contiguous;
    f.width =
        static_cast<std::uint8_t>(std::min(alignment(o, together ? group_ : 1), together ? group_ * o.item : o.item));
    for (std::size_t d = 0; d < inner_; ++d) f.outer |= (o.along(d) != 0 ? 1u : 0u) << d;
    return f;
  }

  /// What the text of a guard needs: only the faces beyond which something is read.
  faces used_faces(const guard& g) const {
    if (g.dim < 0) return {g.first < 0 ? g.boundary.low : g.boundary.high, {}};
    faces used;
    if (g.first < g.lo) used.low = g.boundary.low;
    if (g.first + extents_[static_cast<std::size_t>(g.dim)] > g.hi) used.high = g.boundary.high;
    return used;
  }

  /// True when an offset, an index or an intermediate result does not fit into 32 bits.
  bool needs_wide_offset() const {
    for (const std::int64_t n : extents_)
      if (n > most_31_bits - 16) return true;
    const auto exceeds = [&](const operand& o, std::int64_t more) {
      std::int64_t reach = more;
      for (std::size_t d = 0; d < extents_.size(); ++d) {
        const std::int64_t step = std::abs(o.along(d));
        if (step != 0 && extents_[d] > most_31_bits / step) return true;
        reach += step * extents_[d];
      }
      return reach > most_31_bits;
    };
    for (std::size_t k = 0; k < loads_.size(); ++k) {
      std::int64_t more = 0;
      for (const guard& g : it_.loads[k].guards) {
        const std::int64_t n = g.dim < 0 ? 0 : extents_[static_cast<std::size_t>(g.dim)];
        const std::int64_t furthest = std::abs(g.first) + n + std::max({std::abs(g.lo), std::abs(g.hi), g.extent});
        const std::int64_t step = std::max<std::int64_t>(std::abs(g.stride), 1);
        if (furthest > most_31_bits / step) return true;
        more += furthest * step;
      }
      if (exceeds(loads_[k], more)) return true;
    }
    return std::any_of(outputs_.begin(), outputs_.end(), [&](const operand& o) { return exceeds(o, 0); });
  }

  // ---- The arguments, in the order in which the text reads them (linear_text.cpp).

  void add_divisor(std::vector<std::uint64_t>& words, std::int64_t d) const {
    const auto all = divisor_words(d, form_.wide_index);
    words.insert(words.end(), all.begin(), all.end());
  }

  void add_counts(launch& l) const {
    const std::int64_t groups = rows_ * groups_in_row_;
    const std::int64_t tail = rows_ * rest_;
    const auto blocks_for = [](std::int64_t n, std::int64_t each) { return (n + each - 1) / each; };
    // Few groups are spread over all multiprocessors.
    const std::int64_t full = blocks_for(groups, linear_threads * groups_per_thread_);
    const bool few = full < 2 * device_.multiprocessors;
    const std::int64_t blocks =
        few ? std::min<std::int64_t>(blocks_for(groups, linear_threads), 2 * device_.multiprocessors) : full;
    const std::int64_t step = few ? blocks * linear_threads : std::int64_t{linear_threads};
    const std::int64_t block_step = few ? std::int64_t{linear_threads} : linear_threads * groups_per_thread_;
    l.blocks = static_cast<std::uint32_t>(blocks + blocks_for(tail, linear_threads));
    l.words.insert(l.words.end(), {word(groups), word(blocks), word(block_step), word(step), word(tail), word(head_),
                                   word(groups_in_row_ * group_)});
    if (extents_.size() == 1) return;
    add_divisor(l.words, groups_in_row_);
    add_divisor(l.words, rest_);
    for (std::size_t d = inner_ - 1; d > 0; --d) add_divisor(l.words, extents_[d]);
  }

  void add_operand(std::vector<std::uint64_t>& words, const operand& o, const access_form& f) const {
    words.push_back(o.address);
    for (std::size_t d = 0; d < inner_; ++d)
      if ((f.outer >> d & 1u) != 0) words.push_back(word(o.along(d)));
    if (f.inner == access_form::kind::strided || f.inner == access_form::kind::mapped)
      words.push_back(word(o.along(inner_)));
  }

  void add_operands(std::vector<std::uint64_t>& words) const {
    for (std::size_t k = 0; k < loads_.size(); ++k) {
      add_operand(words, loads_[k], form_.loads[k]);
      for (const guard& g : it_.loads[k].guards) {
        const faces used = used_faces(g);
        if (g.dim >= 0)
          words.insert(words.end(), {word(g.first), word(g.lo), word(g.hi), word(g.extent), word(g.stride)});
        if (used.low.kind == boundary_kind::value) append_words(words, used.low.value);
        if (used.high.kind == boundary_kind::value) append_words(words, used.high.value);
      }
    }
    for (std::size_t k = 0; k < outputs_.size(); ++k) add_operand(words, outputs_[k], form_.outputs[k]);
    for (const index_form& i : form_.indices) words.push_back(word(it_.indices[i.axis].first));
    for (const gather_source& g : it_.gathers) words.insert(words.end(), {word(g.data), word(g.count)});
    for (const scalar_value& s : program_.scalars) append_words(words, s);
  }

  std::string key() const {
    std::string key = structure_key(program_, false);
    key.insert(0, "linear ");
    const auto add = [&](auto... bytes) { (key.push_back(static_cast<char>(bytes)), ...); };
    add(form_.ndim, form_.group, form_.groups_per_thread, form_.rolled, form_.wide_index, form_.wide_offset);
    const auto add_access = [&](const access_form& f) {
      add(f.inner, f.width, f.outer, f.outer >> 8, f.outer >> 16, f.outer >> 24);
    };
    for (std::size_t k = 0; k < form_.loads.size(); ++k) {
      add_access(form_.loads[k]);
      add(form_.guards[k].size());
      for (const guard_form& g : form_.guards[k]) add(g.dim, g.low, g.high);
    }
    for (const access_form& f : form_.outputs) add_access(f);
    for (const index_form& i : form_.indices) add(i.dim);
    return key;
  }

  const program& program_;
  const iteration& it_;
  const device_traits& device_;
  std::vector<std::int64_t> extents_;
  std::size_t inner_ = 0;
  std::vector<operand> loads_, outputs_;
  std::int64_t rows_ = 1, group_ = 1, head_ = 0, groups_per_thread_ = 1;
  std::int64_t groups_in_row_ = 0, rest_ = 0;  // of each row: groups, and elements outside them
  linear_form form_;
};

}  // namespace

launch plan_linear(const program& p, const iteration& it, const device_traits& device) {
  return planner(p, it, device).run();
}

}  // namespace serried::inline v0::cuda
