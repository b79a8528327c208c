#include "local/io/npy.hpp"
#include "local/npy_files.hpp"

#include <serried/error.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace serried {
namespace {

using io::npy_header;
using testing::bytes_of;
using testing::data_file;
using testing::message_of;
using testing::npy_head;
using namespace std::string_literals;

npy_header parse(const std::string& bytes) {
  return io::parse_npy_header(std::as_bytes(std::span(bytes.data(), bytes.size())));
}
npy_header parse_text(const std::string& text) { return parse(npy_head(text)); }

TEST(npy_header, is_written_as_numpy_writes_it) {
  const std::pair<const char*, dtype> types[] = {
      {"b1", bool_},   {"i1", int8},    {"i2", int16},     {"i4", int32},       {"i8", int64},
      {"u1", uint8},   {"u2", uint16},  {"u4", uint32},    {"u8", uint64},      {"f2", float16},
      {"f4", float32}, {"f8", float64}, {"c8", complex64}, {"c16", complex128},
  };
  const auto expect_head = [](const char* file, dtype type, const shape& extents) {
    const std::string ours = io::format_npy_header(type, extents);
    EXPECT_EQ(ours, bytes_of(data_file(file)).substr(0, ours.size())) << file;
    EXPECT_EQ(ours.size() % 64, 0U);
  };
  for (const auto& [code, type] : types) expect_head((std::string(code) + "_c").c_str(), type, {2, 3, 4});
  expect_head("f8_scalar", float64, shape{});
  expect_head("f8_one", float64, {1});
  expect_head("f8_none", float64, {0, 3});
  expect_head("f8_line", float64, {12});
  expect_head("bfloat16_c", bfloat16, {2, 3});
}

TEST(npy_header, of_any_shape_reads_back) {
  const shape longest = dims::filled(max_ndim, 1);
  for (const shape& s : {shape{}, shape{0}, shape{std::int64_t{1} << 50, 3}, longest})
    for (int t = 0; t < dtype_count; ++t) {
      const auto type = static_cast<dtype>(t);
      const std::string head = io::format_npy_header(type, s);
      const npy_header h = parse(head);
      EXPECT_EQ(h.type, type);
      EXPECT_EQ(h.extents, s);
      EXPECT_FALSE(h.fortran_order);
      EXPECT_FALSE(h.swapped);
      EXPECT_EQ(h.data_offset, static_cast<std::int64_t>(head.size()));
    }
}

TEST(npy_header, takes_what_python_takes_for_a_dict) {
  for (const char* text : {
           "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }\n",
           "{'descr':'<f8','fortran_order':False,'shape':(3,4)}",
           "  {  \"shape\" :\t( 3 , 4 , ) ,\n 'fortran_order': False , \"descr\" : '<f8' }   \n",
           "{'shape': (3L, 4L), 'descr': '<f8', 'fortran_order': False}",
       }) {
    const npy_header h = parse_text(text);
    EXPECT_EQ(h.type, float64) << text;
    EXPECT_EQ(h.extents, (shape{3, 4})) << text;
    EXPECT_FALSE(h.fortran_order);
  }
  EXPECT_EQ(parse_text("{'descr': '<f8', 'fortran_order': True, 'shape': (7,)}").extents, (shape{7}));
  EXPECT_TRUE(parse_text("{'descr': '<f8', 'fortran_order': True, 'shape': (7,)}").fortran_order);
  EXPECT_EQ(parse_text("{'descr': '<f8', 'fortran_order': True, 'shape': ()}").extents, shape{});
}

TEST(npy_header, knows_types_in_every_byte_order) {
  static_assert(std::endian::native == std::endian::little, "the expectations below are for little-endian machines");
  const auto header = [](const std::string& descr) {
    return parse_text("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,)}");
  };
  for (const char* code : {"i2", "u8", "f2", "f4", "c8", "c16", "V2"}) {
    EXPECT_FALSE(header(std::string("<") + code).swapped) << code;
    EXPECT_TRUE(header(std::string(">") + code).swapped) << code;
    EXPECT_FALSE(header(std::string("=") + code).swapped) << code;
    EXPECT_FALSE(header(std::string("|") + code).swapped) << code;
    EXPECT_FALSE(header(code).swapped) << code;
  }
  for (const char* order : {"<", ">", "=", "|", ""})
    for (const char* code : {"b1", "i1", "u1"})
      EXPECT_FALSE(header(std::string(order) + code).swapped) << order << code;
  EXPECT_EQ(header("<V2").type, bfloat16);
  EXPECT_EQ(header("bfloat16").type, bfloat16);
  EXPECT_EQ(header("complex64").type, complex64);
  EXPECT_EQ(header("|b1").type, bool_);
  EXPECT_EQ(header("<f2").type, float16);
}

TEST(npy_header, names_a_type_that_is_not_supported) {
  for (const char* descr : {"|O", "<U5", "|S3", "<f16", "<c32", "<M8[s]", "|V8", "", "f", "<", "float", "<f8x", "i3"})
    EXPECT_EQ(message_of<io_error>([&] {
                parse_text("{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (1,)}");
              }),
              "unsupported dtype '" + std::string(descr) + "'");
  EXPECT_NE(message_of<io_error>([] {
              parse_text("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}");
            }).find("unsupported dtype"),
            std::string::npos);
}

TEST(npy_header, refuses_damage_and_says_what_it_is) {
  const std::pair<const char*, const char*> damages[] = {
      {"", "'{' expected"},
      {"[]", "'{' expected"},
      {"{}", "no key 'descr'"},
      {"{'descr': '<f8'}", "no key 'fortran_order'"},
      {"{'descr': '<f8', 'fortran_order': False}", "no key 'shape'"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}", "unknown key 'more'"},
      {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "two keys 'descr'"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)", "'}' expected"},
      {"{'descr': '<f8' 'fortran_order': False, 'shape': (1,)}", "'}' expected"},
      {"{'descr' '<f8', 'fortran_order': False, 'shape': (1,)}", "':' expected"},
      {"{'descr': '<f8, 'fortran_order': False, 'shape': (1,)}", "unsupported dtype"},
      {"{'descr': 8, 'fortran_order': False, 'shape': (1,)}", "a string expected"},
      {"{descr: '<f8', 'fortran_order': False, 'shape': (1,)}", "a string expected"},
      {"{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", "True or False expected"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': 3}", "'(' expected"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': [3]}", "'(' expected"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3)}", "comma"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (,)}", "a number expected"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,,4)}", "a number expected"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3 4)}", "comma"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4 5)}", "')' expected"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3.0,)}", "comma"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': ('3',)}", "a number expected"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}", "negative"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808,)}", "63 bits"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807,)}", "overflows"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,)}", "overflows"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "overflows"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x", "follows the closing brace"},
  };
  for (const auto& [text, fragment] : damages) {
    const std::string message = message_of<io_error>([&] { parse_text(text); });
    EXPECT_NE(message.find(fragment), std::string::npos) << text << "\n" << message;
  }
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1, ";
  EXPECT_EQ(
      message_of<io_error>([&] { parse_text("{'descr': '<f8', 'fortran_order': False, 'shape': " + many + ")}"); }),
      "more than 32 dimensions");
  EXPECT_EQ(parse_text("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 0, 4294967296)}").data_bytes(),
            0);
  EXPECT_THROW(parse_text("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}\0"s), io_error);
}

