#!/usr/bin/env bash
# Load on a server of ours over loopback: 64 connections, by default for 30 s. Prints one line of JSON, with the memory of the server before and after.
#   load.sh PROGRAM RUN MODEL [SECONDS] [FLAGS OF fovea serve…]      MODEL: features or dates, which decides the inputs
set -euo pipefail
program=$1 run=$2 model=$3 seconds=${4:-30}
shift $(($# < 4 ? $# : 4))
here=$(dirname "$0")
folder=$(mktemp -d)
: >"$folder/out"
"$program" serve --model "$model=$run" --port 0 --log none "$@" >"$folder/out" 2>"$folder/err" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT

address() { sed -n 's/^listening on //p' "$folder/out"; }
for _ in $(seq 300); do
  [[ -n $(address) ]] && curl -sf "$(address)/health" >/dev/null && break
  sleep 0.1
done
memory() { awk '/VmRSS/ {print int($2 / 1024)}' "/proc/$server/status"; }
load() { FOVEA_LOAD_MODEL=$model wrk -t 2 -c 64 -d "$1s" -s "$here/predict.lua" "$(address)" | tail -1; }

load 3 >/dev/null  # warm-up: threads and their memory
before=$(memory)
result=$(load "$seconds")
echo "${result%\}}, \"memory_mib_before\": $before, \"memory_mib_after\": $(memory)}"
