#!/usr/bin/env bash
# Follows every recipe of `./dev new` in a copy of the tree, builds what changed and runs the tests that pick the new things up. The
# copy is mounted in place of the tree, in a namespace of its own, so that its copied build folder is still valid and only what the
# recipes touch is compiled. Where mounting is not allowed, the test is skipped (77); with --anew the copy is built from nothing.
# usage: recipes_test.sh [--anew]
set -euo pipefail
tree=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

checks() {
  cmake --preset release >/dev/null
  cmake --build build/release -j "${FOVEA_JOBS:-2}" --target fovea \
    fovea_{attention,metrics,kernels,data,tasks}_tests
  local tests=build/release/tests
  export OMP_NUM_THREADS=1
  $tests/fovea_attention_tests --gtest_filter='*sample_score*:*Score*'
  $tests/fovea_metrics_tests --gtest_filter='SampleMetric.*'
  $tests/fovea_kernels_tests --gtest_filter='SampleKernel.*'
  $tests/fovea_data_tests --gtest_filter='SampleReader*:SampleTask*'
  $tests/fovea_tasks_tests --gtest_filter='*ModelContract.*sample*:ModelContract.CoversTheCatalogue'
  local fovea=build/release/fovea
  $fovea scores | grep sample_score
  $fovea tasks | grep sample_task
  $fovea train features --config configs/sample_exporter.json --set data.rows=500 --out "$place/features" --quiet
  $fovea explain "$place/features" | grep -i column
  $fovea export "$place/features" --onnx "$place/features.onnx"
  $fovea sample_command "$place/features"
  $fovea train sample_task --out "$place/task" --quiet --epochs 3
  $fovea predict "$place/task" aab
  $fovea explain "$place/task" aab --out "$place/report.html" && grep -q SampleView "$place/report.html"
  $fovea doctor "$place/task"
}

copy=$place/tree
mkdir "$copy"
if [[ ${1:-} == --anew ]]; then
  git -C "$tree" ls-files -z --cached --others --exclude-standard | (cd "$tree" && cpio -0pdm --quiet "$copy")
  cd "$copy"
else
  unshare -m true 2>/dev/null || { echo "skipped: this machine does not let a test mount folders"; exit 77; }
  cp -a --reflink=auto "$tree/." "$copy"
fi
export tree copy place
export -f checks
script='set -euo pipefail; for kind in score exporter metric output reader kernel command view task; do ./dev new $kind sample_$kind; done; ./dev new model sample_exporter; checks'
if [[ ${1:-} == --anew ]]; then
  bash -c "$script"
else
  unshare -m bash -c "mount --bind '$copy' '$tree' && cd '$tree' && $script"
fi
