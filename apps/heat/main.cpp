// serried-heat: the explicit heat equation, from a .npy file to a .npy file and a picture, on any number of ranks.
#include "common/picture.hpp"
#include "common/progress.hpp"
#include "options.hpp"
#include "solver.hpp"

#include <serried/serried.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>

namespace sr = serried;

namespace {

sr::mesh make_mesh(const sr::communicator& world, const sr::shape& field, std::vector<int> factors) {
  if (factors.empty()) factors = heat::choose_mesh(field, world.size());
  if (static_cast<int>(factors.size()) > field.size())
    throw heat::usage_error(
        fmt::format("--mesh: {} factors for a field of {} dimensions", factors.size(), field.size()));
  std::int64_t product = 1;
  std::vector<sr::axis_extent> axes;
  for (int d = 0; d < field.size(); ++d) {
    const int n = d < static_cast<int>(factors.size()) ? factors[static_cast<std::size_t>(d)] : 1;
    product = std::min<std::int64_t>(product * n, std::int64_t{1} << 31);  // more than any number of ranks
    axes.emplace_back(fmt::format("axis{}", d), n);
  }
  if (product != world.size())
    throw heat::usage_error(
        fmt::format("--mesh: the factors' product is {}, the number of ranks {}", product, world.size()));
  return {world, axes};
}

sr::layout split_all(const sr::mesh& grid) {
  std::vector<sr::split_over> splits;
  for (int d = 0; d < grid.ndim(); ++d) splits.emplace_back(grid.axis(d));
  return grid.layout(splits);
}

double largest(const sr::communicator& world, double value) {
  world.all_reduce(&value, &value, 1, sr::float64, sr::comm::reduce_op::max).wait();
  return value;
}

// An error that every rank meets at this point alike.
sr::error bad_data(const std::string& text) {
  sr::error e(text);
  e.set_collective(true);
  return e;
}

void refuse_not_finite(const sr::dist::array& u, const std::string& what) {
  if (const auto where = heat::first_not_finite(u))
    throw bad_data(fmt::format("{}: the value at index {} is NaN or infinite", what, to_string(*where)));
}

// True when both paths lead to one file, however they are spelled.
bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code failure;
  return fs::equivalent(a, b, failure) || fs::weakly_canonical(a, failure) == fs::weakly_canonical(b, failure);
}

// Rank 0 finds out whether the files can be written; all ranks learn of it.
void check_targets(const sr::communicator& world, const heat::options& o) {
  world.together([&] {
    if (world.rank() != 0) return;
    if (!o.output.empty()) sr::check_writable(o.output);
    if (o.png.empty()) return;
    sr::check_writable(o.png);
    if (same_file(o.png, o.input)) throw sr::io_error(o.png + ": the picture would replace the input");
    if (!o.output.empty() && same_file(o.png, o.output))
      throw sr::io_error(o.png + ": --output and --png name the same file");
  });
}

void draw(const sr::dist::array& u, const std::string& path) {
  std::vector<sr::index_item> plane(static_cast<std::size_t>(u.ndim()), sr::_);
  if (u.ndim() == 3) plane[0] = sr::slice(u.shape()[0] / 2, u.shape()[0] / 2 + 1);
  const sr::array shown = sr::gather(u.select(plane), 0);
  const sr::communicator& world = u.mesh().communicator();
  world.together([&] {
    if (world.rank() == 0) apps::write_png(path, shown);
  });
}

int simulate(sr::runtime& rt, const heat::options& o) {
  const sr::communicator& world = rt.world();
  const sr::npy_info info = sr::inspect(o.input, world);
  const int ndim = info.shape.size();
  if (ndim < 1 || ndim > 3)
    throw bad_data(fmt::format("{}: a field of 1 to 3 dimensions is needed, not {}", o.input, ndim));
  if (info.dtype != sr::float32 && info.dtype != sr::float64)
    throw bad_data(fmt::format("{}: float32 or float64 numbers are needed, not {}", o.input, name(info.dtype)));
  if (!(o.alpha >= 0 && o.alpha <= heat::alpha_bound(ndim)))
    throw heat::usage_error(fmt::format("--alpha {}: stable from 0 to {:.6g} (1/{}) for {} dimension{}", o.alpha,
                                        heat::alpha_bound(ndim), 2 * ndim, ndim, ndim == 1 ? "" : "s"));
  if (!o.png.empty() && element_count(info.shape) == 0)
    throw bad_data(fmt::format("{}: an empty field of shape {} cannot be drawn", o.input, to_string(info.shape)));
  const sr::mesh grid = make_mesh(world, info.shape, o.mesh);
  check_targets(world, o);

  sr::dist::array u = sr::load(o.input, split_all(grid));
  refuse_not_finite(u, o.input);

  apps::progress report(o.steps, rt.rank() == 0 && !o.quiet);
  report.line(fmt::format("{} {} on {} rank{} {}, {} steps, alpha {}", name(u.dtype()), to_string(u.shape()),
                          world.size(), world.size() == 1 ? "" : "s", to_string(grid), o.steps, o.alpha));
  grid.reset_exchange_statistics();
  world.barrier().wait();
  std::chrono::duration<double> computing{0};
  for (std::int64_t done = 0; done < o.steps;) {
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t next = std::min(o.steps, done + o.every);
    for (; done < next; ++done) heat::step(u, o.alpha, o.boundary);
    sr::current_stream().synchronize();
    computing += std::chrono::steady_clock::now() - begin;
    if (o.check) refuse_not_finite(u, fmt::format("step {}", done));
    report.at(done);
  }
  report.finish();

  const double seconds = largest(world, computing.count());
  const double waiting = largest(world, grid.exchange_statistics().waiting_seconds);
  const double exchanging = largest(world, grid.exchange_statistics().exchange_seconds);
  if (!o.output.empty()) sr::save(o.output, u);
  if (!o.png.empty()) draw(u, o.png);

  const double rate = seconds > 0 ? static_cast<double>(o.steps) / seconds : 0;
  const double bytes = 2.0 * static_cast<double>(u.size()) * static_cast<double>(item_size(u.dtype()));
  const std::string hidden =
      exchanging > 0 ? fmt::format("{:.0f}% of the exchange hidden", 100 * (1 - std::min(1.0, waiting / exchanging)))
                     : "no exchange";
  report.line(fmt::format("{:.1f} steps/s, {:.2f} GB/s effective, {}, {} engine, {} communicator, {} rank{}", rate,
                          rate * bytes * 1e-9, hidden, sr::context::current().device(), world.name(), world.size(),
                          world.size() == 1 ? "" : "s"));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return sr::run(argc, argv, [&](sr::runtime& rt) -> int {
    const bool speaks = rt.rank() == 0;
    try {
      const auto options = heat::parse(argc, argv);
      const int code = options ? simulate(rt, *options) : 0;
      if (!options && speaks) heat::print_help(std::cout);
      if (std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
      if (speaks) std::cerr << "serried-heat: error: standard output cannot be written" << std::endl;
      return 1;
    } catch (const heat::usage_error& e) {
      std::string text = e.what();
      std::replace(text.begin(), text.end(), '\n', ' ');
      if (speaks) std::cerr << "serried-heat: error: " << text << std::endl;
      return 2;
    }
  });
}
