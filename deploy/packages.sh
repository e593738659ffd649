#!/usr/bin/env bash
# Installs the Debian packages named in the given lists, one a line. Asks apt only when something is
# missing.
# usage: deploy/packages.sh LIST...
set -euo pipefail

missing() {
  local installed
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' | awk '$2 == "ii" { print $1 }')
  grep -hvE '^[[:space:]]*(#|$)' "$@" | sort -u | grep -vxF -f <(printf '%s\n' "$installed") || true
}

mapfile -t wanted < <(missing "$@")
[ "${#wanted[@]}" -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "error: these packages are missing and need root or sudo to install: ${wanted[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "installing: ${wanted[*]}" >&2
"${as_root[@]}" apt-get update -q >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -q --no-install-recommends "${wanted[@]}" </dev/null >&2
