#include "local/program.hpp"

#include <serried/error.hpp>

namespace serried::inline v0 {

void report(failure what) {
  switch (what) {
    case failure::none: break;
    case failure::negative_power:
      throw value_error("power: integers to negative integer powers are not allowed; convert to a floating dtype");
    case failure::outside:
      throw index_error(
          "an element of an index array is out of bounds: along an axis of length n, indices go from -n to n - 1");
  }
}

std::vector<std::uint16_t> gathered_leaves(const program& p) {
  std::vector<std::uint16_t> slots;
  for (const instruction& i : p.code)
    if (i.op == opcode::gather && std::find(slots.begin(), slots.end(), i.args[1]) == slots.end())
      slots.push_back(i.args[1]);
  return slots;
}

}  // namespace serried::inline v0
