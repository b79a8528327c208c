// What a context holds.
#pragma once

#include <serried/context.hpp>

#include "local/engine.hpp"
#include "local/memory/pool.hpp"

#include <memory>

namespace serried::inline v0 {

struct context_state {
  std::shared_ptr<engine> device;
  int threads = 1;
};

}  // namespace serried::inline v0
