#!/usr/bin/env bash
# Flows with the `weir` command on a coordinator and workers as processes: records of several epochs
# come out as they should, a client may leave and another go on, a flow from Python trains a
# network, a killed worker fails its flow and nothing else, a cancelled flow ends. Files that
# workers share are read once, and written whole or not at all, whatever becomes of the client and
# of the flow.
# usage: tests/cluster/flows.sh
set -euo pipefail
name=flows
source "$(dirname "$0")/lib.sh"

server=
declare -A worker_pids=()
flow=tests/data/flows/word_count.flow
data=$scratch/data
mkdir -p "$data/in" "$data/out" "$scratch/elsewhere"

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
    "$bin/weir-worker" --server "$server" --name "$worker" --data-directory "$data" \
      >"$scratch/$worker.log" 2>&1 &
    worker_pids[$worker]=$!
  done
}

# words FILE NUMBER...: a column of them.
words() {
  /usr/bin/python3 -c 'import sys, numpy
numpy.save(sys.argv[1], numpy.array([int(w) for w in sys.argv[2:]], dtype=numpy.int64))' "$@"
}

# submit [FILE]: leaves the id of a flow that runs, a word count, as $id.
submit() { id=$(weir submit "${1:-$flow}" -q --timeout "$patience"); }

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

