"""What people who come from NumPy stumble over: masks beside other items, further updates, empty
axes, infinities, no degrees of freedom.
"""

import warnings

import numpy as np
import pytest
from conftest import assert_same_bits, assert_tree_close

import weir
import weir.numpy as wnp

_RNG = np.random.default_rng(15)
X = _RNG.normal(size=(4, 5)).astype(np.float32)
ROWS, COLUMNS = X[:, 0] > 0, X[0] > 0
ROWS[0] = COLUMNS[1] = True
INDICES = [
    np.s_[ROWS, 1],
    np.s_[ROWS, :2],
    np.s_[:, COLUMNS],
    np.s_[-1, COLUMNS],
    np.s_[..., COLUMNS],
    np.s_[None, X > 0],
    np.s_[0, None, COLUMNS],
    np.s_[ROWS, None, ::-1],
    np.s_[ROWS & False, 2],
    np.s_[::-2, COLUMNS],
]


@pytest.mark.parametrize("index", INDICES, ids=[str(i) for i in range(len(INDICES))])
def test_a_known_mask_beside_other_items(index):
    assert_same_bits(weir.jit(lambda x: x[index])(X), X[index])
    got = weir.vmap(lambda x: x[index], strict=True)(np.stack([X, -X]))
    assert_same_bits(got, np.stack([X[index], -X[index]]))
    want = X.copy()
    want[index] = 7
    assert_same_bits(weir.jit(lambda x: x.at[index].set(7))(X), want)


def test_masks_that_do_not_fit():
    with pytest.raises(IndexError, match=r"a mask of shape \(4,\) does not fit the axes from 1 on"):
        weir.jit(lambda x: x[:, ROWS])(X)
    with pytest.raises(IndexError, match="must stand alone or be known"):
        weir.jit(lambda x, rows: x[rows, 1])(X, ROWS)


PLACES = [np.s_[1:3], np.s_[ROWS], np.s_[:, np.array([0, 3])], np.s_[np.array([2, 2, 0, 2])]]


@pytest.mark.parametrize("index", PLACES, ids=[str(i) for i in range(len(PLACES))])
def test_updates_by_division_powers_and_functions(index):
    x = np.abs(X) + 1
    cases = {
        "divide": (lambda at: at.divide(2), lambda y: np.divide.at(y, index, np.float32(2))),
        "power": (lambda at: at.power(2), lambda y: np.power.at(y, index, np.float32(2))),
        "apply": (lambda at: at.apply(wnp.sqrt), lambda y: np.sqrt.at(y, index)),
    }
    for own, numpy in cases.values():
        want = x.copy()
        numpy(want)
        assert_tree_close(weir.jit(lambda y, own=own: own(y.at[index]))(x), want)
        got = weir.vmap(lambda y, own=own: own(y.at[index]), strict=True)(np.stack([x, x]))
        assert_tree_close(got[1], want)
    got = weir.jit(lambda k: k.at[1].divide(2))(np.int32([4, 5]))
    assert_same_bits(got, np.float32([4, 2.5]))
    numbers = weir.vmap(lambda i: wnp.array(x[0]).at[i].apply(lambda y: -y), strict=True)
    want = np.stack([x[0], x[0]])
    want[0, 1] *= -1
    assert_same_bits(numbers(np.array([1, 9])), want)


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0,)])
def test_axes_without_elements(shape):
    empty = np.zeros(shape, np.float32)
    for axis in range(-1, len(shape)):
        for name in ("trapz", "unwrap", "cumsum", "sort", "diff", "sum", "nancumsum", "flip"):
            own, want = (getattr(m, name)(empty, axis=axis) for m in (wnp, np))
            assert_tree_close(own, want)
    assert wnp.concatenate([empty, empty]).shape == np.concatenate([empty, empty]).shape
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("mean", "var", "std", "cov"):
            assert_tree_close(getattr(wnp, name)(empty), getattr(np, name)(empty))


def test_bins_of_nothing():
    counts, edges = wnp.histogram(np.float32([]), 2)
    assert counts.tolist() == [0, 0] and edges.tolist() == [0, 0.5, 1]
    assert not wnp.histogram2d(np.float32([]), np.float32([]), 2)[0].any()


