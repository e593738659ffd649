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

# run MODEL INPUT NAME [--loop]: leaves NAME.npy and NAME.json in $out.
run() {
  "$bin/weir" run "$digits/$1.onnx" --in "$2=$digits/$2.npy" --map "$2" \
    --out "logits=$out/$3.npy" --workers 2 --repeat 5 --quiet -o json "${@:4}" >"$out/$3.json"
}

at_most() { # CEILING FIGURE UNIT
  echo "$2$3"
  awk -v ceiling="$1" -v figure="$2" 'BEGIN { exit !(figure <= ceiling) }'
}

# bare MODEL: microseconds that the same layers take as bare oneDNN calls for one example.
bare() { sed -nE "s/^bare oneDNN.* $1: +([0-9.]+) us.*/\1/p" "$out/bench"; }

demo() { # MODEL INPUT ACCURACY_FLOOR RATIO_FLOOR [BARE_CEILING]
  echo
  echo "$1.onnx, $rows images, 2 workers"
  run "$1" "$2" "$1-pfor"
  run "$1" "$2" "$1-loop" --loop
  local vectorized loop ratio image
  vectorized=$(report "$out/$1-pfor.json" 'r["run_seconds"]')
  loop=$(report "$out/$1-loop.json" 'r["run_seconds"]')
  ratio=$(awk -v a="$loop" -v b="$vectorized" 'BEGIN { printf "%.1f", a / b }')
  check "accuracy on images $held_out.. (at least $3)" \
    python3 deploy/npy.py accuracy "$3" "$held_out" "$out/$1-pfor.npy" "$digits/labels.npy"
  check "vectorized against expected logits (<= 1e-4)" \
    python3 deploy/npy.py within 1e-4 "$out/$1-pfor.npy" "$digits/$1_logits.npy"
  check "loop against expected logits (<= 1e-4)" \
    python3 deploy/npy.py within 1e-4 "$out/$1-loop.npy" "$digits/$1_logits.npy"
  check "fallbacks (0)" equals 0 "$(report "$out/$1-pfor.json" \
    'len(r["fallbacks"]) if isinstance(r["fallbacks"], list) else r["fallbacks"]')"
  printf '  %-44s %.3f ms\n' "vectorized, warm" "$(awk -v s="$vectorized" 'BEGIN { print s * 1e3 }')"
  image=$(awk -v s="$loop" -v n="$rows" 'BEGIN { print s * 1e6 / n }')
  printf '  %-44s %.3f ms, %.2f us an image\n' "sequential loop, warm" \
    "$(awk -v s="$loop" 'BEGIN { print s * 1e3 }')" "$image"
  check "loop / vectorized (at least $4)" at_least "$4" "$ratio" "x"
  [ -n "$(bare "$1")" ] || return 0
  printf '  %-44s %.2f us an image\n' "the same layers in bare oneDNN, batch 1" "$(bare "$1")"
  [ -z "${5:-}" ] || check "one iteration / bare oneDNN (at most $5)" at_most "$5" \
    "$(awk -v a="$image" -v b="$(bare "$1")" 'BEGIN { printf "%.2f", a / b }')" "x"
}

if [ -x "$bin/digits_bench" ]; then
  "$bin/digits_bench" >"$out/bench" || failures=$((failures + 1))
else
  : >"$out/bench"
fi
demo cnn image 0.99 10 2
# No bound against oneDNN here: it has the recurrence in one call, the model a loop of ordinary ops.
demo lstm rows 0.95 1

echo
if [ "$failures" -ne 0 ]; then
  echo "demo failed: $failures of the figures above are out of bounds"
  exit 1
fi
echo "demo passed"
