// Runs serried-heat as a user would and keeps what it says.
#pragma once

#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace heat_test {

namespace fs = std::filesystem;

struct outcome {
  int code = -1;
  std::string out;
  std::vector<std::string> errors;  ///< lines on stderr, the launcher's own left out
};

/// A folder that goes with the test.
class scratch {
 public:
  scratch() : folder_(fs::temp_directory_path() / ("serried-heat-test-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~scratch() { fs::remove_all(folder_); }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::size_t files() const {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) ++n;
    return n;
  }

 private:
  fs::path folder_;
};

inline std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// ranks 0: without a launcher. `environment`: "NAME=VALUE NAME=VALUE".
inline outcome run_heat(const std::string& arguments, int ranks = 0, const std::string& environment = "") {
  const fs::path log = fs::temp_directory_path() / ("serried-heat-log-" + std::to_string(getpid()));
  const std::string launch = ranks > 0 ? std::string(LAUNCHER) + " " + std::to_string(ranks) + " " : "";
  const std::string command = "env " + environment + " " + launch + HEAT + " " + arguments + " >" + log.string() +
                              ".out 2>" + log.string() + ".err </dev/null";
  const int status = std::system(command.c_str());
  outcome result;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  result.out = contents(log.string() + ".out");
  std::istringstream lines(contents(log.string() + ".err"));
  for (std::string line; std::getline(lines, line);)
    if (line.find("serried-heat") == 0) result.errors.push_back(line);
    else if (ranks == 0) result.errors.push_back(line);
  fs::remove(log.string() + ".out");
  fs::remove(log.string() + ".err");
  return result;
}

}  // namespace heat_test
