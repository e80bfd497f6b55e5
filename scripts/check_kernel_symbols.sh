#!/usr/bin/env bash
# check_kernel_symbols.sh OBJECT…: objects compiled for one instruction set must share no function with the rest of the program, or
# the linker might take the AVX form of an inline function for everybody's (fovea/kernels/README.md). Prints those and exits 1.
set -euo pipefail
if nm --print-file-name --demangle "$@" | grep -E ' [WVu] '; then
  echo "code of one instruction set shares the functions above; anonymous namespaces, and nothing from the standard library"
  exit 1
fi
