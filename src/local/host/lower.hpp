// A program as the host runs it: kernel calls over value slots.
#pragma once

#include "local/host/kernel_table.hpp"
#include "local/program.hpp"

#include <cstdint>
#include <vector>

namespace serried::inline v0::host {

/// Where the elements of a value come from while a tile is computed.
struct slot {
  enum class kind : std::uint8_t {
    scratch,   ///< a kernel writes it: scratch memory that later slots use again
    load,      ///< which: the program's load; the array's own memory where that fits, else a copy
    constant,  ///< which: the program's scalar
    index,     ///< which: the output axis
  };
  kind from;
  std::uint16_t which = 0;
  dtype type;
  std::int64_t place = 0;  ///< of its block, in bytes per element of a tile, from the scratch memory's start
  std::int64_t block = 0;  ///< number of blocks before that place
};

struct step {
  kernel run;
  int width;                   ///< kernel elements per element: 2 where a complex number is treated as two real ones
  std::uint16_t a, b, c, out;  ///< slots; unused operands are the first one again
  failure may_fail = failure::none;  ///< negative exponents, or numbers outside what is gathered from
  int gather = -1;                   ///< instead of `run`: reads elements number `a` of this source of the iteration
  opcode chained = opcode::count_;   ///< add, subtract or multiply of floats, which another may follow in one kernel
};

struct plan {
  std::vector<slot> slots;  ///< a slot comes before the steps that use it
  std::vector<step> steps;
  std::vector<std::uint16_t> outputs;  ///< slots
  std::int64_t scratch = 0;            ///< bytes per element of a tile, over all blocks
  std::int64_t blocks = 0;
};

/// Reduces a program to kernels that exist: shared between types of the same bits, 16-bit floats by way of float.
/// With `widen`, a 16-bit floating output is given as float32. Throws dtype_error for what the host cannot compute.
[[nodiscard]] plan lower(const program& p, const kernel_table& kernels, bool widen = false);

}  // namespace serried::inline v0::host
