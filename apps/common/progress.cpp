#include "progress.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace apps {

namespace {

// mpirun gives its ranks pseudo-terminals whatever its own output is: then its own is what counts.
bool on_terminal() {
  if (isatty(STDOUT_FILENO) == 0) return false;
  if (std::getenv("OMPI_COMM_WORLD_RANK") == nullptr && std::getenv("PMI_RANK") == nullptr) return true;
  char target[256] = {};
  const std::string launcher = fmt::format("/proc/{}/fd/1", getppid());
  return readlink(launcher.c_str(), target, sizeof target - 1) > 0 &&
         (std::string(target).starts_with("/dev/pts/") || std::string(target).starts_with("/dev/tty"));
}

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

}  // namespace

progress::progress(std::int64_t total, bool speaks) : total_(total), speaks_(speaks), bar_(speaks && on_terminal()) {}

void progress::at(std::int64_t done) {
  if (!speaks_) return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  const double rate = static_cast<double>(done) / elapsed.count();
  const std::string left = duration(static_cast<double>(total_ - done) / rate);
  if (!bar_) {
    fmt::print("step {}/{}, {:.1f} steps/s, {} left\n", done, total_, rate, left);
  } else {
    constexpr int width = 30;
    const auto filled = static_cast<std::size_t>(static_cast<double>(done) / static_cast<double>(total_) * width);
    fmt::print("\r[{:<{}}] {}/{}, {:.1f} steps/s, {} left\033[K", std::string(filled, '#'), width, done, total_, rate,
               left);
    open_ = true;
  }
  std::fflush(stdout);
}

void progress::finish() {
  if (open_) fmt::print("\n");
  open_ = false;
}

void progress::line(const std::string& text) {
  if (!speaks_) return;
  finish();
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

}  // namespace apps
