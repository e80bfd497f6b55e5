#!/usr/bin/env bash
# What the *.md files name must be there: links into the tree and their headings, and source files in backticks (`score.h`,
# `tables/load.cc`: the end of a path of the tree). Prints each that is not as file:line and exits 1 when there is one.
set -euo pipefail
cd "$(dirname "$0")/.."

tree() { find . \( -name build -o -name node_modules -o -name .git \) -prune -o -type f "$@" -print | sed 's|^\./||'; }
pages() { tree -name '*.md' | grep -v '^scripts/recipes/'; }

# The anchors that a page's headings have: lower case, blanks as hyphens, no other punctuation.
anchors() { sed -nE 's/^#+ +(.*)$/\L\1/p' "$1" | sed -E 's/\[([^]]*)\]\([^)]*\)/\1/g; s/[^[:alnum:] _-]//g; s/ /-/g'; }

broken_links() {
  local file line link target page path
  while IFS=: read -r file line link; do
    target=${link:2:-1}
    page=${target%%#*}
    path=$file
    [[ -z $page ]] || path=$(dirname "$file")/$page
    if [[ ! -e $path ]]; then
      echo "$file:$line: $target is not there"
    elif [[ $target == *#* && $path == *.md ]] && ! anchors "$path" | grep -qxF -- "${target#*#}"; then
      echo "$file:$line: ${page:-this page} has no heading #${target#*#}"
    fi
  done < <(pages | xargs grep -noE '\]\([^)[:space:]]+\)' /dev/null | grep -vE ':\]\((https?|mailto):')
}

missing_files() {
  awk -F: '
    NR == FNR { for (path = $0; ; path = substr(path, index(path, "/") + 1)) { known[path]; if (!index(path, "/")) next } }
    { name = substr($3, 2, length($3) - 2); if (!(name in known)) print $1 ":" $2 ": no file ends in " name }
  ' <(tree) <(pages | xargs grep -noE '`[a-z0-9_/.-]*[a-z0-9_]\.(h|cc|cu|js|mjs|sh|py|cmake)`' /dev/null | grep -v ':`torch/')
}

broken=$(broken_links; missing_files)
if [[ -n $broken ]]; then
  echo "$broken"
  echo "$(wc -l <<<"$broken") names of files in the docs lead nowhere"
  exit 1
fi
echo "every link and file that the docs name is there"
