#!/usr/bin/env bash
# The cluster of deploy/docker-compose.yml for real: a coordinator and three workers in containers run
# the digits job and flows from this host, some of them with files on a volume, one worker is killed,
# and the two that are left run the next job.
# usage: tests/cluster/compose.sh     as root, or where the caller may use Docker
set -euo pipefail
if [ "$(id -u)" -ne 0 ] && ! docker info >/dev/null 2>&1; then
  exec sudo --preserve-env=WEIR_PRESET bash "$0"
fi

name=containers
source "$(dirname "$0")/lib.sh"
source tests/cluster/engine.sh

WEIR_PORT=$(free_port)
WEIR_HTTP_PORT=$(free_port)
export WEIR_PORT WEIR_HTTP_PORT WEIR_IMAGE=weir:test
export COMPOSE_PROJECT_NAME=weir-test COMPOSE_FILE=deploy/docker-compose.yml
# So little that most of what flows keep lies on disk.
export WEIR_FILES=files WEIR_FLOW_MEMORY=64KiB
server=127.0.0.1:$WEIR_PORT

tear_down() {
  [ "$failed" -eq 0 ] || compose logs --tail 30 --no-color 2>&1 || true
  compose down -v --remove-orphans --timeout 10 >/dev/null 2>&1 || true
  engine_stop
  rm -rf "$scratch"
}
trap tear_down EXIT

build_image() {
  docker build -q -f deploy/Dockerfile -t "$WEIR_IMAGE" --build-arg "BASE_IMAGE=$base_image" \
    --build-arg BINARIES=prebuilt --build-arg "BUILD_DIR=build/$preset" .
}

is_running() { [ "$(docker inspect -f '{{.State.Running}}' "$1")" = true ]; }
exit_code_is() { [ "$(docker inspect -f '{{.State.ExitCode}}' "$1")" -eq "$2" ]; }

same_rows() { # NAME: runs the job on the cluster; its rows must be the embedded ones, bit for bit
  run_cnn "$scratch/$1.npy" "$all_rows" --server "$server" &&
    python3 deploy/npy.py same "$scratch/$1.npy" "$scratch/embedded.npy"
}

# The flows of client/examples on the cluster: the records of the sequential executor, bit for bit.
examples_agree() {
  WEIR_ADDRESS=$server PYTHONPATH=build/$preset/python PYTHONDONTWRITEBYTECODE=1 \
    /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/flows/test_example_flows.py -k given_cluster
}

# Runs a command in the volume that all workers share.
in_files() { # COMMAND...
  docker run --rm -v weir-test_files:/var/lib/weir-files -w /var/lib/weir-files "$WEIR_IMAGE" "$@"
}

# Files of numbers, the k-th with k * 10000 of them, and a flow that copies each and counts all.
make_files() {
  cat >"$scratch/files.flow" <<'END'
flow @files {
  %numbers = read_files() {glob = "in/*.csv", types = ["i64[]"], epochs = "file"}
  %copies = write_files(%numbers) {path = "out/copy-{epoch}.csv"}
  %all = read_files() {glob = "in/*.csv", types = ["i64[]"]}
  %once = distinct(%all)
  %counts = count(%once) {keys = 0}
  %written = write_files(%counts) {path = "out/count-{epoch}.csv"}
}
END
  in_files bash -c 'mkdir in out && for k in 1 2 3 4 5; do
      seq "$k" "$k" $((k * k * 10000)) >"in/$k.csv"
    done'
}

files_agree() {
  in_files bash -c 'rm -f out/*' &&
    "$bin/weir" run "$scratch/files.flow" --server "$server" --timeout 300 &&
    in_files bash -c 'set -e
      for k in 1 2 3 4 5; do cmp "in/$k.csv" "out/copy-$((k - 1)).csv"; done
      sort -u in/*.csv | wc -l | cmp - out/count-0.csv'
}

engine_start
ensure_base_image
need "the image builds" build_image
expect "it runs read-only as any user" \
  docker run --rm --read-only --user 12345 "$WEIR_IMAGE" /usr/local/bin/weir version
need "a coordinator and three workers come up" compose up -d --no-build --scale worker=3
need "the coordinator lists three workers" await workers_are "$server" 3
expect "the coordinator answers /healthz" \
  python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)' \
  "http://127.0.0.1:$WEIR_HTTP_PORT/healthz"
need "an embedded run gives the rows to compare with" \
  run_cnn "$scratch/embedded.npy" "$all_rows" --workers 2
expect "three workers give the same bits" same_rows three
expect "flows on three workers give the bits of the sequential executor" examples_agree
need "the workers' volume takes files" make_files
expect "flows on three workers read and write them" files_agree

mapfile -t workers < <(compose ps -q worker)
expect "one worker is killed" docker kill "${workers[0]}"
expect "the coordinator notices" await workers_are "$server" 2
expect "the two left give the same bits" same_rows two
expect "flows on two workers give the same bits" examples_agree
expect "and the same files" files_agree

expect "another worker is asked to stop" docker stop "${workers[1]}"
expect "it ends by itself with exit code 0" exit_code_is "${workers[1]}" 0
expect "the last one gives the same bits" same_rows one
expect "flows on one worker give the same bits" examples_agree
expect "the coordinator never restarted" is_running "$(compose ps -q coordinator)"

finish
