"""Distributions that are made of others: their moments, and the same bits whatever runs at once."""

import numpy as np
import pytest
from conftest import assert_same_bits

import weir
from weir import random

N = 40_000
SHARES = np.array([0.2, 0.3, 0.5])
COVARIANCE = np.float32([[2, 0.6], [0.6, 0.5]])


def quantiles(x):
    return np.quantile(x, [0.1, 0.25, 0.5, 0.75, 0.9])


@pytest.mark.parametrize(
    "draw, mean, variance",
    [
        (lambda n: random.laplace((n,), seed=1), 0, 2),
        (lambda n: random.logistic((n,), seed=1), 0, np.pi**2 / 3),
        (lambda n: random.lognormal(0.5, (n,), seed=1), np.exp(1 / 8), np.exp(0.25) * 0.284025),
        (lambda n: random.rademacher((n,), seed=1), 0, 1),
        (lambda n: random.chisquare(3, (n,), seed=1), 3, 6),
        (lambda n: random.student_t(9, (n,), seed=1), 0, 9 / 7),
        (lambda n: random.beta(2, 3.0, (n,), seed=1), 0.4, 0.04),
        (lambda n: random.beta(0.5, 0.5, (n,), "f64", seed=1), 0.5, 1 / 8),
        (lambda n: random.geometric(0.3, (n,), seed=1), 1 / 0.3, 0.7 / 0.09),
        (lambda n: random.pareto(8.0, (n,), seed=1), 8 / 7, 8 / 49 / 6),
        (lambda n: random.weibull(2.0, 2, (n,), seed=1), np.sqrt(np.pi), 4 - np.pi),
        (lambda n: random.rayleigh(2, (n,), "f64", seed=1), np.sqrt(2 * np.pi), 8 - 2 * np.pi),
        (lambda n: random.triangular(1, 2.0, 4, (n,), seed=1), 7 / 3, 7 / 18),
        (lambda n: random.triangular(1, 1.0, 4, (n,), seed=1), 2, 0.5),
        (lambda n: random.loggamma(2.0, (n,), seed=1), 1 - np.euler_gamma, np.pi**2 / 6 - 1),
        (lambda n: random.f(6, 40, (n,), seed=1), 40 / 38, 2 * 40**2 * 44 / (6 * 38**2 * 36)),
        (lambda n: random.maxwell((n,), seed=1), np.sqrt(8 / np.pi), 3 - 8 / np.pi),
        (lambda n: random.double_sided_maxwell(1.0, 2.0, (n,), seed=1), 1, 12),
        (lambda n: random.generalized_normal(1.0, (n,), seed=1), 0, 2),
        (lambda n: random.generalized_normal(2.0, (n,), seed=1), 0, 0.5),
        (lambda n: np.linalg.norm(random.ball(3, 2.0, (n,), seed=1), axis=1) ** 3, 0.5, 1 / 12),
        (lambda n: np.abs(random.ball(2, 1.0, (n,), seed=1)).sum(1) ** 2, 0.5, 1 / 12),
        (lambda n: random.wald(0.5, (n,), seed=1), 0.5, 0.125),
        (lambda n: random.wald(50.0, (n,), "f64", seed=3) ** -1, 1 + 1 / 50, 2 + 1 / 50),
        (lambda n: random.negative_binomial(3, 0.4, (n,), seed=1), 4.5, 4.5 / 0.4),
        (lambda n: random.multinomial(100, SHARES, (n,), seed=1)[:, 1], 30, 21),
        (lambda n: random.dirichlet(np.float32([1, 2, 3]), (n,), seed=1)[:, 2], 0.5, 0.25 / 7),
    ],
)
def test_moments(draw, mean, variance):
    x = draw(N)
    assert abs(x.mean() - mean) < 5 * np.sqrt(variance / N)
    assert abs(x.var() - variance) < 0.05 * variance


def test_cauchy_numbers_have_quantiles():
    want = np.tan(np.pi * (np.array([0.1, 0.25, 0.5, 0.75, 0.9]) - 0.5))
    np.testing.assert_allclose(quantiles(random.cauchy((N,), seed=2)), want, atol=0.15)


def test_shares():
    x = random.dirichlet(np.ones((2, 3)), seed=3)
    assert x.shape == (2, 3) and x.dtype == np.float64
    np.testing.assert_allclose(x.sum(-1), 1)
    # Parameters so small that the gamma numbers themselves are 0.
    tiny = random.dirichlet(np.full(3, 1e-3, np.float32), (200,), seed=3)
    assert np.isfinite(tiny).all() and set(tiny.argmax(1)) == {0, 1, 2}
    tiny = random.beta(np.float32(1e-3), np.float32(1e-3), (N,), seed=3)
    assert abs(tiny.mean() - 0.5) < 0.02 and ((tiny < 0.01) | (tiny > 0.99)).mean() > 0.9
    with pytest.raises(ValueError, match=r"alpha \[..., k\], found a scalar \(.*others.py:\d+"):
        random.dirichlet(1.0, seed=3)


