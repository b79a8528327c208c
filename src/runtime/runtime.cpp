#include <serried/context.hpp>
#include <serried/error.hpp>
#include <serried/io.hpp>
#include <serried/runtime.hpp>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "comm/backend.hpp"
#include "comm/last_words.hpp"
#include "comm/mpi/session.hpp"
#include "comm/self/self.hpp"
#include "comm/settings.hpp"
#include "local/trace.hpp"
#include "runtime/carrier.hpp"
#include "runtime/cores.hpp"
#include "runtime/launcher.hpp"

namespace serried::inline v0 {

struct runtime::impl {
  impl(int& argc, char**& argv) {
    if (!started_by_launcher()) return;  // initializing MPI costs a process alone 0.4 s
    session.emplace(argc, argv);
    world = communicator(session->world());
    alone = false;
  }
  explicit impl(communicator given) : world(std::move(given)), alone(world.name() == "self") {}

  /// Collective; fails on all ranks alike.
  void enter() {
    comm::check_environment(world);
    const int sharing = processes_on_my_cores(world);
    std::exception_ptr mine;
    try {
      guard.emplace(context::make(sharing, world.node_rank()));
      if (context::current().timeline() != nullptr) check_writable(trace_path());
    } catch (...) {
      mine = std::current_exception();
    }
    world.agree(mine);
    world = with_carrier(world, context::current().device_engine());
    entered = true;
  }

  void enter_or_leave() {
    try {
      enter();
    } catch (...) {
      finish();
      throw;
    }
  }

  /// Collective: ends the run in good order. May be tried again when it threw a collective error.
  void finish() {
    world.backend()->finish();
    if (event_trace* const timeline = entered ? context::current().timeline() : nullptr) write_trace(*timeline);
    guard.reset();
    session.reset();
    finished = true;
  }

  [[nodiscard]] std::string trace_path() const {
    return std::string(trace_prefix()) + "." + std::to_string(world.rank()) + ".json";
  }

  /// The run is done by now: that a timeline cannot be kept is said, but no reason to fail.
  void write_trace(event_trace& timeline) const {
    try {
      timeline.write(trace_path(), world.rank());
    } catch (const io_error& e) {
      comm::print_error(e.what());
    }
  }

  /// Reports an error and ends the run: in good order when all ranks got it or there are no others. Whether all got it
  /// is only known once they have all come here; those that do not are not waited for.
  void fail(std::string_view message, bool collective) noexcept {
    if (!collective && session) comm::end_with_error(*world.backend(), message);
    const bool printed = world.rank() == 0;
    if (printed) comm::print_error(message);
    const auto give_up = [&] {
      if (printed) world.abort(1);
      comm::end_with_error(*world.backend(), message);
    };
    std::mutex mutex;
    std::condition_variable came;
    bool all_here = false;
    std::thread watch([&] {
      std::unique_lock lock(mutex);
      if (!came.wait_for(lock, std::chrono::seconds(5), [&] { return all_here; })) give_up();
    });
    try {
      finish();
    } catch (const std::exception&) {
      give_up();
    }
    {
      const std::lock_guard lock(mutex);
      all_here = true;
    }
    came.notify_one();
    watch.join();
  }

  std::optional<comm::mpi_session> session;
  communicator world{comm::make_self(true)};
  std::optional<context_guard> guard;
  bool alone = true;
  int passing = std::uncaught_exceptions();
  bool entered = false;
  bool finished = false;
};

runtime::runtime(std::unique_ptr<impl> joined) : impl_(std::move(joined)) {}

runtime::runtime(int& argc, char**& argv) : runtime(std::make_unique<impl>(argc, argv)) { impl_->enter_or_leave(); }

runtime::runtime(communicator world) : runtime(std::make_unique<impl>(std::move(world))) { impl_->enter_or_leave(); }

runtime::~runtime() {
  if (impl_->finished) return;
  if (std::uncaught_exceptions() > impl_->passing && !impl_->alone) {
    comm::end_with_error(*impl_->world.backend(),
                         "an exception passed the end of the run (serried::run would print it)");
  }
  try {
    impl_->finish();
  } catch (const std::exception& e) {
    comm::end_with_error(*impl_->world.backend(), e.what());
  }
}

const communicator& runtime::world() const { return impl_->world; }

int run(int argc, char** argv, const std::function<int(runtime&)>& body) {
  std::unique_ptr<runtime::impl> joined;
  try {
    joined = std::make_unique<runtime::impl>(argc, argv);
  } catch (const std::exception& e) {
    comm::print_error(e.what());
    return 1;
  }
  runtime rt(std::move(joined));
  try {
    rt.impl_->enter();
    const int code = body(rt);
    rt.impl_->finish();
    return code;
  } catch (const error& e) {
    rt.impl_->fail(e.what(), e.collective());
  } catch (const std::exception& e) {
    rt.impl_->fail(e.what(), false);
  } catch (...) {
    rt.impl_->fail("an exception that is not a std::exception", false);
  }
  return 1;
}

}  // namespace serried::inline v0
