// .npy files read and written by all ranks, each its own part.
#include <serried/dist/array.hpp>
#include <serried/error.hpp>

#include "dist/distribution.hpp"
#include "dist/evaluate.hpp"
#include "local/expr_impl.hpp"
#include "local/io/npy_file.hpp"
#include "local/io/staging.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace serried::inline v0 {

namespace {

std::string broadcast(const communicator& world, std::string text) {
  std::uint64_t length = text.size();
  world.broadcast(&length, 1, dtype::uint64, 0).wait();
  text.resize(length);
  world.broadcast(text.data(), length, dtype::uint8, 0).wait();
  return text;
}

}  // namespace

npy_info inspect(const std::string& path, const communicator& world) {
  npy_info info{};
  world.together([&] { info = inspect(path); });
  return info;
}

dist::array load(const std::string& path, const layout& where) {
  const communicator& world = where.mesh().communicator();
  std::optional<io::npy_reader> file;
  world.together([&] { file.emplace(path); });
  const dist::array a = empty(file->extents(), where, {.dtype = file->type()});
  world.together([&] { io::read_box(*file, a.where()->shard(world.rank()), a.local()); });
  return a;
}

void save(const std::string& path, const dist::expr& values) {
  const dist::array a = detail::as_array(values);
  const communicator& world = a.mesh().communicator();
  const int rank = world.rank();
  std::optional<io::npy_writer> file;
  world.together([&] {
    if (rank == 0) file.emplace(io::npy_writer::create(path, a.dtype(), a.shape()));
  });
  const std::string temporary = broadcast(world, rank == 0 ? file->temporary() : "");
  world.together([&] {
    if (rank != 0) file.emplace(io::npy_writer::open_part(path, temporary, a.dtype(), a.shape()));
    const dist::distribution& held = *a.where();
    // Of several ranks that hold the same part one writes it.
    if (held.owner(held.parts_of(rank), 0) == rank)
      io::write_box(*file, held.shard(rank), a.local().is_contiguous() ? a.local() : a.local().copy());
    file->close();
  });
  world.together([&] {
    if (rank == 0) file->commit();
  });
}

}  // namespace serried::inline v0
