#include <serried/error.hpp>
#include <serried/io.hpp>

#include <serried/creation.hpp>

#include "local/io/npy_file.hpp"
#include "local/io/staging.hpp"

#include <cstddef>
#include <vector>

namespace serried::inline v0 {

npy_info inspect(const std::string& path) {
  const io::npy_reader file(path);
  return {file.extents(), file.type()};
}

array load(const std::string& path) {
  const io::npy_reader file(path);
  const array a = empty(file.extents(), {.dtype = file.type()});
  io::read_box(file, box::whole(a.shape()), a);
  return a;
}

void save(const std::string& path, const array& a) {
  io::npy_writer file = io::npy_writer::create(path, a.dtype(), a.shape());
  io::write_box(file, box::whole(a.shape()), a.is_contiguous() ? a : a.copy());
  file.close();
  file.commit();
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  io::replacement file = io::replacement::create(path, static_cast<std::int64_t>(bytes.size()));
  file.write_at(0, bytes.data(), bytes.size());
  file.close();
  file.commit();
}

void check_writable(const std::string& path) { io::check_writable(path); }

}  // namespace serried::inline v0
