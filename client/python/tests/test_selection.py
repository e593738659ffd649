"""Results whose size only the run knows, against NumPy: in each iteration of a vmap, with the bits
of for_loop, whole and in chunks, without a fallback.
"""

import numpy as np
import pytest
from conftest import assert_same_bits

import weir
import weir.numpy as wnp

ROWS = np.array(
    [
        [3, 1, 0, 3, -2, 0, 7, 1],
        [0, 0, 0, 0, 0, 0, 0, 0],
        [1, 2, 3, 4, 5, 6, 7, 8],
        [5, 5, 5, 5, 5, 5, 5, 5],
        [-1, 0, 2, 2, 0, -1, 9, 0],
    ]
)
NAN_ROWS = np.where(ROWS > 4, np.nan, ROWS).astype("f")
COUNTS = np.array([[0, 2, 1], [0, 0, 0], [3, 3, 2], [8, 0, 0], [0, 0, 5]])
STOPS = np.array([3, 0, 8, -4, 1])


def live(result, row=()):
    """Returns: the results with lists as arrays of their elements, of one example."""
    if isinstance(result, weir.List):
        size = result.size[row]
        return weir.tree.map(lambda leaf: leaf[row][:size], result.elements)
    if isinstance(result, (tuple, list)):
        return tuple(live(part, row) for part in result)
    return result[row]


def assert_equal(got, want):
    """Equal structures, shapes and numbers; NaN equals itself."""
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for a, b in zip(got, want):
            assert_equal(a, b)
        return
    assert np.shape(got) == np.shape(want)
    np.testing.assert_array_equal(got, want)


# (function of xp and one row of the table, the table)
CASES = {
    "nonzero": (lambda xp, x: xp.nonzero(x), ROWS),
    "nonzero of a matrix": (lambda xp, x: xp.nonzero(x.reshape(2, 4)), ROWS),
    "nonzero of a cube": (lambda xp, x: xp.nonzero(x.reshape(2, 2, 2) > 0), ROWS),
    "nonzero, the method": (lambda xp, x: x.nonzero(), ROWS),
    "nonzero of nothing": (lambda xp, x: xp.nonzero(x[:0]), ROWS),
    "flatnonzero": (lambda xp, x: xp.flatnonzero(x.reshape(4, 2)), ROWS),
    "argwhere": (lambda xp, x: xp.argwhere(x.reshape(2, 4) > 1), ROWS),
    "where": (lambda xp, x: xp.where(x > 1), ROWS),
    "mask": (lambda xp, x: x[x > 1], ROWS),
    "mask of rows": (lambda xp, x: x.reshape(4, 2)[x[:4] > 1], ROWS),
    "mask of a matrix": (lambda xp, x: x.reshape(4, 2)[x.reshape(4, 2) > 1], NAN_ROWS),
    "mask of others": (lambda xp, x: xp.arange(8)[x != 0], ROWS),
    "compress": (lambda xp, x: xp.compress(x > 1, x), ROWS),
    "compress of few": (lambda xp, x: xp.compress(x[:3] > 0, x), ROWS),
    "compress of rows": (lambda xp, x: xp.compress(x[:2] > 0, x.reshape(2, 4), 0), ROWS),
    "extract": (lambda xp, x: xp.extract(x.reshape(2, 4) > 1, x.reshape(2, 4)), ROWS),
    "unique": (lambda xp, x: xp.unique(x), ROWS),
    "unique of a matrix": (lambda xp, x: xp.unique(x.reshape(2, 4)), ROWS),
    "unique floats": (lambda xp, x: xp.unique(x), NAN_ROWS),
    "unique bools": (lambda xp, x: xp.unique(x > 2), ROWS),
    "unique of nothing": (lambda xp, x: xp.unique(x[:0]), ROWS),
    "unique of one": (lambda xp, x: xp.unique(x[3]), ROWS),
    "unique with all": (lambda xp, x: xp.unique(x, True, True, True), ROWS),
    "unique floats with all": (lambda xp, x: xp.unique(x, True, True, True), NAN_ROWS),
    "unique with counts": (lambda xp, x: xp.unique(x, return_counts=True), ROWS),
    "union1d": (lambda xp, x: xp.union1d(x[:4], x[4:]), ROWS),
    "intersect1d": (lambda xp, x: xp.intersect1d(x[:4], x[4:]), ROWS),
    "intersect1d of floats": (lambda xp, x: xp.intersect1d(x[:4], x[2:]), NAN_ROWS),
    "intersect1d with nothing": (lambda xp, x: xp.intersect1d(x, x[:0]), ROWS),
    "setdiff1d": (lambda xp, x: xp.setdiff1d(x[:6], x[4:]), ROWS),
    "setdiff1d of floats": (lambda xp, x: xp.setdiff1d(x, x[:2]), NAN_ROWS),
    "isin": (lambda xp, x: xp.isin(x.reshape(2, 4), x[1:3]), ROWS),
    "isin, inverted": (lambda xp, x: xp.isin(x, x[:3], invert=True), NAN_ROWS),
    "repeat": (lambda xp, n: xp.repeat(xp.arange(3.0), n, **_capacity(xp, 9)), COUNTS),
    "repeat all": (lambda xp, n: xp.repeat(xp.arange(3), n[0], **_capacity(xp, 24)), COUNTS),
    "repeat rows": (
        lambda xp, n: xp.repeat(xp.arange(6).reshape(3, 2), n, axis=0, **_capacity(xp, 8)),
        COUNTS,
    ),
    "repeat into what fits": (
        lambda xp, n: xp.repeat(xp.arange(3), n, **_capacity(xp, 8)),
        COUNTS,
    ),
    "arange": (lambda xp, n: xp.arange(n, **_capacity(xp, 8)), STOPS),
    "arange from": (lambda xp, n: xp.arange(2, n, **_capacity(xp, 6)), STOPS),
    "arange by": (lambda xp, n: xp.arange(n, 9, 3, **_capacity(xp, 5)), STOPS),
    "arange down": (lambda xp, n: xp.arange(n, -5, -2, **_capacity(xp, 7)), STOPS),
    "arange of floats": (lambda xp, n: xp.arange(0.0, n * 0.5, 0.25, **_capacity(xp, 16)), STOPS),
}


