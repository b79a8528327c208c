#include "local/cuda/stencil_plan.hpp"

#include "local/cuda/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace serried::inline v0::cuda::stencil {
namespace {

// What every stencil kernel stands on. Faces are numbered as in boundary_kind.
constexpr std::string_view helpers = R"(
template <class T, int n>
struct alignas(sizeof(T) * n) pack {
  T item[n];
};
template <int bytes> struct raw;
template <> struct raw<1> { using type = unsigned char; };
template <> struct raw<2> { using type = unsigned short; };
template <> struct raw<4> { using type = unsigned; };
template <> struct raw<8> { using type = uint2; };
template <> struct raw<16> { using type = uint4; };

// An element, or n of them in one access; of memory that is only read if `kept`.
template <class T, bool kept>
__device__ T load(const char* from) {
  const auto* bits = reinterpret_cast<const typename raw<sizeof(T)>::type*>(from);
  if constexpr (kept) return __builtin_bit_cast(T, __ldg(bits));
  else return __builtin_bit_cast(T, *bits);
}
template <class T, int n, bool kept>
__device__ void load_group(T* to, const char* from) {
  const auto values = load<pack<T, n>, kept>(from);
#pragma unroll
  for (int j = 0; j < n; ++j) to[j] = values.item[j];
}
// Stores past the caches: nobody reads the results soon.
template <class P>
__device__ void store(char* to, const P& values) {
  using bits = typename raw<sizeof(P)>::type;
  __stcs(reinterpret_cast<bits*>(to), __builtin_bit_cast(bits, values));
}

// Takes the next part off a block's number: `count` values, `divisor` = 2^64 / count, rounded up (0 for one value).
__device__ int part(unsigned& rest, unsigned long long count, unsigned long long divisor) {
  const unsigned left = divisor == 0 ? rest : (unsigned)__umul64hi(rest, divisor);
  const unsigned digit = rest - left * (unsigned)count;
  rest = left;
  return (int)digit;
}

constexpr int periodic = 1, edge = 2, value = 3;
// Where leaf index i is read, relative to i: the window holds lo to hi - 1. Never leads out of the window.
template <int low, int high>
__device__ int turn(int i, int lo, int hi, int extent) {
  int to = i;
  if ((i < lo || i >= hi) && (i < 0 || i >= extent)) {
    const int face = i < 0 ? low : high;
    if (face == periodic) to = i % extent + (i % extent < 0 ? extent : 0);
    if (face == edge) to = i < 0 ? 0 : extent - 1;
  }
  return min(max(to, lo), hi - 1) - i;
}
// Whether leaf index i lies beyond a face that has a value: 1 for the low one, 2 for the high one.
template <int low, int high>
__device__ int past(int i, int lo, int hi, int extent) {
  if (i >= lo && i < hi) return 0;
  return i < 0 && low == value ? 1 : i >= extent && high == value ? 2 : 0;
}
)";

/// Indents by braces.
class writer {
 public:
  template <class... T>
  void operator()(fmt::format_string<T...> format, T&&... args) {
    const std::string line = fmt::format(format, std::forward<T>(args)...);
    if (line.front() == '}') --depth_;
    text_.append(line.front() == '#' ? 0 : 2 * depth_, ' ').append(line).append("\n");
    if (line.back() == '{') ++depth_;
  }
  void block(const std::string& lines) {
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = lines.find('\n', at);
      (*this)("{}", lines.substr(at, end - at));
      at = end + 1;
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::size_t depth_ = 0;
};

class emitter {
 public:
  emitter(const program& p, const plan& how, std::size_t words) : p_(p), how_(how), words_(words) {}

  std::string run() {
    out_("struct arguments {{");
    out_("unsigned long long w[{}];", words_);
    out_("}};");
    // (Without the second bound, the compiler takes fewer registers than with the least one.)
    out_("extern \"C\" __global__ void __launch_bounds__({}{}) kernel(const __grid_constant__ arguments a) {{", threads,
         how_.crowded ? ", 2" : "");
    place_thread();
    turn_along_rows();
    for (const bend_at& b : bends_of_lines(false)) turn_index(b);
    for (std::size_t l = 0; l < how_.lines.size(); ++l) {
      const line& row = how_.lines[l];
      out_("{} line{}[{}][{}];", element_type(row.type), l, row.planes, slots(row));
    }
    start();
    if (marches()) {
      out_("#pragma unroll {}", how_.unroll);
      out_("for (; i{0} < end; ++i{0}) {{", how_.march);
    }
    step();
    if (marches()) {
      next_plane();
      out_("}}");
    }
    out_("}}");
    return std::string(preamble) + std::string(helpers) + out_.take();
  }

