// What every communicator must do, whatever stands behind it.
#pragma once

#include <gtest/gtest.h>
#include <serried/communicator.hpp>

#include <ostream>
#include <string>

namespace serried::test {

/// A way to get a communicator; collective over the ranks of the test.
struct implementation {
  std::string name;
  communicator (*make)();
};
inline void PrintTo(const implementation& i, std::ostream* out) { *out << i.name; }

class communicators : public testing::TestWithParam<implementation> {
 protected:
  const communicator comm = GetParam().make();
  const int rank = comm.rank(), size = comm.size();
};

inline std::string name_of(const testing::TestParamInfo<implementation>& info) { return info.param.name; }

}  // namespace serried::test
