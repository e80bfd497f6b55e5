#!/usr/bin/env bash
# Writes docs/options.md from the program's own lists.
set -euo pipefail
cd "$(dirname "$0")/.."
{
  echo "# Options"
  echo
  echo "Every option of every task, printed by \`fovea tasks --options --markdown\`; \`scripts/write_options.sh\` writes this page and a test holds it"
  echo "to the program. Set one with \`--set key=value\`, or in a JSON file given by \`--config\` (nested by the dots, comments allowed)."
  build/release/fovea tasks --options --markdown
} >docs/options.md
