"""Movements, creation, parts of matrices and orders of weir.numpy against NumPy."""

import numpy as np
import pytest
from conftest import assert_tree_close

import weir
import weir.numpy as wnp

_RNG = np.random.default_rng(2)
X = _RNG.normal(size=(4, 5)).astype(np.float32)
T = _RNG.normal(size=(2, 3, 4)).astype(np.float32)
K = _RNG.integers(0, 4, size=(4, 5)).astype(np.int32)

CALLS = [
    ("reshape", (X, (2, -1))),
    ("ravel", (X,)),
    ("transpose", (T,)),
    ("transpose", (T, (1, 2, 0))),
    ("swapaxes", (T, 0, 2)),
    ("moveaxis", (T, 0, -1)),
    ("moveaxis", (T, (0, 1), (2, 0))),
    ("expand_dims", (X, (0, 2))),
    ("squeeze", (X[None, :, None],)),
    ("squeeze", (X[None], 0)),
    ("broadcast_to", (X, (3, 4, 5))),
    ("broadcast_arrays", (X, X[0])),
    ("atleast_1d", (3.0,)),
    ("atleast_2d", (X[0],)),
    ("concatenate", ([X, X], 1)),
    ("concatenate", ([X, T], None)),
    ("stack", ([X, K], 1)),
    ("vstack", ([X[0], X],)),
    ("hstack", ([X, X],)),
    ("hstack", ([X[0], X[1]],)),
    ("dstack", ([X, X],)),
    ("column_stack", ([X[0], X[1]],)),
    ("append", (X, X, 0)),
    ("split", (X, 2)),
    ("split", (X, [1, 3])),
    ("array_split", (X, 3, 1)),
    ("tile", (X, (2, 1, 3))),
    ("tile", (T, 2)),
    ("repeat", (X, 2, 0)),
    ("repeat", (X, 3)),
    ("repeat", (X, [1, 0, 2, 1], 0)),
    ("flip", (X,)),
    ("flip", (X, 1)),
    ("flipud", (X,)),
    ("fliplr", (X,)),
    ("rot90", (X,)),
    ("rot90", (X, 2)),
    ("rot90", (X, 3)),
    ("roll", (X, 2)),
    ("roll", (X, -1, 1)),
    ("roll", (X, (1, 2), (0, 1))),
    ("roll", (X, (1, 2), 1)),
    ("roll", (X, 1, (0, 1))),
    ("roll", (X, np.array([1, -2]), (0, 1))),
    ("delete", (X, 1, 0)),
    ("pad", (X, ((1, 2), (0, 1)))),
    ("pad", (X, 1, "edge")),
    ("pad", (X, 2, "reflect")),
    ("pad", (X, 2, "symmetric")),
    ("pad", (X, 3, "wrap")),
    ("tril", (X, -1)),
    ("triu", (X, 1)),
    ("tril", (T,)),
    ("diag", (X, 1)),
    ("diag", (X[0], -2)),
    ("diagonal", (T, 1, 0, 2)),
    ("trace", (X,)),
    ("vander", (X[0], 3)),
    ("eye", (3, 4, 1)),
    ("identity", (3,)),
    ("tri", (3, 4, -1)),
    ("zeros", ((2, 3),)),
    ("ones", (3,)),
    ("full", ((2, 2), 7)),
    ("zeros_like", (X,)),
    ("ones_like", (K,)),
    ("full_like", (X, 3)),
    ("arange", (5,)),
    ("arange", (2, 9, 3)),
    ("arange", (9, 2, -3)),
    ("arange", (0.0, 1.0, 0.3)),
    ("linspace", (0, 1, 7)),
    ("linspace", (0, 1, 4, False)),
    ("meshgrid", (X[0], X[1])),
    ("indices", ((2, 3),)),
    ("sort", (X,)),
    ("sort", (X, 0)),
    ("sort", (X, None)),
    ("argsort", (X, 0)),
    ("take", (X, K)),
    ("take", (X, [1, -2][0], 1)),
    ("take", (X, np.array([[1], [-2]]), 1)),
    ("take_along_axis", (X, K, 0)),
    ("searchsorted", (np.sort(X[0]), X[1])),
    ("digitize", (X[0], np.sort(X[1]))),
    ("interp", (X[0], np.sort(X[1]), X[2])),
    ("polyval", (X[0], X[1])),
]


@pytest.mark.parametrize(
    "name, args", CALLS, ids=[f"{i}-{name}" for i, (name, _) in enumerate(CALLS)]
)
def test_as_numpy(name, args):
    want = getattr(np, name)(*args)
    want = list(want) if isinstance(want, tuple) else want
    assert_tree_close(getattr(wnp, name)(*args), want)


def test_what_numpy_has_under_other_names():
    values, places = wnp.top_k(X, 2)
    assert_tree_close(values, -np.sort(-X)[:, :2])
    assert_tree_close(places, np.argsort(-X)[:, :2].astype(np.int32))
    assert_tree_close(wnp.sort(X, descending=True), -np.sort(-X))
    assert_tree_close(
        wnp.bincount(K.ravel(), length=5), np.bincount(K.ravel(), minlength=5).astype(np.int32)
    )
    assert_tree_close(wnp.matrix_transpose(T), np.swapaxes(T, 1, 2))


def test_arrays_of_lists():
    assert wnp.array([1, 2]).dtype == np.int32 and wnp.array([1.0]).dtype == np.float32
    assert wnp.array([1, 2], "f64").dtype == np.float64

    @weir.jit
    def mixed(x):
        return wnp.array([[x[0, 0], 1], [2, x[1, 1]]])

    assert_tree_close(mixed(X), np.array([[X[0, 0], 1], [2, X[1, 1]]], np.float32))


def test_sizes_must_be_known():
    with pytest.raises(TypeError, match="decide the shape"):
        weir.jit(wnp.arange)(3)
    with pytest.raises(ValueError, match="cannot reshape"):
        wnp.reshape(X, (3, 7))


def test_shifts_of_the_run():
    shifts = np.int8([3, -7])
    for axis in (0, (0, 1)):
        got = weir.jit(lambda x, shifts, axis=axis: wnp.roll(x, shifts, axis))(X, shifts)
        np.testing.assert_array_equal(got, np.roll(X, shifts, axis))
    with pytest.raises(ValueError, match=r"roll has 2 shifts and 3 axes \(.*\.py:\d+\)"):
        wnp.roll(np.ones((2, 2, 2)), (1, 2), (0, 1, 2))
