// How far a long run has come: a bar on a terminal, plain lines otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace apps {

class progress {
 public:
  /// `total` steps; silent unless `speaks`.
  progress(std::int64_t total, bool speaks);

  /// After `done` steps: the rate so far and the time left.
  void at(std::int64_t done);
  /// Ends the bar.
  void finish();
  /// A line of its own.
  void line(const std::string& text);

 private:
  std::int64_t total_;
  bool speaks_;
  bool bar_;
  bool open_ = false;  // the bar's line has not been ended
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace apps
