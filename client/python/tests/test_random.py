"""Random numbers: their distributions, and on what they depend."""

import numpy as np
import pytest
from conftest import assert_same_bits

import weir
from weir import random

N = 20_000


def test_uniform():
    x = random.uniform((N,), seed=1)
    assert x.dtype == np.float32 and (0 <= x).all() and (x < 1).all()
    assert abs(x.mean() - 0.5) < 0.01 and abs(x.var() - 1 / 12) < 0.003
    y = random.uniform((N,), "f64", -2, 3, seed=1)
    assert (
        y.dtype == np.float64 and (-2 <= y).all() and (y < 3).all() and abs(y.mean() - 0.5) < 0.05
    )


def test_normal():
    x = random.normal((N,), seed=2)
    assert abs(x.mean()) < 0.03 and abs(x.std() - 1) < 0.02
    y = random.truncated_normal(-1.0, 0.5, (N,), seed=2)
    assert (-1 <= y).all() and (y <= 0.5).all() and y.std() > 0.3


def test_discrete_distributions():
    assert abs(random.bernoulli(0.3, (N,), seed=3).mean() - 0.3) < 0.015
    dice = random.randint((N,), -2, 4, seed=4)
    assert dice.dtype == np.int32 and set(dice) == set(range(-2, 4))
    assert abs(dice.mean() - 0.5) < 0.05
    logits = np.log(np.array([0.1, 0.2, 0.7], np.float32))
    counts = np.bincount(random.categorical(logits, shape=(N,), seed=5), minlength=3) / N
    np.testing.assert_allclose(counts, [0.1, 0.2, 0.7], atol=0.015)
    chosen = random.choice(np.array([5, 7]), (N,), p=np.array([0.25, 0.75], np.float32), seed=6)
    assert abs((chosen == 7).mean() - 0.75) < 0.015
    assert abs(random.exponential((N,), seed=7).mean() - 1) < 0.03
    assert abs(random.gumbel((N,), seed=8).mean() - 0.5772) < 0.05
    assert len(set(random.bits((N,), "u64", seed=9))) == N


def test_permutation():
    x = random.permutation(50, seed=1)
    assert sorted(x) == list(range(50)) and list(x) != list(range(50))
    rows = np.arange(12).reshape(3, 4)
    assert sorted(random.permutation(rows, axis=1, seed=2)[1]) == [4, 5, 6, 7]


def test_seeds():
    assert_same_bits(random.normal((5,), seed=1), random.normal((5,), seed=1))
    assert (random.normal((5,), seed=1) != random.normal((5,), seed=2)).all()

    @weir.jit
    def two(seed):
        return random.uniform((4,), seed=seed), random.uniform((4,), seed=seed)

    first, second = two(3)
    assert (first != second).all()
    assert_same_bits(two(3), (first, second))
    assert (two(4)[0] != first).all()
    with pytest.raises(OverflowError):
        random.uniform(seed=2**80)
    with pytest.raises(TypeError):
        random.uniform(seed=np.float32(1))


def test_iterations_do_not_depend_on_their_number():
    def draw(i):
        return random.normal((3,), seed=1)

    ten = weir.pfor(draw, 10)
    assert_same_bits(weir.pfor(draw, 4), ten[:4])
    assert len(np.unique(ten)) == 30
