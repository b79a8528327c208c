#include "comm/mpi/check.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <algorithm>

namespace serried::inline v0::comm {

namespace {

/// FNV-1a over whole numbers.
std::uint64_t digest_of(std::span<const std::size_t> counts) {
  std::uint64_t h = 14695981039346656037u;
  for (std::size_t n : counts) h = (h ^ n) * 1099511628211u;
  return h;
}

std::string call_text(const call_header& h) {
  return describe({.op = static_cast<operation>(h.op),
                   .type = static_cast<dtype>(h.type),
                   .count = static_cast<std::size_t>(h.count),
                   .root = h.root,
                   .reduction = static_cast<reduce_op>(h.reduction)}) +
         (h.on_device != 0 ? " on a device" : "");
}

/// "rank 0", "ranks 0-2 5": those whose header equals the one at `first`.
std::string ranks_like(std::span<const call_header> headers, std::size_t first) {
  std::string text;
  std::size_t ranks = 0;
  for (std::size_t r = first; r < headers.size(); ++r) {
    if (headers[r] != headers[first]) continue;
    std::size_t last = r;
    while (last + 1 < headers.size() && headers[last + 1] == headers[first]) ++last;
    text += last == r ? fmt::format(" {}", r) : fmt::format(" {}-{}", r, last);
    ranks += last - r + 1;
    r = last;
  }
  return fmt::format("{}{}", ranks == 1 ? "rank" : "ranks", text);
}

}  // namespace

call_header header_of(const request& r) {
  const bool counted = r.op == operation::all_gatherv;
  return {.op = static_cast<std::int32_t>(r.op),
          .type = static_cast<std::int32_t>(r.type),
          .root = r.op == operation::split ? 0 : r.root,  // ranks may choose their colors
          .reduction = static_cast<std::int32_t>(r.reduction),
          .count = r.count,
          .digest = counted ? digest_of(r.recv_counts) : 0,
          .on_device = r.device && r.check_only ? 1u : 0u};
}

void check_headers(std::span<const call_header> headers, std::uint64_t call, bool spans_run) {
  const auto differs = [&](const call_header& h) { return h != headers[0]; };
  if (std::none_of(headers.begin(), headers.end(), differs)) return;

  std::string text = fmt::format("the ranks disagree at collective call {} of their communicator:", call);
  std::size_t named = 0;
  for (std::size_t r = 0; r < headers.size(); ++r) {
    if (std::find(headers.begin(), headers.begin() + static_cast<std::ptrdiff_t>(r), headers[r]) !=
        headers.begin() + static_cast<std::ptrdiff_t>(r))
      continue;  // named with an earlier rank
    if (++named > 4) {
      text += "; and others differ";
      break;
    }
    text += fmt::format("{} {} called {}", named == 1 ? "" : ";", ranks_like(headers, r), call_text(headers[r]));
  }
  comm_error e(text);
  e.set_collective(spans_run);
  throw e;
}

}  // namespace serried::inline v0::comm