# numbers COUNT FILES LINES: that many CSV files of numbers below COUNT.
numbers() {
  local file
  rm -f "$data"/in/*
  for file in $(seq "$2"); do
    seq "$3" | awk -v count="$1" -v file="$file" '{print ($1 * file) % count}' >"$data/in/$file.csv"
  done
}

# copying GLOB OUT: a flow that copies and counts numbers, an epoch for each file.
copying() {
  cat >"$scratch/copying.flow" <<END
flow @copying {
  %numbers = read_files() {glob = "$1", types = ["i64[]"], epochs = "file"}
  %copies = write_files(%numbers) {path = "$2/copy-{epoch:04}.csv"}
  %counts = count(%numbers) {keys = 1}
  %sums = write_files(%counts) {path = "$2/count-{epoch:04}.csv"}
}
END
}

# copied: every file has its copy, and nothing else is there but counts.
copied() {
  local file epoch=0
  for file in $(printf '%s\n' "$data"/in/*.csv | LC_ALL=C sort); do
    cmp "$file" "$data/out/copy-$(printf %04d "$epoch").csv" || return 1
    epoch=$((epoch + 1))
  done
  [ "$(find "$data/out" -type f | wc -l)" -eq $((2 * epoch)) ]
}

# whole: there are some files, and each of them is whole; none is hidden.
whole() {
  local copy epoch
  [ -z "$(find "$data/out" -name '.*' -type f)" ] || return 1
  local files
  mapfile -t files < <(printf '%s\n' "$data"/in/*.csv | LC_ALL=C sort)
  for copy in "$data"/out/copy-*; do
    [ -e "$copy" ] || continue  # there is none
    epoch=${copy##*copy-} && epoch=${epoch%.csv}
    cmp "${files[$((10#$epoch))]}" "$copy" || return 1
  done
}

some_files() { [ "$(find "$data/out" -type f -name 'copy-*' | wc -l)" -gt "$1" ]; }

need "the coordinator serves" start_server
start_workers w1 w2 w3
need "three workers register" await workers_are "$server" 3
words "$scratch/a.npy" 7 8 7
words "$scratch/b.npy" 7 9
words "$scratch/c.npy" 8 8 8 1

need "a flow is deployed and runs" submit
weir receive "$id" out >"$scratch/received.log" 2>"$scratch/receive.log" &
receiver=$!
expect "records of an epoch" weir send "$id" words "$scratch/a.npy"
expect "more of the same epoch, which is over then" weir send "$id" words "$scratch/b.npy" --advance 1
expect "the epoch is complete" await says "out +output +before 1 "
expect "what it waits for is the client" \
  grep "source 'words' is open at (1)" <(weir explain-frontier "$id" out)
expect "an epoch that is over is refused" exits 6 weir send "$id" words "$scratch/a.npy" --epoch 0
expect "an input that is not there is named" \
  grep "it has words" <(weir send "$id" nowhere "$scratch/a.npy" 2>&1)
expect "the flow is listed" grep "$id .*RUNNING .*word_count" <(weir list)
expect "the next epoch, and the end" weir send "$id" words "$scratch/c.npy" --close
expect "the flow succeeds" weir wait "$id" --timeout "$patience"
expect "who takes has everything" await received "0: 7 3" "0: 8 1" "0: 9 1" "1: 8 3" "1: 1 1"
expect "and ends" wait "$receiver"
expect "a network learns from a stream as in a loop" \
  env WEIR_ADDRESS="$server" PYTHONPATH="$bin/../python" \
  /usr/bin/python3 client/examples/online_training.py

numbers 7 9 2000
copying 'in/*.csv' out
expect "workers share files, and a flow over them ends by itself" \
  weir run "$scratch/copying.flow" --timeout "$patience"
expect "each was read once and written once" copied
expect "counts are those of the file" diff <(sort -n "$data/out/count-0000.csv") \
  <(sort -n "$data/in/1.csv" | uniq -c | awk '{print $2 "," $1}')
rm -f "$data"/out/*
copying "$data/in/*.csv" "$data/../elsewhere"
expect "a path outside is refused" exits 1 weir run "$scratch/copying.flow" --timeout "$patience"
expect "nothing was written there" test -z "$(ls -A "$scratch/elsewhere")"
expect "the message says which option allows it" \
  grep -e "--data-directory DIR" <(weir run "$scratch/copying.flow" --timeout "$patience" 2>&1)
expect "a flow that waits for clients is not run" exits 2 weir run "$flow" --timeout "$patience"

numbers 1000 40 50000
copying 'in/*.csv' out
weir run "$scratch/copying.flow" --timeout "$patience" >"$scratch/run.log" 2>&1 &
runner=$!
expect "some epochs are written" await some_files 2
{ kill -9 "$runner" && wait "$runner"; } 2>/dev/null || true
id=$(weir list -o json | json 'max(r["jobs"], key=lambda job: int(job["created_unix_ms"]))["id"]')
expect "kill -9 of the client does not matter to the flow" weir wait "$id" --timeout "$patience"
expect "each file was read once and written once" copied
rm -f "$data"/out/*
# It waits for a client that never comes, so it cannot be over before it is cancelled.
sed 's/^}$/  %more = input() {types = ["i64[]"]}\n  %open = probe(%more)\n}/' \
  "$scratch/copying.flow" >"$scratch/staying.flow"
id=$(weir submit "$scratch/staying.flow" -q --timeout "$patience")
expect "some epochs are written" await some_files 5
expect "it is cancelled in the middle" weir cancel "$id"
expect "and ends" exits 3 weir wait "$id" --timeout "$patience"
expect "what it has written is whole, and nothing else is there" whole
rm -f "$data"/out/*
sed -i '$ s/$/x/' "$data/in/9.csv"
expect "a fault in a file fails the flow" exits 1 weir run "$scratch/copying.flow" --timeout "$patience"
expect "the message names vertex, file, line and column" \
  grep "'numbers' (read_files).*in/9.csv:50000:1" <(weir run "$scratch/copying.flow" --timeout "$patience" 2>&1)
expect "what was written is whole" whole

need "another flow runs" submit
expect "it has records" weir send "$id" words "$scratch/a.npy"
{ kill -9 "${worker_pids[w2]}" && wait "${worker_pids[w2]}"; } 2>/dev/null || true
expect "kill -9 of a worker fails it" exits 1 weir wait "$id" --timeout "$patience"
expect "the message names the worker" grep -w w2 <(weir status "$id")
expect "the coordinator lists the two others" await workers_are "$server" 2

need "they run a cycle with two entries" submit tests/data/flows/two_entries.flow
weir receive "$id" out >"$scratch/received.log" 2>"$scratch/receive.log" &
receiver=$!
expect "numbers for it" weir send "$id" numbers "$scratch/b.npy" --close
expect "it ends" weir wait "$id" --timeout "$patience"
expect "it says how often it took one" await received "0: 7 3" "0: 9 3"
expect "and who takes has ended" wait "$receiver"

need "they run the next flow" submit
expect "which can be cancelled" weir cancel "$id"
expect "and ends so" exits 3 weir wait "$id" --timeout "$patience"
expect "nothing can be sent to it" exits 6 weir send "$id" words "$scratch/a.npy" --timeout "$patience"

need "a flow runs" submit
kill -TERM "${worker_pids[w3]}"
expect "a worker that is asked to stop does" await workers_are "$server" 1
expect "its flow fails" exits 1 weir wait "$id" --timeout "$patience"
kill -TERM "$server_pid"
expect "the coordinator stops with exit code 0" exits 0 wait "$server_pid"

finish
