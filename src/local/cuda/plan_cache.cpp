#include "local/cuda/plan_cache.hpp"

#include "local/cuda/emit.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <mutex>

namespace serried::inline v0::cuda {

template <class F>
void plan_key::for_each_word(F&& f) const {
  // Small numbers share a word, and say how many words follow.
  const auto small = [&](auto... numbers) {
    static_assert(sizeof...(numbers) <= 4);
    std::uint64_t word = 0;
    ((word = word << 16 | static_cast<std::uint64_t>(numbers)), ...);
    f(word);
  };
  // Of as many dimensions each.
  const auto dimensions = [&](int n, const auto&... several) {
    for (int d = 0; d < n; ++d) (f(static_cast<std::uint64_t>(several[d])), ...);
  };
  const auto address = [&](const std::byte* p) { f(reinterpret_cast<std::uintptr_t>(p)); };

  const program& p = program_;
  small(where_.ndim(), p.leaves.size(), leaves_.size(), outputs_.size());
  dimensions(where_.ndim(), where_.lo, where_.hi);
  small(p.code.size(), p.loads.size(), p.scalars.size(), p.outputs.size());
  for (const instruction& i : p.code) {
    static_assert(static_cast<int>(opcode::count_) <= 256 && dtype_count <= 16);
    small(static_cast<int>(i.op) << 8 | static_cast<int>(i.in) << 4 | static_cast<int>(i.out), i.args[0], i.args[1],
          i.args[2]);
  }
  for (const leaf_load& l : p.loads) {
    small(l.leaf, l.offset.size());
    dimensions(l.offset.size(), l.offset);
  }
  for (const dtype type : p.leaves) small(type);
  for (const scalar_value& s : p.scalars) small(s.type);
  for (const std::uint16_t r : p.outputs) small(r);
  for (const leaf_binding& l : leaves_) {
    address(l.data);
    small(l.type, l.extent.size(), l.boundary.size());
    dimensions(l.extent.size(), l.extent, l.window.lo, l.window.hi, l.stride);
    for (const faces& both : l.boundary)
      for (const face* const one : {&both.low, &both.high}) {
        small(one->kind, one->value.type);
        for (const std::uint64_t word : std::bit_cast<std::array<std::uint64_t, 2>>(one->value.bytes)) f(word);
      }
  }
  for (const output_binding& o : outputs_) {
    address(o.data);
    small(o.type, o.stride.size());
    dimensions(o.stride.size(), o.stride);
    address(o.around.data);
    f(static_cast<std::uint64_t>(o.around.before));
    f(static_cast<std::uint64_t>(o.around.behind));
  }
}

plan_key::plan_key(const program& p, std::span<const leaf_binding> leaves, std::span<const output_binding> outputs,
                   const box& where)
    : program_(p), leaves_(leaves), outputs_(outputs), where_(where) {
  // A polynomial, folded, in a number near 2^64 / the golden ratio: Knuth, The Art of Computer Programming, 6.4.
  std::uint64_t hash = 0;
  std::size_t size = 0;
  for_each_word([&](std::uint64_t word) {
    hash = hash * 0x9e3779b97f4a7c15u + word;
    ++size;
  });
  hash_ = hash ^ hash >> 32;
  size_ = size;
}

std::vector<std::uint64_t> plan_key::words() const {
  std::vector<std::uint64_t> words;
  words.reserve(size_);
  for_each_word([&](std::uint64_t word) { words.push_back(word); });
  return words;
}

bool plan_key::is(std::span<const std::uint64_t> words) const {
  if (words.size() != size_) return false;
  const std::uint64_t* next = words.data();
  std::uint64_t difference = 0;
  for_each_word([&](std::uint64_t word) { difference |= word ^ *next++; });
  return difference == 0;
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
  if (found == entries_.end() || !key.is(found->second.key)) return false;
  p = found->second.what;
  return true;
}

void plan_cache::keep(const plan_key& key, const plan& p) {
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= capacity) entries_.clear();
  entries_.insert_or_assign(key.hash(), entry{key.words(), p});
}

std::size_t plan_cache::size() const {
  const std::shared_lock lock(mutex_);
  return entries_.size();
}

}  // namespace serried::inline v0::cuda
