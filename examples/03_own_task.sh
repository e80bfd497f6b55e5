#!/usr/bin/env bash
# Every command for the task of 03_own_task.cc. usage: 03_own_task.sh PROGRAM
set -euo pipefail
program=$1
place=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$place"' EXIT
cd "$place"

"$program" tasks | grep majority
"$program" scores | grep negative-distance
"$program" data majority --out data
"$program" train majority data --out run --quiet
"$program" evaluate run | grep -E 'accuracy +(0\.9|1)'
[[ $("$program" predict run abbcab) == b* ]]
"$program" explain run abbcab --faithfulness | grep -i letters
"$program" explain run abbcab --out report.html >/dev/null && grep -q abbcab report.html
"$program" compare majority data --vary model.score=negative-distance,dot --seeds 1 --out compared --set training.epochs=2 >/dev/null
"$program" doctor run
"$program" serve run --port 0 >log 2>&1 &
server=$!
for _ in $(seq 100); do grep -q 'ready' log && break; sleep 0.1; done
exec 3<>"/dev/tcp/127.0.0.1/$(sed -nE 's|.*http://127.0.0.1:([0-9]+).*|\1|p' log | head -1)"
body='{"input": "abbcab"}'
printf 'POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' "${#body}" "$body" >&3
grep -q '"class":"b"' <&3
