# shellcheck shell=bash
# Sourced by demo and test: stands in the checkout's root, whatever the caller's directory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# build PRESET [ARGUMENTS...]: configures and builds in build/PRESET.
build() {
  local preset=$1
  shift
  local folder
  for folder in build "build/$preset"; do
    if [ -e "$folder" ] && [ ! -w "$folder" ]; then
      echo "error: $PWD/$folder belongs to another user; remove it first" >&2
      return 1
    fi
  done
  cmake --preset "$preset" && cmake --build --preset "$preset" "$@"
}
