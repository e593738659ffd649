"""Element-wise functions of weir.numpy against NumPy."""

import math

import numpy as np
import pytest
from conftest import assert_tree_close

import weir
import weir.numpy as wnp

_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(4, 5)).astype(np.float32)
Y = _RNG.normal(size=(5,)).astype(np.float32)
POSITIVE = np.abs(X) + np.float32(0.1)
UNIT = _RNG.uniform(-0.9, 0.9, size=(4, 5)).astype(np.float32)
K = _RNG.integers(-9, 9, size=(4, 5)).astype(np.int32)
L = _RNG.integers(1, 9, size=(5,)).astype(np.int32)
B = K > 0
C = (X + 1j * UNIT).astype(np.complex64)
ODD = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan], np.float32)

UNARY = [
    (
        (
            "exp exp2 expm1 sin cos tan arctan sinh cosh tanh arcsinh floor ceil trunc rint cbrt"
            " negative"
        ),
        X,
    ),
    ("positive abs sign square sinc deg2rad rad2deg", X),
    ("log log2 log10 log1p sqrt reciprocal", POSITIVE),
    ("arcsin arccos arctanh", UNIT),
    ("arccosh", POSITIVE + 1),
    ("signbit isnan isinf isfinite isposinf isneginf floor nan_to_num", ODD),
    ("abs sign negative square invert", K),
    ("sin sqrt exp", np.abs(K)),
    ("logical_not invert", B),
    ("real imag conj angle abs negative", C),
    ("modf", X),
]
BINARY = [
    ("add subtract multiply maximum minimum true_divide arctan2 hypot copysign nextafter", X, Y),
    ("floor_divide mod fmod equal less greater_equal logaddexp logaddexp2 heaviside", X, POSITIVE),
    ("fmax fmin", np.where(B, X, np.nan).astype(np.float32), Y),
    ("float_power power", POSITIVE, X),
    ("add subtract multiply maximum minimum floor_divide mod fmod true_divide not_equal", K, L),
    (
        (
            "bitwise_and bitwise_or bitwise_xor left_shift right_shift logical_and logical_or"
            " logical_xor"
        ),
        K,
        L,
    ),
    ("add multiply maximum minimum logical_and logical_xor bitwise_or", B, ~B),
    ("add subtract multiply true_divide", C, X),
    ("divmod", X, POSITIVE),
    ("isclose", X, X + np.float32(1e-9)),
]


def _cases(table):
    return [
        pytest.param(name, *operands, id=f"{name}-{operands[0].dtype}")
        for names, *operands in table
        for name in names.split()
    ]


@pytest.mark.parametrize("name, x", _cases(UNARY))
def test_unary(name, x):
    assert_tree_close(getattr(wnp, name)(x), getattr(np, name)(x))


@pytest.mark.parametrize("name, x, y", _cases(BINARY))
def test_binary(name, x, y):
    assert_tree_close(getattr(wnp, name)(x, y), getattr(np, name)(x, y), tol=1e-4)


@pytest.mark.parametrize("name", ["erf", "erfc", "lgamma"])
def test_special_functions(name):
    assert_tree_close(getattr(wnp, name)(POSITIVE), np.vectorize(getattr(math, name))(POSITIVE))


def test_choices():
    assert_tree_close(wnp.where(B, X, 0), np.where(B, X, 0))
    assert_tree_close(wnp.clip(X, -0.5, 0.5), np.clip(X, -0.5, 0.5))
    assert_tree_close(wnp.clip(X, min=0), np.clip(X, 0, None))
    assert_tree_close(wnp.select([X > 1, X > 0], [X, -X], 7), np.select([X > 1, X > 0], [X, -X], 7))
    assert_tree_close(wnp.round(X, 2), np.round(X, 2))


OPERATORS = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    lambda a, b: a // b,
    lambda a, b: a % b,
    lambda a, b: a < b,
    lambda a, b: a >= b,
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: 2 + a,
    lambda a, b: 2 - a,
    lambda a, b: 3 * a,
    lambda a, b: 1 / b,
    lambda a, b: 7 // b,
    lambda a, b: -a + abs(b),
    lambda a, b: a**2,
    lambda a, b: divmod(a, b)[1],
    lambda a, b: X + b,
]


@pytest.mark.parametrize("number", range(len(OPERATORS)))
def test_operators(number):
    function = OPERATORS[number]
    assert_tree_close(weir.jit(function)(X, POSITIVE), function(X, POSITIVE), tol=1e-4)


def test_integer_operators():
    def function(a, b):
        return a & b, a | b, a ^ b, ~a, a << 1, a >> 1, a @ b.T

    assert_tree_close(weir.jit(function)(K, K), function(K, K))


def test_integer_division_by_zero_is_defined():
    zero = np.zeros(5, np.int32)
    assert (wnp.floor_divide(L, zero) == -1).all()
    assert (wnp.mod(L, zero) == L).all()