 private:
  struct bend_at {
    int bend, offset;
    auto operator<=>(const bend_at&) const = default;
  };

  [[nodiscard]] bool several() const { return how_.groups > 1; }
  [[nodiscard]] bool several(const line& l) const { return several() && !l.uniform; }
  [[nodiscard]] bool marches() const { return how_.march >= 0; }
  [[nodiscard]] int row() const { return how_.ndim - 1; }
  [[nodiscard]] int step_between_groups() const { return how_.width * how_.wide; }
  static std::string word(int i) { return fmt::format("(long long)a.w[{}]", i); }
  static std::string number(int i) { return fmt::format("(int)a.w[{}]", i); }
  [[nodiscard]] int width_of(const line& l) const { return static_cast<int>(l.positions.size()); }
  [[nodiscard]] int slots(const line& l) const { return l.uniform ? 1 : how_.groups * width_of(l); }
  /// "i2 - 1": the iteration's index along a dimension (along rows: of the group's first cell), displaced.
  [[nodiscard]] std::string index(int dim, int offset) const {
    std::string text = fmt::format("i{}", dim);
    if (dim == row() && how_.groups > 1) text += fmt::format(" + k * {}", step_between_groups());
    if (offset != 0) text += fmt::format(" {} {}", offset < 0 ? '-' : '+', std::abs(offset));
    return text;
  }
  /// Where element `at` of a line is, from the row's address for this thread.
  [[nodiscard]] std::string address(const line& l, int at) const {
    if (l.uniform) return "from";
    const place& p = how_.places[static_cast<std::size_t>(l.place)];
    const std::string stride = p.contiguous ? fmt::format("{}", p.item) : word(p.words + row());
    std::string text = "from";
    if (how_.groups > 1) text += fmt::format(" + k * {} * {}", step_between_groups(), stride);
    if (at != 0) text += fmt::format(" {} {} * {}", at < 0 ? '-' : '+', std::abs(at), stride);
    return text;
  }
  void open_groups(bool several) {
    if (!several) return;
    out_("#pragma unroll");
    out_("for (int k = 0; k < {}; ++k) {{", how_.groups);
  }
  void close_groups(bool several) {
    if (several) out_("}}");
  }
  /// The slot of a position, counted from the group's first cell.
  [[nodiscard]] std::string slot(std::size_t l, int plane, const std::string& position) const {
    const line& row = how_.lines[l];
    std::string text = fmt::format("line{}[{}][", l, plane - row.first_plane);
    if (row.uniform) return text + "0]";
    if (how_.groups > 1) text += fmt::format("k * {} + ", width_of(row));
    return text + position + "]";
  }

  // --- the thread's cells -------------------------------------------------------------------------------------

  void place_thread() {
    int digit = how_.digits;
    const auto part = [&] {
      digit += 2;
      return fmt::format("part(rest, a.w[{}], a.w[{}])", digit - 2, digit - 1);
    };
    out_("unsigned rest = blockIdx.x;");
    out_("const int i{} = ({} * {} + (int)threadIdx.x % {}) * {} - {};", row(), part(), how_.width * how_.groups,
         how_.width, how_.wide, how_.lead);
    if (how_.across >= 0) out_("int tile = {};", part());
    if (marches()) out_("int i{} = {} * {};", how_.march, part(), number(how_.extents + how_.ndim));
    if (how_.across >= 0) {
      out_("tile += {} * {};", part(), number(how_.extents + how_.ndim + 1));
      out_("const int i{} = tile * {} + (int)threadIdx.x / {};", how_.across, threads / how_.width, how_.width);
    }
    for (int d = row() - 1; d >= 0; --d)
      if (d != how_.march && d != how_.across) out_("const int i{} = {};", d, part());
    out_("if (i{} >= {}) return;", row(), number(how_.extents + row()));
    if (how_.across >= 0) out_("if (i{0} >= {1}) return;", how_.across, number(how_.extents + how_.across));
    if (marches())
      out_("const int end = min(i{} + {}, {});", how_.march, number(how_.extents + how_.ndim),
           number(how_.extents + how_.march));
    for (std::size_t p = 0; p < how_.places.size(); ++p) {
      const place& at = how_.places[p];
      std::string text = at.contiguous ? fmt::format("i{} * {}ll", row(), at.item)
                                       : fmt::format("i{} * {}", row(), word(at.words + row()));
      for (int d = row() - 1; d >= 0; --d) text += fmt::format(" + i{} * {}", d, word(at.words + d));
      out_("{}long long here{} = {};", marches() ? "" : "const ", p, text);
    }
  }

