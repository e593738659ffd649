#!/usr/bin/env bash
# A coordinator and its workers as processes on loopback: the rows of the digits CNN must have the bits
# of an embedded run whatever the number of workers and rows, a killed worker fails its job and nothing
# else, a stopped one drains.
# usage: tests/cluster/processes.sh
set -euo pipefail
name=processes
source "$(dirname "$0")/lib.sh"

server=
declare -A worker_pids=()

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

start_workers() { # NAME...; each with $worker_threads threads, or one
  local worker
  for worker in "$@"; do
    "$bin/weir-worker" --server "$server" --name "$worker" --threads "${worker_threads:-1}" >"$scratch/$worker.log" 2>&1 &
    worker_pids[$worker]=$!
  done
}

same_rows() { # ROWS: the rows of a run on the cluster are the first ROWS of the embedded run
  run_cnn "$scratch/got.npy" "$1" --server "$server" &&
    python3 deploy/npy.py rows "$1" "$scratch/embedded.npy" "$scratch/wanted.npy" &&
    python3 deploy/npy.py same "$scratch/got.npy" "$scratch/wanted.npy"
}

# run_mirror OUT [OPTION...]: a program whose second loop reads what the first one made elsewhere.
run_mirror() {
  local out=$1
  shift
  "$bin/weir" run tests/data/programs/mirror.weir --in "x=$digits/image.npy" --out "y=$out" -o json "$@"
}

# rows_move_directly: between workers, and not through the coordinator.
rows_move_directly() {
  run_mirror "$scratch/mirror.npy" --server "$server" >"$scratch/mirror.json" || return 1
  json 'int(r["report"]["coordinator_tensor_bytes"]), int(r["report"]["counters"]["peer_bytes_sent"]) > 0' \
    <"$scratch/mirror.json" | grep -qx '(0, True)'
}

# start_job REPEATS: a job in the background, left as $job_pid; returns when it is listed as running.
start_job() {
  run_cnn "$scratch/job.npy" 20000 --repeat "$1" --server "$server" >"$scratch/job.log" 2>&1 &
  job_pid=$!
  await job_is_running
}

job_is_running() {
  "$bin/weir" list --server "$server" -o json |
    json 'any(j["state"].lower() == "running" for j in r["jobs"])' | grep -qx True
}

# ends CODE PID: the child process ends, with that exit code.
ends() {
  local code=0
  await has_ended "$2" || return 1
  wait "$2" || code=$?
  [ "$code" -eq "$1" ] || {
    echo "exit code $code, not $1"
    return 1
  }
}

has_ended() { [ ! -e "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status"; }

# kilobytes WORKER FIELD: one of the memory figures of /proc/PID/status.
kilobytes() { awk -v field="$2:" '$1 == field { print $2 }' "/proc/${worker_pids[$1]}/status"; }

# many_rows_need_their_memory WORKER: at the peak of three runs of 20,000 rows, one after the other, it has
# at most a tenth more resident than arena, weights, inputs and outputs have together, over what it holds
# before its first job. (The system counts the peak of all resident pages; those of files only become more.)
many_rows_need_their_memory() {
  local idle after peak needed arena most=0
  idle=$(kilobytes "$1" RssAnon)
  for _ in 1 2 3; do
    run_cnn "$scratch/many.npy" 20000 --server "$server" -o json >"$scratch/many.json" || return 1
    # On a busy machine one thread may do all of a run.
    arena=$(json 'int(r["report"]["counters"]["arena_bytes"])' <"$scratch/many.json")
    most=$((arena > most ? arena : most))
  done
  after=$(($(kilobytes "$1" RssAnon) - idle))
  peak=$(($(kilobytes "$1" VmHWM) - $(kilobytes "$1" RssFile) - idle))
  needed=$(((most + 20000 * (64 + 10) * 4 + $(stat -c %s "$digits/cnn.onnx")) / 1024))
  echo "needed $needed kB, at the peak $peak kB, resident after the jobs $after kB"
  [ $((peak * 10)) -le $((needed * 11)) ]
}

# What a job needs it needs in each worker; what allocators keep beside it may be much in one of them.
a_worker_needs_no_more() {
  local try
  for try in 1 2 3 4 5; do
    [ "$try" -eq 1 ] || replace_worker w1 || return 1
    many_rows_need_their_memory w1 && return 0
  done
  return 1
}

replace_worker() { # NAME, the only one
  { kill -9 "${worker_pids[$1]}" && wait "${worker_pids[$1]}"; } 2>/dev/null || true
  await workers_are "$server" 0 && worker_threads=2 start_workers "$1" && await workers_are "$server" 1
}

need "the coordinator serves" start_server --http 127.0.0.1:0 --data "$scratch/data"
need "an embedded run gives the rows to compare with" \
  run_cnn "$scratch/embedded.npy" "$all_rows" --workers 2

worker_threads=2 start_workers w1
need "a worker registers" await workers_are "$server" 1
expect "20,000 rows take the memory that they need" a_worker_needs_no_more
tail -n 1 "$scratch/output"

# Each group joins those before it: 1, 2, 3, 5, 7 workers.
for group in "" "w2" "w3" "w4 w5" "w6 w7"; do
  # shellcheck disable=SC2086
  start_workers $group
  count=${#worker_pids[@]}
  need "$count workers register" await workers_are "$server" "$count"
  for rows in 0 1 2 3 7 "$all_rows"; do
    expect "$count workers, $rows rows: the bits of the embedded run" same_rows "$rows"
  done
done

expect "rows that another loop needs move between workers alone" rows_move_directly
expect "the embedded run gives the same bits" run_mirror "$scratch/mirror-embedded.npy" --workers 2
expect "and they are the same" python3 deploy/npy.py same "$scratch/mirror.npy" "$scratch/mirror-embedded.npy"

need "a job starts that would take minutes" start_job 100000
{ kill -9 "${worker_pids[w2]}" && wait "${worker_pids[w2]}"; } 2>/dev/null || true
killed=$(milliseconds)
expect "kill -9 of a worker fails the job" ends 1 "$job_pid"
echo "        after $(($(milliseconds) - killed)) ms"
expect "the message names the worker" grep -w w2 "$scratch/job.log"
expect "the coordinator lists the six others" await workers_are "$server" 6
expect "they run the next job" same_rows "$all_rows"

need "a job of some seconds starts" start_job 200
kill -TERM "${worker_pids[w3]}"
expect "a worker that is asked to stop drains and exits with 0" ends 0 "${worker_pids[w3]}"
expect "its job succeeds" ends 0 "$job_pid"
expect "the coordinator lists the five others" await workers_are "$server" 5
expect "they run the next job" same_rows "$all_rows"

kill -TERM "$server_pid"
expect "the coordinator stops on SIGTERM with exit code 0" ends 0 "$server_pid"

finish
