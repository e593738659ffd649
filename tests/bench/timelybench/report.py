"""Rows of figures, and the table of them."""

import dataclasses
import statistics


@dataclasses.dataclass
class Row:
    name: str
    figure: str
    baseline: str = ""  # of the same run
    ratio: float | None = None  # as `target` has it
    target: str = ""
    met: bool | None = None


def at_most(limit):
    return {"target": f"<= {limit:g}", "holds": lambda ratio: ratio <= limit}


def at_least(limit):
    return {"target": f">= {limit:g}", "holds": lambda ratio: ratio >= limit}


def row(name, figure, baseline="", ratio=None, target="", holds=None):
    met = None if holds is None or ratio is None else holds(ratio)
    return Row(name, figure, baseline, ratio, target, met)


def median(values):
    return statistics.median(values)


def rate(per_second):
    """'12.3 M/s'"""
    for unit, size in ((" G", 1e9), (" M", 1e6), (" k", 1e3)):
        if per_second >= size:
            return f"{three(per_second / size)}{unit}/s"
    return f"{three(per_second)} /s"


def micros(value):
    return f"{three(value / 1000)} ms" if value >= 1000 else f"{three(value)} us"


def three(value):
    """Three digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


class Table:
    """Prints rows as they come, and at the end whether all targets were met."""

    HEAD = ("row", "figure", "baseline of the same run", "ratio", "target", "")
    WIDTHS = (39, 37, 45, 6, 7, 7)

    def __init__(self):
        self.rows = []
        self._print(self.HEAD)

    def _print(self, cells):
        print("  ".join(str(c).ljust(w) for c, w in zip(cells, self.WIDTHS)).rstrip(), flush=True)

    def add(self, row):
        self.rows.append(row)
        ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
        met = {None: "", True: "met", False: "NOT MET"}[row.met]
        self._print((row.name, row.figure, row.baseline, ratio, row.target, met))

    def all_met(self):
        missed = [row.name for row in self.rows if row.met is False]
        targets = sum(row.met is not None for row in self.rows)
        print(f"\n{targets - len(missed)} of {targets} targets met")
        for name in missed:
            print(f"  missed: {name}")
        return not missed
