// Which ranks compete for the same processor cores?
#pragma once

#include <serried/communicator.hpp>

namespace serried::inline v0 {

/// Ranks of this machine, this one included, that may run on one of this rank's cores: all of them when the launcher
/// leaves them free, one when it binds each to cores of its own. Collective.
[[nodiscard]] int processes_on_my_cores(const communicator& world);

}  // namespace serried::inline v0
