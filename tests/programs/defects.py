#!/usr/bin/env python3
"""Plants defects one by one, each until a test finds it.

usage: tests/programs/defects.py [--suite SUITE] [--check] [--why] [--count N] [--seed S]
                                 [--build DIR] [NAME...]

SUITE is `programs` (defect_list.py; random programs find them), `timely` (timely_defect_list.py;
the tests of common/timely find them), `progress` (progress_defect_list.py; those of
server/progress), `flows` (flow_defect_list.py; flows on simulated clusters, tests/cluster),
`coordinator` (coordinator_defect_list.py; those of server/flows), `flow_language`
(flow_language_defect_list.py; those of common/flow), `vertices` (vertex_defect_list.py; those of
worker/flow), `variables` and `variable_values` (variable_defect_list.py; those of server/variables
and of the worker's half), or `spill` and `spill_flows` (spill_defect_list.py; those of worker/flow
and flows on simulated clusters), all if not given. NAME picks the defects whose names contain it.
Sources are changed in place and put back, so they must be committed, and nothing else may be built
from them meanwhile.
--check plants nothing: it only sees that each text stands once in its file. --why prints what
disagreed, too.
"""

import argparse
import functools
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import coordinator_defect_list
import defect_list
import flow_defect_list
import flow_language_defect_list
import progress_defect_list
import spill_defect_list
import timely_defect_list
import variable_defect_list
import vertex_defect_list

LIMIT_OF_TESTS = 120  # they take seconds
LIMIT = 1800  # seconds of one run; a defect may make a loop endless
FAILED = re.compile(r"\[  FAILED  \] ([\w/]+\.[\w/]+)")
CHECKED = re.compile(r"(\d+) programs checked, (\d+) disagree")
DIED = re.compile(r"died: (--seed \d+) .* after (\d+) programs")
# A run that ends with one of these is found out; SIGKILL and SIGTERM come from elsewhere.
CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def obstacles(defects):
    """Yields what keeps defects from being planted."""
    names = [name for name, *_ in defects]
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


def build(folder, target):
    command = ["cmake", "--build", folder, "--target", target]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0:
        return ""
    errors = [line for line in done.stdout.decode().splitlines() if "error" in line]
    return f"does not build: {errors[0] if errors else ''}"


