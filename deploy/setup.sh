#!/usr/bin/env bash
# Makes a fresh Debian 12 machine ready and builds Weir. Safe to repeat: what is there stays.
# usage: deploy/setup.sh [PRESET]     one of CMakePresets.json; default $WEIR_PRESET, else release
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:-${WEIR_PRESET:-release}}
bash deploy/packages.sh deploy/packages.txt

started=$SECONDS
cmake --preset "$preset" >&2
cmake --build --preset "$preset" >&2
echo "built preset $preset in $((SECONDS - started)) s: build/$preset/bin" >&2
