#!/usr/bin/env bash
# new.sh KIND NAME: the files of a recipe with a smallest example that works, and its rows in the tables; CONTRIBUTING.md lists
# the kinds. NAME is written in snake_case.
set -euo pipefail
cd "$(dirname "$0")/.."
kinds=$(cd scripts/recipes && echo *)
usage() { echo "usage: ./dev new KIND NAME, where KIND is one of: $kinds"; exit 2; }
[[ $# -eq 2 && -d scripts/recipes/$1 ]] || usage
kind=$1 name=$2
[[ $name =~ ^[a-z][a-z0-9]*(_[a-z0-9]+)*$ ]] || { echo "error: '$name': expected a name such as cosine or gated_pooling"; exit 2; }
type=$(sed -E 's/(^|_)([a-z0-9])/\U\2/g' <<<"$name")

fill() { sed -e "s/__name__/$name/g" -e "s/__na-me__/${name//_/-}/g" -e "s/__Name__/$type/g"; }
touched=()

# add_row FILE MACRO: NAME at the end of the table that the macro lists.
add_row() {
  awk -v macro="#define $2(row)" -v row="row($name)" '
    index($0, macro) == 1 { inside = 1 }
    inside && !/\\$/ { $0 = $0 " \\\n      " row; inside = 0 }
    { print }' "$1" >"$1.new" && mv "$1.new" "$1"
  grep -q "row($name)" "$1" || { echo "error: $1 has no table $2"; exit 1; }
  touched+=("$1")
  echo "  row   $1"
}

# add_line FILE PATTERN LINE: before the first line that holds the pattern.
add_line() {
  grep -qF -- "$2" "$1" || { echo "error: $1 has no line with: $2"; exit 1; }
  awk -v pattern="$2" -v line="$(fill <<<"$3")" '!done && index($0, pattern) { print line; done = 1 } { print }' "$1" >"$1.new" && mv "$1.new" "$1"
  touched+=("$1")
  echo "  row   $1"
}

cd "scripts/recipes/$kind"
files=$(find . -type f ! -name rows.sh)
cd ../../..
for file in $files; do
  target=$(fill <<<"${file#./}")
  [[ ! -e $target ]] || { echo "error: $target is there already"; exit 1; }
done
for file in $files; do
  target=$(fill <<<"${file#./}")
  mkdir -p "$(dirname "$target")"
  fill <"scripts/recipes/$kind/$file" >"$target"
  touched+=("$target")
  echo "  file  $target"
done
[[ ! -e scripts/recipes/$kind/rows.sh ]] || source "scripts/recipes/$kind/rows.sh"
if command -v clang-format >/dev/null; then
  printf '%s\n' "${touched[@]}" | { grep -E '\.(h|cc|cu)$' || true; } | xargs -r clang-format -i
fi

# What CONTRIBUTING.md says comes next: the last cell of the kind's row below "| kind | next |".
next=$(awk -F ' [|] ' -v kind="| \`$kind\`" '/^[|] kind [|] next/ { below = 1 } below && $1 == kind { sub(/ [|]$/, "", $2); print $2 }' CONTRIBUTING.md)
echo "  next  ${next//NAME/$name}"
