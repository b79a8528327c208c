// The public functions: the current device's memory.
#include <serried/context.hpp>
#include <serried/memory.hpp>

#include "local/engine.hpp"

#include <utility>

namespace serried::inline v0::memory {

namespace {
engine& device() { return *context::current().device_engine(); }
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
