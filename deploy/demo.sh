#!/usr/bin/env bash
# The digits models, each written for one example, run over all 1,797 images on an embedded cluster
# of two workers: vectorized, and as a sequential loop of the same kernels. Installs and builds what
# is missing.
# usage: deploy/demo.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${WEIR_PRESET:-release}
bash deploy/setup.sh "$preset"
bin=build/$preset/bin
digits=tests/data/digits
rows=1797 held_out=1397
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failures=0

# check TEXT COMMAND...: runs the command, prints "TEXT: its output", and counts a failure.
check() {
  local text=$1 figure
  shift
  if figure=$("$@"); then
    printf '  %-44s %s\n' "$text" "$figure"
  else
    printf '  %-44s %s  FAILED\n' "$text" "$figure"
    failures=$((failures + 1))
  fi
}

# report FILE EXPRESSION: evaluates a Python expression over `r`, the report that `weir run -o json` prints.
report() {
  python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

at_least() { # FLOOR FIGURE UNIT
  echo "$2$3"
  awk -v floor="$1" -v figure="$2" 'BEGIN { exit !(figure >= floor) }'
}

equals() { # WANTED FIGURE
  echo "$2"
  [ "$1" = "$2" ]
}

# run MODEL INPUT NAME REPEATS [--loop]: leaves NAME.npy and NAME.json in $out.
run() {
  "$bin/weir" run "$digits/$1.onnx" --in "$2=$digits/$2.npy" --map "$2" \
    --out "logits=$out/$3.npy" --workers 2 --repeat "$4" --quiet -o json "${@:5}" >"$out/$3.json"
}

# least FIGURE...
least() { printf '%s\n' "$@" | sort -g | head -n 1; }

divide() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

at_most() { # CEILING FIGURE UNIT
  echo "$2$3"
  awk -v ceiling="$1" -v figure="$2" 'BEGIN { exit !(figure <= ceiling) }'
}

# bare MODEL: microseconds that the same layers take as bare oneDNN calls for one example.
bare() { "$bin/digits_bench" | sed -nE "s/^bare oneDNN.* $1: +([0-9.]+) us.*/\1/p"; }

# On a machine that others use too, a run takes between once and twice its time, for seconds on end.
# Each figure is therefore the best of many runs in rounds that take turns: what is compared had the
# same chances.
time_all() { # MODEL INPUT
  local round
  vectorized=() loops=() bares=()
  for round in 1 2 3 4 5 6 7 8 9 10; do
    run "$1" "$2" "$1-pfor" 300
    vectorized+=("$(report "$out/$1-pfor.json" 'r["best_run_seconds"] * 1e3')")
    run "$1" "$2" "$1-loop" 30 --loop
    loops+=("$(report "$out/$1-loop.json" 'r["best_run_seconds"] * 1e3')")
    bares+=("$(bare "$1")")
  done
}

demo() { # MODEL INPUT ACCURACY_FLOOR RATIO_FLOOR [BARE_CEILING]
  echo
  echo "$1.onnx, $rows images, 2 workers of one thread; times are the best of 10 rounds"
  time_all "$1" "$2"
  local best_vectorized best_loop best_bare image
  best_vectorized=$(least "${vectorized[@]}")
  best_loop=$(least "${loops[@]}")
  best_bare=$(least "${bares[@]}")
  image=$(awk -v ms="$best_loop" -v n="$rows" 'BEGIN { printf "%.2f", ms * 1e3 / n }')
  check "accuracy on images $held_out.. (at least $3)" \
    python3 deploy/npy.py accuracy "$3" "$held_out" "$out/$1-pfor.npy" "$digits/labels.npy"
  check "vectorized against expected logits (<= 1e-4)" \
    python3 deploy/npy.py within 1e-4 "$out/$1-pfor.npy" "$digits/$1_logits.npy"
  check "loop against expected logits (<= 1e-4)" \
    python3 deploy/npy.py within 1e-4 "$out/$1-loop.npy" "$digits/$1_logits.npy"
  check "fallbacks (0)" equals 0 "$(report "$out/$1-pfor.json" 'len(r["fallbacks"])')"
  printf '  %-44s %.3f ms\n' "vectorized, warm" "$best_vectorized"
  printf '  %-44s %.3f ms, %.2f us an image\n' "sequential loop, warm" "$best_loop" "$image"
  printf '  %-44s %.2f us an image\n' "the same layers in bare oneDNN, batch 1" "$best_bare"
  check "loop / vectorized (at least $4)" at_least "$4" "$(divide "$best_loop" "$best_vectorized")" "x"
  [ -z "${5:-}" ] || check "one iteration / bare oneDNN (at most $5)" at_most "$5" \
    "$(divide "$image" "$best_bare")" "x"
}

demo cnn image 0.99 10 2
# No bound against oneDNN here: it has the recurrence in one call, the model a loop of ordinary ops.
demo lstm rows 0.95 1

echo
if [ "$failures" -ne 0 ]; then
  echo "demo failed: $failures of the figures above are out of bounds"
  exit 1
fi
echo "demo passed"
