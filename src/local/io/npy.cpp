#include "local/io/npy.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

namespace serried::inline v0::io {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr bool little = std::endian::native == std::endian::little;

/// What a damaged header may hold, fit for one line of a terminal.
std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, 60)) shown += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > 60 ? shown + "…" : shown;
}

/// The code after the byte order in a descr: "f8".
std::string type_code(dtype type) {
  const char kind = is_bool(type)               ? 'b'
                    : is_signed_integer(type)   ? 'i'
                    : is_unsigned_integer(type) ? 'u'
                    : is_complex(type)          ? 'c'
                    : type == dtype::bfloat16   ? 'V'
                                                : 'f';
  return fmt::format("{}{}", kind, item_size(type));
}

void set_type(npy_header& header, std::string_view descr) {
  char order = '=';
  std::string_view code = descr;
  if (!code.empty() && std::string_view("<>=|").find(code.front()) != std::string_view::npos) {
    order = code.front();
    code.remove_prefix(1);
  }
  for (int i = 0; i < dtype_count; ++i) {
    const auto type = static_cast<dtype>(i);
    if (code != type_code(type) && descr != name(type)) continue;
    header.type = type;
    header.swapped = item_size(type) > 1 && (order == '<' ? !little : order == '>' && little);
    return;
  }
  throw io_error(fmt::format("unsupported dtype '{}'", printable(descr)));
}

/// Reads the Python literal of a header: a dict of strings, True or False, and tuples of integers.
class literal_parser {
 public:
  explicit literal_parser(std::string_view text) : text_(text) {}

  void parse(npy_header& header) {
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string("a key");
      expect(':');
      if (key == "descr") {
        once(has_descr, key);
        if (peek() == '[') throw io_error("unsupported dtype: a structure of fields");
        set_type(header, string("the dtype"));
      } else if (key == "fortran_order") {
        once(has_order, key);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        once(has_shape, key);
        header.extents = tuple();
      } else {
        throw damaged(fmt::format("unknown key '{}'", printable(key)));
      }
      if (accept(',')) continue;
      expect('}');
      break;
    }
    if (peek() != '\0' || at_ != text_.size()) throw damaged("something follows the closing brace");
    const char* missing = !has_descr ? "descr" : !has_order ? "fortran_order" : !has_shape ? "shape" : nullptr;
    if (missing != nullptr) throw damaged(fmt::format("no key '{}'", missing));
  }

 private:
  static io_error damaged(const std::string& why) { return io_error("damaged .npy header: " + why); }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\n\r\f\v").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  /// The next character that is no space; NUL at the end.
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) throw damaged(fmt::format("'{}' expected at '{}'", c, printable(text_.substr(at_))));
  }
  static void once(bool& seen, std::string_view key) {
    if (seen) throw damaged(fmt::format("two keys '{}'", key));
    seen = true;
  }

  std::string_view string(const char* what) {
    const char quote = peek();
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos)
      throw damaged(fmt::format("a string expected for {} at '{}'", what, printable(text_.substr(at_))));
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }

  bool boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    throw damaged(fmt::format("fortran_order: True or False expected at '{}'", printable(text_.substr(at_))));
  }

  shape tuple() {
    shape extents;
    expect('(');
    while (!accept(')')) {
      if (extents.size() == max_ndim) throw io_error(fmt::format("more than {} dimensions", max_ndim));
      extents.push_back(extent());
      if (accept(',')) continue;
      // Python takes (3) for a number.
      if (extents.size() == 1) throw damaged("shape: a tuple of one needs a comma");
      expect(')');
      break;
    }
    return extents;
  }

  std::int64_t extent() {
    if (peek() == '-') throw damaged("shape: a negative extent");
    const std::size_t begin = at_;
    std::int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text_[at_] - '0', &value))
        throw damaged("shape: an extent that does not fit in 63 bits");
    if (at_ == begin) throw damaged(fmt::format("shape: a number expected at '{}'", printable(text_.substr(at_))));
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote long integers
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::uint32_t little_endian(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return value;
}

