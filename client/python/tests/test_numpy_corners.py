"""Corners in which weir.numpy is NumPy: infinities, NaN, integers of 64 bits, nothing at all."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp

INF, NAN = np.inf, np.nan
WIDE = np.array([[2**60 + 1, -(2**60) - 3], [5, 2**60]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floor_divisions_are_those_of_the_exact_quotient(dtype):
    x = np.array([1, -1, 1, -1, 7.5, -7.5, 0, 1, -1, NAN, 6, INF], dtype)
    y = np.array([0.1, 0.1, INF, INF, 2, 2, 3, 0, 0, 1, 0.1, 2], dtype)
    with np.errstate(all="ignore"):
        want = np.floor_divide(x, y)
    np.testing.assert_array_equal(wnp.floor_divide(x, y), want)
    np.testing.assert_array_equal(weir.vmap(lambda x, y: x // y, strict=True)(x, y), want)
    np.testing.assert_array_equal(wnp.divmod(x, y)[0], want)
    assert wnp.floor_divide(np.float32(1), 0.1) == 9
    assert wnp.floor_divide(WIDE, 2).tolist() == (WIDE // 2).tolist()
    with pytest.raises(TypeError, match=r"not defined for bool.*corners.py:\d+"):
        wnp.floor_divide(x > 0, y > 0)


@pytest.mark.parametrize("name", ["fmax", "fmin", "nanmax", "nanmin"])
def test_integers_keep_their_type_and_their_digits(name):
    arguments = (WIDE, WIDE[::-1]) if name.startswith("f") else (WIDE, 1)
    got, want = getattr(wnp, name)(*arguments), getattr(np, name)(*arguments)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    x = np.array([[1, NAN], [NAN, -2]], np.float32)
    arguments = (x, x[::-1]) if name.startswith("f") else (x, 1)
    np.testing.assert_array_equal(getattr(wnp, name)(*arguments), getattr(np, name)(*arguments))


@pytest.mark.parametrize("name", ["max", "min", "ptp", "nanmax", "nanmin"])
def test_there_is_no_greatest_of_no_elements(name):
    x = np.zeros((0, 3), np.float32)
    with pytest.raises(ValueError, match=r"element of f32\[0,3\].*initial= \(.*corners.py:\d+\)"):
        getattr(wnp, name)(x, axis=0)
    assert getattr(wnp, name)(x, axis=1).shape == (0,)


def test_what_there_is_of_no_elements():
    x = np.zeros((0, 3), np.float32)
    assert wnp.max(x, axis=0, initial=-1).tolist() == [-1, -1, -1]
    for function in (wnp.median, wnp.nanmedian):
        assert np.isnan(function(x)) and np.isnan(function(x, axis=0)).tolist() == [True] * 3
        assert function(x, axis=0, keepdims=True).shape == (1, 3)
        assert function(x, axis=1).shape == (0,)
    assert np.isnan(wnp.quantile(x, [0.1, 0.5], 0)).shape == (2, 3)


@pytest.mark.parametrize("axis", [(0, 1), (2, 0), (-1, 1, 0), (1,)])
def test_quantiles_over_several_axes(axis):
    x = np.random.default_rng(3).normal(size=(3, 4, 5)).astype(np.float32)
    for keepdims in (False, True):
        for name, q in (("median", ()), ("quantile", (0.3,)), ("nanquantile", (0.8,))):
            got = getattr(wnp, name)(x, *q, axis=axis, keepdims=keepdims)
            want = getattr(np, name)(x, *q, axis=axis, keepdims=keepdims)
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-5)
        q = np.float32([0.2, 0.9])
        got = weir.jit(lambda x, q: wnp.quantile(x, q, axis, keepdims))(x, q)
        want = np.quantile(x, q, axis=axis, keepdims=keepdims)
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_bounds_have_the_names_of_both_numpys():
    x = np.arange(6)
    for bounds in ({"min": 1, "max": 3}, {"a_min": 1, "a_max": 3}):
        assert wnp.clip(x, **bounds).tolist() == [1, 1, 2, 3, 3, 3]
    assert wnp.clip(x, a_max=2).tolist() == [0, 1, 2, 2, 2, 2]


@pytest.mark.parametrize("shape", [(4, 6), (-1, 3), (24,), (2, 2, 6)])
def test_the_first_index_may_count_fastest(shape):
    x = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(wnp.reshape(x, shape, order="F"), x.reshape(shape, order="F"))
    got = weir.vmap(lambda x: x.reshape(shape, order="F"))(np.stack([x, -x]))
    np.testing.assert_array_equal(got[1], -x.reshape(shape, order="F"))
    with pytest.raises(ValueError, match="'C' or 'F', found 'A'"):
        wnp.reshape(x, shape, order="A")


def test_a_gradient_does_not_look_at_its_own_place():
    x = np.array([1, 2, NAN, 5, 7, INF, 3, 4], np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(wnp.gradient(x), np.gradient(x))
