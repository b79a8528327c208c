#include "local/io/npy_file.hpp"
#include "local/io/runs.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace serried::inline v0::io {

namespace {

// Runs shorter than this are gathered through a buffer that is filled in one read, gaps included, as long as a gap
// costs less than another read would.
constexpr std::int64_t direct_bytes = 64 << 10;
constexpr std::int64_t gap_bytes = 16 << 10;
constexpr std::int64_t buffer_bytes = 1 << 20;
// A Fortran-order file is transposed in chunks of this size.
constexpr std::int64_t chunk_bytes = 4 << 20;

/// Reads byte ranges that come in rising order into consecutive memory.
class gatherer {
 public:
  gatherer(const file& from, std::byte* out) : file_(from), out_(out) {}

  void add(std::int64_t offset, std::int64_t bytes) {
    const bool joins = !pieces_.empty() && bytes < direct_bytes && offset - end_ <= gap_bytes &&
                       offset + bytes - pieces_.front().offset <= buffer_bytes;
    if (!joins) flush();
    pieces_.push_back({offset, bytes});
    end_ = offset + bytes;
  }

  void flush() {
    if (pieces_.size() == 1) {
      read(pieces_.front().offset, out_, pieces_.front().bytes);
      out_ += pieces_.front().bytes;
    } else if (!pieces_.empty()) {
      const std::int64_t begin = pieces_.front().offset;
      buffer_.resize(static_cast<std::size_t>(buffer_bytes));
      read(begin, buffer_.data(), end_ - begin);
      for (const piece& p : pieces_) {
        std::memcpy(out_, buffer_.data() + (p.offset - begin), static_cast<std::size_t>(p.bytes));
        out_ += p.bytes;
      }
    }
    pieces_.clear();
  }

 private:
  struct piece {
    std::int64_t offset, bytes;
  };

  void read(std::int64_t offset, std::byte* out, std::int64_t bytes) const {
    if (file_.read_at(offset, out, static_cast<std::size_t>(bytes)) != static_cast<std::size_t>(bytes))
      throw io_error(fmt::format("{}: truncated while it was being read", file_.path()));
  }

