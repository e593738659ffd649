#!/usr/bin/env bash
# Flows with the `weir` command on a coordinator and workers as processes: records of several epochs
# come out as they should, a client may leave and another go on, a flow from Python trains a
# network, a killed worker fails its flow and nothing else, a cancelled flow ends.
# usage: tests/cluster/flows.sh
set -euo pipefail
name=flows
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

server=127.0.0.1:$(free_port)
declare -A worker_pids=()
flow=tests/data/flows/word_count.flow

tear_down() {
  local log
  if [ "$failed" -ne 0 ]; then
    for log in "$scratch"/*.log; do
      printf -- '--- %s\n' "$(basename "$log")"
      tail -n 20 "$log"
    done
  fi
  kill "${worker_pids[@]}" "${server_pid:-}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$scratch"
}
trap tear_down EXIT

weir() { "$bin/weir" "$1" --server "$server" "${@:2}"; }

start_workers() { # NAME...
  local worker
  for worker in "$@"; do
    "$bin/weir-worker" --server "$server" --name "$worker" >"$scratch/$worker.log" 2>&1 &
    worker_pids[$worker]=$!
  done
}

# words FILE NUMBER...: a column of them.
words() {
  /usr/bin/python3 -c 'import sys, numpy
numpy.save(sys.argv[1], numpy.array([int(w) for w in sys.argv[2:]], dtype=numpy.int64))' "$@"
}

# submit [FILE]: leaves the id of a flow that runs, a word count, as $id.
submit() { id=$(weir submit "${1:-$flow}" -q --timeout 60); }

# received TEXT: what was written to received.log, whose lines have no order, is TEXT.
received() { diff <(sort "$scratch/received.log") <(printf '%s\n' "$@" | sort); }

# exits CODE COMMAND...
exits() {
  local code=0
  "${@:2}" || code=$?
  [ "$code" -eq "$1" ] || {
    echo "exit code $code, not $1"
    return 1
  }
}

says() { weir watch "$id" --once | grep -E "$1"; }

"$bin/weir-server" --listen "$server" >"$scratch/server.log" 2>&1 &
server_pid=$!
need "the coordinator serves" await 10 "$bin/weir" health --server "$server"
start_workers w1 w2 w3
need "three workers register" await 20 workers_are "$server" 3
words "$scratch/a.npy" 7 8 7
words "$scratch/b.npy" 7 9
words "$scratch/c.npy" 8 8 8 1

need "a flow is deployed and runs" submit
weir receive "$id" out >"$scratch/received.log" 2>"$scratch/receive.log" &
receiver=$!
expect "records of an epoch" weir send "$id" words "$scratch/a.npy"
expect "more of the same epoch, which is over then" weir send "$id" words "$scratch/b.npy" --advance 1
expect "the epoch is complete" await 20 says "out +output +before 1 "
expect "what it waits for is the client" \
  grep "source 'words' is open at (1)" <(weir explain-frontier "$id" out)
expect "an epoch that is over is refused" exits 6 weir send "$id" words "$scratch/a.npy" --epoch 0
expect "an input that is not there is named" \
  grep "it has words" <(weir send "$id" nowhere "$scratch/a.npy" 2>&1)
expect "the flow is listed" grep "$id .*RUNNING .*word_count" <(weir list)
expect "the next epoch, and the end" weir send "$id" words "$scratch/c.npy" --close
expect "the flow succeeds" weir wait "$id" --timeout 30
expect "who takes has everything" await 20 received "0: 7 3" "0: 8 1" "0: 9 1" "1: 8 3" "1: 1 1"
expect "and ends" wait "$receiver"
expect "a network learns from a stream as in a loop" \
  env WEIR_ADDRESS="$server" PYTHONPATH="$bin/../python" \
  /usr/bin/python3 client/examples/online_training.py

need "another flow runs" submit
expect "it has records" weir send "$id" words "$scratch/a.npy"
{ kill -9 "${worker_pids[w2]}" && wait "${worker_pids[w2]}"; } 2>/dev/null || true
expect "kill -9 of a worker fails it" exits 1 weir wait "$id" --timeout 20
expect "the message names the worker" grep -w w2 <(weir status "$id")
expect "the coordinator lists the two others" await 5 workers_are "$server" 2

need "they run a cycle with two entries" submit tests/data/flows/two_entries.flow
weir receive "$id" out >"$scratch/received.log" 2>"$scratch/receive.log" &
receiver=$!
expect "numbers for it" weir send "$id" numbers "$scratch/b.npy" --close
expect "it ends" weir wait "$id" --timeout 30
expect "it says how often it took one" await 20 received "0: 7 3" "0: 9 3"
expect "and who takes has ended" wait "$receiver"

need "they run the next flow" submit
expect "which can be cancelled" weir cancel "$id"
expect "and ends so" exits 3 weir wait "$id" --timeout 20
expect "nothing can be sent to it" exits 6 weir send "$id" words "$scratch/a.npy" --timeout 10

need "a flow runs" submit
kill -TERM "${worker_pids[w3]}"
expect "a worker that is asked to stop does" await 30 workers_are "$server" 1
expect "its flow fails" exits 1 weir wait "$id" --timeout 20
kill -TERM "$server_pid"
expect "the coordinator stops with exit code 0" exits 0 wait "$server_pid"

finish
