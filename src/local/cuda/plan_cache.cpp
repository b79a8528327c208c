#include "local/cuda/plan_cache.hpp"

#include "local/cuda/emit.hpp"

#include <cstring>
#include <mutex>

namespace serried::inline v0::cuda {
namespace {

/// Appends to a key's words.
class writer {
 public:
  explicit writer(std::vector<std::uint64_t>& words) : words_(words) { words_.clear(); }

  template <class T>
  void add(T number) {
    words_.push_back(static_cast<std::uint64_t>(number));
  }
  void add(const dims& d) {
    add(d.size());
    for (const std::int64_t n : d) add(n);
  }
  void add(const box& b) {
    add(b.lo);
    for (const std::int64_t n : b.hi) add(n);
  }
  void add(const instruction& i) {
    static_assert(static_cast<int>(opcode::count_) <= 256 && dtype_count <= 16);
    add(static_cast<std::uint64_t>(i.op) | static_cast<std::uint64_t>(i.in) << 8 |
        static_cast<std::uint64_t>(i.out) << 12 | std::uint64_t{i.args[0]} << 16 | std::uint64_t{i.args[1]} << 32 |
        std::uint64_t{i.args[2]} << 48);
  }
  void add(const leaf_load& l) {
    add(l.leaf);
    add(l.offset);
  }
  void add(const face& f) {
    add(f.kind);
    if (f.kind != boundary_kind::value) return;
    add(f.value.type);
    append_words(words_, f.value);
  }
  void add(const faces& f) {
    add(f.low);
    add(f.high);
  }
  void add(const leaf_binding& l) {
    add(reinterpret_cast<std::uintptr_t>(l.data));
    add(l.type);
    add(l.extent);
    add(l.window);
    add(l.stride);
    add_all(l.boundary);
  }
  void add(const output_binding& o) {
    add(reinterpret_cast<std::uintptr_t>(o.data));
    add(o.type);
    add(o.stride);
  }
  /// Each of several, after their number.
  template <class Several>
  void add_all(const Several& several) {
    add(several.size());
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
  w.add_all(p.loads);
  w.add_all(p.leaves);
  w.add(p.scalars.size());
  for (const scalar_value& s : p.scalars) w.add(s.type);
  w.add_all(p.outputs);
  w.add_all(leaves);
  w.add_all(outputs);
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key.words_) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;  // 2^64 / the golden ratio: Knuth, The Art of Computer Programming, 6.4
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
  const std::shared_lock lock(mutex_);
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
  const std::shared_lock lock(mutex_);
  return entries_.size();
}

}  // namespace serried::inline v0::cuda
