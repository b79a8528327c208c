#include "local/cuda/compiler.hpp"

#include "local/cuda/checksum.hpp"
#include "local/cuda/embedded.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <nvrtc.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace serried::inline v0::cuda {

namespace {

// No contraction: the same bits fused and unfused, and on the host.
constexpr std::array usual_options{"--std=c++20", "--fmad=false", "--minimal"};
// Less of the optimizer, which takes the longest, but all of the assembler, which schedules the loads.
constexpr std::array quick_options{"--Ofast-compile=min", "--ptxas-options=--Ofast-compile=0"};

void check(nvrtcResult status, const char* doing) {
  if (status != NVRTC_SUCCESS)
    throw library_error(
        fmt::format("{}: NVRTC error {} ({})", doing, static_cast<int>(status), nvrtcGetErrorString(status)));
}

int version_of_nvrtc() {
  int major = 0, minor = 0;
  check(nvrtcVersion(&major, &minor), "asking for the compiler's version");
  return 100 * major + minor;
}

std::vector<const char*> options_for(bool quick) {
  std::vector<const char*> options(usual_options.begin(), usual_options.end());
  constexpr int first_to_know_them = 1209;
  if (quick && version_of_nvrtc() >= first_to_know_them)
    options.insert(options.end(), quick_options.begin(), quick_options.end());
  return options;
}

class compilation {
 public:
  explicit compilation(const std::string& text) {
    std::vector<const char*> names, texts;
    for (const embedded_file& f : embedded_files()) {
      names.push_back(f.name);
      texts.push_back(f.text);
    }
    check(nvrtcCreateProgram(&program_, text.c_str(), "kernel.cu", static_cast<int>(names.size()), texts.data(),
                             names.data()),
          "preparing to compile a kernel");
  }
  ~compilation() { (void)nvrtcDestroyProgram(&program_); }
  compilation(const compilation&) = delete;
  compilation& operator=(const compilation&) = delete;

  [[nodiscard]] nvrtcResult run(const std::vector<const char*>& options) {
    return nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
  }
  [[nodiscard]] std::string log() const { return get(nvrtcGetProgramLogSize, nvrtcGetProgramLog); }
  [[nodiscard]] std::string cubin() const { return get(nvrtcGetCUBINSize, nvrtcGetCUBIN); }
  [[nodiscard]] std::string ptx() const { return get(nvrtcGetPTXSize, nvrtcGetPTX); }

 private:
  template <class Size, class Get>
  std::string get(Size size_of, Get get_into) const {
    std::size_t size = 0;
    check(size_of(program_, &size), "compiling a kernel");
    std::string result(size, '\0');
    check(get_into(program_, result.data()), "compiling a kernel");
    return result;
  }

  nvrtcProgram program_ = nullptr;
};

}  // namespace

std::string architecture_of(const device_traits& device) {
  int count = 0;
  check(nvrtcGetNumSupportedArchs(&count), "asking what can be compiled for");
  std::vector<int> known(static_cast<std::size_t>(count));
  check(nvrtcGetSupportedArchs(known.data()), "asking what can be compiled for");
  const int wanted = 10 * device.major + device.minor;
  int newest = 0;
  for (const int a : known) {
    if (a == wanted) return fmt::format("sm_{}", wanted);
    if (a < wanted) newest = std::max(newest, a);
  }
  if (newest == 0)
    throw device_error(fmt::format("a GPU of compute capability {}.{} is too old: CUDA's compiler begins at {}.{}",
                                   device.major, device.minor, known.front() / 10, known.front() % 10));
  return fmt::format("compute_{}", newest);
}

std::string compile(const std::string& text, std::string_view architecture, bool quick) {
  compilation program(text);
  std::vector<const char*> options = options_for(quick);
  const std::string architecture_option = fmt::format("--gpu-architecture={}", architecture);
  options.push_back(architecture_option.c_str());
  const nvrtcResult status = program.run(options);
  if (status == NVRTC_ERROR_COMPILATION)
    throw library_error(fmt::format("a kernel did not compile for {}: NVRTC error {} ({})\n{}\nThe kernel:\n{}",
                                    architecture, static_cast<int>(status), nvrtcGetErrorString(status),
                                    program.log().c_str(), text));
  check(status, "compiling a kernel");
  return architecture.starts_with("sm_") ? program.cubin() : program.ptx();
}

std::string compilation_key(std::string_view architecture, bool quick) {
  static const std::uint64_t headers = [] {
    std::uint64_t sum = 0;
    for (const embedded_file& f : embedded_files()) sum = checksum(f.text, checksum(f.name, sum));
    return sum;
  }();
  const int version = version_of_nvrtc();
  std::string key = fmt::format("NVRTC {}.{} {}", version / 100, version % 100, architecture);
  for (const char* option : options_for(quick)) key += fmt::format(" {}", option);
  return key + fmt::format(" headers {:016x}\n", headers);
}

}  // namespace serried::inline v0::cuda
