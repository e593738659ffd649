#!/usr/bin/env python3
"""The same programs for one example, mapped over many by Weir, JAX, TensorFlow and PyTorch.

    PYTHONPATH=build/release/python python3 tests/bench/pfor.py --peers build/peers/bin/python

Each framework has a process of its own. Results are compared before anything is timed, and a wrong
one fails the benchmark; then the frameworks take turns. See tests/README.md.
"""

import argparse
import sys
import time

import numpy as np

from pforbench import (
    FRAMEWORKS,
    basics,
    control,
    derivatives,
    images,
    linalg,
    process,
    recurrent,
    roofline,
    table,
    trees,
)

ROWS = {
    row.name: row
    for module in (basics, images, recurrent, trees, control, linalg, derivatives)
    for row in module.ROWS
}
TOLERANCE = 2e-4


class Benchmark:
    """A run of the whole.

    Attributes:
      lines: those of the table.
      wrong: what was wrong, in words.
      notes: further remarks.
    """

    def __init__(self, peers, options):
        self._peers = peers
        self._options = options
        self.lines, self.wrong, self.notes = [], [], []

    def run(self):
        """Runs all rows that were asked for."""
        for name in self._options.rows:
            row = ROWS[name]
            for n in row.quick_sizes if self._options.quick else row.sizes:
                self._run_row(name, n)
        if not self._options.check and self.lines:
            self._measure_limits()

    def _measure_limits(self):
        """Notes the machine's limits, and where the time of rows goes that are far from them."""
        rates = [rate for line in [self._product(), *self.lines] for rate in line.rates()]
        limits = roofline.Roofline(max(rates), roofline.memory_speed(self._options.threads))
        self.notes.append(f"roofline: {limits}")
        for line in self.lines:
            if not line.facts["flops"]:
                continue
            line.limit = limits.seconds(line.facts["flops"], line.facts["bytes"])
            if line.profile and line.limit < roofline.ENOUGH * line.seconds("weir", min):
                run_ns, op_ns = line.profile
                where = roofline.profile_text(run_ns, op_ns, self._options.threads)
                self.notes.append(f"{line.row} {line.n}: of {run_ns / 1e6:.3g} ms: {where}")

    def _product(self):
        """A row that is one product, if only others were asked for."""
        line = table.Line(basics.Matmul.name, basics.Matmul.sizes[0])
        for peer in self._peers:
            try:
                line.facts.update(peer.prepare(line.row, line.n)[2])
                line.samples[peer.name] = [peer.time() for _ in range(self._options.repetitions)]
            except process.Failed as error:
                self._add_failure(f"product: {peer.name}", peer, error)
        return line

    def _run_row(self, name, n):
        line = table.Line(name, n)
        ready, results = [], {}
        for peer in self._peers:
            if peer.name == "numpy" and not ROWS[name].batched:
                continue
            try:
                start = time.monotonic()
                found, notes, facts = peer.prepare(name, n)
                results[peer.name] = ROWS[name].comparable(found)
                took = time.monotonic() - start
                print(f"{name} {n}: {peer.name}: first run {took:.1f} s", file=sys.stderr)
            except process.Failed as error:
                self._add_failure(f"{name} {n}: {peer.name}", peer, error)
                continue
            ready.append(peer)
            line.facts.update(facts)
            self.notes += [f"{name} {n}: {peer.name}: {note}" for note in notes]
        if not self._agree(f"{name} {n}", results):
            return
        ready = [peer for peer in ready if peer.name in results]
        print(f"{name} {n}: {', '.join(results)} agree", file=sys.stderr)
        if not self._options.check:
            self._time(line, ready)
            print("; ".join(line.cells(min)), file=sys.stderr)
        self.lines.append(line)

    def _add_failure(self, what, peer, error):
        print(f"{what}: {error}", file=sys.stderr)
        reason = str(error).strip().splitlines()[-1]
        (self.wrong if peer.name == "weir" else self.notes).append(f"{what}: {reason}")

    def _agree(self, what, results):
        """Compares all results with the first, which is wrong if no other one is as it is.

        One that differs from two which agree is wrong itself: it is noted and leaves `results`.
        """
        names = list(results)
        reasons = {name: difference(results[names[0]], results[name]) for name in names[1:]}
        differing = {name: reason for name, reason in reasons.items() if reason}
        alone = len(differing) == len(reasons)
        for name, reason in differing.items():
            line = f"{what}: {name} differs from {names[0]}: {reason}"
            (self.wrong if alone else self.notes).append(line)
            print(line, file=sys.stderr)
            if not alone:
                del results[name]
        return bool(names) and not (differing and alone)

    def _time(self, line, ready):
        """One sample of each framework after the other, so that all see the same machine."""
        for _ in range(self._options.repetitions):
            for peer in ready:
                line.samples.setdefault(peer.name, []).append(peer.time())
                if peer.name == "weir":
                    line.loop_samples.append(peer.time_loop())
        for peer in ready:
            if peer.name == "weir" and line.facts["flops"]:
                line.profile = peer.profile()


def difference(want, got):
    """Returns: in which way two lists of arrays differ, or None."""
    if [x.shape for x in want] != [x.shape for x in got]:
        return f"shapes {[x.shape for x in got]}, not {[x.shape for x in want]}"
    for a, b in zip(want, got):
        a, b = a.astype(np.complex128), b.astype(np.complex128)
        worst = float(np.max(np.abs(a - b), initial=0))
        if not worst <= TOLERANCE * max(1.0, float(np.max(np.abs(a), initial=0))):
            return f"by {worst:.3g}"
    return None


def report(benchmark, peers, options):
    """Prints the table and what there is to say about it."""
    for peer in peers:
        there = f"{peer.version}" if peer.missing is None else f"not there: {peer.missing}"
        print(f"{peer.name}: {there}")
    shown = "shortest" if options.fastest else "median"
    print(f"{options.threads} threads each; {shown} of {options.repetitions} samples\n")
    print(table.text(benchmark.lines, options.fastest))
    print("".join(f"\n{note}" for note in benchmark.notes))


def parse():
    """Returns: the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--rows", nargs="+", choices=ROWS, default=list(ROWS), metavar="NAME", help=", ".join(ROWS))
    add("--frameworks", nargs="+", choices=FRAMEWORKS, default=list(FRAMEWORKS), metavar="NAME")
    add("--peers", default=sys.executable, metavar="PYTHON", help="the interpreter that has them")
    add("--threads", type=int, default=2, help="threads of each framework (2)")
    add("--repetitions", type=int, default=15, help="samples of each figure (15)")
    add("--fastest", action="store_true", help="show the shortest time instead of the median")
    add("--quick", action="store_true", help="few examples and samples")
    add("--check", action="store_true", help="compare the results and time nothing")
    add("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.quick:
        options.repetitions = min(options.repetitions, 3)
    return options


def main():
    options = parse()
    if options.serve:
        name, descriptor = options.serve
        process.serve(name, int(descriptor), options.threads, ROWS)
        return 0
    peers = [
        process.Peer(
            name, __file__, sys.executable if name == "weir" else options.peers, options.threads
        )
        for name in FRAMEWORKS
        if name in options.frameworks
    ]
    benchmark = Benchmark([peer for peer in peers if peer.missing is None], options)
    try:
        benchmark.run()
    finally:
        for peer in peers:
            peer.close()
    if not options.check:
        report(benchmark, peers, options)
    for reason in benchmark.wrong:
        print(f"WRONG: {reason}", file=sys.stderr)
    return 1 if benchmark.wrong or not benchmark.lines else 0


if __name__ == "__main__":
    sys.exit(main())
