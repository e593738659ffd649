# Sourced by the cluster tests, which set `name` first. Counts what holds and what does not, waits with
# a bound, reads the CLI's reports, and makes a folder `scratch` that the test removes. A test ends with
# `finish`, which prints the closing line and sets the exit code.

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
preset=${WEIR_PRESET:-release}
bin=$PWD/build/$preset/bin
digits=tests/data/digits
all_rows=1797
begun=0 passed=0 failed=0

for program in weir weir-server weir-worker; do
  [ -x "$bin/$program" ] || {
    echo "error: $bin/$program is missing: run deploy/setup.sh $preset first" >&2
    exit 1
  }
done
scratch=$(mktemp -d)

# expect TEXT COMMAND...: one test, run in this shell. Its output is shown only when it fails.
expect() {
  local text=$1
  shift
  begun=$((begun + 1))
  if "$@" >"$scratch/output" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $text"
  else
    failed=$((failed + 1))
    echo "FAILED  $text"
    tail -n 20 "$scratch/output" | sed 's/^/        /'
  fi
}

# need TEXT COMMAND...: a test without which the rest makes no sense.
need() {
  local before=$failed
  expect "$@"
  [ "$failed" -eq "$before" ] || { finish "$name"; exit 1; }
}

# Nothing here depends on how fast the machine is: whoever waits for so many seconds has found a fault.
patience=300

# await COMMAND...: until the command succeeds; fails when patience is over.
await() {
  local end=$(($(milliseconds) + patience * 1000))
  until "$@" >/dev/null 2>&1; do
    [ "$(milliseconds)" -lt "$end" ] || {
      echo "still not so: $*"
      return 1
    }
    sleep 0.05
  done
}

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# free_port: one that is free now, and below those that the system gives to connections.
free_port() {
  python3 -c 'import random, socket
while True:
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", random.randrange(20000, 32000)))
        except OSError:
            continue
        print(s.getsockname()[1])
        break'
}

# start_server [OPTION...]: a coordinator on a port that is free; leaves $server and $server_pid, and its
# log as server.log. A worker may sleep for seconds on a busy machine before it is given up.
start_server() {
  "$bin/weir-server" --listen 127.0.0.1:0 --lost-after 15 "$@" >"$scratch/server.log" 2>&1 &
  server_pid=$!
  await serves
}

serves() {
  server=$(sed -n 's/^listening on //p' "$scratch/server.log")
  [ -n "$server" ] && "$bin/weir" health --server "$server"
}

# json EXPRESSION: a Python expression over `r`, the report on standard input.
json() { python3 -c 'import json, sys; r = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }

# workers_are SERVER COUNT: the coordinator lists exactly COUNT live workers.
workers_are() { [ "$(live_workers "$1" | grep -c .)" -eq "$2" ]; }

# live_workers SERVER: their names, one a line.
live_workers() {
  "$bin/weir" workers --server "$1" -o json |
    json '"\n".join(w["name"] for w in r["workers"] if w["state"].lower() == "ready")'
}

# run_cnn OUT ROWS [OPTION...]: the digits CNN over the first ROWS images.
run_cnn() {
  local out=$1 rows=$2
  shift 2
  python3 deploy/npy.py rows "$rows" "$digits/image.npy" "$out.in.npy"
  "$bin/weir" run "$digits/cnn.onnx" --in "image=$out.in.npy" --map image --out "logits=$out" "$@"
}

# finish: the closing line. An error of an expansion ends a command and not the script, so a test may
# begin and say nothing: that is a failure.
finish() {
  local silent=$((begun - passed - failed))
  failed=$((failed + silent))
  [ "$silent" -eq 0 ] || echo "FAILED  $silent that began and came to no end"
  echo "$name: $passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
