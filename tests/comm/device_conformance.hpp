// What every communicator must do with the memory of a device.
#pragma once

#include <gtest/gtest.h>
#include <serried/communicator.hpp>
#include <serried/context.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "local/engine.hpp"
#include "local/memory/buffer.hpp"

namespace serried::test {

/// A communicator and the device whose buffers it moves. Both functions are collective over the ranks of the test.
struct device_implementation {
  std::string name;
  std::shared_ptr<engine> (*device)();  ///< null: there is none here, and the tests are skipped
  communicator (*make)(const std::shared_ptr<engine>& device);
  std::size_t piece = std::size_t{4} << 20;  ///< longer messages are cut
  bool one_order = false;                    ///< its calls must be made in one order on all ranks
};
inline void PrintTo(const device_implementation& i, std::ostream* out) { *out << i.name; }
inline std::string device_name_of(const testing::TestParamInfo<device_implementation>& info) { return info.param.name; }

/// An engine of its own that only copies; the same one each time.
[[nodiscard]] std::shared_ptr<engine> late_device();
/// The current engine if it is a GPU's, else null.
[[nodiscard]] std::shared_ptr<engine> gpu();

class device_communicators : public testing::TestWithParam<device_implementation> {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Device memory that holds these values once what is in the current queue is done.
  template <class T>
  memory::buffer on_device(const std::vector<T>& values) {
    return filled(values.data(), values.size() * sizeof(T));
  }
  template <class T>
  memory::buffer room_for(std::size_t count) {
    return device->allocate(count * sizeof(T));
  }
  /// What the memory holds after what is in the current queue.
  template <class T>
  std::vector<T> values_of(const memory::buffer& b) {
    std::vector<T> values(b.size() / sizeof(T));
    device->copy_to_host(values.data(), b.data(), b.size());
    return values;
  }

  std::shared_ptr<engine> device;
  communicator comm;
  int rank = 0, size = 1;

 private:
  memory::buffer filled(const void* values, std::size_t bytes);

  std::optional<context_guard> guard_;
  std::vector<memory::buffer> sources_;
};

}  // namespace serried::test
