#!/usr/bin/env bash
# Prints one hash over the names and contents of the files whose names, each ended by a NUL, stand on standard input.
# The order of the names does not matter. A name without a file counts as its name alone.
set -euo pipefail

if command -v sha256sum >/dev/null; then sum=(sha256sum); else sum=(shasum -a 256); fi
LC_ALL=C sort -z |
  while IFS= read -r -d '' name; do
    printf '%s\n' "$name"
    if [ -f "$name" ]; then "${sum[@]}" <"$name"; fi
  done | "${sum[@]}" | cut -d' ' -f1
