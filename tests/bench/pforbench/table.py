"""The table of figures."""

import statistics

from pforbench import FRAMEWORKS

PEERS = FRAMEWORKS[1:]
DASH = "-"


class Line:
    """One row at one size.

    Attributes:
      samples: for each framework its times, in seconds.
      loop_samples: times of one example in Weir's loop.
      facts: figures of Weir.
      profile: nanoseconds of a run of Weir, and those of its kernels by op, or None.
      limit: the shortest time that the machine allows, in seconds; 0 where it is not known.
    """

    def __init__(self, row, n):
        self.row = row
        self.n = n
        self.samples = {}
        self.loop_samples = []
        self.facts = {}
        self.profile = None
        self.limit = 0.0

    def seconds(self, framework, middle):
        """Returns: the time of a framework, or None."""
        samples = self.samples.get(framework)
        return middle(samples) if samples else None

    def rates(self):
        """Returns: floating-point operations a second that frameworks reached in products."""
        return [self.facts["flops"] / min(samples) for samples in self.samples.values()]

    def cells(self, middle):
        """Returns: the texts of the columns."""
        seconds = {name: self.seconds(name, middle) for name in FRAMEWORKS}
        peers = [seconds[name] for name in PEERS if seconds[name]]
        ratio = f"{seconds['weir'] / min(peers):.2f}" if seconds["weir"] and peers else DASH
        loop = duration(middle(self.loop_samples)) if self.loop_samples else DASH
        facts = [str(self.facts.get(name, DASH)) for name in ("launches", "fallbacks")]
        reached = f"{100 * self.limit / seconds['weir']:.0f} %" if self.limit else DASH
        times = [duration(seconds[name]) for name in FRAMEWORKS]
        return [self.row, str(self.n), *times, ratio, reached, loop, *facts]


HEADINGS = ["row", "n", *FRAMEWORKS, "weir/best peer", "roofline"]
HEADINGS += ["for_loop each", "launches", "fallbacks"]


def duration(seconds):
    """Returns: a time with three digits and its unit."""
    if seconds is None:
        return DASH
    unit, factor = ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{float(f'{seconds * factor:.3g}'):g} {unit}"


def text(lines, fastest):
    """Returns: the table in Markdown; `fastest` shows the shortest times instead of the medians."""
    middle = min if fastest else statistics.median
    rows = [HEADINGS] + [line.cells(middle) for line in lines]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
        for row in rows
    )
