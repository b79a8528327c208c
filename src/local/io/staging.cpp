#include "local/io/staging.hpp"

#include "local/evaluate.hpp"
#include "local/storage.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace serried::inline v0::io {
namespace {

constexpr std::size_t slot_bytes = std::size_t{8} << 20;

/// Pinned memory that takes part in one copy at a time.
class slot {
 public:
  explicit slot(const std::shared_ptr<engine>& device)
      : memory_(std::shared_ptr<memory::resource>(device, &device->pinned()), slot_bytes) {}
  ~slot() {
    try {
      wait();
    } catch (...) {
      // A device that failed copies no more.
    }
  }
  slot(const slot&) = delete;
  slot& operator=(const slot&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }
  void wait() {
    if (const auto m = std::exchange(copied_, nullptr)) m->wait();
  }
  void copy_from(engine& device, const std::byte* from, std::int64_t bytes) { copy(device, data(), from, bytes); }
  void copy_to(engine& device, std::byte* to, std::int64_t bytes) { copy(device, to, data(), bytes); }

 private:
  void copy(engine& device, std::byte* to, const std::byte* from, std::int64_t bytes) {
    device.issue_copy(to, from, static_cast<std::size_t>(bytes));
    copied_ = device.current_queue().record();
  }

  memory::buffer memory_;
  std::shared_ptr<mark> copied_;
};

std::byte* first_byte(const array& a) { return address_of(a, dims::filled(a.ndim(), 0)); }

}  // namespace

void read_box(const npy_reader& file, const box& where, const array& to) {
  storage& data = *to.data_storage();
  engine& device = *data.device();
  std::byte* at = first_byte(to);
  if (!device.asynchronous()) return file.read_box(where, at);
  data.write_on(device);
  const auto size = static_cast<std::int64_t>(item_size(to.dtype()));
  std::array<slot, 2> slots{slot(data.device()), slot(data.device())};
  std::size_t turn = 0;
  for_each_stretch(where, static_cast<std::int64_t>(slot_bytes) / size, [&](const box& part) {
    slot& s = slots[turn++ % slots.size()];
    s.wait();
    file.read_box(part, s.data());
    s.copy_to(device, at, part.volume() * size);
    at += part.volume() * size;
  });
  for (slot& s : slots) s.wait();
}

void write_box(npy_writer& file, const box& where, const array& from) {
  storage& data = *from.data_storage();
  engine& device = *data.device();
  const std::byte* at = first_byte(from);
  if (!device.asynchronous()) return file.write_box(where, at);
  data.read_on(device);
  const auto size = static_cast<std::int64_t>(item_size(from.dtype()));
  std::array<slot, 2> slots{slot(data.device()), slot(data.device())};
  std::size_t turn = 0;
  std::optional<box> under_way;  // in the slot before: written while the next is copied
  const auto write = [&](slot& s) {
    s.wait();
    file.write_box(*under_way, s.data());
  };
  for_each_stretch(where, static_cast<std::int64_t>(slot_bytes) / size, [&](const box& part) {
    slots[turn % 2].copy_from(device, at, part.volume() * size);
    at += part.volume() * size;
    if (under_way) write(slots[(turn + 1) % 2]);
    under_way = part;
    ++turn;
  });
  if (under_way) write(slots[(turn + 1) % 2]);
}

}  // namespace serried::inline v0::io
