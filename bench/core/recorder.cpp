#include "recorder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <utility>

namespace sr = serried;

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

// Every call's time on the host until it returns, and between the events around it.
timing time_on_gpu(int samples, const std::function<void()>& work) {
  std::vector<sr::event> before(static_cast<std::size_t>(samples));
  std::vector<sr::event> after(static_cast<std::size_t>(samples));
  std::vector<double> host;
  for (std::size_t i = 0; i < before.size(); ++i) {
    before[i].record();
    const auto start = clock::now();
    work();
    host.push_back(seconds_since(start));
    after[i].record();
  }
  synchronize();
  std::vector<double> device;
  for (std::size_t i = 0; i < before.size(); ++i) device.push_back(after[i].seconds_since(before[i]));
  return {median(device) * 1e3, median(host) * 1e6};
}

timing time_on_host(int samples, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) {
    const auto start = clock::now();
    work();
    seconds.push_back(seconds_since(start));
  }
  return {median(seconds) * 1e3, median(seconds) * 1e6};
}

}  // namespace

void synchronize() { sr::current_stream().synchronize(); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

recorder::recorder(options o) : options_(std::move(o)) {}

bool recorder::wants(const std::string& name) const {
  return name == "copy" || name.find(options_.filter) != std::string::npos;
}

void recorder::measure(const subject& s, std::int64_t bytes, const std::function<void()>& work) {
  if (!wants(s.name)) return;
  for (int i = 0; i < 3; ++i) work();
  synchronize();
  const int samples = quick() ? 15 : 21;
  const timing t = sr::context::current().device() == "host" ? time_on_host(samples, work) : time_on_gpu(samples, work);
  if (s.name == "copy") copy_rate_ = static_cast<double>(bytes) / t.ms / 1e6;
  print(s, t, bytes);
}

void recorder::measure_host(const subject& s, const std::function<void()>& work) {
  if (!wants(s.name)) return;
  const int calls = quick() ? 10 : 1000;
  const auto batch = [&] {
    for (int i = 0; i < calls; ++i) work();
    synchronize();
  };
  batch();
  std::vector<double> seconds;
  for (int i = 0; i < 15; ++i) {
    const auto start = clock::now();
    batch();
    seconds.push_back(seconds_since(start) / calls);
  }
  print(s, {median(seconds) * 1e3, median(seconds) * 1e6}, 0);
}

void recorder::measure_each(const subject& s, int uses, const std::function<void(int)>& f) {
  std::vector<double> seconds;
  for (int i = 0; i < uses; ++i) {
    const auto start = clock::now();
    f(i);
    synchronize();
    seconds.push_back(seconds_since(start));
  }
  print(s, {median(seconds) * 1e3, median(seconds) * 1e6}, 0);
}

void recorder::print(const subject& s, const timing& t, std::int64_t bytes) {
  const std::vector<std::int64_t> extents(s.shape.begin(), s.shape.end());
  fmt::print(R"({{"library": "serried", "device": "{}", "name": "{}", "shape": [{}], "dtype": "{}", "ms": {:.6g}, )"
             R"("host_us": {:.4g})",
             sr::context::current().device(), s.name, fmt::join(extents, ", "), sr::name(s.type), t.ms, t.host_us);
  if (bytes > 0) {
    const double rate = static_cast<double>(bytes) / t.ms / 1e6;
    fmt::print(R"(, "bytes": {}, "gb_per_s": {:.5g})", bytes, rate);
    if (copy_rate_ > 0) fmt::print(R"(, "share_of_copy": {:.4f})", rate / copy_rate_);
  }
  fmt::print("}}\n");
  std::fflush(stdout);
}

}  // namespace bench
