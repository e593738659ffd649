"""Statistics, signals, places and integers of weir.numpy against NumPy, alone and under vmap."""

import numpy as np
import pytest
from conftest import assert_same_bits, assert_tree_close

import weir
import weir.numpy as wnp

_RNG = np.random.default_rng(4)
X = _RNG.normal(size=(4, 5)).astype(np.float32)
V, W = X[0], X[1, :3]
K = _RNG.integers(-9, 9, size=(4, 5)).astype(np.int32)
NAN = np.where(_RNG.random((4, 5)) < 0.3, np.nan, X).astype(np.float32)
C = (X + 1j * X[::-1]).astype(np.complex64)

CALLS = [
    ("percentile", (X, 30), {}),
    ("percentile", (X, [10, 50.5], 1), {}),
    ("percentile", (X, 25, 0), {"keepdims": True}),
    ("quantile", (X, [0, 0.3, 1]), {}),
    ("quantile", (X, np.array([[0.2], [0.7]]), 0), {}),
    ("cov", (X,), {}),
    ("cov", (V,), {}),
    ("cov", (X, X[::-1]), {}),
    ("cov", (X,), {"rowvar": False}),
    ("cov", (C,), {"ddof": 0}),
    ("corrcoef", (X,), {}),
    ("corrcoef", (V, X[1]), {}),
    ("histogram", (X,), {"bins": 4}),
    ("histogram", (X,), {"bins": 3, "range": (-1, 1)}),
    ("histogram", (K,), {"bins": [-9, 0, 3, 8]}),
    ("histogram", (X,), {"bins": 4, "weights": np.abs(X)}),
    ("histogram", (np.ones(3, "f"),), {"bins": 2}),
    ("nanprod", (NAN, 0), {}),
    ("nanvar", (NAN, 1), {"ddof": 1}),
    ("nanstd", (NAN,), {}),
    ("nanargmax", (NAN, 1), {}),
    ("nanargmin", (NAN,), {}),
    ("nancumsum", (NAN, 0), {}),
    ("nanquantile", (NAN, 0.3), {}),
    ("nanquantile", (NAN, 0.9, 1), {"keepdims": True}),
    ("nanmedian", (NAN, 0), {}),
    *[("convolve", (V, W, mode), {}) for mode in ("full", "same", "valid")],
    *[("convolve", (W, V, mode), {}) for mode in ("full", "same", "valid")],
    *[("convolve", (V, X[1, :4], mode), {}) for mode in ("full", "same", "valid")],
    *[("correlate", (V, W, mode), {}) for mode in ("full", "same", "valid")],
    *[("correlate", (W, V, mode), {}) for mode in ("full", "same", "valid")],
    ("correlate", (C[0], C[1, :2], "full"), {}),
    ("convolve", (K[0], K[1, :2]), {}),
    ("gradient", (X,), {}),
    ("gradient", (X, 0.5), {"axis": 1}),
    ("gradient", (V,), {}),
    ("trapz", (X,), {}),
    ("trapz", (X, np.sort(V)), {}),
    ("trapz", (X, None, 0.1, 0), {}),
    ("unwrap", (np.cumsum(3 * X, 1),), {}),
    ("unwrap", (K,), {"period": 5.0, "axis": 0}),
    ("bartlett", (6,), {}),
    ("blackman", (6,), {}),
    ("hamming", (6,), {}),
    ("hanning", (6,), {}),
    ("geomspace", (1, 1000, 4), {}),
    ("tril_indices", (3, 1), {}),
    ("triu_indices", (3, 0, 4), {}),
    ("diag_indices", (3, 3), {}),
    ("ix_", (np.array([0, 2]), np.array([1, 3, 4])), {}),
    ("unravel_index", (np.arange(12).reshape(3, 4), (3, 2, 2)), {}),
    ("ravel_multi_index", ((np.array([0, 2]), np.array([1, 0])), (3, 4)), {}),
    ("lexsort", ((K[0] % 3, K[1] % 2, K[2] % 2),), {}),
    ("lexsort", ((K % 3, K[::-1] % 2), 0), {}),
    ("isin", (K, [1, -3, 5]), {}),
    ("isin", (K, np.array([[1], [2]])), {"invert": True}),
    ("insert", (X, 1, V, 0), {}),
    ("insert", (X, -1, 3, 1), {}),
    ("insert", (X, 5, X[:, :2].T, 1), {}),
    ("insert", (X, 2, X[:, 0], 1), {}),
    ("diagflat", (X[:2, :2], -1), {}),
    ("atleast_3d", (V,), {}),
    ("atleast_3d", (X,), {}),
    ("rollaxis", (X[None], 2), {}),
    ("rollaxis", (X[None], 0, 3), {}),
    ("hsplit", (X, [1, 3]), {}),
    ("hsplit", (V, 5), {}),
    ("vsplit", (X, 2), {}),
    ("dsplit", (X[None, :, :4], 2), {}),
    ("block", ([[X, X], [X[:1], V]],), {}),
    ("block", ([V, 3.0],), {}),
    ("resize", (X, (3, 9)), {}),
    ("array_equiv", (X, X[None]), {}),
    ("array_equiv", (X, X[:2]), {}),
    ("iscomplex", (C.real + 0j,), {}),
    ("isreal", (C,), {}),
    ("gcd", (K, K[::-1]), {}),
    ("gcd", (12, K), {}),
    ("lcm", (K, 4), {}),
]