template <class Word>
void swap_words(std::byte* data, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i, data += sizeof(Word)) {
    Word word;
    std::memcpy(&word, data, sizeof word);
    if constexpr (sizeof(Word) == 2) word = __builtin_bswap16(word);
    else if constexpr (sizeof(Word) == 4) word = __builtin_bswap32(word);
    else word = __builtin_bswap64(word);
    std::memcpy(data, &word, sizeof word);
  }
}

}  // namespace

std::int64_t npy_header::data_bytes() const {
  return element_count(extents) * static_cast<std::int64_t>(item_size(type));
}

std::int64_t npy_data_offset(std::span<const std::byte> preamble) {
  if (preamble.size() < magic.size() || std::memcmp(preamble.data(), magic.data(), magic.size()) != 0)
    throw io_error("not a .npy file (no \\x93NUMPY at its start)");
  const std::size_t fixed = preamble.size() > 6 && preamble[6] == std::byte{1} ? 10 : npy_preamble_size;
  if (preamble.size() < fixed) throw io_error("truncated in the .npy header");
  const auto major = std::to_integer<int>(preamble[6]);
  const auto minor = std::to_integer<int>(preamble[7]);
  if (major < 1 || major > 3 || minor != 0)
    throw io_error(fmt::format(".npy format version {}.{} is not known (1.0, 2.0 and 3.0 are)", major, minor));
  const std::int64_t length = little_endian(preamble.subspan(8, fixed - 8));
  if (length > npy_header_limit)
    throw io_error(fmt::format("absurd .npy header of {} bytes (at most {} are read)", length, npy_header_limit));
  return static_cast<std::int64_t>(fixed) + length;
}

npy_header parse_npy_header(std::span<const std::byte> head) {
  npy_header header;
  header.data_offset = npy_data_offset(head.first(std::min(head.size(), npy_preamble_size)));
  if (static_cast<std::int64_t>(head.size()) < header.data_offset)
    throw io_error(
        fmt::format("truncated in the .npy header: {} bytes expected, {} found", header.data_offset, head.size()));
  const std::size_t fixed = head[6] == std::byte{1} ? 10 : npy_preamble_size;
  const char* text = reinterpret_cast<const char*>(head.data());
  literal_parser({text + fixed, static_cast<std::size_t>(header.data_offset) - fixed}).parse(header);

  std::int64_t bytes = 0;
  bool fits = true;
  try {
    fits = !__builtin_mul_overflow(element_count(header.extents), item_size(header.type), &bytes) &&
           bytes <= std::numeric_limits<std::int64_t>::max() - header.data_offset;
  } catch (const shape_error&) {
    fits = false;
  }
  if (!fits) throw io_error(fmt::format("absurd shape {}: the size overflows", to_string(header.extents)));
  return header;
}

std::string format_npy_header(dtype type, const shape& extents) {
  constexpr int widest_extent = 21;
  const char order = item_size(type) == 1 ? '|' : little ? '<' : '>';
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}", order, type_code(type),
                                 to_string(extents));
  // NumPy leaves room for the first extent to grow in place, and always at least one space.
  if (!extents.empty()) text.append(static_cast<std::size_t>(widest_extent) - std::to_string(extents[0]).size(), ' ');
  constexpr std::size_t fixed = 10;
  text.append(64 - (fixed + text.size() + 1) % 64, ' ');
  text += '\n';
  std::string header(magic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

void swap_bytes(std::byte* data, std::int64_t count, dtype type) {
  const std::size_t size = item_size(type);
  const bool pair = is_complex(type);
  const std::int64_t words = pair ? 2 * count : count;
  switch (pair ? size / 2 : size) {
    case 2: return swap_words<std::uint16_t>(data, words);
    case 4: return swap_words<std::uint32_t>(data, words);
    case 8: return swap_words<std::uint64_t>(data, words);
    default: return;
  }
}

}  // namespace serried::inline v0::io
