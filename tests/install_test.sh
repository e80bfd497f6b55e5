#!/usr/bin/env bash
# Installs the build into a fresh prefix, builds examples/ against it with find_package(fovea), and runs them and the program.
# usage: install_test.sh BUILD_FOLDER
set -euo pipefail
sources=$(cd "$(dirname "$0")/.." && pwd)
build=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cmake --install "$build" --prefix "$place/prefix" >/dev/null
"$place/prefix/bin/fovea" --version

# The same LibTorch, compiler flags and build type as the installed libraries.
cached() { sed -nE "s/^$1:[A-Z]+=(.*)/\1/p" "$build/CMakeCache.txt"; }
flags=()
[[ $(cached FOVEA_SANITIZE) == ON ]] && flags=("-DCMAKE_CXX_FLAGS=-fsanitize=address,undefined")
cmake -G Ninja -S "$sources/examples" -B "$place/examples" -DCMAKE_BUILD_TYPE=Release "${flags[@]}" \
  "-DCMAKE_PREFIX_PATH=$place/prefix;$(cached CMAKE_PREFIX_PATH)" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
cmake --build "$place/examples" -j 2
ctest --test-dir "$place/examples" --output-on-failure
