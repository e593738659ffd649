#!/usr/bin/env bash
# What `weir` says about bad input: exit code and the exact message of each case.
# usage: tests/cluster/bad_input.sh
set -euo pipefail
name=bad_input
source "$(dirname "$0")/lib.sh"

# A port that stays taken, and on which nobody listens.
coproc taken { exec python3 -c 'import socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
sys.stdin.read()'; }
read -r port <&"${taken[0]}"
silent=127.0.0.1:$port
server=
tear_down() {
  kill "${server_pid:-}" "${tls_pid:-}" "${taken_PID:-}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$scratch"
}
trap tear_down EXIT

# says CODE MESSAGE ARGUMENT...: `weir ARGUMENT...` ends with this code and exactly this message, in which @ stands for
# the scratch folder. Before it there may be lines on the state of a job that takes a while.
says() {
  local wanted_code=$1 wanted="error: ${2//@/$scratch}" code=0 got
  shift 2
  got=$("$bin/weir" "$@" 2>&1 >/dev/null) || code=$?
  got=$(grep -Ev '^job job-[0-9a-f]+: (QUEUED|RUNNING)' <<<"$got")
  [ "$code" -eq "$wanted_code" ] && [ "$got" = "$wanted" ] && return 0
  printf 'exit code %s, wanted %s\ngot    %s\nwanted %s\n' "$code" "$wanted_code" "$got" "$wanted"
  return 1
}

# npy FILE SHAPE DESCR: zeros.
npy() {
  python3 -c 'import math, struct, sys
sys.path.insert(0, "deploy")
import npy
shape = eval(sys.argv[2])
npy.write(sys.argv[1], sys.argv[3], shape, bytes(int(sys.argv[3][2:]) * math.prod(shape)))' "$@"
}

cnn=$digits/cnn.onnx
image="image=$digits/image.npy"
invalid="INVALID_ARGUMENT:"
npy "$scratch/scalar.npy" "()" "<f4"
npy "$scratch/wide.npy" "(5,1,1,8,9)" "<f4"
npy "$scratch/double.npy" "(5,1,1,8,8)" "<f8"
npy "$scratch/five.npy" "(5,2)" "<f4"
npy "$scratch/six.npy" "(6,2)" "<f4"
cp README.md "$scratch/text.onnx"
cat >"$scratch/two.weir" <<'PROGRAM'
func @main(%a: f32[2], %b: f32[2]) -> (f32[2] "c") {
  %c = add(%a, %b)
  return %c
}
PROGRAM
cat >"$scratch/cycle.weir" <<'PROGRAM'
func @main(%x: f32[2]) -> (f32[2]) {
  %a = add(%b, %x)
  %b = add(%a, %x)
  return %b
}
PROGRAM
cat >"$scratch/twice.weir" <<'PROGRAM'
func @main(%x: f32[2]) -> (f32[2]) {
  %a = add(%x, %x)
  %a = add(%x, %x)
  return %a
}
PROGRAM
cat >"$scratch/negative.weir" <<'PROGRAM'
func @main() -> (i64[0]) {
  %a = pfor {extent = (-3)} (%i: i64[]) {
    yield %i
  }
  return %a
}
PROGRAM

expect "a missing file" says 2 "NOT_FOUND: cannot open @/none.onnx" run "$scratch/none.onnx"
expect "not ONNX" says 1 "$invalid text.onnx: not an ONNX model" run "$scratch/text.onnx"
expect "a wrong input name" says 1 \
  "$invalid the program has no input 'img'; its input is 'image' f32[n,1,1,8,8]" \
  run "$cnn" --in "img=$digits/image.npy" --map image
expect "a wrong name to map" says 1 \
  "$invalid there is no input 'img' to map; the inputs are image" run "$cnn" --in "$image" --map img
expect "a wrong element type" says 1 \
  "$invalid input 'image' has element type f64, but the program takes f32[n,1,1,8,8]" \
  run "$cnn" --in "image=$scratch/double.npy" --map image
expect "a wrong rank" says 1 \
  "$invalid input 'image' is mapped over its leading axis, but its file has shape [1797,1,8,8], without an axis in front of the example: the program takes [n,1,1,8,8]" \
  run "$cnn" --in "image=$digits/rows.npy" --map image
expect "an inner shape that does not fit" says 1 \
  "$invalid input 'image' has shape [5,1,1,8,9], but convolution \"/c1/Conv\" (cnn.onnx:1), which reads it, takes [n,1,1,8,8]: axis 4 is 9 instead of 8" \
  run "$cnn" --in "image=$scratch/wide.npy" --map image
expect "an input without a leading axis" says 1 \
  "$invalid input 'image' is mapped over its leading axis, but its file has shape []" \
  run "$cnn" --in "image=$scratch/scalar.npy" --map image
expect "mapped inputs of different lengths" says 1 \
  "$invalid mapped inputs have different lengths: 'a' has 5 rows, 'b' has 6" \
  run "$scratch/two.weir" --in "a=$scratch/five.npy" --in "b=$scratch/six.npy" --map a --map b
expect "a missing input" says 1 \
  "$invalid input 'image' is missing: the program takes f32[1,1,8,8]" run "$cnn"
expect "a cycle in a text graph" says 1 \
  "$invalid cycle.weir:2:3: cycle: %a (line 2) -> %b (line 3) -> %a" run "$scratch/cycle.weir"
expect "a value defined twice" says 1 \
  "$invalid twice.weir:3:3: value %a is defined twice (first at 2:3)" run "$scratch/twice.weir"
expect "a negative extent" says 1 \
  "$invalid negative.weir:2:3: pfor: pfor extent -3 is negative" run "$scratch/negative.weir"
expect "a result that is not there" says 2 \
  "NOT_FOUND: there is no result 'foo'; the results are logits" \
  run "$cnn" --in "$image" --map image --out "foo=$scratch/foo.npy" -q
expect "an address with a scheme" says 6 \
  "$invalid address 'http://localhost:7077': give HOST:PORT without a scheme" \
  list --server http://localhost:7077
expect "nobody listens" says 5 \
  "UNAVAILABLE: cannot reach the coordinator at $silent: failed to connect to all addresses; last error: UNKNOWN: ipv4:$silent: Failed to connect to remote host: Connection refused (nothing listens there; is weir-server running? \`weir dev\` starts one)" \
  list --server "$silent"

need "the coordinator serves" start_server
expect "an unknown job" says 4 "NOT_FOUND: there is no job 'nothing'" status nothing --server "$server"

openssl req -x509 -newkey rsa:2048 -nodes -keyout "$scratch/key.pem" -out "$scratch/cert.pem" -days 2 \
  -subj /CN=localhost >/dev/null 2>&1
openssl s_server -accept 127.0.0.1:0 -key "$scratch/key.pem" -cert "$scratch/cert.pem" \
  >"$scratch/tls.log" 2>&1 &
tls_pid=$!
listens_for_tls() { tls=$(sed -n 's/^ACCEPT //p' "$scratch/tls.log") && [ -n "$tls" ]; }
need "a server that speaks TLS" await listens_for_tls
expect "is recognized" says 5 \
  "UNAVAILABLE: cannot reach the coordinator at $tls: failed to connect to all addresses; last error: UNAVAILABLE: ipv4:$tls: Socket closed (the server closed the connection; it may require TLS, which this client does not use)" \
  list --server "$tls"

finish