def test_counts_of_outcomes():
    p = np.float32([[2, 3, 0, 5], [1, 1, 1, 1]])
    x = random.multinomial(np.array([100, 7]), p, (N, 2), seed=8)
    assert x.shape == (N, 2, 4) and x.dtype == np.int32 and (x >= 0).all()
    assert (x.sum(-1) == [100, 7]).all() and (x[:, 0, 2] == 0).all()
    share = p[0] / p[0].sum()
    np.testing.assert_allclose(
        np.cov(x[:, 0].T), 100 * (np.diag(share) - np.outer(share, share)), atol=0.6
    )
    assert random.multinomial(5, p, seed=8).shape == (2, 4)
    assert random.multinomial(0, p[0], dtype="f32", seed=8).tolist() == [0.0] * 4
    with pytest.raises(ValueError, match=r"p \[..., k\], found a scalar \(.*others.py:\d+"):
        random.multinomial(3, 0.5, seed=8)


def test_orthogonal_matrices():
    x = random.orthogonal(3, (4000,), "f64", seed=9)
    one = np.broadcast_to(np.eye(3), x.shape)
    np.testing.assert_allclose(x @ x.transpose(0, 2, 1), one, atol=1e-12)
    # Each element has mean 0 and mean square 1/3, and half of them turn without a reflection.
    np.testing.assert_allclose(x.mean(0), 0, atol=0.05)
    np.testing.assert_allclose((x * x).mean(0), 1 / 3, atol=0.03)
    assert abs((np.linalg.det(x) > 0).mean() - 0.5) < 0.04
    assert random.orthogonal(2, seed=9).dtype == np.float32


def test_edges_of_others():
    assert random.geometric(np.ones(100), seed=1).tolist() == [1] * 100
    assert random.geometric(1e-300, seed=1) == 2**31 - 1
    assert np.isfinite(random.loggamma(np.float32(1e-6), (100,), seed=1)).all()
    assert random.ball(0, shape=(3,), seed=1).shape == (3, 0)
    for p in (0.0, -1.0, 1.5, np.nan):
        with pytest.raises(weir.FailedPrecondition, match="probabilities above 0"):
            random.geometric(np.array([0.5, p]), seed=1)


def test_vectors():
    x = random.multivariate_normal(np.float32([1, -1]), COVARIANCE, (N,), seed=4)
    assert x.shape == (N, 2) and x.dtype == np.float32
    np.testing.assert_allclose(x.mean(0), [1, -1], atol=0.04)
    np.testing.assert_allclose(np.cov(x.T), COVARIANCE, atol=0.06)
    means = np.zeros((3, 1, 2), np.float32)
    assert random.multivariate_normal(means, COVARIANCE[None], seed=4).shape == (3, 1, 2)
    with pytest.raises(ValueError, match=r"found f32\[3\] .* and f32\[2,2\]"):
        random.multivariate_normal(np.zeros(3, np.float32), COVARIANCE, seed=4)


def test_shapes_and_types_of_parameters():
    a = np.float64([1, 2, 3])
    for drawn in (
        random.beta(a, 1, seed=5),
        random.chisquare(a, seed=5),
        random.student_t(a, seed=5),
        random.lognormal(a, seed=5),
    ):
        assert drawn.shape == (3,) and drawn.dtype == np.float64
    assert random.beta(1, 2, (4,), seed=5).dtype == np.float32
    assert random.student_t(3, (2, 2), "f64", seed=5).dtype == np.float64
    with pytest.raises(TypeError, match="random floats are wanted in i32"):
        random.beta(1, 1, (2,), "i32", seed=5)


def test_iterations_draw_the_same_together_and_in_turn():
    def body(i):
        half = (i + 1) * 0.5
        return (
            random.laplace((2,), seed=6),
            random.cauchy(seed=6),
            random.rademacher((3,), seed=6),
            random.beta(half, 2, seed=6),
            random.student_t(half, seed=6),
            random.dirichlet(weir.numpy.stack([half, 1.0]), seed=6),
            random.multivariate_normal(weir.numpy.stack([half, half]), COVARIANCE, seed=6),
            random.geometric(half / 4, seed=6),
            random.weibull(half, 2.0, seed=6),
            random.f(half, 3, (2,), seed=6),
            random.ball(2, seed=6),
            random.wald(half, seed=6),
            random.negative_binomial(half, 0.2, seed=6),
            random.multinomial(i * 10, weir.numpy.stack([half, 1.0]), seed=6),
            random.orthogonal(2, seed=6),
        )

    want = weir.for_loop(body, 4)
    for chunk_size in (None, 1, 3):
        assert_same_bits(weir.pfor(body, 4, chunk_size=chunk_size, strict=True), want)
    assert len(np.unique(want[0])) == 8