TEST(npy_header, refuses_what_is_not_npy_and_lengths_that_are_absurd) {
  EXPECT_NE(message_of<io_error>([] { parse(""); }).find("not a .npy file"), std::string::npos);
  EXPECT_NE(message_of<io_error>([] { parse("\x93NUMPx\1"); }).find("not a .npy file"), std::string::npos);
  EXPECT_NE(message_of<io_error>([] { parse("\x93NUMPY"); }).find("truncated"), std::string::npos);
  const std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}";
  const auto with_version = [&](char major, char minor, std::uint32_t length) {
    std::string head = std::string("\x93NUMPY") + major + minor;
    for (int i = 0; i < 4; ++i) head += static_cast<char>(length >> (8 * i) & 0xff);
    return head + text;
  };
  const auto length = static_cast<std::uint32_t>(text.size());
  EXPECT_EQ(parse(with_version(2, 0, length)).data_offset, 12 + length);
  EXPECT_EQ(parse(with_version(3, 0, length)).data_offset, 12 + length);
  EXPECT_NE(message_of<io_error>([&] { parse(with_version(4, 0, length)); }).find("version 4.0"), std::string::npos);
  EXPECT_NE(message_of<io_error>([&] { parse(with_version(0, 0, length)); }).find("version 0.0"), std::string::npos);
  EXPECT_NE(message_of<io_error>([&] { parse(with_version(2, 1, length)); }).find("version 2.1"), std::string::npos);
  EXPECT_NE(message_of<io_error>([&] { parse(with_version(2, 0, 0xffffffff)); }).find("absurd"), std::string::npos);
  EXPECT_NE(message_of<io_error>([&] { parse(with_version(2, 0, length + 1)); }).find("truncated"), std::string::npos);
}

