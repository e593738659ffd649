"""Random sequences of what lists do, for many lists at once, against Python's lists."""

import numpy as np
import pytest
from conftest import assert_same_bits

import weir
import weir.numpy as wnp

EXAMPLES, CAPACITY, STEPS = 5, 9, 14


class Recorder:
    """Python's lists, one for each example, and the steps that made them of empty ones.

    Each step has the name of a method and, for each of its arguments, one row for each example.
    """

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.lists = [[] for _ in range(EXAMPLES)]
        self.steps = []

    def add_step(self):
        least, most = min(map(len, self.lists)), max(map(len, self.lists))
        possible = ["resize"]
        if most < CAPACITY:
            possible += ["push", "push"]
        if most + 2 <= CAPACITY:
            possible += ["extend", "extend list"]
        if least > 0:
            possible += ["pop", "set", "scatter"]
        name = self.rng.choice(possible)
        arguments = getattr(self, "_" + name.replace(" ", "_"))()
        self.steps.append((name, [np.stack(column) for column in arguments]))

    def _values(self, *shape):
        return self.rng.integers(1, 100, (EXAMPLES, *shape))

    def _places(self, *shape):
        """Places that each list has, some of them counted from the end."""
        return [self.rng.integers(-len(one), len(one), shape) for one in self.lists]

    def _push(self):
        values = self._values()
        for one, value in zip(self.lists, values):
            one.append(value)
        return [values]

    def _pop(self):
        for one in self.lists:
            one.pop()
        return []

    def _set(self):
        places, values = self._places(), self._values()
        for one, place, value in zip(self.lists, places, values):
            one[place] = value
        return [places, values]

    def _scatter(self):
        places, rows = self._places(3), self._values(3)
        for one, at, row in zip(self.lists, places, rows):
            for place, value in zip(at, row):
                one[place] = value
        return [places, rows]

    def _extend(self):
        rows = self._values(2)
        for one, row in zip(self.lists, rows):
            one.extend(row)
        return [rows]

    def _extend_list(self):
        rows, counts = self._values(3), self.rng.integers(0, 3, EXAMPLES)
        for one, row, count in zip(self.lists, rows, counts):
            one.extend(row[:count])
        return [rows, counts]

    def _resize(self):
        sizes = [self.rng.integers(0, min(len(one) + 3, CAPACITY) + 1) for one in self.lists]
        for one, size in zip(self.lists, sizes):
            one[:] = (one + [0] * CAPACITY)[:size]
        return [sizes]


def replay(given, name, arguments):
    """Returns: the list after a step."""
    if name == "pop":
        return given.pop()[0]
    if name == "extend list":
        rows, count = arguments
        return given.extend(weir.List.of(rows, 4).resize(count))
    return getattr(given, name)(*arguments)


@pytest.mark.parametrize("seed", range(8))
def test_lists_are_those_of_python(seed):
    recorder = Recorder(seed)
    for _ in range(STEPS):
        recorder.add_step()
    names = [name for name, _ in recorder.steps]

    def body(arguments):
        given = weir.List.empty(CAPACITY, np.int64(0))
        for name, rows in zip(names, arguments):
            given = replay(given, name, rows)
        last = given.gather(wnp.array([-1, 0])) if min(map(len, recorder.lists)) else given.size
        return given.stack(), given.size, last

    table = [rows for _, rows in recorder.steps]
    stacked, sizes, last = weir.jit(weir.vmap(body, strict=True))(table)
    for i, want in enumerate(recorder.lists):
        assert sizes[i] == len(want)
        assert stacked[i].tolist() == want + [0] * (CAPACITY - len(want))
        if np.ndim(last) == 2:
            assert last[i].tolist() == [want[-1], want[0]]
    chunks = weir.vmap(body, strict=True, chunk_size=2)(table)
    assert_same_bits(chunks, (stacked, sizes, last))