def _capacity(xp, capacity):
    return {"capacity": capacity} if xp is wnp else {}


@pytest.mark.parametrize("name", CASES)
def test_numbers_of_numpy_in_each_iteration(name):
    function, table = CASES[name]
    got = weir.vmap(lambda row: function(wnp, row), strict=True)(table)
    for i, row in enumerate(table):
        want = function(np, row)
        if name.startswith("unique") and isinstance(want, tuple) and len(want) == 4:
            want = (*want[:2], want[2].reshape(row.shape), want[3])
        assert_equal(live(got, i), want)


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("name", CASES)
def test_any_form_has_the_bits_of_the_loop(name, n):
    function, table = CASES[name]

    def body(i):
        return function(wnp, wnp.array(table)[i])

    want = weir.for_loop(body, n)
    for chunk_size in (None, 1, 2):
        assert_same_bits(weir.pfor(body, n, chunk_size=chunk_size, strict=True), want)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("name", CASES)
def test_any_number_of_workers(name, workers):
    function, table = CASES[name]

    def body(i):
        return function(wnp, wnp.array(table)[i])

    want = weir.for_loop(body, 5)
    with weir.connect(workers=workers):
        assert_same_bits(weir.pfor(body, 5, strict=True), want)


@pytest.mark.parametrize("name", CASES)
def test_outside_of_functions_too(name):
    function, table = CASES[name]
    if name.startswith("mask") or name.endswith("method"):
        return  # NumPy's own arrays
    got = function(wnp, table[0])
    assert_equal(live(got), function(np, table[0]))


# --- size and fill_value, as in JAX.

SIZED = {
    "nonzero": (lambda x, **kw: wnp.nonzero(x, **kw), lambda x: np.nonzero(x), 0),
    "flatnonzero": (lambda x, **kw: wnp.flatnonzero(x, **kw), np.flatnonzero, 0),
    "argwhere": (
        lambda x, **kw: wnp.argwhere(x.reshape(2, 4), **kw),
        lambda x: np.argwhere(x.reshape(2, 4)),
        0,
    ),
    "where": (lambda x, **kw: wnp.where(x > 1, **kw), lambda x: np.where(x > 1), 0),
    "extract": (lambda x, **kw: wnp.extract(x > 1, x, **kw), lambda x: x[x > 1], 0),
    "compress": (lambda x, **kw: wnp.compress(x > 1, x, **kw), lambda x: x[x > 1], 0),
    "unique": (lambda x, **kw: wnp.unique(x, **kw), np.unique, None),
    "union1d": (
        lambda x, **kw: wnp.union1d(x[:4], x[4:], **kw),
        lambda x: np.union1d(x[:4], x[4:]),
        None,
    ),
    "intersect1d": (
        lambda x, **kw: wnp.intersect1d(x[:4], x[4:], **kw),
        lambda x: np.intersect1d(x[:4], x[4:]),
        0,
    ),
    "setdiff1d": (
        lambda x, **kw: wnp.setdiff1d(x[:4], x[4:], **kw),
        lambda x: np.setdiff1d(x[:4], x[4:]),
        0,
    ),
}


