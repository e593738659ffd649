"""Gamma, Poisson and binomial numbers: distributions, what they depend on, and edges."""

import math

import numpy as np
import pytest
from conftest import assert_same_bits

import weir
import weir.numpy as wnp
from weir import random

N = 20_000
# Kolmogorov: sqrt(N) times the distance of distribution functions is above it once in 1000 seeds.
KOLMOGOROV = 1.95


def distance(drawn, distribution):
    """Returns: sqrt(N) times the greatest distance from a continuous distribution function."""
    ordered = np.sort(drawn.astype(np.float64))
    below = distribution(ordered)
    steps = np.arange(len(ordered) + 1) / len(ordered)
    return math.sqrt(len(ordered)) * max((steps[1:] - below).max(), (below - steps[:-1]).max())


def assert_moments(drawn, mean, variance, fourth):
    """Within 4 standard errors; `fourth` is the fourth central moment over the squared variance."""
    drawn = drawn.astype(np.float64)
    assert abs(drawn.mean() - mean) < 4 * math.sqrt(variance / drawn.size)
    assert abs(drawn.var() / variance - 1) < 4 * math.sqrt((fourth - 1) / drawn.size)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("a", [0.1, 0.5, 0.999, 1.0, 1.5, 10.0, 1e3, 1e6])
def test_gamma_has_its_distribution(a, dtype):
    drawn = random.gamma(dtype(a), (N,), seed=1)
    assert drawn.dtype == dtype and (drawn >= 0).all()
    assert distance(drawn, lambda x: weir.lax.igamma(np.full(x.shape, a), x)) < KOLMOGOROV
    assert_moments(drawn, a, a, 3 + 6 / a)


def test_gamma_of_whole_parameters_is_a_sum_of_exponentials():
    """Erlang's distribution, in closed form."""
    for a in (1, 2, 4):
        drawn = random.gamma(a, (N,), "f64", seed=2)
        tail = sum(drawn**k / math.factorial(k) for k in range(a)) * np.exp(-drawn)
        order = np.argsort(drawn)
        assert distance(drawn, lambda _: 1 - tail[order]) < KOLMOGOROV


@pytest.mark.parametrize(("a", "dtype"), [(1e10, np.float32), (1e10, np.float64), (1e20, "f64")])
def test_gamma_of_great_parameters_is_normal(a, dtype):
    drawn = random.gamma(a, (N,), dtype, seed=1).astype(np.float64)
    normal = np.vectorize(lambda x: 0.5 * math.erfc(-(x - a) / math.sqrt(2 * a)))
    assert distance(drawn, normal) < KOLMOGOROV


def test_gamma_of_tiny_parameters():
    """a log(u) / a: the logarithms are exponential, where they do not underflow."""
    drawn = random.gamma(0.01, (N,), "f64", seed=3)
    below = (drawn < 1e-100).mean()
    want = 1e-100**0.01 / math.gamma(1.01)
    assert abs(below - want) < 4 * math.sqrt(want * (1 - want) / N)


def test_edges_of_gamma():
    a = np.float32([-1, -0.0, 0, np.nan, np.inf, 1e-30, 3e38])
    drawn = random.gamma(a, seed=1)
    np.testing.assert_array_equal(drawn[:6], [np.nan, 0, 0, np.nan, np.inf, 0])
    assert drawn[6] == a[6]
    assert random.gamma(2.0, (0, 3), seed=1).shape == (0, 3)
    assert random.gamma(3, (2, 2), seed=1).dtype == np.float32
    assert random.gamma(np.ones((2, 1)), (5, 2, 3), seed=1).shape == (5, 2, 3)
    half = random.gamma(np.float16(2), (N,), seed=1)
    assert half.dtype == np.float16 and abs(half.mean(dtype=np.float64) - 2) < 0.05
    with pytest.raises(TypeError, match="floats are wanted in i32"):
        random.gamma(1.0, dtype="i32", seed=1)
    with pytest.raises(ValueError, match="broadcast"):
        random.gamma(np.ones(3), (2,), seed=1)


def assert_shares(drawn, probabilities):
    """By Pearson's chi-squared, over the numbers that are expected 10 times or more."""
    want = N * probabilities
    got = np.bincount(drawn, minlength=len(want))[: len(want)]
    assert got.sum() == N
    common = want >= 10
    squares = ((got - want)[common] ** 2 / want[common]).sum()
    # Four standard deviations of chi-squared.
    count = common.sum()
    assert abs(squares - count) < 4 * math.sqrt(2 * count)
    # Discrete distributions come closer than continuous ones.
    gap = np.abs(np.cumsum(got) - np.cumsum(want)).max() / N
    assert math.sqrt(N) * gap < KOLMOGOROV


