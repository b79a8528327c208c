// Moving elements between arrays and tiles.
#pragma once

#include <cstddef>
#include <cstdint>

namespace serried::inline v0::host {

/// `n` elements of `item` bytes (1, 2, 4, 8 or 16), `from_stride` and `to_stride` bytes apart. Nothing needs to be
/// aligned.
void copy_strided(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                  std::int64_t n, std::int64_t item);

/// `n` times the element at `value`, contiguous.
void fill(std::byte* to, const std::byte* value, std::int64_t n, std::int64_t item);

/// Elements number numbers[i · step] of `count` that are contiguous at `from`, for i < n, contiguous at `to`, which may
/// be where the numbers are if they are as large. Zeros stand for those that are not there: then false.
bool gather(std::byte* to, const std::byte* from, std::int64_t count, const std::int64_t* numbers, std::int64_t step,
            std::int64_t n, std::int64_t item);

/// rows × columns elements, contiguous at `from`, as columns × rows at `to`.
void transpose(std::byte* to, const std::byte* from, std::int64_t rows, std::int64_t columns, std::int64_t item);

}  // namespace serried::inline v0::host
