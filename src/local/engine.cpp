#include "local/engine.hpp"

#include <serried/error.hpp>

namespace serried::inline v0 {

memory::buffer engine::allocate(std::size_t bytes) {
  const std::shared_ptr<queue> none;
  const std::shared_ptr<queue>& home = asynchronous() ? shared_current_queue() : none;
  try {
    return {memory_.source(), bytes, home};
  } catch (const out_of_memory&) {
    if (!memory_.drop_spares()) throw;
  }
  return {memory_.source(), bytes, home};
}

}  // namespace serried::inline v0
