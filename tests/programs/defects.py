#!/usr/bin/env python3
"""Plants the defects of defect_list.py one by one, each until a random program finds it.

usage: tests/programs/defects.py [--check] [--why] [--count N] [--seed S] [--build DIR] [NAME...]

NAME picks the defects whose names contain it. Sources are changed in place and put back, so they
must be committed, and nothing else may be built from them meanwhile. --check plants nothing: it
only sees that each text stands once in its file. --why prints what disagreed, too.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from defect_list import DEFECTS

LIMIT = 1800  # seconds of one run; a defect may make a loop endless
CHECKED = re.compile(r"(\d+) programs checked, (\d+) disagree")


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def obstacles(defects):
    """Yields what keeps defects from being planted."""
    names = [name for name, *_ in DEFECTS]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{name}: the name is there twice"
    for name, path, text, replacement in defects:
        times = read(path).count(text) if os.path.exists(path) else 0
        if times != 1:
            yield f"{name}: the text stands {times} times in {path}"
        elif text == replacement:
            yield f"{name}: nothing changes"


def has_changes(path):
    return subprocess.run(["git", "diff", "--quiet", "HEAD", "--", path]).returncode != 0


def build(folder):
    command = ["cmake", "--build", folder, "--target", "weir_programs"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0:
        return ""
    errors = [line for line in done.stdout.decode().splitlines() if "error" in line]
    return f"does not build: {errors[0] if errors else ''}"


def search(options):
    """Returns: whether a program disagreed, and after how many or how."""
    command = [f"{options.build}/bin/weir_programs", "--first"]
    command += [f"--count={options.count}", f"--seed={options.seed}"]
    try:
        done = subprocess.run(command, timeout=LIMIT, stdout=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        return False, f"no end within {LIMIT} s"
    output = done.stdout.decode()
    result = CHECKED.search(output)
    if result is None:
        return False, f"weir_programs ended with {done.returncode}"
    programs, disagree = int(result[1]), int(result[2])
    why = "".join(line for line in output.splitlines() if line.startswith("seed "))
    return disagree > 0, f"{programs} programs" + (f" ({why})" if options.why else "")


def plant(defect, options):
    """Returns: whether it was found, and after how many programs or why not."""
    _, path, text, replacement = defect
    if has_changes(path):
        return False, f"{path} has changes that are not committed"
    source = read(path)
    try:
        pathlib.Path(path).write_text(source.replace(text, replacement), encoding="utf-8")
        problem = build(options.build)
        return (False, problem) if problem else search(options)
    finally:
        pathlib.Path(path).write_text(source, encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description="plants defects for random programs to find")
    parser.add_argument("names", nargs="*", help="parts of the names of those to plant")
    parser.add_argument("--check", action="store_true", help="only see that they can be planted")
    parser.add_argument("--count", type=int, default=5000, help="programs for each")
    parser.add_argument("--seed", type=int, default=1, help="of the first program")
    parser.add_argument("--build", default="build/release", help="build folder")
    parser.add_argument("--why", action="store_true", help="print what disagreed, too")
    return parser.parse_args()


def main():
    os.chdir(pathlib.Path(__file__).resolve().parent.parent.parent)
    options = arguments()
    wanted = options.names or [""]
    defects = [d for d in DEFECTS if any(name in d[0] for name in wanted)]
    found = list(obstacles(defects))
    if options.check or found or not defects:
        print("\n".join(found + [f"defects: {len(defects)} in the list, {len(found)} do not fit"]))
        return 1 if found or not defects else 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the source is put back
    missed = 0
    for defect in defects:
        started = time.monotonic()
        seen, how = plant(defect, options)
        missed += 0 if seen else 1
        seconds = round(time.monotonic() - started)
        print(f"{defect[0]}: {'found after' if seen else 'MISSED:'} {how}, {seconds} s", flush=True)
    problem = build(options.build)
    print(f"defects: {len(defects) - missed} found, {missed} missed {problem}".strip())
    return 1 if missed or problem else 0


if __name__ == "__main__":
    sys.exit(main())
