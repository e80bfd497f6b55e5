#!/usr/bin/env bash
# Trains what docs/results.md reports and prints its tables. usage: results.sh [features|context|why|adult|breast]…
# The real data sets are looked for in $FOVEA_DATA (default: ../shared/data), in folders named as below.
set -euo pipefail
cd "$(dirname "$0")/.."
fovea=build/release/fovea
data=${FOVEA_DATA:-../shared/data}

heading() { echo && echo "== $*"; }
needs() { [[ -d $data/$1 ]] || { echo "not found: $data/$1 (set FOVEA_DATA)" >&2; return 1; }; }

features() {
  heading "features, built-in data, 10 seeds"
  $fovea compare features --vary model.name=attention --seeds 10 --seed 1 --quiet --json | medians
}
context() {
  heading "context, built-in data, 10 seeds: loss is the MSE of the whole fourth epoch"
  for model in free softmax; do
    for seed in $(seq 1 10); do
      out=$(mktemp -d)/run
      $fovea train context --seed "$seed" --set model.name=$model --out "$out" --quiet --json |
        tr -d '\n ' | sed -E 's/.*"epoch":4,"steps":40000,"loss":([^,]+),.*"positions_found":([^,}]+).*/\1 \2/'
      echo
      rm -rf "$(dirname "$out")"
    done | sort -g | awk -v model=$model '{loss[NR]=$1; found+=$2} END {printf "%s: MSE of epoch 4: median %.2e (%.2e to %.2e), positions found %.0f %%\n",
      model, (loss[5]+loss[6])/2, loss[1], loss[NR], 100*found/NR}'
  done
}
# Medians and ranges out of compare's JSON, without another tool.
medians() {
  tr -d '\n ' | sed -E 's/"(loss|accuracy|auc|attention_truth|rmse|r2)":\{/\n\1 /g' |
    sed -nE 's/^([a-z_0-9]+) "mean":([^,]+),"median":([^,]+),"minimum":([^,]+),"maximum":([^,]+),.*/\1 \2 \3 \4 \5/p' |
    awk '{printf "%-16s mean %.4f  median %.4f  (%.4f to %.4f)\n", $1, $2, $3, $4, $5}'
}
why() {
  heading "why not a plain network? two informative columns, ever more noise columns"
  for rows in 100000 10000; do
    echo "rows: $rows"
    $fovea compare features --set data.rows=$rows --vary data.noise=8,18,48,98 --vary model.name=attention,plain,linear --seeds 5 --quiet
  done
  heading "the same with a label that no linear model can learn (the sign of x1 x2)"
  $fovea compare features --set data.label=product --vary data.noise=8,18,48,98 --vary model.name=attention,plain,linear --seeds 5 --quiet
  heading "as many informative columns as noise columns, D grows"
  for half in 5 10 25; do
    $fovea compare features --set data.informative=$half --set data.noise=$half --vary data.noise=$half \
      --vary model.name=attention,plain,linear --seeds 5 --quiet
  done
}
adult() {
  needs tabular_adult || return 0
  heading "UCI Adult, official test split, 10 seeds"
  $fovea compare features "$data/tabular_adult" --target income --config configs/feature-attention-adult.json \
    --vary model.name=attention,plain --seeds 10 --seed 1 --quiet
  $fovea compare features "$data/tabular_adult" --target income --config configs/feature-attention-adult.json --set 'model.hidden=[]' \
    --vary model.name=linear --seeds 10 --seed 1 --quiet
}
breast() {
  needs tabular_breast_cancer || return 0
  heading "breast cancer, 113 test rows, 10 seeds"
  for name in attention linear; do
    hidden=32
    [[ $name == linear ]] && hidden=[]
    echo "$name"
    $fovea compare features "$data/tabular_breast_cancer" --config configs/feature-attention-breast-cancer.json --set "model.hidden=$hidden" \
      --vary model.name=$name --seeds 10 --seed 1 --quiet --json | medians
  done
}

for part in "${@:-features context why adult breast}"; do
  for name in $part; do
    declare -F "$name" >/dev/null || { echo "there is no result '$name'" >&2; exit 2; }
    "$name"
  done
done
