#!/usr/bin/env bash
# Formats the templates and generates their Go code (web/view/*_templ.go) when a template changed.
#
#   scripts/generate.sh [--force]
#
# Generated code is committed and CI compares it with its templates, so a template that is as committed is never stale;
# building the generator, which takes most of a minute the first time, is left to those who edit templates.
set -euo pipefail
cd "$(dirname "$0")/.."

view=web/view
stamp=.cache/templ.sha256

state() {
  {
    find $view -type f \( -name '*.templ' -o -name '*_templ.go' \) -print0
  } | scripts/content-hash.sh
  grep 'github.com/a-h/templ ' go.mod
}

# Whether templates, generated code and the generator's version are those of the last commit.
as_committed() {
  git rev-parse --is-inside-work-tree >/dev/null 2>&1 || return 1
  [ -z "$(git status --porcelain -- $view)" ] && git diff --quiet -G'github.com/a-h/templ ' HEAD -- go.mod
}

if [ ! -d $view ]; then exit 0; fi
if [ "${1:-}" != --force ]; then
  if as_committed; then exit 0; fi
  if [ -f $stamp ] && [ "$(cat $stamp)" = "$(state)" ]; then exit 0; fi
fi
# From the top directory: generated code holds the templates' paths. Format first: it holds line numbers too.
go tool templ fmt .
go tool templ generate
mkdir -p "$(dirname $stamp)"
state >$stamp
