"""Parallel loops whose length only the run knows: so many lanes run, with the bits of for_loop."""

import functools
import re

import numpy as np
import pytest
from conftest import assert_same_bits

import weir
import weir.numpy as wnp

LENGTHS = np.array([3, 0, 7, 1, 5])
X = np.random.default_rng(3).standard_normal((5, 7)).astype("f")
LOOPS = {
    "pfor": weir.pfor,
    "in chunks of 1": functools.partial(weir.pfor, chunk_size=1),
    "in chunks of 2": functools.partial(weir.pfor, chunk_size=2),
    "for_loop": weir.for_loop,
}


def _row(i):
    return wnp.array(X)[i]


def _length(i):
    return wnp.array(LENGTHS)[i]


def _element(loop, i):
    return loop(lambda j: wnp.sin(_row(i)[j]) * j + i, _length(i), capacity=7)


def _whole_row(loop, i):
    return loop(lambda j: wnp.sum(_row(i) * j), _length(i), capacity=7)


def _shared(loop, i):
    return loop(lambda j: wnp.arange(3) * j, _length(i), capacity=7)


def _same_length(loop, i):
    return loop(lambda j: _row(i)[j] * 2, _length(4), capacity=7)


def _nothing_of_the_outer_loop(loop, i):
    return loop(lambda j: j * j, _length(2), capacity=7), i


def _branches(loop, i):
    def body(j):
        x = _row(i)[j]
        return weir.cond(x > 0, lambda: wnp.exp(x), lambda: wnp.cos(x) - _row(i)[j - 1])

    return loop(body, _length(i), capacity=7)


def _inner_while(loop, i):
    def body(j):
        return weir.while_loop(lambda v: v < 20, lambda v: v * 2 + j, _row(i)[j] ** 2 + 0.1)

    return loop(body, _length(i), capacity=7)


def _inner_fori(loop, i):
    return loop(
        lambda j: weir.fori_loop(0, j, lambda t, s: s + _row(i)[t], 0.0), _length(i), capacity=7
    )


def _random(loop, i):
    return loop(lambda j: weir.random.normal((2,), seed=3) + j, _length(i), capacity=7)


def _nested(loop, i):
    def body(j):
        return loop(lambda k: _row(i)[k] * j + i, j, capacity=7)

    return loop(body, _length(i), capacity=8)


def _dense_inside(loop, i):
    def body(j):
        return loop(lambda k: _row(i)[j] * k, 3)

    return loop(body, _length(i), capacity=7)


def _in_a_branch(loop, i):
    def yes():
        return loop(lambda j: _row(i)[j] + 1, _length(i), capacity=7)

    def no():
        return loop(lambda j: _row(i)[j] - 1, 7 - _length(i), capacity=7)

    return weir.cond(i % 2 == 0, yes, no)


def _in_a_while(loop, i):
    def step(state):
        n, total = state
        return n - 1, total + loop(lambda j: _row(i)[j] * n, n, capacity=7).sum()

    return weir.while_loop(lambda state: state[0] > 0, step, (_length(i), np.float32(0)))


def _lists(loop, i):
    def body(j):
        return weir.fori_loop(0, j, lambda k, l: l.push(_row(i)[k]), weir.List.empty(7, X[0, 0]))

    made = loop(body, _length(i), capacity=7)
    return made.size, made.elements.size, made.map(lambda l: l.sum())


def _segments(i):
    return (i + wnp.arange(7) * 2) % 5 - 1  # of no segment: -1 and 3


def _segments_in_a_lane(loop, i):
    def body(j):
        x, ids = wnp.sin(_row(i) * j), _segments(i + j)
        return weir.segment_sum(x, ids, 3), weir.segment_max(x, ids, 3)

    return loop(body, _length(i), capacity=7)


def _segments_of_lanes(loop, i):
    made = loop(lambda j: wnp.sin(_row(i)[j] * wnp.arange(2)), _length(i), capacity=7)
    ids = wnp.where(wnp.arange(7) < made.size, _segments(i), -1)
    return weir.segment_sum(made.elements, ids, 3), weir.segment_min(made.elements, ids, 3)


def _nothing(loop, i):
    loop(lambda j: weir.check(j < 7, "j is below 7"), _length(i), capacity=7)
    return i


