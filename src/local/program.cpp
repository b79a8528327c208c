#include "local/program.hpp"

namespace serried::inline v0 {
namespace {

/// FNV-1a over 64-bit words, with a final mix so that short programs spread over all bits.
class hasher {
 public:
  void add(std::uint64_t word) { state_ = (state_ ^ word) * 0x100000001b3; }
  void add(const dims& d) {
    add(static_cast<std::uint64_t>(d.size()));
    for (const std::int64_t i : d) add(static_cast<std::uint64_t>(i));
  }
  [[nodiscard]] std::uint64_t value() const {
    std::uint64_t x = state_;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
    return x ^ (x >> 32);
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace

std::uint64_t program::signature() const {
  hasher h;
  h.add(code.size());
  for (const instruction& i : code) {
    h.add(static_cast<std::uint64_t>(i.op) << 16 | static_cast<std::uint64_t>(i.in) << 8 |
          static_cast<std::uint64_t>(i.out));
    h.add(std::uint64_t{i.args[0]} << 32 | std::uint64_t{i.args[1]} << 16 | i.args[2]);
  }
  h.add(loads.size());
  for (const leaf_load& l : loads) {
    h.add(l.leaf);
    h.add(l.offset);
  }
  h.add(leaves.size());
  for (const dtype t : leaves) h.add(static_cast<std::uint64_t>(t));
  h.add(scalars.size());
  for (const scalar_value& s : scalars) h.add(static_cast<std::uint64_t>(s.type));
  h.add(outputs.size());
  for (const std::uint16_t r : outputs) h.add(r);
  return h.value();
}

}  // namespace serried::inline v0
