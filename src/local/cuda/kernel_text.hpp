// Writing a kernel's text: words are named by their numbers, in the order in which the planner gives them.
#pragma once

#include "local/cuda/emit.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace serried::inline v0::cuda {

class kernel_text {
 protected:
  explicit kernel_text(const program& p) : program_(p) {}

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  /// The number of the first of the next words.
  int take(int words = 1) {
    next_ += words;
    return next_ - words;
  }
  [[nodiscard]] std::string_view type_of(std::size_t load) const {
    return element_type(program_.leaves[program_.loads[load].leaf]);
  }

  const program& program_;
  std::string text_;
  int next_ = 0;
};

}  // namespace serried::inline v0::cuda
