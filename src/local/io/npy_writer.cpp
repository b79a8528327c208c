#include "local/io/npy_file.hpp"
#include "local/io/runs.hpp"

#include <cerrno>
#include <utility>

namespace serried::inline v0::io {

npy_writer::npy_writer(replacement file, dtype type, const shape& extents, const std::string& header)
    : file_(std::move(file)), type_(type), extents_(extents), data_offset_(static_cast<std::int64_t>(header.size())) {}

npy_writer npy_writer::create(const std::string& path, dtype type, const shape& extents) {
  const std::string header = format_npy_header(type, extents);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(element_count(extents), item_size(type), &bytes) ||
      __builtin_add_overflow(bytes, header.size(), &bytes))
    fail(path, "cannot write", EFBIG);
  npy_writer writer(replacement::create(path, bytes), type, extents, header);
  writer.file_.write_at(0, reinterpret_cast<const std::byte*>(header.data()), header.size());
  return writer;
}

npy_writer npy_writer::open_part(const std::string& path, const std::string& temporary, dtype type,
                                 const shape& extents) {
  return {replacement::open_part(path, temporary), type, extents, format_npy_header(type, extents)};
}

void npy_writer::write_box(const box& where, const std::byte* numbers) {
  check_inside(extents_, where, "write_box");
  const auto size = static_cast<std::int64_t>(item_size(type_));
  for_each_run(extents_, where, [&](std::int64_t index, std::int64_t count) {
    file_.write_at(data_offset_ + index * size, numbers, static_cast<std::size_t>(count * size));
    numbers += count * size;
  });
}

}  // namespace serried::inline v0::io
