#!/usr/bin/env bash
# Writes docs/options.md from the program's own lists.
set -euo pipefail
cd "$(dirname "$0")/.."
{
  echo "# Options"
  echo
  echo "Every option of every task, printed by \`fovea tasks TASK --markdown\`; \`scripts/write_options.sh\` writes this page and a test holds it"
  echo "to the program. Set one with \`--set key=value\`, or in a JSON file given by \`--config\` (nested by the dots, comments allowed)."
  for task in features context dates translate forecast; do
    echo
    echo "## $task"
    echo
    build/release/fovea tasks "$task" --markdown
  done
} >docs/options.md
