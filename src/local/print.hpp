// The text of an array, as str() makes it in NumPy 2.4 with the print options that it starts with.
#pragma once

#include <serried/dtype.hpp>
#include <serried/shape.hpp>

#include <string>

namespace serried::inline v0 {

/// The elements of an array of shape `s` that are printed, as a shape: once there are more than 1000, the first and
/// the last three along every axis longer than six.
[[nodiscard]] shape shown_shape(const shape& s);

/// The text of an array of shape `s`, whose printed elements lie at `shown`, in C order. NumPy does not know
/// bfloat16: it is printed as float32 is, with the digits that tell one bfloat16 from the next.
[[nodiscard]] std::string format_array(const void* shown, dtype type, const shape& s);

}  // namespace serried::inline v0
