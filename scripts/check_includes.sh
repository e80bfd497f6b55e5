#!/usr/bin/env bash
# Who may include whom: the table of docs/architecture.md, checked against every #include of fovea/. Prints each breach as
# file:line and exits 1 when there is one.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A allowed=(
  [kernels]=""
  [base]=""
  [tensor]="base kernels"
  [metrics]="base tensor"
  [data]="base tensor"
  [decoding]="base tensor"
  [explain]="base tensor metrics"
  [attention]="base tensor kernels"
  [nn]="base tensor kernels attention"
  [models]="base tensor kernels attention nn decoding"
  [training]="base tensor kernels data metrics models/model.h"
  [tasks]="base tensor kernels data metrics models decoding training explain"
  [export]="base tensor attention nn models tasks"
  [serving]="base tensor explain tasks"
)

breaches=0
breach() {
  echo "$1: $2"
  breaches=$((breaches + 1))
}

for folder in fovea/*/; do
  name=$(basename "$folder")
  if [[ ! -v allowed[$name] ]]; then
    breach "$folder" "this folder is not in the table of scripts/check_includes.sh"
    continue
  fi
  while IFS=: read -r file line include; do
    target=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$include")
    if [[ $target != fovea/* ]]; then
      breach "$file:$line" "includes \"$target\"; inside the library includes read \"fovea/<folder>/<file>.h\""
      continue
    fi
    path=${target#fovea/}
    [[ ${path%%/*} == "$name" ]] && continue
    for entry in ${allowed[$name]}; do
      [[ $path == "$entry" || $path == "$entry"/* ]] && continue 2
    done
    breach "$file:$line" "$name may not include $path (allowed: ${allowed[$name]:-nothing})"
  done < <(grep -rnE '^\s*#\s*include\s*"' "$folder" --include='*.h' --include='*.cc' --include='*.cu' || true)
done
while IFS=: read -r file line _; do
  breach "$file:$line" "kernels see no tensors"
done < <(grep -rnE '#\s*include\s*<(torch|ATen|c10)/' fovea/kernels || true)

if ((breaches > 0)); then
  echo "$breaches breaches of the include rules"
  exit 1
fi
echo "include rules hold"
