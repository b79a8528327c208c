// Checked mode's look at calls that pass messages between pairs of ranks only.
#pragma once

#include <serried/communicator.hpp>

#include <string_view>

namespace serried::inline v0::dist {

/// In checked mode (SERRIED_CHECK=1), collective: throws the same comm_error on every rank unless all make the same
/// call.
void check_same_call(const communicator& world, std::string_view call);

}  // namespace serried::inline v0::dist
