#include "options.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>
#include <sstream>

namespace po = boost::program_options;

namespace heat {

namespace {

// Whole numbers and nothing else: "1e3", "-1" and "7 " are errors, not surprises.
std::int64_t parse_count(const std::string& option, const std::string& text, std::int64_t least) {
  std::int64_t n = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (failure != std::errc() || end != text.data() + text.size() || n < least)
    throw usage_error(option + " " + text + ": a whole number of at least " + std::to_string(least) + " is needed");
  return n;
}

double parse_real(const std::string& option, const std::string& text) {
  double x = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(x))
    throw usage_error(option + " " + text + ": a finite number is needed");
  return x;
}

boundary parse_boundary(const std::string& text) {
  if (text == "fixed") return boundary::fixed;
  if (text == "periodic") return boundary::periodic;
  if (text == "insulated") return boundary::insulated;
  throw usage_error("--boundary " + text + ": fixed, periodic or insulated is needed");
}

std::vector<int> parse_mesh(const std::string& text) {
  std::vector<int> factors;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int n = 0;
    const auto [stop, failure] = std::from_chars(at, end, n);
    if (failure != std::errc() || n < 1) break;
    factors.push_back(n);
    if (stop == end) return factors;
    if (*stop != 'x') break;
    at = stop + 1;
  }
  throw usage_error("--mesh " + text + ": numbers of ranks along the axes are needed, such as 4, 2x2 or 2x1x3");
}

po::options_description description() {
  po::options_description d("Options", 100);
  auto add = d.add_options();
  add("input", po::value<std::string>()->value_name("FILE"),
      "the initial field: a 1-, 2- or 3-dimensional .npy file of float32 or float64 numbers (required)");
  add("steps", po::value<std::string>()->value_name("N"), "number of time steps; 0 only checks and copies (required)");
  add("alpha", po::value<std::string>()->value_name("A"),
      "diffusion number k dt / dx^2, from 0 to 1/(2 dimensions), beyond which the scheme is unstable (required)");
  add("boundary", po::value<std::string>()->value_name("KIND"),
      "fixed: border cells keep their values (default); periodic: opposite borders are neighbors; "
      "insulated: no heat crosses the border");
  add("output", po::value<std::string>()->value_name("FILE"), "write the final field to this .npy file");
  add("png", po::value<std::string>()->value_name("FILE"),
      "draw the final field (of three dimensions, the middle plane of the first axis)");
  add("mesh", po::value<std::string>()->value_name("PxQ"),
      "ranks along each axis, such as 2x2; their product is the number of ranks (default: chosen)");
  add("every", po::value<std::string>()->value_name("N"), "report every N steps (default 100)");
  add("check", "at each report, stop if a value is not finite");
  add("quiet", "print errors only");
  add("help,h", "show this text");
  return d;
}

}  // namespace

void print_help(std::ostream& out) {
  out << "serried-heat: how heat spreads through a plate, a rod or a block.\n\n"
         "  serried-heat --input plate.npy --steps 500 --alpha 0.1 --output heat.npy --png heat.png\n"
         "  mpirun -n 4 serried-heat --input plate.npy --steps 500 --alpha 0.1 --mesh 2x2\n\n"
         "Each step adds to every cell alpha times (the sum of its neighbors minus 2 dimensions times itself).\n"
         "Under mpirun or srun the field is split over all ranks; the result is the same to the last bit.\n\n"
      << description()
      << "\nEnvironment: SERRIED_THREADS, SERRIED_SIMD (baseline, avx2, avx512), SERRIED_DEVICE (auto, cuda, host),\n"
         "SERRIED_PROGRESS=inline. Exit code: 0 done, 1 a file or its data is bad, 2 the command line is.\n";
}

std::optional<options> parse(int argc, char** argv) {
  po::variables_map given;
  try {
    const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(argc, argv)
                  .options(description())
                  .positional(po::positional_options_description())
                  .style(style)
                  .run(),
              given);
  } catch (const po::too_many_positional_options_error&) {
    throw usage_error("an argument without an option (the field's file goes with --input)");
  } catch (const po::error& e) {
    throw usage_error(e.what());
  }
  if (given.count("help") != 0) return std::nullopt;

  const auto text = [&](const char* name) {
    return given.count(name) != 0 ? given[name].as<std::string>() : std::string();
  };
  for (const char* name : {"input", "steps", "alpha"})
    if (given.count(name) == 0) throw usage_error(std::string("--") + name + " is missing (--help lists the options)");
  for (const char* name : {"input", "output", "png"})
    if (given.count(name) != 0 && text(name).empty())
      throw usage_error(std::string("--") + name + ": the file name is empty");

  options o;
  o.input = text("input");
  o.steps = parse_count("--steps", text("steps"), 0);
  o.alpha = parse_real("--alpha", text("alpha"));
  if (given.count("boundary") != 0) o.boundary = parse_boundary(text("boundary"));
  o.output = text("output");
  o.png = text("png");
  if (given.count("mesh") != 0) o.mesh = parse_mesh(text("mesh"));
  if (given.count("every") != 0) o.every = parse_count("--every", text("every"), 1);
  o.quiet = given.count("quiet") != 0;
  o.check = given.count("check") != 0;
  if (!o.output.empty() && o.output == o.png) throw usage_error("--output and --png name the same file");
  return o;
}

}  // namespace heat
