#!/usr/bin/env bash
# The tests in a browser: trains one small run per task, then opens reports and the served page in headless Chromium.
# usage: run.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[[ node_modules/.package-lock.json -nt package-lock.json ]] || npm ci --silent --no-audit --no-fund
mkdir -p "$work/runs" "$work/output"
train() { "$program" train "$1" --out "$work/runs/$1" --quiet "${@:2}" >/dev/null; }
train features --set model.name=attention --set data.rows=4000 --epochs 4
# Money, percentages, categories and missing cells, as people's tables have them.
for ((i = 0; i < 400; ++i)); do
  ((i % 5)) && age=$((20 + i * 13 % 50)) || age=
  plan=$([[ $((i % 3)) == 0 ]] && echo Pro || echo Basic)
  echo "\"\$$((1 + i % 4)),$((100 + i * 37 % 900))\",$((i * 7 % 30)) %,$plan,$age,$((i % 4 > 1))"
done | sed '1i price,discount,plan,age,late' >"$work/orders.csv"
"$program" train features "$work/orders.csv" --target late --set model.name=attention --epochs 3 --out "$work/runs/orders" --quiet >/dev/null
train context
train dates --set data.rows=4000 --epochs 1
train translate --set data.rows=3000 --epochs 1
train forecast --epochs 1 --set model.name=seq2seq
train choices --set data.rows=200 --set model.hidden=16 --set model.heads=2 --epochs 1
train speech --set data.rows=60 --set model.encoder_hidden=16 --set model.hidden=32 --epochs 1
train caption --set data.rows=400 --set model.channels=16,32,64 --set model.convolutions=1 --epochs 1

# What the program writes must keep to the format too.
"$program" explain "$work/runs/features" --out "$work/output/features.json" >/dev/null
"$program" explain "$work/runs/context" --out "$work/output/context.json" >/dev/null
"$program" explain "$work/runs/dates" "9 May 2018" --faithfulness --quiet --out "$work/output/dates.json" >/dev/null
"$program" train documents --set model.name=bert --set data.rows=400 --set model.heads=4 --epochs 1 --out "$work/documents" --quiet >/dev/null
"$program" explain "$work/documents" "a fine film" --out "$work/output/documents.json" >/dev/null
"$program" explain "$work/runs/caption" --out "$work/output/caption.json" >/dev/null
"$program" explain "$work/runs/forecast" --out "$work/output/forecast.json" >/dev/null

FOVEA_PROGRAM=$program FOVEA_WEB_RUNS=$work/runs FOVEA_WEB_OUTPUT=$work/output node --test .
