// The public functions: the current device's memory.
#include <serried/context.hpp>
#include <serried/memory.hpp>

#include "local/engine.hpp"

#include <utility>

namespace serried::inline v0::memory {

namespace {
device_memory& current() { return context::current().device_engine()->memory(); }
}  // namespace

statistics stats() { return current().pool().stats(); }
void set_limit(std::size_t bytes) { current().pool().set_limit(bytes); }
void trim() { current().pool().trim(); }
void set_resource(std::shared_ptr<resource> mine) { current().set_source(std::move(mine)); }

}  // namespace serried::inline v0::memory