BODIES = {
    name[1:].replace("_", " "): body
    for name, body in list(globals().items())
    if callable(body) and name.startswith("_") and body.__code__.co_varnames[:2] == ("loop", "i")
}


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("name", BODIES)
def test_any_form_has_the_bits_of_the_loop(name, n):
    body = BODIES[name]
    want = weir.for_loop(lambda i: body(weir.for_loop, i), n)
    for inner in LOOPS.values():
        got = weir.pfor(lambda i, inner=inner: body(inner, i), n)
        assert_same_bits(got, want)
    for chunk_size in (None, 1, 2):
        got = weir.pfor(lambda i: body(weir.pfor, i), n, chunk_size=chunk_size, strict=True)
        assert_same_bits(got, want)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("name", BODIES)
def test_any_number_of_workers_has_the_bits_of_the_loop(name, workers):
    body = BODIES[name]
    want = weir.for_loop(lambda i: body(weir.for_loop, i), 5)
    with weir.connect(workers=workers):
        assert_same_bits(weir.pfor(lambda i: body(weir.pfor, i), 5, strict=True), want)


@pytest.mark.parametrize("loop", LOOPS)
def test_zeros_stand_behind(loop):
    got = weir.pfor(lambda i: LOOPS[loop](lambda j: _row(i)[j], _length(i), capacity=7), 5)
    np.testing.assert_array_equal(got.size, LENGTHS)
    live = np.arange(7) < LENGTHS[:, None]
    np.testing.assert_array_equal(got.elements, np.where(live, X, 0))


REDUCTIONS = {
    "psum": (weir.psum, np.sum, 0),
    "pmean": (weir.pmean, np.mean, np.nan),
    "pmax": (weir.pmax, np.max, -np.inf),
    "pmin": (weir.pmin, np.min, np.inf),
}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_over_the_iterations_that_run(name, sign):
    """One that took the zeros behind for iterations would be seen in extremes of either sign."""
    reduce, numpy_reduce, _ = REDUCTIONS[name]
    table = sign * (np.abs(X) + 1)

    def body(row, length):
        return weir.pfor(lambda j: row[j] - reduce(row[j]) * j, length, capacity=7)

    got = weir.vmap(body, strict=True)(table, LENGTHS)
    for row, length, elements in zip(table, LENGTHS, got.elements):
        if length:
            want = row[:length] - numpy_reduce(row[:length]) * np.arange(length)
            np.testing.assert_allclose(elements[:length], want, rtol=1e-5)
        np.testing.assert_array_equal(elements[length:], 0)


def test_a_reduction_has_the_bits_of_one_over_a_known_length():
    table = np.random.default_rng(5).standard_normal(2000).astype("f")
    reductions = (weir.psum, weir.pmean, weir.pmax, weir.pmin)

    def body(j):
        return [reduce(wnp.array(table)[j]) for reduce in reductions]

    of_length = weir.jit(lambda n: weir.pfor(body, n, capacity=2000).elements)
    for n in (1, 255, 256, 257, 700, 1999, 2000):
        assert_same_bits([x[:n] for x in of_length(np.int64(n))], weir.pfor(body, n))


def test_all_gather_has_zeros_behind():
    got = weir.vmap(
        lambda row, n: weir.pfor(lambda j: weir.all_gather(row[j]), n, capacity=7).elements[0]
    )(X, LENGTHS)
    np.testing.assert_array_equal(got, np.where(np.arange(7) < LENGTHS[:, None], X, 0))


def test_variables_take_what_iterations_add():
    total = weir.Variable(np.float64(0))
    largest = weir.Variable(np.float64(-100))

    def body(i):
        def inner(j):
            total.assign_add((i * 10 + j) * 1.0)
            largest.assign_max(-1.0 * (i + j))

        weir.pfor(inner, _length(i), capacity=7)
        return i

    weir.pfor(body, 5, strict=True)
    assert total.value() == sum(i * 10 + j for i in range(5) for j in range(LENGTHS[i]))
    assert largest.value() == 0


def test_gathers_read_only_what_the_lanes_need():
    """No lane copies the row of its owner."""
    explanation = weir.explain(lambda: weir.pfor(lambda i: _element(weir.pfor, i), 5))
    text = explanation.text("dce-converted")
    assert "f32[k,7]" not in text and "ragged_rows" in text


def test_lanes_run_as_often_as_lengths_say_and_launches_do_not_count_them():
    rng = np.random.default_rng(11)
    counters = []
    for n in (10, 200):
        lengths = rng.integers(1, 101, n)
        table = rng.standard_normal((n, 100)).astype("f")

        def body(row, length):
            return weir.pfor(lambda j: wnp.tanh(row[j]) * row[j - 1], length, capacity=100).sum()

        found = weir.explain(weir.vmap(body, strict=True), table, lengths)
        assert lengths.sum() <= found.counters["rows_run"] <= 1.1 * lengths.sum()
        counters.append(found.counters["kernel_launches"])
    assert counters[0] == counters[1]