  // --- boundaries ---------------------------------------------------------------------------------------------

  /// Bends that the lines' rows meet: along the march, at the fetches of a step, or along the others.
  [[nodiscard]] std::vector<bend_at> bends_of_lines(bool of_march, bool starting = false) const {
    std::vector<bend_at> found;
    const auto add = [&](bend_at b) {
      if (std::find(found.begin(), found.end(), b) == found.end()) found.push_back(b);
    };
    for (const line& l : how_.lines)
      for (const line_bend& b : l.bends) {
        const int dim = how_.bends[static_cast<std::size_t>(b.bend)].dim;
        if ((dim == how_.march) != of_march) continue;
        if (!of_march) add({b.bend, l.offset[static_cast<std::size_t>(dim)]});
        else
          for (const fetch& f : starting ? l.at_start : l.each_step) add({b.bend, f.plane});
      }
    return found;
  }

  [[nodiscard]] std::string call(const char* what, const bend& b, const std::string& i) const {
    const auto kind = [](boundary_kind k) { return static_cast<int>(k); };
    return fmt::format("{}<{}, {}>({}, {}, {}, {})", what, kind(b.low), kind(b.high), i, number(b.words + 1),
                       number(b.words + 2), number(b.words + 3));
  }
  [[nodiscard]] static std::string name(const char* what, bend_at b) {
    return fmt::format("{}{}_{}{}", what, b.bend, b.offset < 0 ? "m" : "p", std::abs(b.offset));
  }
  void turn_index(bend_at at) {
    const bend& b = how_.bends[static_cast<std::size_t>(at.bend)];
    const std::string i = fmt::format("{} + {}", index(b.dim, at.offset), number(b.words));
    out_("const int {} = {};", name("turn", at), call("turn", b, i));
    if (b.has_value()) out_("const int {} = {};", name("past", at), call("past", b, i));
  }

