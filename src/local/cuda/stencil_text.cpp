#include "local/cuda/stencil_plan.hpp"

#include "local/cuda/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace serried::inline v0::cuda::stencil {
namespace {

// What every stencil kernel stands on. Faces are numbered as in boundary_kind.
constexpr std::string_view helpers = R"(#include "local/cuda/access.hpp"
using serried::cuda::assume_global;
using serried::cuda::pack;

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
  assume_global(from);
  if constexpr (kept) return __builtin_bit_cast(T, __ldg(bits));
  else return __builtin_bit_cast(T, *bits);
}
template <class T, int n, bool kept>
__device__ void load_wide(T* to, const char* from) {
  const auto values = load<pack<T, n>, kept>(from);
#pragma unroll
  for (int j = 0; j < n; ++j) to[j] = values.at[j];
}
template <class P>
__device__ void store(char* to, const P& values) {
  using bits = typename raw<sizeof(P)>::type;
  assume_global(to);
  *reinterpret_cast<bits*>(to) = __builtin_bit_cast(bits, values);
}

// Takes the next part off a block's number: `count` values, `divisor` = 2^64 / count, rounded up (0 for one value).
__device__ int part(unsigned& rest, unsigned long long count, unsigned long long divisor) {
  const unsigned left = divisor == 0 ? rest : (unsigned)__umul64hi(rest, divisor);
  const unsigned digit = rest - left * (unsigned)count;
  rest = left;
  return (int)digit;
}

