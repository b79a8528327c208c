// How a run that cannot go on ends.
#pragma once

#include <string>
#include <string_view>

#include "comm/backend.hpp"

namespace serried::inline v0::comm {

/// Prints "PROGRAM: error: MESSAGE" on stderr, as one line.
void print_error(std::string_view message);

/// What a rank says that has waited too long, for `what`.
[[nodiscard]] std::string stall_message(int rank, int size, double seconds, std::string_view what);

/// Prints the message and ends all ranks with exit code 1.
///
/// The same mistake often strikes all ranks at once, and one line should do: the higher ranks hold back a little, so
/// that a lower one that has failed too ends them first.
[[noreturn]] void end_with_error(backend& world, std::string_view message);

}  // namespace serried::inline v0::comm
