// The public functions: the current device's memory.
#include <serried/error.hpp>
#include <serried/memory.hpp>

#include "local/context.hpp"
#include "local/engine.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace serried::inline v0::memory {

device_memory::device_memory(std::shared_ptr<memory::pool> p) : pool_(std::move(p)), source_(pool_) {
  const char* const text = std::getenv("SERRIED_POOL");
  const std::string_view wanted = text == nullptr || *text == '\0' ? "on" : text;
  if (wanted == "off") set_source(pool_->upstream());
  else if (wanted != "on") throw value_error(fmt::format("SERRIED_POOL={}: on or off is needed", wanted));
}

namespace {
engine& device() { return *current_device(); }
pool& pool_of(kind of) { return of == kind::pinned ? device().pinned() : device().memory().pool(); }
}  // namespace

statistics stats(kind of) { return pool_of(of).stats(); }
void set_limit(std::size_t bytes, kind of) { pool_of(of).set_limit(bytes); }
void trim(kind of) {
  device().memory().drop_spares();
  pool_of(of).trim();
}
void set_resource(std::shared_ptr<resource> mine) { device().memory().set_source(std::move(mine)); }

}  // namespace serried::inline v0::memory
