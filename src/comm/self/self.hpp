// The communicator of a rank that is alone.
#pragma once

#include "comm/backend.hpp"

namespace serried::inline v0::comm {

/// `is_run` says that this rank is the whole run, not one of several.
[[nodiscard]] std::shared_ptr<backend> make_self(bool is_run);

}  // namespace serried::inline v0::comm