def _arrays(result):
    """Returns: a result whose tuples are lists, and whose numbers are arrays."""
    result = list(result) if isinstance(result, tuple) else result
    return weir.tree.map(np.asarray, result)


@pytest.mark.parametrize(
    "name, args, kwargs", CALLS, ids=[f"{i}-{name}" for i, (name, *_) in enumerate(CALLS)]
)
def test_as_numpy(name, args, kwargs):
    got, want = getattr(wnp, name)(*args, **kwargs), getattr(np, name)(*args, **kwargs)
    got, want = _arrays(got), _arrays(want)
    assert_tree_close(got, want, tol=1e-4)
    for a, b in zip(weir.tree.leaves(got), weir.tree.leaves(want)):
        assert a.dtype.kind == b.dtype.kind


@pytest.mark.parametrize(
    "name, args, kwargs",
    [call for call in CALLS if isinstance(call[1][0], np.ndarray)],
)
def test_examples_at_once(name, args, kwargs):
    """The first argument varies."""
    first, *rest = args
    rows = np.stack([first, first[::-1], first])

    def function(row):
        return getattr(wnp, name)(row, *rest, **kwargs)

    # The sums of a product may be made in another order for many rows.
    tol = 1e-5 if name in ("cov", "corrcoef", "convolve", "correlate") else 0
    got = weir.vmap(function, strict=True)(rows)
    for i, row in enumerate(rows):
        want = weir.jit(function)(row)
        (assert_tree_close if tol else assert_same_bits)(weir.tree.map(lambda x: x[i], got), want)


def test_a_part_of_a_matrix():
    rows, columns = np.array([0, 2]), np.array([1, 3, 4])
    part = weir.jit(lambda x: x[wnp.ix_(rows, columns)])(X)
    assert_same_bits(part, X[np.ix_(rows, columns)])
    upper = weir.jit(lambda x: x[wnp.triu_indices(4)])(X)
    assert_same_bits(upper, X[np.triu_indices(4)])


def test_quantiles_that_the_run_chooses():
    x = NAN.copy()
    x[:, 0] = X[:, 0]
    q = np.float32([0.0, 0.25, 0.9, 1.0])
    for axis in (None, 0, 1):
        got = weir.jit(lambda x, q, axis=axis: wnp.quantile(x, q, axis))(X, q)
        assert_tree_close(got, np.quantile(X, q, axis))
        got = weir.jit(lambda x, q, axis=axis: wnp.quantile(x, q, axis, keepdims=True))(x, q)
        assert_tree_close(got, np.quantile(x, q, axis, keepdims=True))
    got = weir.vmap(lambda part: wnp.percentile(wnp.array(X), part * 100), strict=True)(q)
    assert_tree_close(got, np.quantile(X, q))
    assert np.isnan(wnp.nanmedian(np.full(3, np.nan, np.float32)))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_functions_of_lines(axis):
    table = _RNG.normal(size=(2, 3, 4)).astype(np.float32)
    functions = [
        lambda line: line.sum(),
        lambda line: line[::-1],
        lambda line: line[:, None] * line,
    ]
    for function in functions:
        got = wnp.apply_along_axis(function, axis, table)
        want = np.apply_along_axis(function, axis, table)
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5)
    assert wnp.apply_along_axis(functions[0], 0, V) == wnp.sum(V)


@pytest.mark.parametrize("endpoint", [True, False])
def test_lines_between_arrays(endpoint):
    got = weir.vmap(lambda a, b: wnp.linspace(a, b, 4, endpoint), strict=True)(X, X[::-1])
    for i in range(4):
        want = np.linspace(X[i], X[::-1][i], 4, endpoint)
        np.testing.assert_allclose(got[i], want, rtol=1e-5, atol=1e-6)
    assert wnp.linspace(0, V, 3).shape == (3, 5)


def test_partitions_are_sorted():
    assert_same_bits(wnp.partition(X, 2), np.sort(X))
    assert_same_bits(wnp.argpartition(X, 1, 0), np.argsort(X, 0).astype(np.int32))
    assert wnp.broadcast_shapes((3, 1), 4, (1, 1)) == (3, 4)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: wnp.convolve(X, V), ValueError, r"convolve takes two vectors .* f32\[4,5\]"),
        (lambda: wnp.convolve(V, W, "all"), ValueError, "found 'all'"),
        (lambda: wnp.gradient(V[:1]), ValueError, "two elements along axis 0"),
        (lambda: wnp.cov(X[None]), ValueError, "cov takes a matrix"),
        (lambda: wnp.gcd(V, V), TypeError, "gcd takes integers, found f32"),
        (lambda: wnp.ix_(X), ValueError, "ix_ takes vectors"),
        (lambda: wnp.insert(X, 6, V, 0), IndexError, "6 is outside of axis 0 of size 4"),
        (lambda: wnp.partition(X, 5), ValueError, "kth: index 5 is outside of axis 1 of size 5"),
        (lambda: wnp.ravel_multi_index((1,), (2, 2)), ValueError, "1 indices for 2 axes"),
        (lambda: wnp.resize(V[:0], (2,)), ValueError, "no element to fill"),
        (lambda: wnp.lexsort(()), ValueError, "needs a key"),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
