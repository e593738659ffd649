"""Loops around vectorized ones: workers share each trip, and the results are the same."""

import numpy as np
import pytest
import weir
import weir.numpy as wnp

RNG = np.random.default_rng(7)
ROWS = RNG.standard_normal((20000, 16)).astype(np.float32)
CENTERS = ROWS[:8].copy()


def kmeans(rows, centers, trips):
    def trip(_, centers):
        def nearest(row):
            far = ((centers - row) ** 2).sum(1)
            return (wnp.arange(8) == wnp.argmin(far)).astype(wnp.float32)

        hot = weir.vmap(nearest)(rows)
        return (hot.T @ rows) / wnp.maximum(hot.sum(0), 1.0)[:, None]

    return weir.fori_loop(0, trips, trip, centers)


def towards_each_other(rows):
    """Each row goes on until all of it is small, by a step that depends on all that do."""

    def one(row):
        def more(state):
            return wnp.abs(state[0]).max() > 0.5

        def trip(state):
            at, trips = state
            largest = weir.pmax(wnp.abs(at).max())
            return at * 0.8 - at * wnp.exp(-largest) / 4, trips + 1

        return weir.while_loop(more, trip, (row, np.int64(0)))

    return weir.vmap(one)(rows)


def train(rows, labels, weights):
    def trip(_, state):
        weights, losses = state

        def loss(weights, row, label):
            score = (row * weights).sum()
            return wnp.log(1 + wnp.exp(score)) - label * score

        gradients = weir.vmap(weir.grad(loss), in_axes=(None, 0, 0))(weights, rows, labels)
        all_losses = weir.vmap(loss, in_axes=(None, 0, 0))(weights, rows, labels)
        return weights - gradients.mean(0), losses.at[_].set(all_losses.mean())

    return weir.fori_loop(0, 5, trip, (weights, wnp.zeros(5, wnp.float32)))


PROGRAMS = {
    "kmeans": (kmeans, (ROWS, CENTERS, np.int64(4))),
    "no trip": (kmeans, (ROWS, CENTERS, np.int64(0))),
    "own trips": (towards_each_other, (ROWS,)),
    "few rows": (towards_each_other, (ROWS[:2],)),
    "one row": (towards_each_other, (ROWS[:1],)),
    "no row": (towards_each_other, (ROWS[:0],)),
    "training": (train, (ROWS, (ROWS[:, 0] > 0).astype(np.float32), np.zeros(16, np.float32))),
}


def arrays(results):
    results = results if isinstance(results, tuple) else (results,)
    return [np.asarray(each) for each in results]


@pytest.mark.parametrize("name", PROGRAMS)
def test_workers_change_no_bit(name):
    function, args = PROGRAMS[name]
    results = []
    for workers in (1, 2, 3):
        with weir.connect(workers=workers):
            compiled = weir.jit(function)
            results += [arrays(compiled(*args)) for _ in range(3)]
    for other in results[1:]:
        for got, want in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(got, want)


def test_kmeans_is_what_numpy_says():
    centers = CENTERS.copy()
    for _ in range(4):
        far = ((ROWS[:, None] - centers[None]) ** 2).sum(2)
        nearest = far.argmin(1)
        centers = np.stack([ROWS[nearest == k].mean(0) for k in range(8)])
    with weir.connect(workers=2):
        got = weir.jit(kmeans)(ROWS, CENTERS, np.int64(4))
    np.testing.assert_allclose(np.asarray(got), centers, rtol=1e-4, atol=1e-5)


def test_explain_says_how_trips_run():
    with weir.connect(workers=2):
        explained = weir.explain(towards_each_other, ROWS)
        assert any("workers share each trip" in note for note in explained.notes)
        few = weir.explain(towards_each_other, ROWS[:2])
    shared = [step for step in explained.steps if step["iterations"] > len(ROWS)]
    assert shared, "a step of a loop counts the iterations of all trips"
    assert all(step["iterations"] <= 2 for step in few.steps), "so few rows run whole"
    assert len({step["function"] for step in explained.steps}) == len(explained.steps)


def test_a_check_that_fails_in_a_trip_ends_the_run():
    def function(rows):
        def trip(k, x):
            weir.check(k < 2, "no third trip")
            return weir.vmap(lambda row: wnp.sin(row) * x)(rows).sum()

        return weir.fori_loop(0, 5, trip, np.float32(1))

    rows = RNG.standard_normal(2_000_000).astype(np.float32)
    with weir.connect(workers=2):
        with pytest.raises(weir.FailedPrecondition, match="no third trip"):
            weir.jit(function)(rows)
        assert int(weir.jit(lambda x: x + 1)(np.int64(1))) == 2, "and the workers go on"