@pytest.mark.parametrize("body", [_segments_in_a_lane, _segments_of_lanes])
def test_segments_of_all_lanes_are_one_kernel(body):
    found = weir.explain(lambda: weir.pfor(lambda i: body(weir.pfor, i), 5, strict=True))
    assert found.counters["op_launches"]["scatter"] == 2 * found.counters["chunks"]
    if body is _segments_in_a_lane:
        # The packed rows of the lanes are reduced, and nothing for lanes that there are not.
        assert re.search(r"scatter\(.* : f32\[k,3\]", found.text("dce-converted"))
        assert found.counters["elements"]["scatter"] == 2 * 3 * LENGTHS.sum()


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("count", [-1, 8])
def test_a_run_fails_beyond_the_capacity(loop, count):
    def body(n):
        return LOOPS[loop](lambda j: j, n, capacity=7).elements

    for counts in (np.array(count), np.array([2, count])):
        function = body if counts.ndim == 0 else weir.vmap(body)
        with pytest.raises(weir.FailedPrecondition, match="7") as caught:
            weir.jit(function)(counts)
        if loop == "pfor":
            message = rf"test_ragged.py:\d+\): the count {count} of a pfor is not in 0..7"
            assert re.search(message, str(caught.value))


@pytest.mark.parametrize("loop", [weir.pfor, weir.for_loop])
def test_what_is_no_length_is_refused(loop):
    with pytest.raises(TypeError, match=r"found i64\[\].*test_ragged.py.*capacity=, a bound"):
        weir.pfor(lambda i: loop(lambda j: j, i), 3)
    with pytest.raises(TypeError, match=r"must be an integer scalar, found f32\[\]"):
        weir.pfor(lambda i: loop(lambda j: j, _row(i)[0], capacity=3), 3)
    with pytest.raises(TypeError, match=r"must be an integer scalar, found i64\[5\]"):
        loop(lambda j: j, LENGTHS, capacity=9)
    with pytest.raises(ValueError, match="asked for 4 iterations with the capacity 3"):
        loop(lambda j: j, 4, capacity=3)
    with pytest.raises(ValueError, match="-1 iterations"):
        loop(lambda j: j, -1, capacity=3)


def test_a_known_length_with_a_capacity_is_a_list_too():
    got = weir.pfor(lambda j: {"square": j * j}, 2, capacity=3)
    assert isinstance(got, weir.List) and got.size == 2
    np.testing.assert_array_equal(got.elements["square"], [0, 1, 0])
    assert weir.for_loop(lambda j: j, np.uint8(2), capacity=3).elements.tolist() == [0, 1, 0]
    assert weir.pfor(lambda j: j, 0, capacity=0).elements.shape == (0,)


class TestLists:
    """What lists do with all of their elements."""

    def test_map_runs_for_the_elements_that_there_are(self):
        lists = weir.vmap(lambda row: row[row > 0])(X)
        got = weir.vmap(lambda l: l.map(lambda x: (1 / x, x * 2)), strict=True)(lists)
        for row, size, inverse, twice in zip(X, got.size, *got.elements):
            live = row[row > 0]
            np.testing.assert_allclose(inverse[:size], 1 / live, rtol=1e-6)
            np.testing.assert_array_equal(twice[:size], live * 2)
            assert np.all(inverse[size:] == 0)
        more = weir.List(np.arange(4), np.int64(2)).map(lambda x: x + 1)
        assert more.elements.tolist() == [1, 2, 0, 0]

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.int8, bool])
    @pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean"])
    def test_reductions(self, name, dtype):
        rng = np.random.default_rng(2)
        table = rng.integers(-2, 3, (6, 5)).astype(dtype)
        table[:, 3:] = 1  # of no meaning where lists end before
        sizes = np.array([5, 1, 2, 3, 4, 0])
        got = weir.vmap(lambda rows, n: getattr(weir.List((rows,), n), name)(), strict=True)(
            table, sizes
        )[0]
        for row, size, result in zip(table, sizes, got):
            if size == 0 and name in ("max", "min", "mean"):
                continue
            want = getattr(np, name)(row[:size])
            np.testing.assert_allclose(result, want, rtol=1e-2 if dtype is np.float16 else 1e-6)
        if name == "mean":
            assert np.isnan(got[-1])

    def test_extremes_of_nothing(self):
        empty = weir.List((np.zeros(3, "f"), np.zeros(3, "i4"), np.zeros(3, bool)), np.int64(0))
        assert [float(x) for x in empty.max()] == [-np.inf, -(2.0**31), 0]
        assert [float(x) for x in empty.min()] == [np.inf, 2.0**31 - 1, 1]
