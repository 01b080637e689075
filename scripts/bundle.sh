#!/usr/bin/env bash
# Bundles the page script and the style sheet into web/static/dist when their sources changed since the last time.
#
#   scripts/bundle.sh             bundle, when stale
#   scripts/bundle.sh packages    only bring web/assets/node_modules up to date with package-lock.json
#
# "Changed" is decided by content, not by file times, which a fresh clone or a change of branch makes meaningless.
set -euo pipefail
cd "$(dirname "$0")/.."

assets=web/assets
dist=web/static/dist
stamp=.cache/bundle.sha256
packages_stamp=$assets/node_modules/.relqps.sha256

packages() {
  local now
  now=$(printf '%s\0' $assets/package.json $assets/package-lock.json $assets/.npmrc | scripts/content-hash.sh)
  if [ -f "$packages_stamp" ] && [ "$(cat "$packages_stamp")" = "$now" ]; then return 0; fi
  if ! command -v npm >/dev/null; then
    echo "scripts/bundle.sh: npm not found: install Node.js 18 or later (Debian: apt-get install nodejs npm)" >&2
    exit 1
  fi
  echo "scripts/bundle.sh: npm ci in $assets" >&2
  (cd "$assets" && npm ci --loglevel=error)
  printf '%s\n' "$now" >"$packages_stamp"
}

# Tests are no part of the bundle.
sources_hash() {
  {
    printf '%s\0' $assets/build.mjs $assets/package.json $assets/package-lock.json $assets/tsconfig.json
    if [ -d $assets/src ]; then find $assets/src -type f ! -name '*.test.ts' -print0; fi
  } | scripts/content-hash.sh
}

# Whether the manifest and each file that it names are there.
complete() {
  local name
  [ -f $dist/manifest.json ] || return 1
  while read -r name; do
    [ -f "$dist/$name" ] || return 1
  done < <(sed -n 's/^ *"[^"]*": *"\([^"]*\)",\{0,1\}$/\1/p' $dist/manifest.json)
}

case "${1:-}" in
  packages)
    packages
    ;;
  "")
    now=$(sources_hash)
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$now" ] && complete; then exit 0; fi
    packages
    (cd "$assets" && node build.mjs)
    mkdir -p "$(dirname "$stamp")"
    printf '%s\n' "$now" >"$stamp"
    ;;
  *)
    echo "usage: scripts/bundle.sh [packages]" >&2
    exit 2
    ;;
esac
