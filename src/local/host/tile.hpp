// Computes a program tile by tile: a few rows and columns at a time, in scratch memory that stays in the cache.
#pragma once

#include "local/host/lower.hpp"
#include "local/host/tiling.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace serried::inline v0::host {

/// Memory of one thread, kept from call to call.
class scratch_memory {
 public:
  /// At least `bytes`, aligned to 64. What it held is lost.
  [[nodiscard]] std::byte* reserve(std::int64_t bytes);

 private:
  struct free_memory {
    void operator()(std::byte* p) const noexcept;
  };
  std::unique_ptr<std::byte, free_memory> data_;
  std::int64_t bytes_ = 0;
};

/// Part of the iteration: all dimensions at one index, but for some rows and columns from there.
struct tile {
  std::vector<std::int64_t> at;  ///< per iteration dimension; the last two: the first row and column
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

class tile_computer {
 public:
  /// For tiles of at most `capacity` elements, a multiple of the kernels' grain.
  tile_computer(const program& p, const plan& code, const tiling& it, scratch_memory& memory, std::int64_t capacity);

  /// Computes the tile and stores it through the iteration's output paths.
  void store(const tile& t);

  /// Values of the program's one output, `stride` elements from row to row; good until the next call.
  struct view {
    const std::byte* data;
    std::int64_t stride;
  };
  view values(const tile& t);
  /// Values of one row to `to`, which has room for them up to a whole grain.
  void values_to(const tile& t, std::byte* to);
  /// Whether a row of values() can be the array's own memory, of any number of elements, whatever the capacity.
  [[nodiscard]] bool passes_through() const { return passes_through_; }

 private:
  void keep_constant(std::uint16_t slot, const std::byte* value);
  void load(std::uint16_t slot, const tile& t);
  /// Where a row of a guarded load comes from.
  struct row_source {
    std::int64_t offset;        ///< of the first column's element, if it is inside
    std::int64_t begin, end;    ///< the columns that are inside, or have the row's value
    const scalar_value* value;  ///< of all these columns, if not null
    const guard* columns;       ///< for the other columns
  };
  [[nodiscard]] row_source row_of(const load_path& path, const tile& t, std::int64_t row) const;
  void use_in_place(std::uint16_t slot, const std::byte* from, const tile& t);
  void load_row(const load_path& path, const tile& t, const row_source& from, std::byte* to) const;
  void load_index(std::uint16_t slot, const tile& t);
  void gather(const step& k, std::int64_t n) const;
  void run(const tile& t);
  void prefetch(std::size_t step) const;
  [[nodiscard]] std::byte* block(std::uint16_t slot) const;
  [[nodiscard]] std::int64_t offset_of(const load_path& path, const tile& t) const;

  const plan& plan_;
  const tiling& it_;
  std::int64_t capacity_;
  std::byte* scratch_;
  std::vector<std::byte*> values_;              // per slot: where its elements are now
  std::vector<std::int64_t> steps_;             // per slot: elements from grain to grain, for the kernels
  std::vector<std::uint16_t> loads_, indices_;  // slots to fill for each tile
  std::vector<bool> leads_;                     // per slot: a load that is the first of those close together
  std::vector<const std::byte*> ahead_;         // where memory used in place goes on after the present tile
  std::int64_t ahead_bytes_ = 0;
  bool by_rows_ = false;              // the next tile is the next row, not the next columns
  std::vector<bool> writes_through_;  // per output: the last kernel may write into the array itself
  bool passes_through_ = false;
};

}  // namespace serried::inline v0::host
