"""Backward through a loop whose number of trips only the run knows.

A list of what is carried into each trip would have to grow with the run. Instead a list of fixed
length holds what was carried into some of them, spread so that the loop can go on from one before
the trip that is wanted: from the last checkpoint to that trip in steps of a power of `SPREAD`, then
of the next lower one (A. Griewank, "Achieving logarithmic growth of temporal and spatial complexity
in reverse automatic differentiation", 1992). So n trips run again about log(n) / log(SPREAD) times.
"""

from weir import checks, core
from weir import numpy as wnp
from weir.autodiff import replay
from weir.autodiff.replay import Opened
from weir.indexing import take_row

SPREAD = 8
LEVELS = 10
# The one before the first trip, SPREAD - 1 on each level, and on the lowest the trip itself.
SLOTS = 2 + (SPREAD - 1) * LEVELS


def walk_back(trips, first, step, back, state):
    """Goes through the trips of a loop from the last to the first.

    Args:
      trips: i64 scalar, not negative.
      first: arrays, what is carried into the first trip.
      step: from (trip, what is carried into it) to what is carried out of it.
      back: from (trip, what is carried into it, state) to the next state.
      state: arrays.

    Returns: the last state.
    """
    checks.check(
        core.compare("less_equal", trips, SPREAD**LEVELS),
        f"reverse mode through a loop takes at most {SPREAD**LEVELS} trips",
    )
    checkpoints = _Checkpoints(step, len(first))
    held = checkpoints.holding(first)

    def is_left(trip, *_):
        return core.compare("greater_equal", trip, 0)

    def one_back(trip, *rest):
        held = checkpoints.reaching(trip, rest[: checkpoints.size])
        known = back(trip, checkpoints.last(held), list(rest[checkpoints.size :]))
        return [core.elementwise("subtract", trip, 1), *checkpoints.without_last(held), *known]

    last = core.elementwise("subtract", trips, 1)
    return _while([last, *held, *state], is_left, one_back)[1 + checkpoints.size :]


class _Checkpoints:
    """What was carried into some trips, as arrays that loops carry: the place of the last one, the
    trips, and rows for each array.

    Attributes:
      size: how many arrays that are.
    """

    def __init__(self, step, count):
        self._step = step
        self.size = 2 + count

    @staticmethod
    def holding(first):
        """Returns: only what is carried into trip 0."""
        rows = [core.full((SLOTS, *x.shape), 0, x.dtype_name).at[0].set(x) for x in first]
        return [_place(core.scalar(0, "i64")), core.full((SLOTS,), 0, "i64"), *rows]

    @staticmethod
    def last(held):
        """Returns: what is carried into the trip of the last one."""
        place, _, *rows = held
        return [take_row(x, _place(place)) for x in rows]

    @staticmethod
    def without_last(held):
        """Returns: the others; the first stays, of which there is no need any more."""
        fewer = core.elementwise("subtract", held[0], 1)
        return [core.elementwise("maximum", fewer, 0), *held[1:]]

    def reaching(self, trip, held):
        """Returns: more of them, up to one for this trip. REQUIRES: the last is not behind it."""

        def is_before(place, at, *_):
            return core.compare("less", take_row(at, _place(place)), trip)

        def further(place, at, *rows):
            start = take_row(at, _place(place))
            gap = core.elementwise("subtract", trip, start)
            goal = core.elementwise("add", start, _stride(gap))
            carried = self._run(start, goal, self.last([place, at, *rows]))
            place = _place(core.elementwise("add", place, 1))
            rows = [x.at[place].set(row) for x, row in zip(rows, carried)]
            return [place, at.at[place].set(goal), *rows]

        return _while(list(held), is_before, further)

    def _run(self, start, goal, carried):
        def is_left(trip, *_):
            return core.compare("less", trip, goal)

        def one_on(trip, *carried):
            return [core.elementwise("add", trip, 1), *self._step(trip, list(carried))]

        return _while([start, *carried], is_left, one_on)[1:]


def _stride(gap):
    """Returns: the largest power of SPREAD below a gap, 1 at least."""
    stride = core.scalar(1, "i64")
    for level in range(1, LEVELS):
        power = SPREAD**level
        stride = wnp.where(core.compare("greater", gap, power), core.scalar(power, "i64"), stride)
    return stride


def _place(x):
    x.is_index = True
    return x


def _while(carry, holds, body):
    """Returns: what a loop carries at last."""
    opened, tested = Opened(carry), Opened(carry)
    with opened.inside():
        opened.results = body(*opened.args)
    with tested.inside():
        tested.results = [holds(*tested.args)]
    return replay.structure("while", carry, {}, [tested, opened])