constexpr int periodic = 1, edge = 2, value = 3;
// Where leaf index i, at most a period outside, is read, relative to i: the window holds lo to hi - 1. Never leads out
// of the window.
template <int low, int high>
__device__ int turn(int i, int lo, int hi, int extent) {
  int to = i;
  if (i < min(lo, 0)) to = low == periodic ? i + extent : 0;
  if (i >= max(hi, extent)) to = high == periodic ? i - extent : extent - 1;
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
    out_("extern \"C\" __global__ void __launch_bounds__({}, {}) kernel(const __grid_constant__ arguments a) {{",
         threads, how_.blocks);
    place_thread();
    if (how_.slanted) out_("if ({}) {{", clear_of_boundaries());
    march(how_.unroll);
    if (how_.slanted) {
      careful_ = true;
      out_("}} else {{");
      march(1);
      out_("}}");
    }
    out_("}}");
    return preamble_of(p_) + std::string(helpers) + out_.take();
  }

 private:
  struct bend_at {
    int bend, offset;
    auto operator<=>(const bend_at&) const = default;
  };

  [[nodiscard]] bool marches() const { return how_.march >= 0; }
  [[nodiscard]] int row() const { return how_.ndim - 1; }
  /// Bends are looked up where they may matter.
  [[nodiscard]] bool turns() const { return careful_ || !how_.slanted; }
  static std::string word(int i) { return fmt::format("(long long)a.w[{}]", i); }
  static std::string number(int i) { return fmt::format("(int)a.w[{}]", i); }
  /// "i2 - 1": the iteration's index along a dimension (along rows: of the thread's first cell), displaced.
  [[nodiscard]] static std::string index(int dim, int offset) {
    return offset == 0 ? fmt::format("i{}", dim)
                       : fmt::format("i{} {} {}", dim, offset < 0 ? '-' : '+', std::abs(offset));
  }
  /// "+ 3 * …".
  [[nodiscard]] static std::string times(int factor, const std::string& what) {
    return fmt::format(" {} {} * {}", factor < 0 ? '-' : '+', std::abs(factor), what);
  }
  [[nodiscard]] std::string row_stride(int place) const {
    const stencil::place& p = how_.places[static_cast<std::size_t>(place)];
    return p.contiguous ? fmt::format("{}", p.item) : word(p.words + row());
  }
  /// Where a position of a line is, from the row's address for this thread.
  [[nodiscard]] std::string address(const line& l, int at) const {
    return l.uniform || at == 0 ? "from" : "from" + times(at, row_stride(l.place));
  }
  [[nodiscard]] std::string slot(std::size_t l, int plane, const std::string& position) const {
    return fmt::format("line{}[{}][{}]", l, plane - how_.lines[l].first_plane, position);
  }
  [[nodiscard]] std::string slot(std::size_t l, int plane, int at) const {
    return slot(l, plane, fmt::format("{}", at - how_.lines[l].first_position));
  }

  // --- the thread's cells -------------------------------------------------------------------------------------

  void place_thread() {
    int digit = how_.digits;
    const auto part = [&] {
      digit += 2;
      return fmt::format("part(rest, a.w[{}], a.w[{}])", digit - 2, digit - 1);
    };
    out_("unsigned rest = blockIdx.x;");
    out_("{}int i{} = ({} * {} + (int)threadIdx.x % {}) * {} - {};", how_.slanted ? "" : "const ", row(), part(),
         how_.width, how_.width, how_.wide, how_.lead);
    if (how_.across >= 0)
      out_("const int i{} = {} * {} + (int)threadIdx.x / {};", how_.across, part(), threads / how_.width, how_.width);
    if (marches()) out_("int i{} = {} * {};", how_.march, part(), number(how_.extents + how_.ndim));
    for (int d = row() - 1; d >= 0; --d)
      if (d != how_.march && d != how_.across) out_("const int i{} = {};", d, part());
    if (how_.slanted) follow_rows();
    out_("if (i{} >= {}{}) return;", row(), row_end(), how_.slanted ? " + " + number(how_.overhang + 1) : "");
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

  /// The cells of a row that are stored.
  [[nodiscard]] std::string row_begin() const { return how_.rim < 0 ? "0" : "-" + number(how_.rim); }
  [[nodiscard]] std::string row_end() const {
    return number(how_.extents + row()) + (how_.rim < 0 ? "" : " + " + number(how_.rim + 1));
  }

  /// From the first cell of a row whose index is 0 in all other dimensions to that of the thread's own row.
  void follow_rows() {
    std::string slant;
    for (int d = 0; d < row(); ++d)
      if (how_.slant[static_cast<std::size_t>(d)] != 0)
        slant += times(how_.slant[static_cast<std::size_t>(d)], fmt::format("i{}", d));
    out_("i{0} = (i{0} + {1} - (({2}{3}) & {4})) - {5};", row(), how_.lead, how_.lead, slant, how_.wide - 1,
         number(how_.overhang));
  }

  /// The next plane's cells begin where its row goes on from this one's.
  [[nodiscard]] int drift() const { return marches() ? how_.slant[static_cast<std::size_t>(how_.march)] : 0; }
  [[nodiscard]] std::string step_of(std::size_t place) const {
    std::string text = word(how_.places[place].words + how_.march);
    if (drift() != 0) text += times(-drift(), row_stride(static_cast<int>(place)));
    return text;
  }

  /// All planes and rows that the thread reads are where they seem to be, and what lies beyond their ends is memory.
  [[nodiscard]] std::string clear_of_boundaries() const {
    std::string text = "true";
    for (const bool of_march : {false, true})
      for (const bend_at& at : bends_of_lines(of_march)) {
        const bend& b = how_.bends[static_cast<std::size_t>(at.bend)];
        const std::string first = fmt::format("{} + {}", index(b.dim, at.offset), number(b.words));
        text += fmt::format(" && {} >= {}", first, number(b.words + 1));
        text += fmt::format(" && {}{} < {}", first, of_march ? fmt::format(" + (end - 1 - i{})", b.dim) : "",
                            number(b.words + 2));
      }
    for (const reach& r : how_.reaches) {
      const std::string last = marches() ? fmt::format("here{} + (end - 1 - i{}) * ({})", r.place, how_.march,
                                                       step_of(static_cast<std::size_t>(r.place)))
                                         : fmt::format("here{}", r.place);
      text += fmt::format(" && min(here{}, {}) + {} >= 0 && max(here{}, {}) + {} <= 0", r.place, last, word(r.words),
                          r.place, last, word(r.words + 1));
    }
    return text;
  }

  // --- boundaries ---------------------------------------------------------------------------------------------

  /// Bends that the lines' rows meet: along the march, at the fetches of a step, or along the others.
  [[nodiscard]] std::vector<bend_at> bends_of_lines(bool of_march, bool at_start = true, bool each_step = true) const {
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
          for (const auto* fetches : {&l.at_start, &l.each_step})
            for (const fetch& f : *fetches)
              if (f.turned && (fetches == &l.at_start ? at_start : each_step)) add({b.bend, f.plane});
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
      if (!turns() || (of_march && !f.turned)) continue;
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
      for (const piece& s : f.pieces)
        for (int j = 0; j < s.wide; ++j) out_("{} = outside;", slot(l, f.plane, s.at + j));
      out_("}} else {{");
    }
    if (!how_.slanted)
      for (const piece& s : f.pieces) read_piece(l, f, s);
    else read_slanted(l, f);
    if (!faces.empty()) out_("}}");
    out_("}}");
  }

  void read_piece(std::size_t l, const fetch& f, const piece& s) {
    if (s.checked && s.wide > 1) out_("if ({}) {{", readable(l, f.plane, s.at, s.at + s.wide));
    if (!s.checked || s.wide > 1) read_plainly(l, f, s);
    if (s.checked && s.wide > 1) out_("}} else {{");
    if (s.checked) read_carefully(l, f, s);
    if (s.checked && s.wide > 1) out_("}}");
  }

  /// The loop away from the boundaries takes rows as they are, unless something is needed from beyond their ends.
  void read_slanted(std::size_t l, const fetch& f) {
    const line& row = how_.lines[l];
    const bool bent = row.bent && row.along.bend >= 0;
    const piece& last = f.pieces.back();
    const bool either = bent && !careful_ && last.at + last.wide - f.pieces.front().at > 2;
    if (either) out_("if ({}) {{", readable(l, f.plane, f.pieces.front().at, last.at + last.wide));
    if (either || row.uniform || !(careful_ || bent))
      for (const piece& s : f.pieces) read_plainly(l, f, s);
    if (either) out_("}} else {{");
    if ((careful_ || bent) && !row.uniform)
      for (const piece& s : f.pieces) read_carefully(l, f, s);
    if (either) out_("}}");
  }

  void read_plainly(std::size_t l, const fetch& f, const piece& s) {
    const line& row = how_.lines[l];
    if (s.wide == 1) out_("{} = {};", slot(l, f.plane, s.at), element(row, address(row, s.at)));
    else
      out_("load_wide<{}, {}, {}>(&{}, {});", element_type(row.type), s.wide, row.kept, slot(l, f.plane, s.at),
           address(row, s.at));
  }
  void read_carefully(std::size_t l, const fetch& f, const piece& s) {
    for (int at = s.at; at < s.at + s.wide; ++at)
      out_("{} = {};", slot(l, f.plane, at), checked_element(how_.lines[l], f.plane, at));
  }

  [[nodiscard]] static std::string element(const line& l, const std::string& address) {
    return fmt::format("load<{}, {}>({})", element_type(l.type), l.kept, address);
  }
  /// The index along the rows of a line's position.
  [[nodiscard]] std::string row_index(const line& l, int plane, int at) const {
    return index(row(), at - how_.lean(l, plane));
  }
  [[nodiscard]] std::string readable(std::size_t l, int plane, int first, int end) const {
    const line& row = how_.lines[l];
    return fmt::format("{} >= {} && {} <= {}", row_index(row, plane, first), number(row.range),
                       row_index(row, plane, end), number(row.range + 1));
  }

  /// An element that the boundary along the rows may move, or that no cell needs where it cannot be read.
  [[nodiscard]] std::string checked_element(const line& l, int plane, int at) const {
    const std::string i = row_index(l, plane, at);
    if (l.along.bend < 0)
      return fmt::format("{0} >= {1} && {0} < {2} ? {3} : {4}{{}}", i, number(l.range), number(l.range + 1),
                         element(l, address(l, at)), element_type(l.type));
    const bend& b = how_.bends[static_cast<std::size_t>(l.along.bend)];
    const std::string of_leaf = fmt::format("{} + {}", i, number(b.words));
    const place& p = how_.places[static_cast<std::size_t>(l.place)];
    const std::string turned =
        element(l, fmt::format("{} + {} * {}", address(l, at), call("turn", b, of_leaf),
                               p.contiguous ? fmt::format("{}ll", p.item) : row_stride(l.place)));
    if (!b.has_value()) return turned;
    const std::string past = call("past", b, of_leaf);
    return fmt::format("{} != 0 ? ({}) : {}", past, face_value(l.type, l.along, past), turned);
  }

  // --- the march ----------------------------------------------------------------------------------------------

  void march(int unroll) {
    if (turns())
      for (const bend_at& b : bends_of_lines(false)) turn_index(b);
    for (std::size_t l = 0; l < how_.lines.size(); ++l) {
      const line& row = how_.lines[l];
      out_("{} line{}[{}][{}];", element_type(row.type), l, row.planes, row.positions.size());
    }
    start();
    if (marches()) {
      out_("#pragma unroll {}", unroll);
      out_("for (; i{0} < end; ++i{0}) {{", how_.march);
    }
    step();
    if (marches()) {
      next_plane();
      out_("}}");
    }
  }

  void start() {
    const bool any =
        std::any_of(how_.lines.begin(), how_.lines.end(), [](const line& l) { return !l.at_start.empty(); });
    if (!any) return;
    out_("{{");
    if (turns())
      for (const bend_at& b : bends_of_lines(true, true, false)) turn_index(b);
    for (std::size_t l = 0; l < how_.lines.size(); ++l)
      for (const fetch& f : how_.lines[l].at_start) read(l, f);
    out_("}}");
  }

  void step() {
    if (turns())
      for (const bend_at& b : bends_of_lines(true, false, true)) turn_index(b);
    // The newest planes come from farthest away: their fetches go first.
    std::vector<std::pair<std::size_t, const fetch*>> order;
    for (std::size_t l = 0; l < how_.lines.size(); ++l)
      for (const fetch& f : how_.lines[l].each_step) order.emplace_back(l, &f);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second->plane > b.second->plane; });
    for (const auto& [l, f] : order) read(l, *f);
    for (std::size_t o = 0; o < how_.outputs.size(); ++o)
      out_("pack<{}, {}> out{};", element_type(how_.outputs[o].type), how_.wide, o);
    out_("#pragma unroll");
    out_("for (int j = 0; j < {}; ++j) {{", how_.wide);
    out_.block(statements(p_, sources(), "r"));
    for (std::size_t o = 0; o < how_.outputs.size(); ++o) {
      std::string value = fmt::format("r{}", p_.outputs[o]);
      if (how_.rim >= 0)
        value = fmt::format("i{0} + j >= 0 && i{0} + j < {1} ? {2} : {3}", row(), number(how_.extents + row()), value,
                            sources().load(how_.outputs[o].rim_load));
      out_("out{}.at[j] = {};", o, value);
    }
    out_("}}");
    for (std::size_t o = 0; o < how_.outputs.size(); ++o) write(o);
  }

  [[nodiscard]] operands sources() const {
    return {[this](int load) {
              const load_place& at = how_.loads[static_cast<std::size_t>(load)];
              const line& l = how_.lines[static_cast<std::size_t>(at.line)];
              const std::string first = fmt::format("{}", at.position - l.first_position);
              return slot(static_cast<std::size_t>(at.line), at.plane, l.uniform ? first : first + " + j");
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

  void write(std::size_t o) {
    const output& to = how_.outputs[o];
    const int item = how_.places[static_cast<std::size_t>(to.place)].item;
    const std::string at = fmt::format("(char*)a.w[{}] + here{}", to.word, to.place);
    const std::string first = index(row(), 0);
    if (!how_.ragged && to.wide) return out_("store({}, out{});", at, o);
    // Conditions without branches let the compiler move the next steps' fetches to before these stores.
    if (to.wide) {
      out_("const bool whole{} = {} >= {} && {} <= {};", o, first, row_begin(), index(row(), how_.wide), row_end());
      out_("if (whole{}) store({}, out{});", o, at, o);
    }
    out_("#pragma unroll");
    out_("for (int j = 0; j < {}; ++j)", how_.wide);
    std::string condition;
    if (how_.ragged)
      condition = fmt::format("if ({}{} + j >= {} && {} + j < {}) ", to.wide ? fmt::format("!whole{} && ", o) : "",
                              first, row_begin(), first, row_end());
    out_("  {}store({} + j * {}, out{}.at[j]);", condition, at, item, o);
  }

  void next_plane() {
    for (std::size_t p = 0; p < how_.places.size(); ++p) out_("here{} += {};", p, step_of(p));
    if (drift() != 0) out_("i{} -= {};", row(), drift());
    for (std::size_t l = 0; l < how_.lines.size(); ++l) {
      const line& row = how_.lines[l];
      for (std::size_t p = 0; p < row.positions.size(); ++p) {
        const position& q = row.positions[p];
        const int at = row.first_position + static_cast<int>(p);
        for (int m = q.lowest; m < q.highest; ++m) out_("{} = {};", slot(l, m, at), slot(l, m + 1, at));
      }
    }
  }

  const program& p_;
  const plan& how_;
  std::size_t words_;
  bool careful_ = false;  ///< in the loop near boundaries
  writer out_;
};

}  // namespace

std::string text_of(const program& p, const plan& how, std::size_t words) { return emitter(p, how, words).run(); }

}  // namespace serried::inline v0::cuda::stencil
