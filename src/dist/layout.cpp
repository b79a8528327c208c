#include <serried/dist/layout.hpp>

#include <serried/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace serried::inline v0 {

layout::layout(serried::mesh grid, std::vector<split_over> splits)
    : mesh_(std::move(grid)), splits_(std::move(splits)) {
  if (splits_.size() > max_ndim)
    throw value_error(fmt::format("layout: {} entries, at most {}", splits_.size(), max_ndim));
  std::uint32_t used = 0;
  for (const split_over& s : splits_)
    for (const mesh_axis& a : s.axes()) {
      if (!dist::same_mesh(a.state(), mesh_.state()))
        throw value_error(fmt::format("layout: axis '{}' is not an axis of this mesh {}", a.name(), to_string(mesh_)));
      const std::uint32_t bit = std::uint32_t{1} << a.index();
      if ((used & bit) != 0) throw value_error(fmt::format("layout: axis '{}' is used twice", a.name()));
      used |= bit;
    }
  while (!splits_.empty() && splits_.back().axes().empty()) splits_.pop_back();
}

std::string to_string(const layout& l) {
  std::string text;
  for (const split_over& s : l.splits()) {
    if (!text.empty()) text += ", ";
    if (s.axes().empty()) text += "whole";
    for (const mesh_axis& a : s.axes()) text += fmt::format("{}{}", &a == &s.axes().front() ? "" : "*", a.name());
  }
  return "(" + text + ")";
}

}  // namespace serried::inline v0
