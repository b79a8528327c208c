// Numbers in nested braces, as deep as there are dimensions.
#pragma once

#include <serried/scalar.hpp>

#include <initializer_list>

namespace serried::inline v0::detail {

/// A number or a list of such; valid only in the full expression whose braces it stands for.
class nested_list {
 public:
  template <scalar_operand T>
  nested_list(const T& value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  nested_list(std::initializer_list<nested_list> list) : list_(list), is_list_(true) {}

  [[nodiscard]] bool is_list() const noexcept { return is_list_; }
  [[nodiscard]] const scalar& value() const noexcept { return value_; }
  [[nodiscard]] std::initializer_list<nested_list> list() const noexcept { return list_; }

 private:
  scalar value_ = false;
  std::initializer_list<nested_list> list_;
  bool is_list_ = false;
};

}  // namespace serried::inline v0::detail