  /// Positions along rows that must be looked up one by one.
  void turn_along_rows() {
    std::vector<bend_at> found;
    for (const line& l : how_.lines) {
      if (l.along.bend < 0) continue;
      for (const auto* fetches : {&l.each_step, &l.at_start})
        for (const fetch& f : *fetches)
          for (const piece& s : f.pieces)
            for (int j = 0; s.checked && j < s.wide; ++j) found.push_back({l.along.bend, s.at + j});
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (found.empty()) return;
    for (const bend_at& at : found) {
      out_("int {}[{}];", name("turn", at), how_.groups);
      if (how_.bends[static_cast<std::size_t>(at.bend)].has_value()) out_("int {}[{}];", name("past", at), how_.groups);
    }
    open_groups(several());
    for (const bend_at& at : found) {
      const bend& b = how_.bends[static_cast<std::size_t>(at.bend)];
      const std::string i = fmt::format("{} + {}", index(b.dim, at.offset), number(b.words));
      out_("{}[{}] = {};", name("turn", at), k(), call("turn", b, i));
      if (b.has_value()) out_("{}[{}] = {};", name("past", at), k(), call("past", b, i));
    }
    close_groups(several());
  }
  [[nodiscard]] const char* k() const { return how_.groups > 1 ? "k" : "0"; }

  /// The value of the face that `past` names.
  [[nodiscard]] static std::string face_value(dtype type, const line_bend& b, const std::string& past) {
    if (b.low < 0) return scalar_text(type, b.high);
    if (b.high < 0) return scalar_text(type, b.low);
    return fmt::format("{} == 1 ? {} : {}", past, scalar_text(type, b.low), scalar_text(type, b.high));
  }

  // --- reading ------------------------------------------------------------------------------------------------

  void read(std::size_t l, const fetch& f) {
    const line& row = how_.lines[l];
    out_("{{");
    std::string from = fmt::format("(const char*)a.w[{}] + here{}", f.word, row.place);
    std::vector<std::pair<std::string, const line_bend*>> faces;
    for (const line_bend& b : row.bends) {
      const bend& turned = how_.bends[static_cast<std::size_t>(b.bend)];
      const bool of_march = turned.dim == how_.march;
      const bend_at at{b.bend, of_march ? f.plane : row.offset[static_cast<std::size_t>(turned.dim)]};
      from += fmt::format(" + {} * {}", name("turn", at),
                          word(how_.places[static_cast<std::size_t>(row.place)].words + turned.dim));
      if (turned.has_value()) faces.emplace_back(name("past", at), &b);
    }
    out_("const char* from = {};", from);
    if (!faces.empty()) {
      std::string any, fill;
      for (const auto& [past, b] : faces) {
        any += (any.empty() ? "" : " || ") + past + " != 0";
        const std::string value = face_value(row.type, *b, past);
        fill += b == faces.back().second ? value : fmt::format("{} != 0 ? ({}) : ", past, value);
      }
      out_("if ({}) {{", any);
      out_("const {} outside = {};", element_type(row.type), fill);
      open_groups(several(row));
      for (const piece& s : f.pieces) {
        if (s.wide > 1) out_("#pragma unroll");
        if (s.wide > 1) out_("for (int j = 0; j < {}; ++j)", s.wide);
        out_("{}{} = outside;", s.wide > 1 ? "  " : "", slot(l, f.plane, slot_text(row, s.at, s.wide > 1)));
      }
      close_groups(several(row));
      out_("}} else {{");
    }
    open_groups(several(row));
    for (const piece& s : f.pieces) read_piece(l, f, s);
    close_groups(several(row));
    if (!faces.empty()) out_("}}");
    out_("}}");
  }

  [[nodiscard]] static std::string slot_text(const line& row, int at, bool moving) {
    const int first = at - row.first_position;
    return moving ? fmt::format("{} + j", first) : fmt::format("{}", first);
  }

  [[nodiscard]] static std::string element(const line& l, const std::string& address) {
    return fmt::format("load<{}, {}>({})", element_type(l.type), l.kept, address);
  }

  void read_piece(std::size_t l, const fetch& f, const piece& s) {
    const line& row = how_.lines[l];
    const auto one = [&](int at) {
      const std::string to = slot(l, f.plane, slot_text(row, at, false));
      if (!s.checked) out_("{} = {};", to, element(row, address(row, at)));
      else out_("{} = {};", to, checked_element(row, at));
    };
    if (s.wide == 1) return one(s.at);
    if (s.checked)
      out_("if ({} >= {} && {} <= {}) {{", index(this->row(), s.at), number(row.range),
           index(this->row(), s.at + s.wide), number(row.range + 1));
    out_("load_group<{}, {}, {}>(&{}, {});", element_type(row.type), s.wide, row.kept,
         slot(l, f.plane, slot_text(row, s.at, false)), address(row, s.at));
    if (!s.checked) return;
    out_("}} else {{");
    for (int j = 0; j < s.wide; ++j) one(s.at + j);
    out_("}}");
  }

  /// An element that the boundary along the rows may move, or that no cell needs where it cannot be read.
  [[nodiscard]] std::string checked_element(const line& l, int at) const {
    if (l.along.bend < 0)
      return fmt::format("{0} >= {1} && {0} < {2} ? {3} : {4}{{}}", index(row(), at), number(l.range),
                         number(l.range + 1), element(l, address(l, at)), element_type(l.type));
    const bend_at b{l.along.bend, at};
    const place& p = how_.places[static_cast<std::size_t>(l.place)];
    const std::string turned =
        element(l, fmt::format("{} + {}[{}] * {}", address(l, at), name("turn", b), k(),
                               p.contiguous ? fmt::format("{}ll", p.item) : word(p.words + row())));
    if (!how_.bends[static_cast<std::size_t>(l.along.bend)].has_value()) return turned;
    const std::string past = fmt::format("{}[{}]", name("past", b), k());
    return fmt::format("{} != 0 ? ({}) : {}", past, face_value(l.type, l.along, past), turned);
  }

  void start() {
    const std::vector<bend_at> turned = bends_of_lines(true, true);
    const bool any =
        std::any_of(how_.lines.begin(), how_.lines.end(), [](const line& l) { return !l.at_start.empty(); });
    if (!any) return;
    out_("{{");
    for (const bend_at& b : turned) turn_index(b);
    for (std::size_t l = 0; l < how_.lines.size(); ++l)
      for (const fetch& f : how_.lines[l].at_start) read(l, f);
    out_("}}");
  }

  // --- one plane ----------------------------------------------------------------------------------------------

  void step() {
    for (const bend_at& b : bends_of_lines(true)) turn_index(b);
    // The newest planes come from farthest away: their fetches go first.
    std::vector<std::pair<std::size_t, const fetch*>> order;
    for (std::size_t l = 0; l < how_.lines.size(); ++l)
      for (const fetch& f : how_.lines[l].each_step) order.emplace_back(l, &f);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second->plane > b.second->plane; });
    for (const auto& [l, f] : order) read(l, *f);
    for (std::size_t o = 0; o < how_.outputs.size(); ++o)
      out_("pack<{}, {}> out{}[{}];", element_type(how_.outputs[o].type), how_.wide, o, how_.groups);
    open_groups(several());
    out_("#pragma unroll");
    out_("for (int j = 0; j < {}; ++j) {{", how_.wide);
    out_.block(statements(p_, sources(), "r"));
    for (std::size_t o = 0; o < how_.outputs.size(); ++o) out_("out{}[{}].item[j] = r{};", o, k(), p_.outputs[o]);
    out_("}}");
    close_groups(several());
    write();
  }

