#!/usr/bin/env bash
# Follows every recipe of `./dev new` in a copy of the tree, builds what changed and runs the tests that pick the new things up. The
# copy is mounted in place of the tree, in a namespace of its own, so that its copied build folder is still valid and only what the
# recipes touch is compiled. Where mounting is not allowed the test is skipped (77).
# usage: recipes_test.sh [BUILD_FOLDER]
set -euo pipefail
tree=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${1:-$tree/build/release}")
[[ $build == "$tree"/* ]] || { echo "skipped: the build folder lies outside of the tree"; exit 77; }
unshare -m true 2>/dev/null || { echo "skipped: this machine does not let a test mount folders"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/tree"
cp -a --reflink=auto "$tree"/{.git,*} "$place/tree/" 2>/dev/null || cp -a "$tree"/* "$place/tree/"

follow() {
  set -euo pipefail
  mount --bind "$place/tree" "$tree"
  cd "$tree"
  local kind
  for kind in score exporter metric output reader kernel command view task; do
    echo "$kind:" && ./dev new "$kind" "sample_$kind"
  done
  echo "model:" && ./dev new model sample_exporter  # the one that sample_exporter exports
  cmake "$build" >/dev/null
  cmake --build "$build" -j "${FOVEA_JOBS:-2}" --target fovea fovea_{attention,metrics,kernels,data,tasks}_tests
  export OMP_NUM_THREADS=1
  run() { "$build/tests/fovea_$1_tests" --gtest_brief=1 --gtest_filter="$2"; }
  run attention '*Score*'
  run metrics 'SampleMetric.*'
  run kernels 'SampleKernel.*'
  run data 'SampleReader*:SampleTask*'
  run tasks '*ModelContract.*sample*:ModelContract.CoversTheCatalogue'
  local fovea=$build/fovea
  "$fovea" scores | grep sample-score
  "$fovea" tasks | grep sample_task
  "$fovea" train features --config configs/sample_exporter.json --set data.rows=500 --out "$place/features" --quiet
  "$fovea" explain "$place/features" | grep -i column
  "$fovea" data features --out "$place/data" --set data.rows=100
  head -4 "$place/data/val.csv" | tr , ' ' >"$place/three.sample_reader"
  [[ $("$fovea" predict "$place/features" "$place/three.sample_reader" | wc -l) == 3 ]]
  "$fovea" export "$place/features" --onnx "$place/features.onnx"
  "$fovea" sample_command "$place/features"
  "$fovea" train sample_task --out "$place/task" --quiet --epochs 3
  "$fovea" predict "$place/task" aab
  "$fovea" explain "$place/task" aab --out "$place/report.html"
  grep -q fovea/views/sample_view.js "$place/report.html"
  "$fovea" doctor "$place/task"
}
export -f follow
export tree build place
unshare -m bash -c follow