def test_quantiles_of_infinities():
    x = np.float32([np.inf, -np.inf, 0, np.inf, 1])
    parts = np.float32([0, 0.25, 0.5, 0.75, 1])
    want = np.sort(x)
    for function in (wnp.quantile, wnp.nanquantile):
        for part, number in zip(parts, want):
            assert function(x, float(part)) == number
            assert weir.jit(function)(x, part) == number
    assert wnp.nanmedian(np.float32([np.inf, -np.inf, 0, np.nan])) == 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ddof", [3, 4, 5])
def test_no_degrees_of_freedom_divide_by_zero(ddof):
    x = X[:, :4]
    for name in ("var", "std", "nanvar", "nanstd"):
        assert_tree_close(getattr(wnp, name)(x, 1, ddof=ddof), getattr(np, name)(x, 1, ddof=ddof))
    kept = np.array([True, True, False, True])
    assert_tree_close(wnp.var(x, 1, ddof=ddof, where=kept), np.var(x, 1, ddof=ddof, where=kept))
    assert_tree_close(wnp.cov(x, ddof=ddof), np.cov(x, ddof=ddof))


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2", "true_divide", "hypot", "arctan2"])
@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.int32, np.uint8])
def test_functions_of_floats_make_floats_of_integers(name, kind):
    x, y = np.array([1, 3, 0], kind), np.array([1, 2, 5], kind)
    got = getattr(wnp, name)(x, y)
    assert got.dtype == np.float32
    want = getattr(np, name)(x.astype(np.float32), y.astype(np.float32))
    assert_tree_close(got, want)


def test_searching_puts_nan_behind_all_numbers():
    for line in (np.float32([1, 2, np.nan]), np.float32([]), np.float32([-np.inf, 0, 0, np.inf])):
        values = np.float32([[np.nan, 5, 0], [-np.inf, np.inf, 1]])
        for side in ("left", "right"):
            want = np.searchsorted(line, values, side).astype(np.int32)
            assert_same_bits(wnp.searchsorted(line, values, side), want)
            search = weir.vmap(lambda v, a=line, s=side: wnp.searchsorted(a, v, s), strict=True)
            got = search(values)
            assert_same_bits(got, want)
    with pytest.raises(ValueError, match="takes a sorted vector"):
        wnp.searchsorted(X, X)


@pytest.mark.parametrize("right", [False, True])
def test_borders_of_bins_may_fall(right):
    x = np.float32([-2, -1, 0.5, 1, 3])
    for bins in (np.float32([-1, 0, 1]), np.float32([1, 0, -1]), np.float32([2])):
        want = np.digitize(x, bins, right).astype(np.int32)
        assert_same_bits(wnp.digitize(x, bins, right), want)
        got = weir.vmap(lambda b: wnp.digitize(wnp.array(x), b, right), strict=True)(bins[None])
        assert_same_bits(got[0], want)


@pytest.mark.filterwarnings("ignore")
def test_nothing_but_nan():
    x = np.float32([[np.nan, np.nan, np.nan], [1, np.nan, 3]])
    for name in ("nanmax", "nanmin", "nanmean", "nanmedian", "nanvar"):
        assert_tree_close(getattr(wnp, name)(x, 1), getattr(np, name)(x, 1))
        got = weir.vmap(getattr(wnp, name), strict=True)(x)
        assert_tree_close(got, getattr(np, name)(x, 1))
    # As in JAX; NumPy raises.
    assert wnp.nanargmax(x, 1).tolist() == [-1, 2] and wnp.nanargmin(x, 1).tolist() == [-1, 0]
    great = np.int64([2**60, 2**60 + 1])
    assert wnp.nanargmax(great) == 1 and wnp.nanmax(great) == great[1]
    z = np.complex64([complex(np.nan, 1), complex(np.inf, -np.inf)])
    assert_same_bits(wnp.nan_to_num(z), np.nan_to_num(z))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: wnp.quantile(X, 1.5), ValueError, "between 0 and 1, found 1.5"),
        (lambda: wnp.percentile(X, [50, -10]), ValueError, "between 0 and 1, found -0.1"),
        (lambda: wnp.average(X, 0, X[0]), ValueError, r"its one axis 0, found f32\[5\]"),
        (lambda: wnp.average(X, weights=X[0]), ValueError, r"its one axis None"),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
