#include "local/select.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace serried::inline v0 {

index_item::index_item(const array& indices) : index_item(expr(indices)) {}
index_item::index_item(const expr& indices) : kind_(kind::array), slice_(_, _), indices_(indices.state()) {}

expr index_item::indices() const { return expr(indices_); }

bool has_index_arrays(const std::vector<index_item>& items) {
  return std::any_of(items.begin(), items.end(), [](const auto& i) { return i.type() == index_item::kind::array; });
}

selection resolve_selection(const std::vector<index_item>& items, const shape& s, const char* operation) {
  using kind = index_item::kind;
  if (has_index_arrays(items))
    throw value_error(
        fmt::format("{}: an array of indices makes no view; a(indices) and take(a, indices) give what it picks from an "
                    "array on one device",
                    operation));
  int consumed = 0;
  int ellipses = 0;
  for (const auto& item : items) {
    if (item.type() == kind::rest) ++ellipses;
    else if (item.type() != kind::added) ++consumed;
  }
  if (ellipses > 1) throw index_error(fmt::format("{}: more than one ellipsis", operation));
  if (consumed > s.size())
    throw index_error(fmt::format("{}: {} indices for an array of {} dimensions, shape {}", operation, consumed,
                                  s.size(), to_string(s)));

  selection r{{}, {}, {}, {}, true};
  int d = 0;
  const auto keep = [&](std::int64_t start, std::int64_t step, std::int64_t length) {
    r.start.push_back(start);
    r.step.push_back(step);
    r.result.push_back(length);
    r.source.push_back(d++);
    r.is_box = r.is_box && step == 1;
  };
  const auto keep_whole = [&](int count) {
    for (int i = 0; i < count; ++i) keep(0, 1, s[d]);
  };

  for (const auto& item : items) {
    switch (item.type()) {
      case kind::all: keep_whole(1); break;
      case kind::rest: keep_whole(s.size() - consumed); break;
      case kind::added:
        r.result.push_back(1);
        r.source.push_back(-1);
        r.is_box = false;
        break;
      case kind::integer: {
        const std::int64_t n = s[d];
        const std::int64_t i = item.integer() < 0 ? item.integer() + n : item.integer();
        if (i < 0 || i >= n)
          throw index_error(
              fmt::format("{}: index {} is out of bounds for axis {} of size {}", operation, item.integer(), d, n));
        r.start.push_back(i);
        r.step.push_back(0);
        r.is_box = false;
        ++d;
        break;
      }
      case kind::array: break;  // refused above
      case kind::slice: {
        const slice& range = item.range();
        const std::int64_t n = s[d];
        const std::int64_t step = range.step;
        if (step == 0) throw value_error(fmt::format("{}: slice step 0", operation));
        const auto bound = [&](const slice_bound& b, std::int64_t missing) {
          if (!b.get()) return missing;
          const std::int64_t v = *b.get() < 0 ? *b.get() + n : *b.get();
          return step > 0 ? std::clamp<std::int64_t>(v, 0, n) : std::clamp<std::int64_t>(v, -1, n - 1);
        };
        const std::int64_t start = bound(range.start, step > 0 ? 0 : n - 1);
        const std::int64_t stop = bound(range.stop, step > 0 ? n : -1);
        // Written so that no step, however large, overflows.
        std::int64_t length = 0;
        if (step > 0 && stop > start) length = (stop - start - 1) / step + 1;
        if (step < 0 && stop < start) length = (stop - start + 1) / step + 1;
        keep(length == 0 ? 0 : start, length <= 1 ? 1 : step, length);
        break;
      }
    }
  }
  keep_whole(s.size() - d);
  return r;
}

}  // namespace serried::inline v0
