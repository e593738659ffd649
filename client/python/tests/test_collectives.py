"""Reductions over the iterations of a loop."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp


@pytest.mark.parametrize("chunk_size", [None, 1, 2])
@pytest.mark.parametrize(
    "reduce, expected",
    [
        (weir.psum, lambda x: x.sum(0)),
        (weir.pmax, lambda x: x.max(0)),
        (weir.pmin, lambda x: x.min(0)),
        (weir.pmean, lambda x: x.mean(0)),
    ],
)
def test_every_iteration_gets_the_result(reduce, expected, chunk_size):
    x = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)

    def body(row):
        return row - reduce(row * 2)

    got = weir.vmap(body, chunk_size=chunk_size, strict=True)(x)
    np.testing.assert_allclose(got, x - expected(2 * x), rtol=1e-6, atol=1e-6)


def test_all_gather():
    got = weir.pfor(lambda i: weir.all_gather(i * i), 4, strict=True)
    np.testing.assert_array_equal(got, np.tile([0, 1, 4, 9], (4, 1)))


def test_a_second_reduction_sees_the_first():
    x = np.arange(6, dtype=np.float64)

    def normalized(value):
        centred = value - weir.pmean(value)
        return centred / wnp.sqrt(weir.pmean(centred * centred))

    np.testing.assert_allclose(weir.vmap(normalized)(x), (x - x.mean()) / x.std(), rtol=1e-12)


def test_the_innermost_loop_counts():
    def body(i):
        return weir.pfor(lambda j: weir.psum(i * 10 + j), 3)

    np.testing.assert_array_equal(weir.pfor(body, 2), [[3, 3, 3], [33, 33, 33]])


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_any_number_of_iterations(n):
    np.testing.assert_array_equal(weir.pfor(lambda i: weir.psum(i), n), [n * (n - 1) // 2] * n)


def test_loops_that_run_in_order_refuse():
    with pytest.raises(weir.TracingError, match="psum at .*test_collectives.py:[0-9]+"):
        weir.for_loop(lambda i: weir.psum(i), 3)
    with pytest.raises(weir.TracingError, match="there is none around it"):
        weir.jit(lambda x: weir.psum(x))(np.ones(3))


def test_what_all_iterations_share_counts_once_for_each():
    np.testing.assert_array_equal(weir.pfor(lambda i: weir.psum(1.5), 3), [4.5, 4.5, 4.5])
    np.testing.assert_array_equal(weir.pfor(lambda i: weir.all_gather(7), 2), [[7, 7], [7, 7]])


@pytest.mark.parametrize("chunk_size", [None, 2])
def test_in_a_branch_those_that_take_it_meet(chunk_size):
    def body(i):
        return weir.cond(
            i % 2 == 1,
            lambda: (weir.psum(i), weir.pmax(i * 10), weir.pmean(i * 1.0)),
            lambda: (-weir.psum(1), weir.pmin(i), 0.0),
        )

    total, extreme, mean = weir.pfor(body, 6, chunk_size=chunk_size, strict=True)
    np.testing.assert_array_equal(total, [-3, 9, -3, 9, -3, 9])
    np.testing.assert_array_equal(extreme, [0, 50, 0, 50, 0, 50])
    np.testing.assert_array_equal(mean, [0, 3, 0, 3, 0, 3])


def test_in_a_branch_others_gather_as_zeros():
    def body(i):
        return weir.cond(i > 1, lambda: weir.all_gather(i + 10), lambda: wnp.zeros(4, "int64"))

    expected = [[0] * 4, [0] * 4, [0, 0, 12, 13], [0, 0, 12, 13]]
    np.testing.assert_array_equal(weir.pfor(body, 4, strict=True), expected)


def test_in_a_loop_with_a_known_end_all_meet_in_each_trip():
    values = np.arange(12.0).reshape(4, 3)

    def centred(row):
        return weir.fori_loop(0, 3, lambda k, r: r + k - weir.pmean(r), row)

    expected = values
    for k in range(3):
        expected = expected + k - expected.mean(0)
    np.testing.assert_allclose(weir.vmap(centred, strict=True)(values), expected, rtol=1e-12)


def test_in_a_loop_that_iterations_leave_those_that_run_meet():
    def body(i):
        def step(state):
            trip, seen = state
            return trip + 1, seen + weir.psum(1) * 10**trip

        return weir.while_loop(lambda state: state[0] < i, step, (np.int64(0), np.int64(0)))

    trips, seen = weir.pfor(body, 4, strict=True)
    np.testing.assert_array_equal(trips, [0, 1, 2, 3])
    np.testing.assert_array_equal(seen, [0, 3, 23, 123])


def test_conditions_of_loops_may_ask_for_all_that_still_run():
    def body(i):
        return weir.while_loop(lambda k: k + weir.pmin(i) < i, lambda k: k + 1, np.int64(0))

    # Iteration 0 stops at once; the lowest of the others is 1, and so on.
    def sequential(n):
        k, active = [0] * n, list(range(n))
        while active:
            low = min(active)
            active = [i for i in active if k[i] + low < i]
            for i in active:
                k[i] += 1
        return k

    np.testing.assert_array_equal(weir.pfor(body, 5), sequential(5))


def test_scan_meets_in_each_step_and_collects():
    def body(i):
        def step(carry, x):
            total = weir.psum(carry * x)
            return carry + 1, total + i

        return weir.lax.scan(step, i, np.arange(3))

    carry, collected = weir.pfor(body, 4, strict=True)
    np.testing.assert_array_equal(carry, np.arange(4) + 3)
    sums = np.array([sum((i + k) * k for i in range(4)) for k in range(3)])
    np.testing.assert_array_equal(collected, sums[None] + np.arange(4)[:, None])


def test_a_loop_in_a_branch_and_a_branch_in_a_loop():
    def in_branch(i):
        def run():
            return weir.fori_loop(0, i, lambda k, x: x + weir.psum(i), np.int64(0))

        return weir.cond(i % 2 == 1, run, lambda: np.int64(-1))

    # Of 1, 3 and 5 all are in the first trip, then 3 and 5, then 5 alone.
    expected = [-1, 9, -1, 9 + 8 + 8, -1, 9 + 8 + 8 + 5 + 5]
    np.testing.assert_array_equal(weir.pfor(in_branch, 6, strict=True), expected)

    def in_loop(i):
        def step(k, x):
            return weir.cond(i > k, lambda: x + weir.psum(1), lambda: x)

        return weir.fori_loop(0, 3, step, np.int64(0))

    np.testing.assert_array_equal(weir.pfor(in_loop, 4, strict=True), [0, 3, 5, 6])


def test_nested_loops_meet_for_themselves_in_branches():
    def body(i):
        def inner(j):
            return weir.cond(j < i, lambda: weir.psum(j + 10 * i), lambda: np.int64(0))

        return weir.pfor(inner, 3)

    expected = [[sum(j + 10 * i for j in range(min(i, 3))) if j < i else 0 for j in range(3)]
                for i in range(4)]
    np.testing.assert_array_equal(weir.pfor(body, 4, strict=True), expected)


@pytest.mark.parametrize("n", [0, 1, 300])
def test_any_number_of_iterations_in_a_branch(n):
    x = np.random.default_rng(1).standard_normal(n).astype(np.float32)

    def body(value):
        return weir.cond(value > 0, lambda: weir.psum(value), lambda: weir.pmax(value))

    got = weir.vmap(body, strict=True)(x)
    positive = x[x > 0]
    largest = x[x <= 0].max(initial=-np.inf)
    expected = np.where(x > 0, positive.sum(), largest)
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_independent_reductions_share_a_cut():
    def body(i):
        first = weir.psum(i)
        second = weir.pmax(i * i + 1)
        return first + second + weir.psum(first)

    assert weir.explain(lambda: weir.pfor(body, 5)).text("phases").count("= pfor") == 3
    np.testing.assert_array_equal(weir.pfor(body, 5), [10 + 17 + 50] * 5)