def poisson_probabilities(mean, least, end):
    """Returns: the probabilities of least .. end-1."""
    logs = [k * math.log(mean) - mean - math.lgamma(k + 1) for k in range(least, end)]
    return np.exp(logs)


@pytest.mark.parametrize("mean", [0.01, 0.5, 3.0, 9.99, 10.0, 12.0, 30.0, 200.0, 1e4])
def test_poisson_has_its_distribution(mean):
    drawn = random.poisson(mean, (N,), seed=1)
    assert drawn.dtype == np.int32 and (drawn >= 0).all()
    width = 12 * math.sqrt(mean) + 20
    least, end = max(0, int(mean - width)), int(mean + width)
    assert_shares(drawn - least, poisson_probabilities(mean, least, end))
    assert_moments(drawn, mean, mean, 3 + 1 / mean)


@pytest.mark.parametrize("mean", [1e6, 1e9, 1e15])
def test_poisson_of_great_means_is_normal(mean):
    drawn = random.poisson(mean, (N,), "i64", seed=1).astype(np.float64)
    normal = np.vectorize(lambda x: 0.5 * math.erfc(-(x + 0.5 - mean) / math.sqrt(2 * mean)))
    # What skews it, 1 / sqrt(mean), is 0.02 here at most.
    assert distance(drawn, normal) < KOLMOGOROV
    assert_moments(drawn, mean, mean, 3)


def test_edges_of_poisson():
    np.testing.assert_array_equal(random.poisson(np.zeros(100), seed=1), np.zeros(100))
    np.testing.assert_array_equal(random.poisson(1e-300, (100,), seed=1), np.zeros(100))
    saturated = random.poisson(np.float64([1e12, 1e300]), seed=1)
    np.testing.assert_array_equal(saturated, [2**31 - 1] * 2)
    assert random.poisson(4, (3,), "u8", seed=1).dtype == np.uint8
    assert random.poisson(4, (3,), "f32", seed=1).dtype == np.float32
    assert random.poisson(np.ones((0, 2)), seed=1).shape == (0, 2)
    assert random.poisson(3, seed=1).shape == ()
    with pytest.raises(TypeError, match="Poisson numbers are wanted in c64"):
        random.poisson(3, dtype="c64", seed=1)
    with pytest.raises(TypeError, match="no complex number as mean"):
        random.poisson(3j, seed=1)
    for mean in (-1.0, np.nan, np.inf):
        with pytest.raises(weir.FailedPrecondition, match="finite and >= 0"):
            random.poisson(np.array([1.0, mean]), seed=1)


def binomial_probabilities(n, p):
    """Returns: the probabilities of 0 .. n."""
    log = math.lgamma
    return np.exp(
        [
            log(n + 1) - log(k + 1) - log(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p)
            for k in range(n + 1)
        ]
    )


@pytest.mark.parametrize(
    "n, p",
    [(1, 0.3), (9, 0.5), (10, 0.99), (19, 0.5), (20, 0.5), (40, 0.25), (40, 0.9), (300, 0.03),
     (300, 0.04), (1000, 0.5), (5000, 0.998)],
)  # fmt: skip
def test_binomial_has_its_distribution(n, p):
    drawn = random.binomial(n, p, (N,), seed=1)
    assert drawn.dtype == np.int32 and (drawn >= 0).all() and (drawn <= n).all()
    assert_shares(drawn, binomial_probabilities(n, p))
    variance = n * p * (1 - p)
    assert_moments(drawn, n * p, variance, 3 + (1 - 6 * p * (1 - p)) / variance)


@pytest.mark.parametrize("n, p", [(10**6, 0.3), (10**12, 1e-3), (2**53, 0.5)])
def test_binomial_of_many_trials_is_normal(n, p):
    drawn = random.binomial(n, p, (N,), "i64", seed=1).astype(np.float64)
    mean, variance = n * p, n * p * (1 - p)
    normal = np.vectorize(lambda x: 0.5 * math.erfc(-(x + 0.5 - mean) / math.sqrt(2 * variance)))
    assert distance(drawn, normal) < KOLMOGOROV
    assert_moments(drawn, mean, variance, 3)


