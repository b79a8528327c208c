#include "local/io/npy_file.hpp"
#include "local/npy_files.hpp"

#include <serried/error.hpp>

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <complex>
#include <cstring>
#include <random>

namespace serried {
namespace {

using io::npy_reader;
using testing::data_file;
using testing::message_of;
using testing::npy_head;
using testing::temporary_folder;
using testing::write_bytes;
using namespace std::string_literals;

/// The formulas of data/make_npy.py: element i in C order.
template <class T>
T value(std::int64_t i) {
  constexpr std::int64_t scales[] = {0, 1, 257, 0, 196611, 0, 0, 0, (std::int64_t{1} << 40) + 3};
  if constexpr (std::is_same_v<T, bool>) return i % 3 == 0;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return static_cast<T>((i * 7 - 20) * scales[sizeof(T)]);
  else if constexpr (std::is_integral_v<T>) return static_cast<T>((i * 9 + 1) * scales[sizeof(T)]);
  else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return T(static_cast<typename T::value_type>(static_cast<double>(i) * 1.25 - 3),
             static_cast<typename T::value_type>(0.5 * static_cast<double>(i)));
  else return T(static_cast<float>(static_cast<double>(i) * 1.25 - 3));
}

/// Linear C-order indices of a box.
std::vector<std::int64_t> indices(const shape& extents, const box& b) {
  std::vector<std::int64_t> all;
  if (b.empty()) return all;
  dims at = b.lo;
  for (int d = 0; d >= 0;) {
    std::int64_t n = 0;
    for (int k = 0; k < extents.size(); ++k) n = n * extents[k] + at[k];
    all.push_back(n);
    for (d = extents.size() - 1; d >= 0 && ++at[d] == b.hi[d]; --d) at[d] = b.lo[d];
  }
  return all;
}

box random_box(const shape& extents, std::mt19937& random) {
  box b{extents, extents};
  for (int d = 0; d < extents.size(); ++d) {
    b.lo[d] = static_cast<std::int64_t>(random() % static_cast<unsigned>(extents[d] + 1));
    b.hi[d] = b.lo[d] + static_cast<std::int64_t>(random() % static_cast<unsigned>(extents[d] - b.lo[d] + 1));
  }
  return b;
}

/// Reads a box and compares every byte with the formula's numbers.
template <class T>
void expect_values(const npy_reader& reader, const box& where) {
  const std::vector<std::int64_t> index = indices(reader.extents(), where);
  std::vector<std::byte> numbers(index.size() * sizeof(T));
  reader.read_box(where, numbers.data());
  for (std::size_t i = 0; i < index.size(); ++i) {
    const T expected = value<T>(index[i]);
    ASSERT_EQ(std::memcmp(&expected, numbers.data() + i * sizeof(T), sizeof(T)), 0)
        << reader.path() << " " << to_string(where) << " element " << i;
  }
}

TEST(npy_reader, reads_every_type_byte_order_and_array_order_of_numpy) {
  const std::pair<const char*, dtype> types[] = {
      {"b1", bool_},   {"i1", int8},    {"i2", int16},     {"i4", int32},      {"i8", int64},
      {"u1", uint8},   {"u2", uint16},  {"u4", uint32},    {"u8", uint64},     {"f2", float16},
      {"f4", float32}, {"f8", float64}, {"c8", complex64}, {"c16", complex128}};
  std::mt19937 random(1);
  for (const auto& [code, type] : types)
    for (const bool fortran : {false, true}) {
      const npy_reader reader(data_file(std::string(code) + (fortran ? "_big_fortran" : "_c")));
      EXPECT_EQ(reader.type(), type);
      EXPECT_EQ(reader.extents(), (shape{2, 3, 4}));
      EXPECT_EQ(reader.header().fortran_order, fortran);
      EXPECT_EQ(reader.header().swapped, fortran && item_size(type) > 1);
      visit_dtype(type, [&]<class T>() {
        expect_values<T>(reader, box::whole(reader.extents()));
        for (int i = 0; i < 50; ++i) expect_values<T>(reader, random_box(reader.extents(), random));
      });
    }
  const npy_reader brain(data_file("bfloat16_c"));
  EXPECT_EQ(brain.type(), bfloat16);
  expect_values<bfloat16_t>(brain, box::whole(brain.extents()));
}

TEST(npy_reader, reads_every_kind_of_shape_and_version) {
  const std::pair<const char*, shape> files[] = {{"f8_scalar", shape{}},   {"f8_one", {1}},    {"f8_none", {0, 3}},
                                                 {"f8_hollow", {2, 0, 4}}, {"f8_row", {1, 5}}, {"f8_line", {12}}};
  for (const auto& [name, extents] : files) {
    const npy_reader reader(data_file(name));
    EXPECT_EQ(reader.extents(), extents);
    expect_values<double>(reader, box::whole(extents));
  }
  for (const char* name : {"f4_version2", "f4_version3"}) {
    const npy_reader reader(data_file(name));
    EXPECT_EQ(reader.extents(), (shape{3, 2}));
    expect_values<float>(reader, box::whole({3, 2}));
  }
}

/// A file of int32 that hold their own C-order index, in either order of elements.
void write_indices(const std::string& path, const shape& extents, bool fortran) {
  const std::int64_t count = element_count(extents);
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  dims at = dims::filled(extents.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t place = 0;
    if (fortran)
      for (int d = extents.size() - 1; d >= 0; --d) place = place * extents[d] + at[d];
    else place = i;
    numbers[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(i);
    for (int d = extents.size() - 1; d >= 0 && ++at[d] == extents[d]; --d) at[d] = 0;
  }
  write_bytes(path, npy_head("{'descr': '=i4', 'fortran_order': " + std::string(fortran ? "True" : "False") +
                             ", 'shape': " + to_string(extents) + "}") +
                        std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4));
}

TEST(npy_reader, reads_boxes_of_large_files_in_both_orders) {
  const temporary_folder folder;
  std::mt19937 random(7);
  // Long rows and short ones, wide gaps and narrow ones, more than one buffer and more than one chunk.
  for (const shape& extents :
       {shape{3000, 500}, shape{20, 70000}, shape{70000, 20}, shape{60, 70, 80}, shape{1, 1500000}, shape{1300000, 1},
        shape{1100000}, shape{30, 1, 40, 2, 9, 5}, shape{2, 600000}})
    for (const bool fortran : {false, true}) {
      const std::string path = folder / "indices.npy";
      write_indices(path, extents, fortran);
      const npy_reader reader(path);
      std::vector<box> boxes{box::whole(extents)};
      for (int i = 0; i < 4; ++i) boxes.push_back(random_box(extents, random));
      box column = box::whole(extents);  // one index of the last dimension
      column.lo[extents.size() - 1] = extents[extents.size() - 1] / 2;
      column.hi[extents.size() - 1] = column.lo[extents.size() - 1] + 1;
      boxes.push_back(column);
      for (const box& where : boxes) {
        const std::vector<std::int64_t> expected = indices(extents, where);
        std::vector<std::int32_t> numbers(expected.size());
        reader.read_box(where, reinterpret_cast<std::byte*>(numbers.data()));
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), numbers.begin(), numbers.end()))
            << to_string(extents) << (fortran ? " Fortran " : " C ") << to_string(where);
      }
    }
}

