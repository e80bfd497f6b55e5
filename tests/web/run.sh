#!/usr/bin/env bash
# The tests in a browser: trains one small run per task, then opens reports and the served page in headless Chromium.
# usage: run.sh PROGRAM [FILE…]   of the test files only these
set -euo pipefail
program=$(realpath "$1")
files=("${@:2}")
((${#files[@]} > 0)) || files=(.)
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
train visits --set data.rows=400 --epochs 1
train graph --epochs 2
train prefetch --epochs 1
train ratings --set model.name=dattn --epochs 1
train documents --set model.name=bert --set data.rows=400 --set model.heads=4 --epochs 1
"$program" train images --set model.name=vit --set data.rows=400 --set model.hidden=16 --set model.heads=2 --set model.layers=1 --epochs 1 \
  --out "$work/runs/digits" --quiet >/dev/null
train caption --set data.rows=400 --set model.channels=16,32,64 --set model.convolutions=1 --epochs 1
# The other tasks, as small as they can be: their reports are looked at, what they say does not matter.
few=(--set data.rows=60 --set data.validation_rows=8 --set data.test_rows=8 --epochs 1)
heads=(--set model.hidden=8 --set model.heads=2)
train tag "${few[@]}" --set model.hidden=8 --set model.embedding=8
train questions "${few[@]}" "${heads[@]}"
train pretrain --set data.rows=40 --set data.validation_rows=8 "${heads[@]}" --epochs 1
train images "${few[@]}" --set model.name=ram --set model.hidden=8 --set model.scales=2
train copy --set data.rows=40 --set data.validation_rows=8 --set data.test_rows=4 --set data.longest=5 --set data.test_lengths=5,6 --set model.slots=8 --set model.width=6 --set model.hidden=12 --epochs 1
train language "${few[@]}" "${heads[@]}" --set model.layers=2 --set model.maximum_length=16

# What the program writes must keep to the format too.
"$program" explain "$work/runs/features" --out "$work/output/features.json" >/dev/null
"$program" explain "$work/runs/context" --out "$work/output/context.json" >/dev/null
"$program" explain "$work/runs/dates" "9 May 2018" --faithfulness --quiet --out "$work/output/dates.json" >/dev/null
"$program" explain "$work/runs/documents" "a fine film" --out "$work/output/documents.json" >/dev/null
"$program" explain "$work/runs/documents" "a fine film" --query-key 1.2:2,3 --out "$work/output/query_key.json" >/dev/null
"$program" explain "$work/runs/caption" --out "$work/output/caption.json" >/dev/null
"$program" explain "$work/runs/forecast" --out "$work/output/forecast.json" >/dev/null

# One run more for each kind of answers, for the table of rows.
judged() { "$program" train "$2" "${@:3}" --out "$work/judged/$1" --quiet >/dev/null; }
for ((i = 0; i < 200; ++i)); do
  echo "{\"text\": \"a $([[ $((i % 3)) == 0 ]] && echo warm || echo cold) and $([[ $((i % 2)) == 0 ]] && echo loud || echo still) day $i\", \"labels\": [$([[ $((i % 3)) == 0 ]] && echo '"warm"')$([[ $((i % 6)) == 0 ]] && echo ,)$([[ $((i % 2)) == 0 ]] && echo '"loud"')]}"
done >"$work/labels.jsonl"
judged labels documents "$work/labels.jsonl" --set model.name=words --epochs 2
judged tags tag --set data.rows=200 --epochs 1
judged questions questions --set data.rows=200 --epochs 1

FOVEA_PROGRAM=$program FOVEA_WEB_JUDGED=$work/judged FOVEA_WEB_RUNS=$work/runs FOVEA_WEB_OUTPUT=$work/output \
  node --test --test-concurrency="$(nproc)" "${files[@]}"
