"""weir.check: what it says, and where it is evaluated."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp


def test_a_check_that_holds_changes_nothing():
    def positive(x):
        weir.check(x > 0, "must be positive")
        return x + 1

    x = np.arange(1, 5, dtype=np.float32)
    np.testing.assert_array_equal(weir.vmap(positive, strict=True)(x), x + 1)


@pytest.mark.parametrize("loop", [weir.pfor, weir.for_loop])
def test_the_error_names_the_iteration(loop):
    def body(i):
        weir.check(i < 3, "only three")
        return i

    with pytest.raises(weir.FailedPrecondition, match="check failed in iteration 3: only three"):
        loop(body, 5)
    np.testing.assert_array_equal(loop(body, 3), [0, 1, 2])


def test_the_error_names_the_iterations_of_nested_loops():
    def body(i):
        def inner(j):
            weir.check(i + j < 3, "small sums")
            return j

        return weir.pfor(inner, 3)

    # Several iterations fail; which worker's is heard of first is open.
    with pytest.raises(weir.FailedPrecondition, match="in iteration (1, 2|2, 1|3, 0): small sums"):
        weir.pfor(body, 4)


def test_outside_of_loops():
    @weir.jit
    def checked(x):
        weir.check(wnp.all(x > 0), "all positive")
        return x

    np.testing.assert_array_equal(checked(np.ones(3, np.float32)), np.ones(3))
    with pytest.raises(weir.FailedPrecondition, match="check failed: all positive"):
        checked(np.zeros(3, np.float32))


def test_iterations_that_are_done_are_not_checked():
    trips = np.array([4, 0, 2])

    def body(n):
        def step(k, total):
            weir.check(k < n, "a trip too many")
            return total + 1

        return weir.fori_loop(0, n, step, 0)

    np.testing.assert_array_equal(weir.vmap(body, strict=True)(trips), trips)


def test_branches_that_are_not_taken_are_not_checked():
    def refuse(x):
        weir.check(x < 0, "never")
        return x

    def body(x):
        return weir.cond(x < 0, refuse, lambda x: x, x)

    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(weir.vmap(body, strict=True)(x), x)


def test_the_predicate_must_be_bool():
    with pytest.raises(TypeError, match="bool"):
        weir.pfor(lambda i: weir.check(i, "not a bool"), 3)


def _below_two(i):
    weir.check(i < 2, "below two")


def _carried(i, carry):
    return _below_two(i)


def _scanned(carry, row):
    return None, _below_two(row)


def _if(i):
    return weir.cond(i < 0, lambda: None, lambda: _below_two(i))


def _case(i):
    return weir.switch(i, [lambda: None, lambda: None, lambda: _below_two(i)])


WITHOUT_RESULTS = {
    "pfor": lambda n: weir.pfor(_below_two, n),
    "chunks": lambda n: weir.pfor(_below_two, n, chunk_size=1),
    "for_loop": lambda n: weir.for_loop(_below_two, n),
    "vmap": lambda n: weir.vmap(_below_two)(np.arange(n)),
    "nested": lambda n: weir.pfor(lambda i: weir.pfor(_below_two, n), 2),
    "fori_loop": lambda n: weir.fori_loop(0, n, _carried, None),
    "scan": lambda n: weir.scan(_scanned, None, np.arange(n))[1],
    "cond": lambda n: weir.pfor(_if, n),
    "switch": lambda n: weir.pfor(_case, n),
    "jit": lambda n: weir.jit(_below_two)(n - 1),
    "at once": lambda n: _below_two(np.int32(n - 1)),
}


@pytest.mark.parametrize("name", WITHOUT_RESULTS)
def test_what_returns_nothing_is_checked(name):
    run = WITHOUT_RESULTS[name]
    assert run(0) is None and run(2) is None
    with pytest.raises(weir.FailedPrecondition, match="below two"):
        run(3)
