#!/usr/bin/env bash
# Builds everything and runs every test: all that CTest knows, then real clusters.
# usage: tests/run.sh     WEIR_PRESET picks another preset; WEIR_SKIP_COMPOSE=1 leaves Docker out
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export WEIR_PRESET=${WEIR_PRESET:-release}
bash deploy/setup.sh "$WEIR_PRESET"

failed=()
# stage NAME COMMAND...: runs whatever failed before it, so that one run shows every failure.
stage() {
  local name=$1 started=$SECONDS
  shift
  echo "== $name"
  "$@" </dev/null || failed+=("$name")
  echo "== $name: $((SECONDS - started)) s"
}

stage "ctest" ctest --preset "$WEIR_PRESET"
stage "bad input" bash tests/cluster/bad_input.sh
stage "cluster of processes" bash tests/cluster/processes.sh
stage "flows on processes" bash tests/cluster/flows.sh
case $WEIR_PRESET in
  dev | tsan) echo "== flows under a memory limit: left out, as sanitizers take memory of their own" ;;
  *) stage "flows under a memory limit" env PYTHONPATH="build/$WEIR_PRESET/python" \
    /usr/bin/python3 tests/cluster/flow_memory.py ;;
esac
if [ "${WEIR_SKIP_COMPOSE:-0}" = 1 ]; then
  echo "== cluster in containers: left out (WEIR_SKIP_COMPOSE=1)"
else
  stage "cluster in containers" bash tests/cluster/compose.sh
fi

if [ "${#failed[@]}" -ne 0 ]; then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
echo "all tests passed"
