#include "local/cuda/plan_cache.hpp"

#include "local/cuda/emit.hpp"

#include <cstring>

namespace serried::inline v0::cuda {
namespace {

/// Appends to a key.
class writer {
 public:
  explicit writer(std::vector<std::uint64_t>& words) : words_(words) { words_.clear(); }

  void add(std::uint64_t word) { words_.push_back(word); }
  void add(std::int64_t number) { add(static_cast<std::uint64_t>(number)); }
  void add(dtype type) { add(static_cast<std::uint64_t>(type)); }
  void add(const std::byte* address) { add(std::uint64_t{reinterpret_cast<std::uintptr_t>(address)}); }
  void add(const dims& d) {
    add(std::int64_t{d.size()});
    words_.insert(words_.end(), d.begin(), d.end());
  }
  void add(const box& b) {
    add(b.lo);
    words_.insert(words_.end(), b.hi.begin(), b.hi.end());
  }
  void add(const instruction& i) {
    static_assert(static_cast<int>(opcode::count_) <= 256 && dtype_count <= 16);
    add(static_cast<std::uint64_t>(i.op) | static_cast<std::uint64_t>(i.in) << 8 |
        static_cast<std::uint64_t>(i.out) << 12 | std::uint64_t{i.args[0]} << 16 | std::uint64_t{i.args[1]} << 32 |
        std::uint64_t{i.args[2]} << 48);
  }
  void add(const face& f) {
    add(static_cast<std::uint64_t>(f.kind));
    if (f.kind != boundary_kind::value) return;
    add(f.value.type);
    append_words(words_, f.value);
  }
  void add(const leaf_binding& l) {
    add(l.data);
    add(l.type);
    add(l.extent);
    add(l.window);
    add(l.stride);
    add(static_cast<std::uint64_t>(l.boundary.size()));
    for (const faces& f : l.boundary) {
      add(f.low);
      add(f.high);
    }
  }
  void add(const output_binding& o) {
    add(o.data);
    add(o.type);
    add(o.stride);
  }
  /// Each of several, after their number.
  template <class Several>
  void add_all(const Several& several) {
    add(static_cast<std::uint64_t>(several.size()));
    for (const auto& one : several) add(one);
  }

 private:
  std::vector<std::uint64_t>& words_;
};

}  // namespace

const plan_key& plan_key::of(const program& p, std::span<const leaf_binding> leaves,
                             std::span<const output_binding> outputs, const box& where) {
  thread_local plan_key key;
  writer w(key.words_);
  w.add(where);
  w.add_all(p.code);
  w.add(static_cast<std::uint64_t>(p.loads.size()));
  for (const leaf_load& l : p.loads) {
    w.add(std::uint64_t{l.leaf});
    w.add(l.offset);
  }
  w.add_all(p.leaves);
  w.add(static_cast<std::uint64_t>(p.scalars.size()));
  for (const scalar_value& s : p.scalars) w.add(s.type);
  w.add(static_cast<std::uint64_t>(p.outputs.size()));
  for (const std::uint16_t r : p.outputs) w.add(std::uint64_t{r});
  w.add_all(leaves);
  w.add_all(outputs);
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key.words_) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;  // 2^64 / the golden ratio: Knuth, The Art of Computer Programming 3, 6.4
    hash ^= hash >> 32;
  }
  key.hash_ = hash;
  return key;
}

void plan::set_scalars(std::span<const scalar_value> scalars) {
  std::size_t place = words.size();
  for (const scalar_value& s : scalars) place -= static_cast<std::size_t>(words_of(s.type));
  for (const scalar_value& s : scalars) {
    std::memcpy(&words[place], s.bytes.data(), item_size(s.type));
    place += static_cast<std::size_t>(words_of(s.type));
  }
}

bool plan_cache::find(const plan_key& key, plan& p) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key.hash());
  if (found == entries_.end() || found->second.key != key) return false;
  p = found->second.what;
  return true;
}

void plan_cache::keep(const plan_key& key, const plan& p) {
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= capacity) entries_.clear();
  entries_.insert_or_assign(key.hash(), entry{key, p});
}

std::size_t plan_cache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace serried::inline v0::cuda
