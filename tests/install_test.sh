#!/usr/bin/env bash
# Installs the build into a fresh prefix, builds examples/ against it with find_package(fovea), and runs them and the program; moves
# the install away and asks there for what lies in libraries of its own: ONNX and SentencePiece.
# usage: install_test.sh BUILD_FOLDER
set -euo pipefail
sources=$(cd "$(dirname "$0")/.." && pwd)
build=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cmake --install "$build" --prefix "$place/prefix" >/dev/null
"$place/prefix/bin/fovea" --version

# cached NAME: a value of the build's cache.
cached() { sed -nE "s/^$1:[A-Z]+=(.*)/\1/p" "$build/CMakeCache.txt"; }

# The same LibTorch, compiler flags and build type as the installed libraries.
flags=()
[[ $(cached FOVEA_SANITIZE) == ON ]] && flags=("-DCMAKE_CXX_FLAGS=-fsanitize=address,undefined")
cmake -G Ninja -S "$sources/examples" -B "$place/examples" -DCMAKE_BUILD_TYPE=Release "${flags[@]}" \
  "-DCMAKE_PREFIX_PATH=$place/prefix;$(cached CMAKE_PREFIX_PATH)" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
cmake --build "$place/examples" -j 2
ctest --test-dir "$place/examples" --output-on-failure

# Where nobody expected it.
mv "$place/prefix" "$place/moved"
moved=$(realpath "$place/moved")

# opens FILE COMMAND…: the command succeeds and opens that library of the moved install, and no other of its name.
opens() {
  local opened
  opened=$(LD_DEBUG=files "${@:2}" 2>&1 >/dev/null | sed -nE "s|.*calling init: (.*/$1)$|\1|p"; exit "${PIPESTATUS[0]}") || { echo "failed: ${*:2}"; exit 1; }
  [[ $opened == "$moved"/* ]] || { echo "$1 was opened at '$opened', not in $moved"; exit 1; }
}

fovea=$moved/bin/fovea
if [[ -n $(find "$moved" -name libfovea_sentencepiece.so) ]]; then
  data=(--set data.rows=60 --set data.validation_rows=8 --set data.test_rows=8 --set data.tokens=unigram --set data.vocabulary_size=60)
  opens libfovea_sentencepiece.so "$fovea" train translate --out "$place/translate" --quiet --epochs 1 \
    "${data[@]}" --set model.hidden=8 --set model.embedding=8
fi
if [[ -n $(find "$moved" -name libfovea_onnx.so) ]]; then
  "$fovea" train features --out "$place/features" --quiet --epochs 1 --set data.rows=100 >/dev/null
  opens libfovea_onnx.so "$fovea" export "$place/features" --onnx "$place/features.onnx"
  # A folder that the environment names wins.
  mkdir "$place/modules" && cp "$(find "$moved" -name libfovea_onnx.so)" "$place/modules/"
  moved=$place/modules FOVEA_MODULES=$place/modules \
    opens libfovea_onnx.so "$fovea" export "$place/features" --onnx "$place/again.onnx"
fi
