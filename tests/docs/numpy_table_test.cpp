// docs/numpy.md against NumPy's names, Serried's headers and the compiler.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

const std::filesystem::path root = SOURCE_DIR;
const std::string page = "docs/numpy.md";

std::string place(const std::string& file, int line) { return file + ":" + std::to_string(line) + ": "; }

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> matches(const std::string& text, const std::regex& what) {
  std::vector<std::string> found;
  for (std::sregex_iterator m(text.begin(), text.end(), what), end; m != end; ++m) found.push_back(m->str(1));
  return found;
}

const std::regex code("`([^`]+)`");
const std::regex word(R"(([\w.]+))");

/// One row: the names on NumPy's side; on Serried's names, members of `array`, and expressions of arrays a, b and i.
struct row {
  int line;
  std::vector<std::string> numpy;
  std::vector<std::string> names;
  std::vector<std::string> members;
  std::vector<std::string> expressions;
};

/// `sin, cos` are two names, `linalg.{inv, det}` are linalg.inv and linalg.det.
void add_numpy(row& r, const std::string& cell) {
  static const std::regex group(R"(([\w.]+\.)\{(.*)\})");
  for (const std::string& span : matches(cell, code)) {
    std::smatch m;
    const bool grouped = std::regex_match(span, m, group);
    for (const std::string& name : matches(grouped ? m.str(2) : span, word))
      r.numpy.push_back(grouped ? m.str(1) + name : name);
  }
}

void add_serried(row& r, const std::string& cell) {
  static const std::regex list(R"(\w+(, \w+)*)");
  if (cell == "same") {
    for (const std::string& name : r.numpy) {
      if (name.starts_with("ndarray.")) r.members.push_back(name.substr(8));
      else r.names.push_back(std::regex_replace(name, std::regex("\\."), "::"));
    }
    return;
  }
  for (const std::string& span : matches(cell, code)) {
    if (!std::regex_match(span, list)) r.expressions.push_back(span);
    else
      for (const std::string& name : matches(span, word)) r.names.push_back(name);
  }
  const bool known = cell == "–" || !(r.names.empty() && r.expressions.empty());
  EXPECT_TRUE(known) << place(page, r.line) << "expected `code`, same or –, not '" << cell << "'";
}

/// The rows of all tables. What a table's columns are, its head says: NumPy's names, or Python's code, and Serried's;
/// or Serried's alone.
std::vector<row> read_page() {
  std::vector<row> rows;
  std::vector<std::string> head;
  int number = 0;
  for (const std::string& line : lines_of(root / page)) {
    ++number;
    if (!line.starts_with("|")) {
      head.clear();
      continue;
    }
    const std::vector<std::string> cells = matches(line, std::regex(R"(\| ?([^|]*?) ?(?=\|))"));
    if (head.empty()) {
      head = cells;
      EXPECT_TRUE(head.front() == "NumPy" || head.front() == "Python" || head.front() == "Serried")
          << place(page, number) << "a table of what?";
    } else if (cells.front() != "---") {
      if (cells.size() != head.size()) {
        ADD_FAILURE() << place(page, number) << cells.size() << " cells in a table of " << head.size();
        continue;
      }
      row& r = rows.emplace_back(row{number, {}, {}, {}, {}});
      if (head.front() == "NumPy") {
        add_numpy(r, cells[0]);
        EXPECT_FALSE(r.numpy.empty()) << place(page, number) << "no `name`";
      }
      add_serried(r, cells[head.front() == "Serried" ? 0 : 1]);
    }
  }
  return rows;
}

const std::vector<row>& table() {
  static const std::vector<row> rows = read_page();
  return rows;
}

/// Name and place of each public function that is about arrays. The format of the sources puts every declaration of a
/// namespace in the first column, and no other code.
std::map<std::string, std::string> public_functions() {
  static const std::set<std::string> elsewhere = {"communicator.hpp", "context.hpp", "cuda.hpp",  "memory.hpp",
                                                  "mpi.hpp",          "runtime.hpp", "stream.hpp"};
  static const std::regex function(R"(^(?:decltype\(auto\) |[a-z\[][^(/]*[ &*>])(\w+)\()");
  static const std::regex macro(R"(^SERRIED_\w+\((\w+), )");
  std::vector<std::string> files = {"include/serried/detail/operations.inc"};
  for (const auto& entry : std::filesystem::directory_iterator(root / "include/serried"))
    if (const std::string name = entry.path().filename(); entry.is_regular_file() && !elsewhere.contains(name))
      files.push_back("include/serried/" + name);

  std::map<std::string, std::string> functions;
  for (const std::string& file : files) {
    bool internal = false;
    int number = 0;
    for (const std::string& line : lines_of(root / file)) {
      ++number;
      if (line == "namespace detail {") internal = true;
      if (line == "}  // namespace detail") internal = false;
      std::smatch m;
      if (!internal && (std::regex_search(line, m, function) || std::regex_search(line, m, macro)))
        functions.emplace(m.str(1), place(file, number));
    }
  }
  return functions;
}

TEST(NumpyTable, NamesWhatNumpyHasOnce) {
  const std::vector<std::string> list = lines_of(root / "tests/docs/data/numpy_names.txt");
  const std::set<std::string> numpy(list.begin(), list.end());
  std::set<std::string> seen;
  for (const row& r : table())
    for (const std::string& name : r.numpy) {
      EXPECT_TRUE(numpy.contains(name)) << place(page, r.line) << "NumPy has no " << name;
      EXPECT_TRUE(seen.insert(name).second) << place(page, r.line) << name << " has another row above";
    }
}

TEST(NumpyTable, HoldsEveryPublicFunction) {
  std::set<std::string> there;
  for (const row& r : table()) {
    there.insert(r.names.begin(), r.names.end());
    for (const std::string& e : r.expressions)
      for (const std::string& name : matches(e, word)) there.insert(name);
  }
  const std::map<std::string, std::string> functions = public_functions();
  for (const char* name :
       {"add", "abs", "sum", "save", "zeros", "eye", "meshgrid", "promote", "is_bool", "visit_dtype"})
    EXPECT_TRUE(functions.contains(name)) << name << ": found in no header";
  for (const auto& [name, where] : functions)
    EXPECT_TRUE(there.contains(name)) << where << name << " is not in " << page;
}

TEST(NumpyTable, NamesWhatCompiles) {
  std::string folder = std::filesystem::temp_directory_path() / "serried-numpy-table-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string source = folder + "/names.cpp";
  std::ofstream out(source);
  out << "#include <serried/serried.hpp>\n#include <iostream>\n#include <limits>\n#include <numbers>\n"
         "using namespace serried;\n";
  for (const row& r : table()) {
    const std::string at_line = "\n#line " + std::to_string(r.line) + " \"" + page + "\"\n";
    out << at_line << "void line_" << r.line << "(array a, array b, array i) {";
    for (const std::string& name : r.names) out << at_line << "{ using serried::" << name << "; }";
    for (const std::string& name : r.members)
      out << at_line << "{ struct members : array { using array::" << name << "; }; }";
    for (const std::string& e : r.expressions) out << at_line << "(void)(" << e << ");";
    out << "\n}\n";
  }
  out.close();
  const std::string include = (root / "include").string();
  const std::string command = "'" COMPILER "' -std=c++20 -fsyntax-only -I'" + include + "' '" + source + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << "the lines named above are wrong";
  std::filesystem::remove_all(folder);
}

}  // namespace
