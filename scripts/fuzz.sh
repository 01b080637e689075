#!/usr/bin/env bash
# Runs every fuzz target of the module, one after another (Go fuzzes one target at a time), for the given time each.
#
#   scripts/fuzz.sh [TIME] [PATTERN]    TIME as in `go test -fuzztime` (default 30s); PATTERN picks targets by name
#
# All targets are run even where one fails; the failing ones are named at the end. The input that made a target fail is
# left in its testdata/fuzz folder, as a test case to commit with the fix.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-30s}
pattern=${2:-.}

targets=$(find . \( -name .git -o -name node_modules -o -name .cache \) -prune -o -name '*_test.go' -print |
  LC_ALL=C sort | xargs grep -HoE '^func Fuzz[A-Za-z0-9_]*' /dev/null | sed -E 's/^(.*)\/[^/]*:func (.*)$/\1 \2/' |
  grep -E -- "$pattern" || true)
if [ -z "$targets" ]; then
  echo "scripts/fuzz.sh: no fuzz target matches $pattern" >&2
  exit 1
fi

failed=()
while read -r package name; do
  echo "== $package $name ($time)"
  # Anchored, since Go wants exactly one match.
  go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" "$package" </dev/null || failed+=("$package $name")
done <<<"$targets"

if [ "${#failed[@]}" -gt 0 ]; then
  printf 'scripts/fuzz.sh: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo "$(wc -l <<<"$targets") fuzz targets, $time each, none failed"
