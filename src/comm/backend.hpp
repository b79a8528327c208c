// What stands behind a communicator: executes requests.
#pragma once

#include <serried/communicator.hpp>

#include <memory>
#include <string_view>

#include "comm/request.hpp"
#include "comm/work_state.hpp"

namespace serried::inline v0::comm {

class backend {
 public:
  virtual ~backend() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual int node_rank() const = 0;
  [[nodiscard]] virtual int node_size() const = 0;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual bool overlaps() const = 0;  ///< as communicator::overlaps
  [[nodiscard]] virtual bool checked() const = 0;   ///< as communicator::checked
  /// All ranks of the run are in it, so that an error that its ranks share is everybody's.
  [[nodiscard]] virtual bool spans_run() const = 0;

  /// Starts any operation but split. Requests of one communicator execute as if in the order of the calls.
  virtual std::shared_ptr<work_state> start(request r) = 0;
  /// Collective; null for a negative color.
  virtual std::shared_ptr<backend> split(int color, int key) = 0;
  /// Collective: completes this rank's pending works, of the communicators split from this one too.
  virtual void finish() = 0;
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

}  // namespace serried::inline v0::comm
