// Compiled kernels on disk: kept, found by other processes, and never trusted when damaged or in others' hands.
#include "local/cuda/compiler.hpp"
#include "local/cuda/disk_cache.hpp"

#include <serried/error.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace serried::testing {
namespace {

namespace fs = std::filesystem;
using cuda::disk_cache;

constexpr std::uint64_t plenty = 1 << 20;

/// A folder of its own for each test, and makers that count.
class cuda_disk_cache : public ::testing::Test {
 protected:
  cuda_disk_cache() {
    std::string name = (fs::temp_directory_path() / "serried-cache-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~cuda_disk_cache() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  std::string path(const char* name = "kernels") const { return folder_ / name; }
  disk_cache open(std::uint64_t limit = plenty) const { return disk_cache(path(), limit); }

  /// Gets the key; the value is "made " + key where it is not there.
  std::string get(const disk_cache& cache, const std::string& key) {
    return cache.get(key, [&] {
      ++made_;
      return "made " + key;
    });
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    for (const auto& e : fs::directory_iterator(path()))
      if (e.path().extension() == ".kernel") found.push_back(e.path());
    return found;
  }
  fs::path only_entry() const {
    const auto all = entries();
    EXPECT_EQ(all.size(), 1u);
    return all.at(0);
  }

  fs::path folder_;
  int made_ = 0;
};

TEST_F(cuda_disk_cache, keeps_values_for_later_processes) {
  EXPECT_EQ(get(open(), "one"), "made one");
  EXPECT_EQ(get(open(), "two"), "made two");
  EXPECT_EQ(made_, 2);
  EXPECT_EQ(get(open(), "one"), "made one");
  EXPECT_EQ(get(open(), "two"), "made two");
  EXPECT_EQ(made_, 2);
  EXPECT_EQ(open().find("one"), "made one");
  EXPECT_EQ(open().find("three"), std::nullopt);
}

TEST_F(cuda_disk_cache, keeps_bytes_of_any_kind) {
  const std::string value("\0\n\xff kernel \0", 12);
  const std::string key("a\0b", 3);
  EXPECT_EQ(open().get(key, [&] { return value; }), value);
  EXPECT_EQ(open().find(key), value);
  EXPECT_EQ(open().find(std::string("a\0c", 3)), std::nullopt);
}

TEST_F(cuda_disk_cache, is_for_the_user_alone) {
  get(open(), "one");
  struct stat s {};
  ASSERT_EQ(stat(path().c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777u, 0700u);
  ASSERT_EQ(stat(only_entry().c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777u, 0600u);
}

TEST_F(cuda_disk_cache, makes_damaged_entries_anew) {
  get(open(), "key");
  const fs::path file = only_entry();
  const auto size = fs::file_size(file);
  for (std::uintmax_t at = 0; at < size; ++at) {  // every single byte counts
    std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
    f.seekg(static_cast<std::streamoff>(at));
    const int old = f.get();
    f.seekp(static_cast<std::streamoff>(at));
    f.put(static_cast<char>(old ^ 0x40));
    f.close();
    EXPECT_EQ(open().find("key"), std::nullopt) << "byte " << at;
    made_ = 0;
    EXPECT_EQ(get(open(), "key"), "made key");
    EXPECT_EQ(made_, 1);
    EXPECT_EQ(open().find("key"), "made key");
  }
  for (const std::uintmax_t shorter : {size - 1, size / 2, std::uintmax_t{7}, std::uintmax_t{0}}) {
    fs::resize_file(file, shorter);
    EXPECT_EQ(open().find("key"), std::nullopt) << shorter << " bytes";
    EXPECT_EQ(get(open(), "key"), "made key");
    EXPECT_EQ(fs::file_size(file), size);
  }
  std::ofstream(file, std::ios::app) << "more";
  EXPECT_EQ(open().find("key"), std::nullopt);
}

TEST_F(cuda_disk_cache, does_not_take_another_keys_entry) {
  get(open(), "key");
  const fs::path file = only_entry();
  get(open(), "other");
  for (const fs::path& e : entries())
    if (e != file) fs::copy_file(file, e, fs::copy_options::overwrite_existing);
  EXPECT_EQ(open().find("other"), std::nullopt);
  EXPECT_EQ(get(open(), "other"), "made other");
}

TEST_F(cuda_disk_cache, leaves_a_folder_alone_that_others_can_write) {
  fs::create_directory(path());
  fs::permissions(path(), fs::perms::owner_all | fs::perms::others_write);
  EXPECT_EQ(get(open(), "key"), "made key");
  EXPECT_EQ(get(open(), "key"), "made key");
  EXPECT_EQ(made_, 2);
  EXPECT_TRUE(fs::is_empty(path()));
}

TEST_F(cuda_disk_cache, does_not_use_an_entry_that_others_can_write) {
  get(open(), "key");
  fs::permissions(only_entry(), fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(open().find("key"), std::nullopt);
  made_ = 0;
  EXPECT_EQ(get(open(), "key"), "made key");
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(open().find("key"), "made key");  // replaced by one that is the user's alone
}

TEST_F(cuda_disk_cache, says_each_thing_that_is_wrong) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process that has said nothing yet
  const auto use_both = [&] {
    get(open(), "key");
    fs::permissions(only_entry(), fs::perms::group_write, fs::perm_options::add);
    (void)open().find("key");
    fs::permissions(path(), fs::perms::others_write, fs::perm_options::add);
    (void)open();
    fs::remove_all(folder_);
    std::exit(0);
  };
  EXPECT_EXIT(use_both(), ::testing::ExitedWithCode(0), "kernel in the cache is not used.*kernels are not kept");
}

TEST_F(cuda_disk_cache, does_not_use_what_belongs_to_another_user) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  get(open(), "key");
  ASSERT_EQ(chown(only_entry().c_str(), 65534, 65534), 0);
  EXPECT_EQ(open().find("key"), std::nullopt);
  ASSERT_EQ(chown(path().c_str(), 65534, 65534), 0);
  made_ = 0;
  EXPECT_EQ(get(open(), "key"), "made key");
  EXPECT_EQ(made_, 1);
}

TEST_F(cuda_disk_cache, does_not_follow_links_or_wait_at_pipes) {
  get(open(), "key");
  const fs::path file = only_entry();
  fs::rename(file, folder_ / "elsewhere");
  fs::create_symlink(folder_ / "elsewhere", file);
  EXPECT_EQ(open().find("key"), std::nullopt);
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(open().find("key"), std::nullopt);
}

TEST_F(cuda_disk_cache, does_without_a_folder_that_cannot_be_written) {
  std::ofstream(folder_ / "file") << "not a folder";
  const disk_cache cache(folder_ / "file" / "kernels", plenty);
  EXPECT_EQ(get(cache, "key"), "made key");
  EXPECT_EQ(get(cache, "key"), "made key");
  EXPECT_EQ(made_, 2);
  if (geteuid() != 0) {  // root may write anywhere
    fs::create_directory(path());
    fs::permissions(path(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(get(open(), "key"), "made key");
    fs::permissions(path(), fs::perms::owner_all);
  }
}

TEST_F(cuda_disk_cache, removes_what_is_longest_unused_beyond_the_limit) {
  using namespace std::chrono_literals;
  const std::string big(1000, 'x');
  const auto add = [&](const char* key) {
    (void)open(3500).get(key, [&] { return big; });
    std::this_thread::sleep_for(20ms);  // coarse clocks of file systems
  };
  add("a");
  add("b");
  add("c");
  EXPECT_EQ(entries().size(), 3u);
  EXPECT_TRUE(open().find("a").has_value());  // used again
  std::this_thread::sleep_for(20ms);
  add("d");
  EXPECT_FALSE(open().find("b").has_value());
  for (const char* key : {"a", "c", "d"}) EXPECT_TRUE(open().find(key).has_value()) << key;
}

TEST_F(cuda_disk_cache, does_not_touch_other_files) {
  fs::create_directory(path());
  fs::permissions(path(), fs::perms::owner_all);
  std::ofstream(path() + "/thesis.tex") << std::string(10000, 'x');
  get(open(60), "a");
  get(open(60), "b");
  EXPECT_TRUE(fs::exists(path() + "/thesis.tex"));
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(cuda_disk_cache, has_one_process_make_what_several_need) {
  constexpr int processes = 6;
  const std::string tally = folder_ / "tally";
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const std::string value = open().get("key", [&] {
        std::ofstream(tally, std::ios::app) << "x";
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        return std::string("made once");
      });
      _exit(value == "made once" ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(fs::file_size(tally), 1u);
}

TEST_F(cuda_disk_cache, does_not_wait_for_one_that_failed) {
  const disk_cache cache = open();
  EXPECT_THROW((void)cache.get("key", []() -> std::string { throw library_error("no"); }), library_error);
  EXPECT_EQ(get(cache, "key"), "made key");
  EXPECT_EQ(open().find("key"), "made key");
}

/// Sets a variable for its lifetime; null unsets it.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    if (value == nullptr) unsetenv(name);
    else setenv(name, value, 1);
  }
  ~variable() {
    if (had_) setenv(name_, old_.c_str(), 1);
    else unsetenv(name_);
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

TEST_F(cuda_disk_cache, stands_where_the_environment_says) {
  const variable no_limit("SERRIED_CACHE_LIMIT", nullptr);
  const variable home("HOME", (folder_ / "home").c_str());
  {
    const variable mine("SERRIED_CACHE_DIR", path("mine").c_str());
    get(disk_cache::from_environment(), "key");
    EXPECT_TRUE(fs::is_directory(folder_ / "mine"));
  }
  const variable none("SERRIED_CACHE_DIR", nullptr);
  {
    const variable xdg("XDG_CACHE_HOME", path("xdg").c_str());
    get(disk_cache::from_environment(), "key");
    EXPECT_TRUE(fs::is_directory(folder_ / "xdg" / "serried"));
  }
  const variable xdg("XDG_CACHE_HOME", nullptr);
  get(disk_cache::from_environment(), "key");
  EXPECT_TRUE(fs::is_directory(folder_ / "home" / ".cache" / "serried"));
  const variable homeless("HOME", nullptr);
  EXPECT_EQ(get(disk_cache::from_environment(), "key"), "made key");
}

TEST_F(cuda_disk_cache, has_a_limit_from_the_environment) {
  const variable mine("SERRIED_CACHE_DIR", path("mine").c_str());
  {
    const variable nothing("SERRIED_CACHE_LIMIT", "0");
    get(disk_cache::from_environment(), "key");
    EXPECT_FALSE(fs::exists(folder_ / "mine"));
  }
  for (const char* wrong : {"many", "-1", "1G", "99999999999999999999"}) {
    const variable limit("SERRIED_CACHE_LIMIT", wrong);
    EXPECT_THROW((void)disk_cache::from_environment(), value_error) << wrong;
  }
}

constexpr const char* text = R"(#include "local/cuda/preamble.hpp"
struct arguments {
  unsigned long long w[2];
};
extern "C" __global__ void kernel(const __grid_constant__ arguments a) {
  reinterpret_cast<float*>(a.w[0])[threadIdx.x] = ops::to_float(ops::half{ops::u16(a.w[1])});
}
)";

TEST(cuda_compiler, compiles_for_every_chip_without_one) {
  for (const char* architecture : {"sm_75", "sm_90", "sm_120"})
    EXPECT_TRUE(cuda::compile(text, architecture)
                    .starts_with("\x7f"
                                 "ELF"))
        << architecture;
  const std::string ptx = cuda::compile(text, "compute_90");
  EXPECT_NE(ptx.find(".target sm_90"), std::string::npos);
}

TEST(cuda_compiler, chooses_the_newest_code_that_a_chip_runs) {
  EXPECT_EQ(cuda::architecture_of({132, 9, 0}), "sm_90");
  EXPECT_EQ(cuda::architecture_of({40, 7, 5}), "sm_75");
  EXPECT_TRUE(cuda::architecture_of({132, 99, 0}).starts_with("compute_"));
  try {
    (void)cuda::architecture_of({10, 3, 5});
    ADD_FAILURE() << "accepted";
  } catch (const device_error& e) {
    EXPECT_NE(std::string(e.what()).find("3.5 is too old"), std::string::npos) << e.what();
  }
}

TEST(cuda_compiler, shows_what_did_not_compile) {
  try {
    (void)cuda::compile("extern \"C\" __global__ void kernel() { undeclared = 1; }", "sm_90");
    ADD_FAILURE() << "compiled";
  } catch (const library_error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("sm_90: NVRTC error 6"), std::string::npos) << what;
    EXPECT_NE(what.find("identifier \"undeclared\" is undefined"), std::string::npos) << what;
    EXPECT_NE(what.find("void kernel()"), std::string::npos) << what;
  }
}

TEST(cuda_compiler, does_not_contract) {
  for (const bool quick : {false, true}) {
    const std::string ptx = cuda::compile(
        "struct arguments { unsigned long long w[1]; };\n"
        "extern \"C\" __global__ void kernel(const __grid_constant__ arguments a) {\n"
        "  float* x = reinterpret_cast<float*>(a.w[0]);\n"
        "  x[0] = x[0] * x[1] + x[2];\n"
        "}\n",
        "compute_90", quick);
    EXPECT_EQ(ptx.find("fma"), std::string::npos);
    EXPECT_NE(ptx.find("mul.rn.f32"), std::string::npos);
  }
}

TEST(cuda_compiler, tells_architectures_apart) {
  EXPECT_EQ(cuda::compilation_key("sm_90"), cuda::compilation_key("sm_90"));
  EXPECT_NE(cuda::compilation_key("sm_90"), cuda::compilation_key("sm_75"));
}

}  // namespace
}  // namespace serried::testing
