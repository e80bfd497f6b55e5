#!/usr/bin/env bash
# Follows recipes of `./dev new` in a copy of the tree, builds what changed and runs the tests that pick the new things up. The
# copy is mounted in place of the tree, in a namespace of its own, so that its copied build folder is still valid and only what the
# recipes touch is compiled. Where mounting is not allowed the test is skipped (77).
# usage: recipes_test.sh [BUILD_FOLDER] [KIND…]     no KIND: all of them
set -euo pipefail
tree=$(cd "$(dirname "$0")/.." && pwd)
build=$tree/build/release
if [[ $# -gt 0 && ! -d $tree/scripts/recipes/$1 ]]; then
  build=$(realpath "$1") && shift
fi
kinds=${*:-score exporter metric output reader kernel command view task model}
for kind in $kinds; do
  [[ -d $tree/scripts/recipes/$kind ]] || { echo "error: '$kind': expected kinds of $(cd "$tree/scripts/recipes" && echo *)"; exit 2; }
done
[[ " $kinds " != *" exporter "* || " $kinds " == *" model "* ]] || kinds+=" model"  # the one that it exports
[[ $build == "$tree"/* ]] || { echo "skipped: the build folder lies outside of the tree"; exit 77; }
unshare -m true 2>/dev/null || { echo "skipped: this machine does not let a test mount folders"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/tree"
cp -a --reflink=auto "$tree"/{.git,*} "$place/tree/" 2>/dev/null || cp -a "$tree"/* "$place/tree/"

has() { [[ " $kinds " == *" $1 "* ]]; }
run() { OMP_NUM_THREADS=1 "$build/tests/fovea_$1_tests" --gtest_brief=1 --gtest_filter="$2"; }

# What picks a kind up: the tests to build, then what is run. "$place/features" is a run, of the new network where there is one.
tests_of() {
  case $1 in
    score) echo attention ;;
    metric) echo metrics ;;
    kernel) echo kernels ;;
    reader) echo data ;;
    task) echo data tasks ;;
    model) echo tasks ;;
  esac
}
check_score() { run attention '*Score*' && "$fovea" scores | grep sample-score; }
check_metric() { run metrics 'SampleMetric.*'; }
check_output() { :; }  # it compiles
check_kernel() { run kernels 'SampleKernel.*'; }
check_command() { "$fovea" sample_command "$place/features"; }
check_exporter() { "$fovea" export "$place/features" --onnx "$place/features.onnx"; }
check_model() {
  run tasks '*ModelContract.*sample_exporter*:ModelContract.CoversTheCatalogue'
  "$fovea" explain "$place/features" | grep -i column
}
check_reader() {
  run data 'SampleReader*'
  "$fovea" data features --out "$place/data" --set data.rows=100
  head -4 "$place/data/val.csv" | tr , ' ' >"$place/three.sample_reader"
  [[ $("$fovea" predict "$place/features" "$place/three.sample_reader" | wc -l) == 3 ]]
}
check_task() {
  run data 'SampleTask*'
  run tasks '*ModelContract.*sample_task*:ModelContract.CoversTheCatalogue:*PredictorContract.*sample_task*'
  "$fovea" tasks | grep sample_task
  "$fovea" train sample_task --out "$place/task" --quiet --epochs 3
  "$fovea" evaluate "$place/task"
  "$fovea" predict "$place/task" aab
  "$fovea" data sample_task --out "$place/letters"
  [[ $("$fovea" predict "$place/task" "$place/letters/val.tsv" | wc -l) == 100 ]]
  "$fovea" explain "$place/task" aab --faithfulness --out "$place/report.html"
  "$fovea" doctor "$place/task"
}
check_view() {
  "$fovea" explain "$place/features" --out "$place/report.html"
  grep -q fovea/views/sample_view.js "$place/report.html"
}

follow() {
  set -euo pipefail
  mount --bind "$place/tree" "$tree"
  cd "$tree"
  local kind binaries=()
  fovea=$build/fovea
  for kind in $kinds; do
    local name=sample_$kind
    [[ $kind != model ]] || name=sample_exporter  # the one that sample_exporter exports
    echo "$kind:" && ./dev new "$kind" "$name"
    for tests in $(tests_of "$kind"); do binaries+=("fovea_${tests}_tests"); done
  done
  cmake "$build" >/dev/null
  cmake --build "$build" -j "${FOVEA_JOBS:-2}" --target fovea ${binaries[@]+"${binaries[@]}"}
  local options=(--set model.name=tutorial)
  ! has model || options=(--config configs/sample_exporter.json)
  "$fovea" train features "${options[@]}" --set data.rows=500 --out "$place/features" --quiet
  for kind in $kinds; do
    echo "$kind:" && "check_$kind"
  done
}
for function in has run tests_of follow $(compgen -A function check_); do export -f "$function"; done
export tree build place kinds
unshare -m bash -c follow
