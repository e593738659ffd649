"""weir.special against figures of scipy.special, and what vmap makes of it.

`special_figures.json` holds [function, operands, results] of SciPy 1.17, to eight digits.
"""

import json
import math
import pathlib

import numpy as np
import pytest
from conftest import assert_same_bits

import weir
from weir import special

_PATH = pathlib.Path(__file__).parent / "special_figures.json"
FIGURES = json.loads(_PATH.read_text(encoding="utf-8"))


def _numbers(x, kind=np.float64):
    return x if isinstance(x, int) else np.array([float(v) for v in x], np.float32).astype(kind)


def _results(function, operands):
    found = function(*operands)
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name, operands, want", FIGURES, ids=[f"{i}-{row[0]}" for i, row in enumerate(FIGURES)]
)
def test_as_scipy(name, operands, want, kind):
    operands = [_numbers(x, kind) for x in operands]
    for got, figures in zip(_results(getattr(special, name), operands), want, strict=True):
        assert got.dtype == kind
        figures = np.array([float(v) for v in figures])
        with np.errstate(over="ignore"):
            figures = figures.astype(kind)
        np.testing.assert_allclose(got, figures, rtol=3e-6, atol=1e-7)
        assert_signs(got, figures)


def assert_signs(got, want):
    """Infinities and numbers that are not 0 have equal signs."""
    shown = ~np.isnan(want) & (np.abs(want) > 1e-6)
    np.testing.assert_array_equal(np.sign(got[shown]), np.sign(want[shown]))


@pytest.mark.parametrize(
    "name, operands, want", FIGURES, ids=[f"{i}-{row[0]}" for i, row in enumerate(FIGURES)]
)
def test_vmap_has_the_bits_of_the_whole(name, operands, want):
    del want
    operands = [_numbers(x, np.float32) for x in operands]
    axes = tuple(None if isinstance(x, int) else 0 for x in operands)
    function = getattr(special, name)
    # A Python integer stays one.
    fixed = {i: x for i, x in enumerate(operands) if isinstance(x, int)}

    def one(*rows):
        rows = iter(rows)
        return function(*(fixed[i] if i in fixed else next(rows) for i in range(len(operands))))

    arrays = [x for x, axis in zip(operands, axes) if axis == 0]
    got = _results(weir.vmap(one, strict=True), arrays)
    assert_same_bits(got, _results(function, operands))


def test_every_function_is_compared():
    elsewhere = {"bernoulli", "digamma", "log_softmax", "logsumexp", "softmax"}
    assert set(special.__all__) - {name for name, *_ in FIGURES} == elsewhere


def test_numbers_of_bernoulli():
    want = [1, -1 / 2, 1 / 6, 0, -1 / 30, 0, 1 / 42, 0, -1 / 30, 0, 5 / 66]
    np.testing.assert_allclose(special.bernoulli(10), want, rtol=1e-7)
    assert special.bernoulli(0).tolist() == [1]


def test_integers_and_orders():
    assert special.gamma(np.int32([1, 2, 5])).tolist() == [1, 1, 24]
    assert special.comb(np.int32([40]), np.int32([2])).tolist() == [780]
    assert special.comb(3, 2, repetition=True) == 6
    assert special.expit(0.0) == 0.5 and special.zeta(2.0) == np.float32(math.pi**2 / 6)
    orders = np.int32([1, 2, 3])
    got = weir.vmap(lambda n: special.expn(n, np.float32(0.5)), strict=True)(orders)
    assert_same_bits(got, np.stack([special.expn(int(n), np.float32(0.5)) for n in orders]))
    assert weir.jit(lambda x: special.logsumexp(x))(np.zeros(4, "f")) == np.float32(math.log(4))


def test_far_from_zero():
    x = np.float64([-1e3, -40, -20.5, -19.5, 40])
    want = [-500007.82669481, -804.60844201375, -214.066728963, -194.016965777, 0]
    np.testing.assert_allclose(special.log_ndtr(x), want, rtol=1e-9, atol=1e-12)
    got = special.betaln(np.float32(1e6), np.float32(2))
    np.testing.assert_allclose(got, -27.631022, rtol=1e-7)
    assert special.comb(np.float32(1000), np.float32(2)) == 499500


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: special.comb(3, 2, exact=True), NotImplementedError, "exact=False"),
        (lambda: special.factorial(3, exact=True), NotImplementedError, "exact=False"),
        (lambda: special.expn(np.float32(1), 1.0), TypeError, "takes integers n, found f32"),
        (lambda: special.multigammaln(3.0, 1.5), TypeError, "must be an integer, found 1.5"),
        (lambda: special.gamma(np.complex64(1j)), TypeError, "takes real numbers"),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
