// One error on one rank becomes the same error on all of them.
#include <serried/communicator.hpp>
#include <serried/error.hpp>

#include <cstdint>
#include <string>
#include <typeinfo>

#include "comm/backend.hpp"

namespace serried::inline v0 {

namespace {

struct report {
  std::int32_t kind = 0;  // place in `all_errors`
  std::string message;
};

/// The exceptions whose type survives the journey, as a list that can be searched both ways.
template <class... Errors>
struct error_list {
  static std::int32_t kind_of(const error& e) {
    std::int32_t kind = 0;
    const bool known = ((typeid(e) == typeid(Errors) || (++kind, false)) || ...);
    return known ? kind : 0;
  }
  [[noreturn]] static void raise(const report& r, bool collective) {
    std::int32_t kind = 0;
    ((kind++ == r.kind ? throw_one<Errors>(r.message, collective) : void()), ...);
    throw_one<error>(r.message, collective);
  }

 private:
  template <class E>
  [[noreturn]] static void throw_one(const std::string& message, bool collective) {
    E e(message);
    e.set_collective(collective);
    throw e;
  }
};

using all_errors = error_list<error, shape_error, dtype_error, index_error, value_error, out_of_memory, device_error,
                              library_error, comm_error, io_error>;

report report_of(const std::exception_ptr& mine) {
  try {
    std::rethrow_exception(mine);
  } catch (const error& e) {
    return {all_errors::kind_of(e), e.what()};
  } catch (const std::exception& e) {
    return {0, e.what()};
  } catch (...) {
    return {0, "an exception that is not a std::exception"};
  }
}

}  // namespace

void communicator::agree(std::exception_ptr mine) const {
  std::int32_t first = mine ? rank() : size();
  all_reduce(&first, &first, 1, dtype::int32, comm::reduce_op::min).wait();
  if (first == size()) return;

  report r;
  if (first == rank()) r = report_of(mine);
  std::int64_t head[2] = {r.kind, static_cast<std::int64_t>(r.message.size())};
  broadcast(head, 2, dtype::int64, first).wait();
  r.kind = static_cast<std::int32_t>(head[0]);
  r.message.resize(static_cast<std::size_t>(head[1]));
  broadcast(r.message.data(), r.message.size(), dtype::uint8, first).wait();
  all_errors::raise(r, backend_->spans_run());
}

}  // namespace serried::inline v0
