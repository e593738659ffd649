"""Indexing and updates against NumPy."""

import numpy as np
import pytest
from conftest import assert_tree_close

import weir
import weir.numpy as wnp

_RNG = np.random.default_rng(4)
X = _RNG.normal(size=(4, 5, 6)).astype(np.float32)
I = np.array([2, 0, -1])
M = np.array([[0, 1], [3, -1]])

INDICES = [
    np.s_[1:3],
    np.s_[::-1, -1],
    np.s_[2],
    np.s_[None, 1, :, None],
    np.s_[..., 0],
    np.s_[-3:, ::2],
    np.s_[3:1],
    np.s_[1, 2, 3],
    np.s_[I],
    np.s_[:, I],
    np.s_[M, M],
    np.s_[I[:, None], I[None]],
    np.s_[1:4, I],
    np.s_[::-1, M],
    np.s_[I, :, I],
    np.s_[:, I, I],
    np.s_[0, :, I],
    np.s_[I, 1:3],
    np.s_[:, 0, I],
    np.s_[I, None, I],
    np.s_[..., M],
    np.s_[M, :, 0],
    np.s_[::-2, M, ::2],
    np.s_[:],
    np.s_[...],
    np.s_[()],
    np.s_[np.int64(2)],
]


@pytest.mark.parametrize("number", range(len(INDICES)))
def test_reading(number):
    index = INDICES[number]
    assert_tree_close(weir.jit(lambda x: x[index])(X), X[index])


@pytest.mark.parametrize("number", range(len(INDICES)))
@pytest.mark.parametrize(
    "name, ufunc",
    [
        ("add", np.add),
        ("multiply", np.multiply),
        ("min", np.minimum),
        ("max", np.maximum),
        ("subtract", np.subtract),
    ],
)
def test_updates(number, name, ufunc):
    index = INDICES[number]
    value = _RNG.normal(size=X[index].shape).astype(np.float32)
    want = X.copy()
    ufunc.at(want, index, value)
    assert_tree_close(weir.jit(lambda x, v: getattr(x.at[index], name)(v))(X, value), want)


@pytest.mark.parametrize("number", [i for i, index in enumerate(INDICES) if index is not M])
def test_assignment(number):
    index = INDICES[number]
    want = X.copy()
    want[index] = 7
    assert_tree_close(weir.jit(lambda x: x.at[index].set(7))(X), want)


def test_the_last_of_equal_places_wins():
    x = np.zeros(3, np.float32)
    places = np.array([1, 1])
    assert_tree_close(
        weir.jit(lambda x, i: x.at[i].set(wnp.array([5.0, 6.0])))(x, places), [0, 6, 0] + x
    )


@pytest.mark.parametrize("k", [0, 3, -1, -4])
def test_traced_integers(k):
    index = np.int32(k)
    assert_tree_close(weir.jit(lambda x, k: x[k])(X, index), X[k])
    assert_tree_close(weir.jit(lambda x, k: x[:, 1, k])(X, index), X[:, 1, k])
    assert_tree_close(weir.jit(lambda x, k: x[k, ::2, M])(X, index), X[k, ::2, M])


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8])
def test_an_index_whose_type_does_not_hold_the_extent(dtype):
    x, k = np.arange(70000), np.array([5, 100, -1 if dtype != np.uint8 else 200]).astype(dtype)
    np.testing.assert_array_equal(weir.jit(lambda x, k: x[k])(x, k), x[k])
    added = weir.jit(lambda x, k: x.at[k].add(1))(x, k)
    np.testing.assert_array_equal(np.flatnonzero(added - x), np.sort(x[k]))


def test_traced_integers_outside():
    x = np.arange(4, dtype=np.float32)
    assert weir.jit(lambda x, k: x[k])(x, 9) == 3
    assert_tree_close(weir.jit(lambda x, k: x.at[k].set(7))(x, 9), x)


