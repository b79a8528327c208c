#!/usr/bin/env bash
# cuda_needs.sh FILE...: fails when a program or a library needs the driver's library, which machines without a GPU
# do not have.
set -euo pipefail
for file in "$@"; do
  needed=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  [ -n "$needed" ] || { echo "$file: needs nothing?" >&2; exit 1; }
  if grep -E '^libcuda\.so' <<<"$needed"; then
    echo "$file needs the driver's library" >&2
    exit 1
  fi
done
