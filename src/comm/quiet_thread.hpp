// Threads of the library's own: signals are for the program's threads.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace serried::inline v0::comm {

template <class F>
[[nodiscard]] std::thread start_quiet_thread(F&& f) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // which the new thread inherits
  std::thread made(std::forward<F>(f));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

}  // namespace serried::inline v0::comm