  [[nodiscard]] operands sources() const {
    return {[this](int load) {
              const load_place& at = how_.loads[static_cast<std::size_t>(load)];
              const line& l = how_.lines[static_cast<std::size_t>(at.line)];
              return slot(static_cast<std::size_t>(at.line), at.plane, slot_text(l, at.shift, true));
            },
            [this](int s) {
              return scalar_text(p_.scalars[static_cast<std::size_t>(s)].type,
                                 how_.scalars[static_cast<std::size_t>(s)]);
            },
            [this](int axis) {
              const coordinate& c = how_.coordinates[static_cast<std::size_t>(axis)];
              if (c.dim < 0) return word(c.word);
              return fmt::format("{} + {}{}", word(c.word), index(c.dim, 0), c.dim == row() ? " + j" : "");
            }};
  }

  void write() {
    open_groups(several());
    const std::string first = index(row(), 0);
    const std::string extent = number(how_.extents + row());
    for (std::size_t o = 0; o < how_.outputs.size(); ++o) {
      const output& to = how_.outputs[o];
      const int item = how_.places[static_cast<std::size_t>(to.place)].item;
      std::string at = fmt::format("(char*)a.w[{}] + here{}", to.word, to.place);
      if (how_.groups > 1) at += fmt::format(" + k * {}", step_between_groups() * item);
      const bool masked = how_.ragged || how_.groups > 1;
      const std::string whole = how_.lead > 0 ? fmt::format("{} >= 0 && {} + {} <= {}", first, first, how_.wide, extent)
                                              : fmt::format("{} + {} <= {}", first, how_.wide, extent);
      if (to.wide && masked) out_("if ({}) {{", whole);
      if (to.wide) out_("store({}, out{}[{}]);", at, o, k());
      if (to.wide && masked) out_("}} else {{");
      if (!to.wide || masked) {
        out_("#pragma unroll");
        out_("for (int j = 0; j < {}; ++j) {{", how_.wide);
        if (masked) out_("if ({0} + j >= 0 && {0} + j < {1})", first, extent);
        out_("{}store({} + j * {}, out{}[{}].item[j]);", masked ? "  " : "", at, item, o, k());
        out_("}}");
      }
      if (to.wide && masked) out_("}}");
    }
    close_groups(several());
  }

  void next_plane() {
    for (std::size_t p = 0; p < how_.places.size(); ++p)
      out_("here{} += {};", p, word(how_.places[p].words + how_.march));
    for (std::size_t l = 0; l < how_.lines.size(); ++l) {
      const line& row = how_.lines[l];
      if (row.planes == 1) continue;
      open_groups(several(row));
      for (std::size_t p = 0; p < row.positions.size(); ++p) {
        const position& q = row.positions[p];
        const int at = row.first_position + static_cast<int>(p);
        for (int m = q.lowest; m < q.highest; ++m)
          out_("{} = {};", slot(l, m, slot_text(row, at, false)), slot(l, m + 1, slot_text(row, at, false)));
      }
      close_groups(several(row));
    }
  }

  const program& p_;
  const plan& how_;
  std::size_t words_;
  writer out_;
};

}  // namespace

std::string text_of(const program& p, const plan& how, std::size_t words) { return emitter(p, how, words).run(); }

}  // namespace serried::inline v0::cuda::stencil
