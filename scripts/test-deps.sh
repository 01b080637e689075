#!/usr/bin/env bash
# Installs the programs that the tests and the demo use and that are not there yet.
#
#   scripts/test-deps.sh              what `make test` needs
#   scripts/test-deps.sh PACKAGE...   only these (names of Debian packages from the table below)
#
# With everything in place it does nothing and returns at once. What is missing is installed with apt-get by root, or
# through sudo where that asks for no password; otherwise the script prints what to install and exits with 1.
# Services that come with a package are not started: tests and demo run private ones of their own.
set -euo pipefail

# What `make test` uses today.
wanted=(rocksdb-tools chromium fonts-dejavu-core postgresql)

# Debian package -> how to tell that it, or something as good, is there.
present() {
  case "$1" in
    rocksdb-tools) command -v db_bench >/dev/null ;;
    fio) command -v fio >/dev/null ;;
    chromium) any_command "${RELQPS_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable ;;
    fonts-dejavu-core) font DejaVuSans.ttf ;;
    mariadb-server) any_command mariadbd /usr/sbin/mariadbd ;;
    mariadb-plugin-rocksdb) any_file /usr/lib/mysql/plugin/ha_rocksdb.so ;;
    postgresql) postgres_server ;;
    *)
      echo "scripts/test-deps.sh: unknown package: $1" >&2
      exit 2
      ;;
  esac
}

any_command() {
  local name
  for name in "$@"; do
    if [ -n "$name" ] && command -v "$name" >/dev/null; then return 0; fi
  done
  return 1
}

any_file() {
  local file
  for file in "$@"; do
    if [ -e "$file" ]; then return 0; fi
  done
  return 1
}

font() {
  any_file "/usr/share/fonts/truetype/dejavu/$1" "/usr/share/fonts/TTF/$1" "/usr/share/fonts/dejavu-sans-fonts/$1" && return 0
  # Systems that keep no such path (macOS among them) bring fonts of their own.
  [ "$(uname -s)" != Linux ]
}

# The server programs are not on PATH in Debian: the same places as the program itself looks at.
postgres_server() {
  if [ -n "${RELQPS_PG_BIN:-}" ]; then
    any_file "$RELQPS_PG_BIN/initdb"
    return
  fi
  any_command initdb && return 0
  any_file /usr/lib/postgresql/*/bin/initdb /opt/homebrew/opt/postgresql*/bin/initdb /usr/local/opt/postgresql*/bin/initdb
}

policy=/usr/sbin/policy-rc.d
policy_mark='# Written by relqps scripts/test-deps.sh while it installs packages; safe to delete.'

# Debian starts a package's service when it is installed, unless policy-rc.d says no. One that somebody else wrote is
# left as it is; ours is removed when we leave, and a leftover of a killed run when the next one comes by.
forbid_services() {
  if [ -e "$policy" ] && ! grep -qxF "$policy_mark" "$policy"; then return 0; fi
  printf '#!/bin/sh\n%s\nexit 101\n' "$policy_mark" >"$policy"
  chmod 755 "$policy"
}

allow_services() {
  if [ -e "$policy" ] && grep -qxF "$policy_mark" "$policy"; then rm -f "$policy"; fi
}

install_as_root() {
  local options=(-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  export DEBIAN_FRONTEND=noninteractive
  trap allow_services EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  forbid_services
  apt-get "${options[@]}" update -q
  apt-get "${options[@]}" install -q -y --no-install-recommends "$@"
  allow_services
}

if [ "${1:-}" = --install ]; then
  shift
  install_as_root "$@"
  exit 0
fi

if [ "$#" -gt 0 ]; then wanted=("$@"); fi

missing=()
for package in "${wanted[@]}"; do
  present "$package" || missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then exit 0; fi

by_hand() {
  {
    echo "scripts/test-deps.sh: missing: ${missing[*]}"
    echo "$1"
    if command -v apt-get >/dev/null; then
      echo "Install them with:"
      echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
    else
      echo "Install what these Debian packages hold by other means; the programs and files looked for are listed in"
      echo "scripts/test-deps.sh. RELQPS_PG_BIN names a folder with Postgres' server programs, RELQPS_CHROMIUM a browser."
    fi
  } >&2
  exit 1
}

if ! command -v apt-get >/dev/null; then by_hand "This machine has no apt-get."; fi

installing() { echo "scripts/test-deps.sh: installing ${missing[*]}" >&2; }
if [ "$(id -u)" -eq 0 ]; then
  installing
  bash "$0" --install "${missing[@]}"
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  installing
  sudo -n bash "$0" --install "${missing[@]}"
else
  by_hand "Installing needs root or a sudo that asks for no password."
fi

still=()
for package in "${missing[@]}"; do
  present "$package" || still+=("$package")
done
if [ "${#still[@]}" -gt 0 ]; then
  echo "scripts/test-deps.sh: installed, but still not found: ${still[*]}" >&2
  exit 1
fi