TEST(npy_header, of_ten_thousand_bytes_is_read) {
  std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }";
  text.resize(9999, ' ');
  const npy_header h = parse_text(text + "\n");
  EXPECT_EQ(h.extents, (shape{5}));
  EXPECT_EQ(h.data_offset, 10010);
}

TEST(npy_header, survives_any_mutation) {
  const std::string texts[] = {
      io::format_npy_header(float64, {2, 3, 4}),
      npy_head("{\"shape\": (3L, 4), 'descr': '>c16', 'fortran_order': True}"),
      bytes_of(data_file("f4_version2")).substr(0, 128),
      bytes_of(data_file("structure")).substr(0, 128),
  };
  const std::string alphabet = "{}()[],:'\"<>=|0123456789LTFdescrshapfotn_ \n\0\x93\xff-"s;
  constexpr int mutations = 100000;
  std::mt19937 random(20240607);
  int valid = 0, refused = 0;
  for (int i = 0; i < mutations; ++i) {
    std::string bytes = texts[random() % std::size(texts)];
    for (unsigned k = random() % 4; k-- > 0 && !bytes.empty();) {
      const std::size_t at = random() % bytes.size();
      const char c = random() % 4 == 0 ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
      switch (random() % 4) {
        case 0: bytes[at] = c; break;
        case 1: bytes.insert(at, 1, c); break;
        case 2: bytes.erase(at, 1 + random() % 8); break;
        default: bytes.resize(at); break;
      }
    }
    // In memory of exactly this size, so that the sanitizer sees one byte too many.
    std::vector<std::byte> exact(bytes.size());
    if (!bytes.empty()) std::memcpy(exact.data(), bytes.data(), bytes.size());
    try {
      const npy_header h = io::parse_npy_header(exact);
      EXPECT_LE(h.data_offset, static_cast<std::int64_t>(exact.size()));
      EXPECT_GE(h.data_bytes(), 0);
      ++valid;
    } catch (const io_error& e) {
      EXPECT_STRNE(e.what(), "");
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << "errors are one line";
      ++refused;
    }
  }
  EXPECT_EQ(valid + refused, mutations);
  EXPECT_GT(valid, mutations / 20);
  EXPECT_GT(refused, mutations / 20);
}

TEST(npy, swap_bytes_reverses_each_number) {
  std::array<std::byte, 16> bytes{};
  const auto reset = [&] {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  };
  const auto at = [&](std::size_t i) { return std::to_integer<int>(bytes[i]); };
  reset();
  io::swap_bytes(bytes.data(), 16, int8);
  EXPECT_EQ(at(0), 0);
  io::swap_bytes(bytes.data(), 7, float16);
  EXPECT_EQ(at(0), 1);
  EXPECT_EQ(at(13), 12);
  EXPECT_EQ(at(14), 14);  // only seven
  reset();
  io::swap_bytes(bytes.data(), 4, float32);
  EXPECT_EQ(at(4), 7);
  reset();
  io::swap_bytes(bytes.data(), 2, complex64);
  EXPECT_EQ(at(0), 3);
  EXPECT_EQ(at(4), 7);
  reset();
  io::swap_bytes(bytes.data(), 1, complex128);
  EXPECT_EQ(at(0), 7);
  EXPECT_EQ(at(8), 15);
}

}  // namespace
}  // namespace serried
