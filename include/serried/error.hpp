// The exceptions Serried throws. A message names the operation, the shapes or dtypes, and what would be right.
#pragma once

#include <serried/export.hpp>

#include <stdexcept>
#include <string>

namespace serried::inline v0 {

/// Base of every exception that Serried throws.
class SERRIED_API error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// True when every rank of the run throws this same error at this same call, so that one rank may report it
  /// for all and the run can end in good order.
  [[nodiscard]] bool collective() const noexcept { return collective_; }
  void set_collective(bool value) noexcept { collective_ = value; }

 private:
  bool collective_ = false;
};

/// Shapes that do not fit together, or a size that overflows.
class SERRIED_API shape_error : public error {
  using error::error;
};
/// A dtype that the operation does not take, or a cast that is not allowed.
class SERRIED_API dtype_error : public error {
  using error::error;
};
/// An index outside an array, or an `at` that leaves an array without a boundary.
class SERRIED_API index_error : public error {
  using error::error;
};
/// An argument whose value is not allowed.
class SERRIED_API value_error : public error {
  using error::error;
};
/// Memory could not be had; the message gives requested, in use, cached, limit and free bytes.
class SERRIED_API out_of_memory : public error {
  using error::error;
};
/// A device that is absent, or failed.
class SERRIED_API device_error : public error {
  using error::error;
};
/// A vendor library reported an error; the message holds its code and name.
class SERRIED_API library_error : public error {
  using error::error;
};
/// Ranks that disagree, died or stalled, or a communicator that cannot do what was asked.
class SERRIED_API comm_error : public error {
  using error::error;
};
/// A file that is missing, damaged, or cannot be written.
class SERRIED_API io_error : public error {
  using error::error;
};

}  // namespace serried::inline v0
