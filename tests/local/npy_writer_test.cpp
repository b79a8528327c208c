#include "local/io/npy_file.hpp"
#include "local/npy_files.hpp"

#include <serried/error.hpp>

#include <gtest/gtest.h>

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>

namespace serried {
namespace {

using io::npy_writer;
using testing::bytes_of;
using testing::data_file;
using testing::message_of;
using testing::temporary_folder;
using testing::write_bytes;
using names = std::vector<std::string>;

namespace fs = std::filesystem;

/// The doubles of data/make_npy.py.
std::vector<double> doubles(std::int64_t count) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<double>(i) * 1.25 - 3);
  return numbers;
}

void save(const std::string& path, const shape& extents) {
  npy_writer writer = npy_writer::create(path, float64, extents);
  const std::vector<double> numbers = doubles(element_count(extents));
  writer.write_box(box::whole(extents), reinterpret_cast<const std::byte*>(numbers.data()));
  writer.close();
  writer.commit();
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

/// Root may write anywhere; as long as this lives, we are somebody else.
class ordinary_user {
 public:
  ordinary_user() : before_(::geteuid()) {
    if (before_ == 0) {
      EXPECT_EQ(::seteuid(65534), 0);
    }
  }
  ordinary_user(const ordinary_user&) = delete;
  ordinary_user& operator=(const ordinary_user&) = delete;
  ~ordinary_user() { EXPECT_EQ(::seteuid(before_), 0); }

 private:
  uid_t before_;
};

TEST(npy_writer, writes_the_bytes_that_numpy_writes) {
  const temporary_folder folder;
  const std::pair<const char*, shape> files[] = {{"f8_c", {2, 3, 4}}, {"f8_scalar", shape{}},   {"f8_one", {1}},
                                                 {"f8_none", {0, 3}}, {"f8_hollow", {2, 0, 4}}, {"f8_row", {1, 5}},
                                                 {"f8_line", {12}}};
  for (const auto& [name, extents] : files) {
    save(folder / "u.npy", extents);
    EXPECT_EQ(bytes_of(folder / "u.npy"), bytes_of(data_file(name))) << name;
  }
  EXPECT_EQ(folder.entries(), (names{"u.npy"}));
}

TEST(npy_writer, several_write_parts_of_one_file) {
  const temporary_folder folder;
  const std::string path = folder / "u.npy";
  const shape extents{5, 7, 6};
  const std::vector<double> numbers = doubles(element_count(extents));
  npy_writer first = npy_writer::create(path, float64, extents);
  EXPECT_FALSE(fs::exists(path)) << "the name appears with the whole file";
  std::vector<std::thread> others;
  const std::int64_t rows[] = {0, 2, 3, 5}, columns[] = {0, 4, 4, 7};  // an empty part among them
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      others.emplace_back([&, i, j] {
        npy_writer part = npy_writer::open_part(path, first.temporary(), float64, extents);
        const box where{{rows[i], columns[j], 0}, {rows[i + 1], columns[j + 1], 6}};
        std::vector<double> mine;
        for (std::int64_t a = where.lo[0]; a < where.hi[0]; ++a)
          for (std::int64_t b = where.lo[1]; b < where.hi[1]; ++b)
            for (std::int64_t c = 0; c < 6; ++c) mine.push_back(numbers[static_cast<std::size_t>((a * 7 + b) * 6 + c)]);
        part.write_box(where, reinterpret_cast<const std::byte*>(mine.data()));
        part.close();
      });
  for (std::thread& t : others) t.join();
  first.close();
  first.commit();
  const io::npy_reader reader(path);
  std::vector<double> read(numbers.size());
  reader.read_box(box::whole(extents), reinterpret_cast<std::byte*>(read.data()));
  EXPECT_EQ(read, numbers);
  EXPECT_EQ(folder.entries(), (names{"u.npy"}));
}

TEST(npy_writer, without_commit_nothing_is_left_and_nothing_is_changed) {
  const temporary_folder folder;
  write_bytes(folder / "u.npy", "as before");
  {
    npy_writer writer = npy_writer::create(folder / "u.npy", float32, {4});
    EXPECT_EQ(folder.entries().size(), 2U);
    EXPECT_EQ(fs::path(writer.temporary()).filename().string().front(), '.');
    npy_writer moved = std::move(writer);
    npy_writer part = npy_writer::open_part(folder / "u.npy", moved.temporary(), float32, {4});
  }
  EXPECT_EQ(folder.entries(), (names{"u.npy"}));
  npy_writer writer = npy_writer::create(folder / "u.npy", float32, {4});
  writer.discard();
  writer.discard();
  EXPECT_EQ(folder.entries(), (names{"u.npy"}));
  EXPECT_EQ(bytes_of(folder / "u.npy"), "as before");
  io::check_writable(folder / "u.npy");
  io::check_writable(folder / "new.npy");
  EXPECT_EQ(folder.entries(), (names{"u.npy"}));
  EXPECT_EQ(bytes_of(folder / "u.npy"), "as before");
}

TEST(npy_writer, permissions_follow_the_umask_or_the_file_that_was_there) {
  const temporary_folder folder;
  const mode_t before = ::umask(027);
  save(folder / "new.npy", {3});
  ::umask(before);
  EXPECT_EQ(mode_of(folder / "new.npy"), 0640U);
  write_bytes(folder / "old.npy", "");
  ASSERT_EQ(::chmod((folder / "old.npy").c_str(), 0606), 0);
  const uid_t owner = ::geteuid() == 0 ? 65534 : ::geteuid();
  ASSERT_EQ(::chown((folder / "old.npy").c_str(), owner, static_cast<gid_t>(-1)), 0);
  save(folder / "old.npy", {3});
  EXPECT_EQ(mode_of(folder / "old.npy"), 0606U);
  struct stat status {};
  ASSERT_EQ(::stat((folder / "old.npy").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, owner);
}

TEST(npy_writer, a_link_is_written_where_it_points) {
  const temporary_folder folder;
  fs::create_directory(folder / "there");
  write_bytes(folder / "there/u.npy", "old");
  fs::create_symlink("there/u.npy", folder / "link.npy");
  fs::create_symlink("link.npy", folder / "link2.npy");
  fs::create_symlink("there/none.npy", folder / "dangling.npy");
  save(folder / "link2.npy", {5});
  EXPECT_TRUE(fs::is_symlink(folder / "link2.npy"));
  EXPECT_TRUE(fs::is_symlink(folder / "link.npy"));
  EXPECT_EQ(io::npy_reader(folder / "there/u.npy").extents(), (shape{5}));
  save(folder / "dangling.npy", {6});
  EXPECT_TRUE(fs::is_symlink(folder / "dangling.npy"));
  EXPECT_EQ(io::npy_reader(folder / "there/none.npy").extents(), (shape{6}));
  fs::create_symlink("loop.npy", folder / "loop.npy");
  EXPECT_EQ(message_of<io_error>([&] { save(folder / "loop.npy", {1}); }),
            (folder / "loop.npy") + ": cannot write: Too many levels of symbolic links");
}

TEST(npy_writer, targets_that_cannot_be_written_are_refused_at_once) {
  const temporary_folder folder;
  const auto message = [](const std::string& path) { return message_of<io_error>([&] { io::check_writable(path); }); };
  EXPECT_EQ(message(folder / "none/u.npy"), (folder / "none/u.npy") + ": cannot write: No such file or directory");
  EXPECT_EQ(message(folder.path()), folder.path().string() + ": cannot write: it is a directory");
  EXPECT_EQ(message(folder / "new/"), (folder / "new/") + ": cannot write: it names no file");
  EXPECT_EQ(message(""), ": cannot write: it names no file");
  EXPECT_EQ(message("/dev/null"), "/dev/null: cannot write: it is not a regular file");
  EXPECT_EQ(message("/dev/full"), "/dev/full: cannot write: it is not a regular file");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(message(folder / "fifo"), (folder / "fifo") + ": cannot write: it is not a regular file");
  fs::create_symlink("/dev/null", folder / "link.npy");
  EXPECT_EQ(message(folder / "link.npy"), (folder / "link.npy") + ": cannot write: it is not a regular file");
  write_bytes(folder / "file", "");
  EXPECT_EQ(message(folder / "file/u.npy"), (folder / "file/u.npy") + ": cannot write: Not a directory");
  const std::string endless = folder / (std::string(300, 'n') + ".npy");
  EXPECT_EQ(message(endless), endless + ": cannot write: File name too long");
  save(folder / (std::string(251, 'n') + ".npy"), {2});  // the longest name there is
  EXPECT_EQ(message_of<io_error>(
                [&] { static_cast<void>(npy_writer::create(folder / "u.npy", float64, {std::int64_t{1} << 60})); }),
            (folder / "u.npy") + ": cannot write: File too large");
}

TEST(npy_writer, files_and_folders_without_write_permission_are_refused) {
  const temporary_folder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  write_bytes(folder / "readonly.npy", "old");
  ASSERT_EQ(::chmod((folder / "readonly.npy").c_str(), 0444), 0);
  fs::create_directory(folder / "closed");
  ASSERT_EQ(::chmod((folder / "closed").c_str(), 0555), 0);
  {
    const ordinary_user nobody;
    for (const char* name : {"readonly.npy", "closed/u.npy"})
      EXPECT_EQ(message_of<io_error>([&] { save(folder / name, {2}); }),
                (folder / name) + ": cannot write: Permission denied");
    save(folder / "mine.npy", {2});
  }
  EXPECT_EQ(bytes_of(folder / "readonly.npy"), "old");
  EXPECT_EQ(folder.entries(), (names{"closed", "mine.npy", "readonly.npy"}));
}

TEST(npy_writer, a_file_size_limit_is_an_error_not_a_signal) {
  const temporary_folder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = message_of<io_error>([&] { save(folder / "u.npy", {1000}); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(message, (folder / "u.npy") + ": cannot write: File too large");
  EXPECT_TRUE(folder.entries().empty());
}

TEST(npy_writer, a_full_disk_is_found_before_anything_is_computed) {
  const temporary_folder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "mounting a small file system takes root";
  write_bytes(folder / "u.npy", "old");
  const std::string message =
      message_of<io_error>([&] { static_cast<void>(npy_writer::create(folder / "u.npy", float64, {100000})); });
  const auto left = folder.entries();
  const std::string old = bytes_of(folder / "u.npy");
  EXPECT_EQ(::umount(folder.path().c_str()), 0);
  EXPECT_EQ(message, (folder / "u.npy") + ": cannot reserve 800128 bytes: No space left on device");
  EXPECT_EQ(left, (names{"u.npy"}));
  EXPECT_EQ(old, "old");
}

TEST(npy_writer, what_goes_wrong_later_is_reported_and_cleaned_up) {
  const temporary_folder folder;
  const std::string path = folder / "u.npy";
  EXPECT_NE(message_of<io_error>([&] {
              static_cast<void>(npy_writer::open_part(path, folder / ".gone.tmp", float64, {2}));
            }).find("No such file or directory"),
            std::string::npos);
  {
    npy_writer writer = npy_writer::create(path, float64, {2});
    fs::remove(writer.temporary());
    EXPECT_EQ(message_of<io_error>([&] { writer.commit(); }), path + ": cannot write: No such file or directory");
  }
  {
    npy_writer writer = npy_writer::create(path, float64, {2});
    fs::create_directory(path);
    EXPECT_EQ(message_of<io_error>([&] { writer.commit(); }), path + ": cannot write: it is a directory");
    EXPECT_THROW(writer.write_box({{0}, {3}}, nullptr), index_error);
  }
  EXPECT_EQ(folder.entries(), (names{"u.npy"}));
}

}  // namespace
}  // namespace serried
