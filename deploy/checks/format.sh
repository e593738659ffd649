#!/usr/bin/env bash
# Fails when a tracked C++ file is not as clang-format 14 would write it.
# usage: deploy/checks/format.sh [--self-test]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

check() { clang-format-14 --dry-run -Werror "$@"; }

if [ "${1:-}" = --self-test ]; then
  sample=$(mktemp -d)
  trap 'rm -rf "$sample"' EXIT
  cp .clang-format "$sample"
  printf 'int Twice(int x) { return 2 * x; }\n' >"$sample/good.cc"
  printf 'int  Twice( int x ){return 2*x;}\n' >"$sample/bad.cc"
  passed=0
  check "$sample/good.cc" && passed=$((passed + 1))
  check "$sample/bad.cc" 2>/dev/null || passed=$((passed + 1))
  echo "format: $passed passed, $((2 - passed)) failed"
  [ "$passed" -eq 2 ]
  exit
fi

mapfile -d '' -t files < <(git ls-files -z '*.cc' '*.h')
[ "${#files[@]}" -gt 0 ] || { echo "format: git lists no C++ file" >&2; exit 1; }
if ! found=$(check "${files[@]}" 2>&1); then
  grep ': error: ' <<<"$found" || printf '%s\n' "$found"
  echo "format: run clang-format-14 -i on the files above"
  exit 1
fi
echo "format: ${#files[@]} files are as clang-format 14 writes them"