TEST(npy_reader, any_byte_but_zero_is_true) {
  const temporary_folder folder;
  write_bytes(folder / "b.npy", npy_head("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}") + "\0\x02\xff"s);
  std::array<unsigned char, 3> numbers{};
  npy_reader(folder / "b.npy").read_box({{0}, {3}}, reinterpret_cast<std::byte*>(numbers.data()));
  EXPECT_EQ(numbers, (std::array<unsigned char, 3>{0, 1, 1}));
}

TEST(npy_reader, a_short_file_is_truncated_and_a_long_one_is_fine) {
  const temporary_folder folder;
  const std::string head = npy_head("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}");
  const std::string path = folder / "u.npy";
  write_bytes(path, head + std::string(47, 'x'));
  EXPECT_EQ(message_of<io_error>([&] { npy_reader reader(path); }),
            path + ": truncated: 48 bytes of data expected, 47 found");
  write_bytes(path, head);
  EXPECT_EQ(message_of<io_error>([&] { npy_reader reader(path); }),
            path + ": truncated: 48 bytes of data expected, 0 found");
  write_bytes(path, head.substr(0, 30));
  EXPECT_NE(message_of<io_error>([&] { npy_reader reader(path); }).find(path + ": truncated in the .npy header"),
            std::string::npos);
  write_bytes(path, head + std::string(1000, 'x'));
  EXPECT_EQ(npy_reader(path).extents(), (shape{3, 2}));
  const npy_reader shrinking(path);
  ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(head.size() + 20)), 0);
  std::array<std::byte, 48> numbers{};
  EXPECT_NE(message_of<io_error>([&] {
              shrinking.read_box({{0, 0}, {3, 2}}, numbers.data());
            }).find("truncated"),
            std::string::npos);
}

TEST(npy_reader, unsupported_types_of_numpy_are_refused_with_the_path) {
  for (const char* name : {"object", "text", "structure", "datetime", "longdouble"}) {
    const std::string message = message_of<io_error>([&] { npy_reader reader(data_file(name)); });
    EXPECT_EQ(message.find(data_file(name) + ": unsupported dtype"), 0U) << message;
  }
}

TEST(npy_reader, only_regular_files_are_opened) {
  const temporary_folder folder;
  const auto message = [](const std::string& path) { return message_of<io_error>([&] { npy_reader reader(path); }); };
  EXPECT_EQ(message(folder / "none.npy"), (folder / "none.npy") + ": cannot read: No such file or directory");
  EXPECT_EQ(message(folder.path()), folder.path().string() + ": cannot read: it is a directory");
  EXPECT_EQ(message("/dev/null"), "/dev/null: cannot read: it is not a regular file");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(message(folder / "fifo"), (folder / "fifo") + ": cannot read: it is not a regular file");
  write_bytes(folder / "empty.npy", "");
  EXPECT_NE(message(folder / "empty.npy").find("not a .npy file"), std::string::npos);
  std::filesystem::create_symlink(data_file("f8_one"), folder / "link.npy");
  EXPECT_EQ(npy_reader(folder / "link.npy").extents(), (shape{1}));
}

TEST(npy_reader, boxes_outside_the_array_are_refused) {
  const npy_reader reader(data_file("f8_row"));
  std::array<std::byte, 1024> numbers{};
  EXPECT_THROW(reader.read_box({{0, 0}, {1, 6}}, numbers.data()), index_error);
  EXPECT_THROW(reader.read_box({{0, -1}, {1, 5}}, numbers.data()), index_error);
  EXPECT_THROW(reader.read_box({{0}, {1}}, numbers.data()), index_error);
  EXPECT_NO_THROW(reader.read_box({{0, 3}, {1, 3}}, nullptr));
}

TEST(npy_reader, a_header_that_claims_much_takes_no_memory) {
  const temporary_folder folder;
  write_bytes(folder / "u.npy", npy_head("{'descr': '<f8', 'fortran_order': True, 'shape': (1000000000, 1000000)}"));
  EXPECT_NE(message_of<io_error>([&] { npy_reader reader(folder / "u.npy"); }).find("8000000000000000 bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace serried