def run(command, limit):
    """Returns: the output and the exit code, or None for both if there is no end in time."""
    try:
        done = subprocess.run(
            command, timeout=limit, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except subprocess.TimeoutExpired:
        return None, None
    return done.stdout.decode(), done.returncode


def crash(code):
    """Returns: how a run ended with this exit code, or None if no fault of its own ended it."""
    if code == -signal.SIGVTALRM:
        return "no end"
    return f"crashed with {signal.Signals(-code).name}" if -code in CRASHES else None


def search_programs(options):
    """Returns: whether a program disagreed, and after how many or how."""
    command = [f"{options.build}/bin/weir_programs", "--first"]
    command += [f"--count={options.count}", f"--seed={options.seed}"]
    output, code = run(command, LIMIT)
    if output is None:
        return False, f"no end within {LIMIT} s"
    died = DIED.search(output)
    if died is not None and crash(code) is not None:
        return True, f"{crash(code)} after {died[2]} programs ({died[1]})"
    result = CHECKED.search(output)
    if result is None:
        return False, f"weir_programs ended with {code}"
    programs, disagree = int(result[1]), int(result[2])
    why = "".join(line for line in output.splitlines() if line.startswith("seed "))
    return disagree > 0, f"{programs} programs" + (f" ({why})" if options.why else "")


def search_tests(binary, options):
    """Returns: whether a test failed, and which."""
    command = [f"{options.build}/bin/{binary}", f"--seed={options.seed}"]
    output, code = run(command, LIMIT_OF_TESTS)
    if output is None:
        return True, f"no end within {LIMIT_OF_TESTS} s"
    failed = sorted(set(FAILED.findall(output)))
    if code not in (0, 1):
        return crash(code) is not None, crash(code) or f"the tests ended with {code}"
    why = "; ".join(failed) if options.why else ", ".join(failed[:3])
    return code == 1 and bool(failed), f"{len(failed)} tests fail ({why})"


def tests_of(binary, defects):
    return defects, binary, functools.partial(search_tests, binary)


SUITES = {  # name: (defects, what is built, what looks for one)
    "programs": (defect_list.DEFECTS, "weir_programs", search_programs),
    "timely": tests_of("weir_timely_test", timely_defect_list.DEFECTS),
    "progress": tests_of("weir_progress_test", progress_defect_list.DEFECTS),
    "flows": tests_of("weir_cluster_test", flow_defect_list.DEFECTS),
    "coordinator": tests_of("weir_server_test", coordinator_defect_list.DEFECTS),
    "flow_progress": tests_of("weir_worker_test", flow_defect_list.PROGRESS_DEFECTS),
    "flow_language": tests_of("weir_flow_test", flow_language_defect_list.DEFECTS),
    "vertices": tests_of("weir_worker_test", vertex_defect_list.DEFECTS),
    "variables": tests_of("weir_server_test", variable_defect_list.DEFECTS),
    "variable_values": tests_of("weir_worker_test", variable_defect_list.WORKER_DEFECTS),
    "spill": tests_of("weir_worker_test", spill_defect_list.DEFECTS),
    "spill_flows": tests_of("weir_cluster_test", spill_defect_list.FLOW_DEFECTS),
}


def plant(defect, target, search, options):
    """Returns: whether it was found, and by what or why not."""
    _, path, text, replacement = defect
    if has_changes(path):
        return False, f"{path} has changes that are not committed"
    source = read(path)
    try:
        pathlib.Path(path).write_text(source.replace(text, replacement), encoding="utf-8")
        problem = build(options.build, target)
        return (False, problem) if problem else search(options)
    finally:
        pathlib.Path(path).write_text(source, encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description="plants defects for tests to find")
    parser.add_argument("names", nargs="*", help="parts of the names of those to plant")
    parser.add_argument("--suite", choices=sorted(SUITES), help="only the defects of one suite")
    parser.add_argument("--check", action="store_true", help="only see that they can be planted")
    parser.add_argument("--count", type=int, default=5000, help="programs for each of that suite")
    parser.add_argument("--seed", type=int, default=1, help="of the first program or graph")
    parser.add_argument("--build", default="build/release", help="build folder")
    parser.add_argument("--why", action="store_true", help="print what disagreed, too")
    return parser.parse_args()


def main():
    os.chdir(pathlib.Path(__file__).resolve().parent.parent.parent)
    options = arguments()
    wanted = options.names or [""]
    planned = [
        (defect, target, search)
        for suite, (defects, target, search) in SUITES.items()
        for defect in defects
        if options.suite in (None, suite) and any(name in defect[0] for name in wanted)
    ]
    found = list(obstacles([defect for defect, _, _ in planned]))
    if options.check or found or not planned:
        print("\n".join(found + [f"defects: {len(planned)} in the list, {len(found)} do not fit"]))
        return 1 if found or not planned else 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the source is put back
    missed = 0
    for defect, target, search in planned:
        started = time.monotonic()
        seen, how = plant(defect, target, search, options)
        missed += 0 if seen else 1
        seconds = round(time.monotonic() - started)
        print(f"{defect[0]}: {'found:' if seen else 'MISSED:'} {how}, {seconds} s", flush=True)
    targets = sorted({target for _, target, _ in planned})
    problem = "; ".join(filter(None, (build(options.build, target) for target in targets)))
    print(f"defects: {len(planned) - missed} found, {missed} missed {problem}".strip())
    return 1 if missed or problem else 0


if __name__ == "__main__":
    sys.exit(main())