def _filled(rows, size, fill):
    rows = np.asarray(rows)
    if fill is None:
        fill = rows[0]
    out = np.full((size, *rows.shape[1:]), fill, rows.dtype)
    out[: len(rows)] = rows[:size]
    return out


@pytest.mark.parametrize("fill", [None, -7])
@pytest.mark.parametrize("size", [0, 2, 8, 11])
@pytest.mark.parametrize("name", SIZED)
def test_arrays_of_a_size_that_is_known(name, size, fill):
    function, numpy_function, default = SIZED[name]
    options = {"size": size} if fill is None else {"size": size, "fill_value": fill}
    got = weir.vmap(lambda row: function(row, **options), strict=True)(ROWS)
    for i, row in enumerate(ROWS):
        want = weir.tree.map(
            lambda rows: _filled(rows, size, default if fill is None else fill), numpy_function(row)
        )
        assert_equal(weir.tree.map(lambda leaf, i=i: leaf[i], got), want)


def test_more_of_unique_in_a_size_that_is_known():
    values, places, inverse, counts = wnp.unique(ROWS[0], True, True, True, size=7)
    assert values.tolist() == [-2, 0, 1, 3, 7, -2, -2]
    assert places.tolist() == [4, 2, 1, 0, 6, 4, 4]
    assert inverse.tolist() == [3, 2, 1, 3, 0, 1, 4, 2]
    assert counts.tolist() == [1, 2, 2, 2, 1, 0, 0]


def test_compressed_slices_lie_along_their_axis_in_a_size_that_is_known():
    x = np.arange(12).reshape(3, 4)
    got = wnp.compress(np.array([True, False, True]), x, axis=1, size=3)
    np.testing.assert_array_equal(got, [[0, 2, 0], [4, 6, 0], [8, 10, 0]])


@pytest.mark.parametrize("length", [0, 3, 12])
def test_repeat_of_a_known_total(length):
    got = weir.vmap(
        lambda n: wnp.repeat(wnp.arange(6).reshape(3, 2), n, axis=0, total_repeat_length=length),
        strict=True,
    )(COUNTS)
    for row, n in zip(got, COUNTS):
        want = np.repeat(np.arange(6).reshape(3, 2), n, axis=0)
        last = np.tile([[4, 5]], (max(length - len(want), 0), 1))
        np.testing.assert_array_equal(row, np.concatenate([want, last])[:length])


def test_a_run_fails_where_there_are_more():
    with pytest.raises(weir.FailedPrecondition, match="iteration 2: repeat makes at most 7 elem"):
        weir.vmap(lambda n: wnp.repeat(wnp.arange(3), n, capacity=7).size)(COUNTS)
    with pytest.raises(weir.FailedPrecondition, match="iteration 2: arange makes at most 3 numb"):
        weir.vmap(lambda n: wnp.arange(n, capacity=3).size)(STOPS)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="fill_value needs size="):
        wnp.nonzero(ROWS, fill_value=3)
    with pytest.raises(ValueError, match="fill_value needs size="):
        wnp.unique(ROWS, fill_value=3)
    with pytest.raises(ValueError, match="both x and y"):
        wnp.where(ROWS > 0, ROWS)
    with pytest.raises(ValueError, match="without x and y"):
        wnp.where(ROWS > 0, ROWS, ROWS, size=3)
    with pytest.raises(ValueError, match="at most 8 conditions"):
        wnp.compress(np.ones(9, bool), ROWS[0])
    with pytest.raises(ValueError, match="atleast_1d"):
        wnp.nonzero(np.float32(3))


def test_lists_of_lists_compose():
    """What one step leaves is what the next one works on, in each iteration as much as there is."""

    def body(row):
        positive = row[row > 0]
        squares = positive.map(lambda x: x * x)
        return squares.sum(), squares.max(), squares.map(lambda x: wnp.arange(x, capacity=64).sum())

    total, largest, sums = weir.vmap(body, strict=True)(ROWS[[0, 2, 3]])
    for i, row in enumerate(ROWS[[0, 2, 3]]):
        squares = row[row > 0] ** 2
        assert total[i] == squares.sum() and largest[i] == squares.max()
        np.testing.assert_array_equal(live(sums, i), [np.arange(x).sum() for x in squares])
