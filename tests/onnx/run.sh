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

# usage: make_run NAME TASK [ARGUMENT…]
make_run() {
  "$program" train "$2" --out "$work/runs/$1" --quiet "${@:3}" >/dev/null
  export_run "$1"
}
export_run() {
  "$program" export "$work/runs/$1" --onnx "$work/runs/$1.onnx" --attention >/dev/null
}
make_run features features --set model.name=attention --set data.numbers=standard --set data.rows=4000 --epochs 4
make_run context context
make_run forecast forecast --epochs 1 --set model.name=seq2seq --set model.hidden=16
few=(--set data.validation_rows=50 --set data.test_rows=50 --set model.hidden=32)
make_run dates dates "${few[@]}" --set data.rows=2000 --epochs 1
make_run translate translate "${few[@]}" --set data.rows=300 --epochs 1 --set data.tokens=characters
make_run transformer dates "${few[@]}" --set data.rows=2000 --epochs 3 --set model.name=transformer --set model.heads=4 \
  --set model.layers=2 --set training.learning_rate=0.005 --set training.warmup_steps=20
bert=(--epochs 1 --set data.rows=200 --set model.hidden=16 --set model.layers=2 --set model.heads=2)
make_run documents documents --set model.name=bert "${bert[@]}"
make_run language language --epochs 1 --set data.rows=400 --set model.hidden=16 --set model.heads=2 --set model.layers=2 --set model.maximum_length=32
make_run pretrain pretrain "${bert[@]}"
"$program" export "$work/runs/pretrain" --hugging-face "$work/runs/hugging-face" >/dev/null
export_run hugging-face

FOVEA_PROGRAM=$program FOVEA_ONNX_CASES=$work/cases FOVEA_ONNX_RUNS=$work/runs node --test .