def test_known_integers_outside_raise():
    for index in (9, -5, np.array([1, 9])):
        with pytest.raises(IndexError, match="outside of axis 0 of size 4"):
            weir.jit(lambda x, index=index: x[index])(X)
    with pytest.raises(IndexError, match="4 indices for an array of 3 axes"):
        weir.jit(lambda x: x[0, 0, 0, 0])(X)


def test_masks_stand_alone_and_fit():
    for function in (lambda x: x[True], lambda x: x[x[:, 0, 0] > 0, 0]):
        with pytest.raises(IndexError, match="weir.numpy.where"):
            weir.jit(function)(X)
    for index in (X[:3] > 0, X[:, :1] > 0):
        with pytest.raises(IndexError, match="mask of shape .* does not fit the first axes of"):
            weir.jit(lambda x, index=index: x[index])(X)


def test_known_masks_choose_as_in_numpy():
    for mask in (X > 0, X[:, :, 0] > 0, X[:, 0, 0] > 0, np.zeros(X.shape, bool)):
        np.testing.assert_array_equal(weir.jit(lambda x, mask=mask: x[mask])(X), X[mask])


@pytest.mark.parametrize("known", [True, False])
def test_updates_of_masks(known):
    mask = X[:, :, 0] > 0
    row = np.arange(X.shape[2], dtype=X.dtype)
    updates = {
        "set": lambda x: row,
        "add": lambda x: x + row,
        "subtract": lambda x: x - row,
        "multiply": lambda x: x * row,
        "min": lambda x: np.minimum(x, row),
        "max": lambda x: np.maximum(x, row),
    }
    for name, update in updates.items():
        want = X.copy()
        want[mask] = update(X[mask])
        if known:
            got = weir.jit(lambda x, name=name: getattr(x.at[mask], name)(row))(X)
        else:
            got = weir.jit(lambda x, m, name=name: getattr(x.at[m], name)(row))(X, mask)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["set", "add", "multiply", "min", "max", "subtract"])
@pytest.mark.parametrize("value", [2, np.float32([3, -1, 0, 5, 1, 2])])
def test_masks_choose_what_is_updated(name, value):
    def numpy_update(x, mask):
        operations = {
            "set": lambda old: np.broadcast_to(value, old.shape),
            "add": lambda old: old + value,
            "multiply": lambda old: old * value,
            "min": lambda old: np.minimum(old, value),
            "max": lambda old: np.maximum(old, value),
            "subtract": lambda old: old - value,
        }
        x = x.copy()
        x[mask] = operations[name](x[mask])
        return x

    def update(x, mask):
        return getattr(x.at[mask], name)(value)

    masks = [X[:, 0, 0] > 0, X[:, :, 0] > 0] + ([X > 0] if np.ndim(value) == 0 else [])
    for mask in masks:
        np.testing.assert_array_equal(weir.jit(update)(X, mask), numpy_update(X, mask))
        known = weir.jit(lambda x, mask=mask: update(x, mask))(X)
        np.testing.assert_array_equal(known, numpy_update(X, mask))
    rows, row_masks = np.stack([X, -X]), np.stack([masks[1], ~masks[1]])
    got = weir.vmap(update, strict=True)(rows, row_masks)
    want = [numpy_update(x, mask) for x, mask in zip(rows, row_masks)]
    np.testing.assert_array_equal(got, want)


def test_masks_that_do_not_fit():
    with pytest.raises(IndexError, match=r"shape \(2,\) does not fit .* f32.*indexing.py:\d+"):
        weir.jit(lambda x: x.at[np.ones(2, bool)].set(0))(X)
    with pytest.raises(ValueError, match=r"a mask .* is set, found f32\[7\].*weir.numpy.where"):
        weir.jit(lambda x: x.at[x > 0].set(np.ones(7, np.float32)))(X)


def test_a_row_by_the_loop_variable_is_no_copy():
    text = weir.jit(lambda x: weir.vmap(lambda row: row * 2)(x)).lower(X).text
    assert "select" not in text and text.count("gather") == 1