def test_binomial_of_many_rare_successes_is_poisson():
    drawn = random.binomial(10**15, 3e-15, (N,), seed=1)
    assert_shares(drawn, poisson_probabilities(3.0, 0, 40))


def test_edges_of_binomial():
    n = np.array([0, 0, 7, 7, 2**53, 2**53])
    p = np.array([0.5, 1, 0, 1, 0, 1])
    np.testing.assert_array_equal(random.binomial(n, p, dtype="i64", seed=1), n * p)
    assert random.binomial(2**40, 1.0, seed=1) == 2**31 - 1
    assert random.binomial(5, np.float32([0.1, 0.5]), (3, 2), "f32", seed=1).dtype == np.float32
    assert random.binomial(np.ones((3, 1)), np.full(2, 0.5), seed=1).shape == (3, 2)
    assert random.binomial(np.ones((0, 2)), 0.5, seed=1).shape == (0, 2)
    with pytest.raises(TypeError, match="binomial numbers are wanted in c64"):
        random.binomial(3, 0.5, dtype="c64", seed=1)
    with pytest.raises(TypeError, match="no complex number as parameter"):
        random.binomial(3, 0.5j, seed=1)
    for trials in (-1, 0.5, np.nan, np.inf, 2.0**54):
        with pytest.raises(weir.FailedPrecondition, match="whole numbers of trials"):
            random.binomial(np.array([1.0, trials]), 0.5, seed=1)
    for chance in (-0.1, 1.1, np.nan):
        with pytest.raises(weir.FailedPrecondition, match="probabilities from 0 to 1"):
            random.binomial(3, np.array([0.5, chance]), seed=1)


DRAWS = {
    "gamma": random.gamma,
    "poisson": random.poisson,
    "binomial": lambda x, *shape, seed: random.binomial(2000, x / 1000, *shape, seed=seed),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_functions_of_seed_and_place(name):
    draw = DRAWS[name]
    parameters = np.float32([[0.5, 3], [20, 100]])
    once = draw(parameters, seed=5)
    assert_same_bits(draw(parameters, seed=5), once)
    assert_same_bits(draw(parameters.ravel(), seed=5), once.ravel())
    assert (draw(parameters, (50, 2, 2), seed=5) != draw(parameters, (50, 2, 2), seed=6)).any()

    @weir.jit
    def two(parameters, seed):
        return draw(parameters, (50, 2, 2), seed=seed), draw(parameters, (50, 2, 2), seed=seed)

    first, second = two(parameters, 5)
    assert (first != second).any()
    assert_same_bits(two(parameters, 5), (first, second))


@pytest.mark.parametrize("name", DRAWS)
def test_loops_do_not_matter(name):
    """pfor, for_loop and chunks draw the same, also within loops and branches of their own."""
    draw = DRAWS[name]
    parameters = np.float32([0.5, 3, 20, 100, 0, 1000, 9])

    def body(i):
        parameter = wnp.array(parameters)[i]
        plain = draw(parameter, (3,), seed=1)
        summed = weir.fori_loop(
            0, i, lambda t, total: total + draw(parameter, seed=1), plain[0] * 0
        )
        chosen = weir.cond(i % 2 == 0, lambda: draw(parameter, seed=2), lambda: plain[0])
        return plain, summed, chosen, draw(np.float32(5), seed=3)

    want = weir.for_loop(body, 7)
    assert_same_bits(weir.pfor(body, 7, strict=True), want)
    for chunk_size in (1, 3):
        assert_same_bits(weir.pfor(body, 7, chunk_size=chunk_size, strict=True), want)
    assert_same_bits(weir.pfor(body, 4), weir.tree.map(lambda leaf: leaf[:4], want))
    assert len(np.unique(want[3])) > 3


def test_randomness_of_vmap():
    parameters = np.full(4, 50, np.float32)
    same = weir.vmap(lambda a: random.gamma(a, seed=1), randomness="same")(parameters)
    assert len(set(same.tolist())) == 1
    different = weir.vmap(lambda a: random.gamma(a, seed=1))(parameters)
    assert len(set(different.tolist())) == 4
    with pytest.raises(weir.TracingError, match="randomness='error'"):
        weir.vmap(lambda a: random.poisson(a, seed=1), randomness="error")(parameters)


def test_a_failed_mean_names_its_iteration():
    means = np.float32([1, 2, -3])
    with pytest.raises(weir.FailedPrecondition, match="in iteration 2: poisson needs"):
        weir.pfor(lambda i: random.poisson(wnp.array(means)[i], seed=1), 3)
