"""weir.connect(memory_budget=): less memory, the same results."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp


def _body(x):
    powers = x * wnp.arange(1, 31, dtype=np.float32)
    return weir.cond(x > 0, lambda: wnp.sum(wnp.sort(powers)), lambda: wnp.max(powers[::-1]))


@weir.jit
def _mapped(xs):
    return weir.vmap(_body, strict=True)(xs)


def _run(xs, **session):
    with weir.connect(workers=2, **session):
        explanation = weir.explain(_mapped, xs)
        return _mapped(xs), explanation


@pytest.mark.parametrize("n", [10, 10_000, 200_000])
def test_results_do_not_depend_on_the_budget(n):
    xs = np.linspace(-1, 1, n).astype(np.float32)
    want, free = _run(xs)
    needed = max(step["bytes_per_iteration"] for step in free.steps)
    for budget, limit in ((needed * 40, needed * 40), ("64KiB", 1 << 16), ("1GiB", 1 << 30)):
        got, explanation = _run(xs, memory_budget=budget)
        assert got.tobytes() == want.tobytes()
        for step in explanation.steps:
            assert step["arena_bytes"] <= limit
            assert step["predicted_bytes"] <= limit


def test_a_small_budget_makes_small_chunks():
    xs = np.linspace(-1, 1, 5000).astype(np.float32)
    _, free = _run(xs)
    _, tight = _run(xs, memory_budget=16384)
    assert tight.counters["chunks"] > free.counters["chunks"]
    assert tight.counters["arena_bytes"] < free.counters["arena_bytes"]


def test_one_iteration_that_does_not_fit():
    with weir.connect(workers=1, memory_budget=100):
        with pytest.raises(
            weir.ResourceExhausted,
            match=r"step \w+ needs \d+ bytes of memory for one iteration, but the memory budget is"
            r" 100 bytes: give a memory budget of at least \d+ bytes, or make what one iteration"
            r" computes smaller",
        ):
            weir.vmap(lambda row: wnp.sum(wnp.sort(row) * row))(np.ones((10, 50), np.float32))


def test_what_is_not_split_must_fit():
    @weir.jit
    def whole(x):
        y = wnp.sort(wnp.sin(x))
        return wnp.sum(y[::-1] * y)

    x = np.ones(100_000, np.float32)
    with weir.connect(workers=1, memory_budget=1000):
        with pytest.raises(weir.ResourceExhausted, match="all of its values at once"):
            whole(x)
    with weir.connect(workers=1, memory_budget="8MiB"):
        assert np.isfinite(whole(x))


@pytest.mark.parametrize("budget", [0, -1, "many", "12 apples", 1.5, ""])
def test_what_is_no_budget(budget):
    with pytest.raises(ValueError, match="memory_budget must be a number of bytes"):
        weir.connect(memory_budget=budget)
