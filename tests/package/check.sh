#!/usr/bin/env bash
# check.sh SOURCE BUILD WORK: installs BUILD, moves the installed tree, and builds and runs the consumer against it;
# looks at what the headers ask for and what the library exports; then builds the consumer with Serried as a
# subdirectory and without MPI.
set -euo pipefail
source=$1 build=$2 work=$3

fail() {
  echo "package: $*" >&2
  exit 1
}

rm -rf "$work"/{first,prefix,consumer,subdirectory}
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"

grep -rnE '# *include *[<"](fmt|mpi\.h)' "$work/prefix/include" --exclude=mpi.hpp &&
  fail "a public header needs fmt or MPI"
[ -n "$(find "$work/prefix/include" -name operations.inc)" ] || fail "operations.inc is not installed"

library=$(find "$work/prefix" -name libserried.so)
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[[ $soname == libserried.so.*.* ]] || fail "unexpected SONAME '$soname'"
foreign=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -vE '^_Z(NK?[RO]?|T[ISV]N)7serried' || true)
[ -z "$foreign" ] || fail "exports symbols that are not Serried's: $foreign"

# fmt and MPI are private: the consumer does without their packages.
cmake -S "$source/tests/package" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
cmake --build "$work/consumer" --parallel 2
"$work/consumer/consumer"

cmake -S "$source/tests/package" -B "$work/subdirectory" -DSERRIED_SOURCE="$source" -DSERRIED_MPI=OFF
cmake --build "$work/subdirectory" --parallel 2 --target consumer
"$work/subdirectory/consumer"