  const file& file_;
  std::byte* out_;
  std::int64_t end_ = 0;
  std::vector<piece> pieces_;
  std::vector<std::byte> buffer_;
};

void read_c_order(const file& from, std::int64_t data_offset, std::int64_t size, const shape& extents, const box& where,
                  std::byte* out) {
  gatherer gather(from, out);
  for_each_run(extents, where,
               [&](std::int64_t index, std::int64_t count) { gather.add(data_offset + index * size, count * size); });
  gather.flush();
}

dims reversed(const dims& d) {
  dims r = d;
  std::reverse(r.begin(), r.end());
  return r;
}

/// Copies rows × columns elements: (i, j) from in + i·Size + j·in_step to out + i·out_step + j·Size. In tiles, so that
/// neither side walks through the cache with long steps.
template <std::size_t Size>
void transpose(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step, std::int64_t rows,
               std::int64_t columns) {
  constexpr std::int64_t tile = 32;
  constexpr auto size = static_cast<std::int64_t>(Size);
  for (std::int64_t i0 = 0; i0 < rows; i0 += tile)
    for (std::int64_t j0 = 0; j0 < columns; j0 += tile)
      for (std::int64_t i = i0; i < std::min(rows, i0 + tile); ++i)
        for (std::int64_t j = j0; j < std::min(columns, j0 + tile); ++j)
          std::memcpy(out + i * out_step + j * size, in + i * size + j * in_step, Size);
}

auto transpose_for(std::size_t size) {
  switch (size) {
    case 1: return transpose<1>;
    case 2: return transpose<2>;
    case 4: return transpose<4>;
    case 8: return transpose<8>;
    default: return transpose<16>;
  }
}

/// How much of a box of a Fortran-order file is transposed at a time: long along the first dimension, where the file's
/// numbers are neighbors, and wide enough along the last, where memory's are.
dims chunk_extents(const shape& extents, std::int64_t size) {
  constexpr std::int64_t row_bytes = 512;
  const int last = extents.size() - 1;
  dims chunk = dims::filled(extents.size(), 1);
  chunk[last] = std::min(extents[last], row_bytes / size);
  std::int64_t left = chunk_bytes / size / chunk[last];
  for (int d = 0; d < last && left > 1; ++d) {
    chunk[d] = std::min(extents[d], left);
    left /= chunk[d];
  }
  chunk[last] = std::min(extents[last], chunk[last] * std::max<std::int64_t>(left, 1));
  return chunk;
}

/// `chunk` is a box of the file's array; `out` is where its first element goes, `out_step` the steps from there.
void scatter_chunk(const std::byte* in, const shape& chunk, std::size_t size, std::byte* out, const strides& out_step) {
  const strides in_step = reversed(contiguous_strides(reversed(chunk), size));
  const int last = chunk.size() - 1;
  const auto copy = transpose_for(size);
  dims at = dims::filled(chunk.size(), 0);
  int d = 0;
  do {
    copy(in, in_step[last], out, out_step[0], chunk[0], chunk[last]);
    for (d = 1; d < last; ++d) {
      in += in_step[d];
      out += out_step[d];
      if (++at[d] < chunk[d]) break;
      in -= chunk[d] * in_step[d];
      out -= chunk[d] * out_step[d];
      at[d] = 0;
    }
  } while (d < last);
}

void read_fortran_order(const file& from, std::int64_t data_offset, std::size_t size, const shape& extents,
                        const box& where, std::byte* out) {
  const int n = extents.size();
  const auto item = static_cast<std::int64_t>(size);
  const shape whole_box = where.extents();
  const dims step = chunk_extents(whole_box, item);
  const strides out_step = contiguous_strides(whole_box, size);
  std::vector<std::byte> buffer;
  dims at = where.lo;
  for (int d = 0; d < n;) {
    box chunk{at, at};
    std::byte* target = out;
    for (int k = 0; k < n; ++k) {
      chunk.hi[k] = std::min(at[k] + step[k], where.hi[k]);
      target += (at[k] - where.lo[k]) * out_step[k];
    }
    buffer.resize(static_cast<std::size_t>(chunk.volume()) * size);
    read_c_order(from, data_offset, item, reversed(extents), {reversed(chunk.lo), reversed(chunk.hi)}, buffer.data());
    scatter_chunk(buffer.data(), chunk.extents(), size, target, out_step);
    for (d = 0; d < n; ++d) {
      if ((at[d] += step[d]) < where.hi[d]) break;
      at[d] = where.lo[d];
    }
  }
}

npy_header read_header(const file& from) {
  try {
    std::vector<std::byte> head(npy_preamble_size);
    head.resize(from.read_at(0, head.data(), head.size()));
    const std::int64_t data_offset = npy_data_offset(head);
    // Bounded by the file's size, so that a header cannot make memory run out.
    head.resize(static_cast<std::size_t>(std::min(data_offset, from.size())));
    head.resize(from.read_at(0, head.data(), head.size()));
    const npy_header header = parse_npy_header(head);
    const std::int64_t expected = header.data_bytes();
    const std::int64_t found = from.size() - header.data_offset;
    if (found < expected)
      throw io_error(fmt::format("truncated: {} bytes of data expected, {} found", expected, found));
    return header;
  } catch (const io_error& e) {
    const std::string what = e.what();
    throw io_error(what.starts_with(from.path()) ? what : fmt::format("{}: {}", from.path(), what));
  }
}

}  // namespace

npy_reader::npy_reader(const std::string& path) : file_(file::open_to_read(path)), header_(read_header(file_)) {}

void npy_reader::read_box(const box& where, std::byte* out) const {
  check_inside(extents(), where, "read_box");
  if (where.empty()) return;
  const std::size_t size = item_size(type());
  if (header_.fortran_order && extents().size() > 1)
    read_fortran_order(file_, header_.data_offset, size, extents(), where, out);
  else read_c_order(file_, header_.data_offset, static_cast<std::int64_t>(size), extents(), where, out);
  if (header_.swapped) swap_bytes(out, where.volume(), type());
  // Any other byte in a C++ bool is undefined behavior.
  if (is_bool(type()))
    std::transform(out, out + where.volume(), out, [](std::byte b) { return std::byte{b != std::byte{0}}; });
}

}  // namespace serried::inline v0::io
