"""Reductions of weir.numpy against NumPy."""

import numpy as np
import pytest
from conftest import assert_tree_close

import weir
import weir.numpy as wnp

_RNG = np.random.default_rng(1)
X = _RNG.normal(size=(3, 4, 5)).astype(np.float32)
K = _RNG.integers(-9, 9, size=(3, 4, 5)).astype(np.int32)
B = K > 0
C = (X[..., :4] + 1j * X[..., 1:]).astype(np.complex64)

FUNCTIONS = "sum prod max min mean var std ptp any all"


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS.split())
@pytest.mark.parametrize("x", [X, K], ids=["floats", "integers"])
def test_reductions(name, x, axis):
    x = x.clip(-1, 1) if name == "prod" else x
    assert_tree_close(getattr(wnp, name)(x, axis=axis), getattr(np, name)(x, axis=axis), tol=1e-4)


@pytest.mark.parametrize("name", "sum max mean var".split())
def test_axes_can_be_kept(name):
    assert_tree_close(
        getattr(wnp, name)(X, axis=1, keepdims=True), getattr(np, name)(X, axis=1, keepdims=True)
    )


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", ["argmax", "argmin", "median", "count_nonzero"])
def test_positions(name, axis):
    assert_tree_close(getattr(wnp, name)(X, axis=axis), getattr(np, name)(X, axis=axis))


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_cumulative(name, axis):
    assert_tree_close(getattr(wnp, name)(X, axis=axis), getattr(np, name)(X, axis=axis))


def test_running_extremes():
    assert_tree_close(wnp.cummax(X, 1), np.maximum.accumulate(X, 1))
    assert_tree_close(wnp.cummin(X, -1), np.minimum.accumulate(X, -1))


def test_masks():
    assert_tree_close(wnp.sum(X, 1, where=B), np.sum(X, 1, where=B))
    assert_tree_close(wnp.mean(X, 1, where=B), np.mean(X, 1, where=B))
    assert_tree_close(wnp.max(X, 1, where=B, initial=-1), np.max(X, 1, where=B, initial=-1))
    with pytest.raises(ValueError, match="initial="):
        wnp.max(X, 1, where=B)


def test_not_a_number():
    x = np.where(B, X, np.nan).astype(np.float32)
    assert np.isnan(wnp.max(x))
    for name in ("nansum", "nanmean", "nanmax", "nanmin"):
        assert_tree_close(getattr(wnp, name)(x), getattr(np, name)(x))


def test_logsumexp_does_not_overflow():
    x = np.array([[1000.0, 1001.0], [-np.inf, -np.inf]], np.float32)
    assert_tree_close(wnp.logsumexp(x, axis=1), np.array([1001 + np.log1p(np.exp(-1)), -np.inf]))


def test_others():
    assert_tree_close(wnp.diff(X, 2, axis=1), np.diff(X, 2, axis=1))
    assert_tree_close(wnp.quantile(X, 0.3, axis=0), np.quantile(X, 0.3, axis=0).astype(np.float32))
    weights = np.arange(1, 6)
    assert_tree_close(wnp.average(X, 2, weights), np.average(X, 2, weights))
    assert_tree_close(wnp.var(X, ddof=1), np.var(X, ddof=1))
    assert wnp.allclose(X, X + np.float32(1e-9)) and not wnp.array_equal(X, X + 1)


def test_complex_numbers():
    for name in ("sum", "mean", "var"):
        assert_tree_close(getattr(wnp, name)(C, axis=0), getattr(np, name)(C, axis=0))


def test_sums_of_small_integers_are_wide():
    assert weir.jit(lambda x: x.sum())(np.full(300, 100, np.int8)) == 30000
    assert wnp.sum(B).dtype == np.int32 and wnp.sum(B.astype(np.uint8)).dtype == np.uint32
