#!/usr/bin/env bash
# Exported files in ONNX Runtime: every way of building a model (written by the test program), then one trained run per task.
# usage: run.sh PROGRAM TEST_PROGRAM
set -euo pipefail
program=$(realpath "$1")
test_program=$(realpath "$2")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The package carries the runtime for CPUs; its install script would only fetch the one for GPUs.
[[ node_modules/.package-lock.json -nt package-lock.json ]] || npm ci --silent --no-audit --no-fund --ignore-scripts
mkdir -p "$work/cases" "$work/runs"
FOVEA_ONNX_CASES=$work/cases "$test_program" --gtest_filter='Onnx.WritesTheCasesForOnnxRuntime' --gtest_brief=1

make_run() {
  "$program" train "$1" --out "$work/runs/$1" --quiet "${@:2}" >/dev/null
  "$program" export "$work/runs/$1" --onnx "$work/runs/$1.onnx" --attention >/dev/null
}
make_run features --set data.rows=4000 --epochs 4
make_run context
make_run forecast --epochs 1 --set model.hidden=16
make_run dates --set data.rows=2000 --epochs 1 --set model.hidden=32
make_run translate --set data.rows=300 --epochs 1 --set model.hidden=32 --set data.tokens=characters

FOVEA_PROGRAM=$program FOVEA_ONNX_CASES=$work/cases FOVEA_ONNX_RUNS=$work/runs node --test .
