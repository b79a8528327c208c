// What NumPy makes of expressions, from a file that data/make_manipulation.py wrote, and the operands it used.
#pragma once

#include <serried/array.hpp>
#include <serried/creation.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace serried {

class numpy_values {
 public:
  explicit numpy_values(const std::string& file) {
    std::ifstream in(std::filesystem::absolute(__FILE__).parent_path() / "data" / file);
    std::string line;
    while (std::getline(in, line)) {
      std::istringstream fields(line);
      std::string expression;
      expected e;
      std::string extents;
      std::string numbers;
      std::getline(fields, expression, '\t');
      std::getline(fields, e.type, '\t');
      std::getline(fields, extents, '\t');
      std::getline(fields, numbers);
      std::istringstream shape_text(extents);
      for (std::int64_t n = 0; shape_text >> n;) e.extents.push_back(n);
      std::istringstream number_text(numbers);
      for (std::string n; number_text >> n;) e.numbers.push_back(std::strtod(n.c_str(), nullptr));
      all_[expression] = e;
    }
  }

  /// `units`: allowed difference in the last place.
  void check(const std::string& expression, const array& a, double units = 0) const {
    const auto found = all_.find(expression);
    ASSERT_NE(found, all_.end()) << expression << " is not in the file";
    const expected& e = found->second;
    EXPECT_EQ(name(a.dtype()), e.type) << expression;
    ASSERT_EQ(a.shape(), e.extents) << expression;
    std::vector<double> numbers;
    if (is_complex(a.dtype())) {
      for (const auto& v : a.to_vector<std::complex<double>>()) {
        numbers.push_back(v.real());
        numbers.push_back(v.imag());
      }
    } else {
      numbers = a.to_vector<double>();
    }
    ASSERT_EQ(numbers.size(), e.numbers.size()) << expression;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (std::isnan(e.numbers[i])) EXPECT_TRUE(std::isnan(numbers[i])) << expression << ", number " << i;
      else
        EXPECT_LE(std::abs(numbers[i] - e.numbers[i]), units * 0x1p-53 * std::abs(e.numbers[i]))
            << expression << ", number " << i << ": " << numbers[i] << " and not " << e.numbers[i];
    }
  }
  template <class Arrays>
  void check_each(const std::string& expression, const Arrays& arrays) const {
    for (std::size_t i = 0; i < arrays.size(); ++i) check(expression + "[" + std::to_string(i) + "]", arrays[i]);
    EXPECT_EQ(all_.count(expression + "[" + std::to_string(arrays.size()) + "]"), 0U) << expression;
  }

 private:
  struct expected {
    std::string type;
    shape extents;
    std::vector<double> numbers;
  };
  std::map<std::string, expected> all_;
};

/// The operands of the expressions.
struct operands_of_numpy {
  array a = arange(24).reshape({2, 3, 4});
  array m = arange(12).reshape({3, 4});
  array v = arange(5);
  array s = full({}, 7);
  array z = zeros({0, 3});
  array one = arange(3).reshape({1, 3, 1});
  array f = (m / 4).astype(float32);
  array n = m(slice(_, _, -1), slice(_, _, 2));
  array t = m.T();
  array o = arange(4).broadcast_to({3, 4});
  array c = {std::complex(1.0, 2.0), std::complex(3.0, -4.0)};
  array u = array({200, 250}, {.dtype = uint8});
};

}  // namespace serried
