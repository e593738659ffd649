"""Element-wise functions, sums and choices.

Origin: section 2.2, the tests of TensorFlow's math_test.py, and the operations that its pfor has
converters for.
"""

import math

import numpy as np
import pytest
from oracle import agree, integers, numbers, positive, variants

import weir
import weir.numpy as wnp
from weir import nn

VARY = pytest.mark.parametrize("vary", variants(None, None))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", ["angle", "imag", "abs", "real", "conj"])
def test_unary_complex(name, dtype):
    def body(xp, i, x, y):
        return getattr(xp, name)(x[i] + 1j * y[i])

    real = np.zeros(0, dtype).real.dtype
    agree(body, positive(4, 3, 5, dtype=real), positive(4, 3, 5, seed=8, dtype=real))


_ANYWHERE = """absolute arcsinh arctan cbrt cos cosh exp exp2 expm1 isfinite isinf isnan negative
    positive rint sign signbit sin sinc sinh square tan tanh degrees radians trunc""".split()
_POSITIVE = "log log10 log1p log2 reciprocal sqrt".split()
_INSIDE = "arccos arcsin arctanh".split()
_SCALAR = {name: np.vectorize(getattr(math, name)) for name in ("erf", "erfc", "lgamma")}
UNARY = (
    [(name, numbers(7, 3, 5, dtype=np.float64)) for name in _ANYWHERE]
    + [(name, positive(7, 3, 5, dtype=np.float64)) for name in [*_POSITIVE, *_SCALAR]]
    + [(name, positive(7, 3, 5, dtype=np.float64) - 1) for name in _INSIDE]
    + [("arccosh", positive(7, 3, 5, dtype=np.float64) + 1)]
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name, x", UNARY, ids=[name for name, _ in UNARY])
def test_unary(name, x, dtype):
    def want(i, x):
        exact = x[i].astype(np.float64)
        return (_SCALAR[name] if name in _SCALAR else getattr(np, name))(exact)

    agree(lambda xp, i, x: getattr(xp, name)(x[i]), x.astype(dtype), want=want)


_LAX = """bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e
    bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn digamma erf_inv expint fresnel_cos fresnel_sin
    ndtri rsqrt spence""".split()
_NN = "elu leaky_relu log_sigmoid relu relu6 selu sigmoid silu soft_sign softplus".split()


@pytest.mark.parametrize("name", _LAX + _NN)
def test_unary_special(name):
    """Their values are tested where they are defined."""

    def body(xp, i, x):
        return getattr(nn if name in _NN else weir.lax, name)(x[i])

    agree(body, positive(7, 3, 5) / 2, want=False)


@pytest.mark.parametrize("name", ["ceil", "floor", "round", "logical_not"])
def test_unary_no_gradient(name):
    x = numbers(7, 3, 5)
    agree(lambda xp, i, x: getattr(xp, name)(x[i]), x > 0 if name == "logical_not" else x)


_REAL = """add arctan2 copysign divide equal float_power floor_divide fmax fmin fmod greater
    greater_equal hypot less less_equal logaddexp maximum minimum mod multiply not_equal power
    remainder subtract true_divide heaviside""".split()


@pytest.mark.parametrize("name", _REAL)
@VARY
def test_binary(name, vary):
    def body(xp, i, x, y):
        return getattr(xp, name)(*variants(x, y)[vary](i))

    # Exact in f64, so that both round in the same place.
    x = np.round(positive(7, 3, 5, dtype=np.float64) * 8) / 8
    y = np.round(positive(7, 3, 5, seed=8, dtype=np.float64) * 8) / 8
    agree(body, x, y)


@pytest.mark.parametrize("name", ["add", "multiply", "subtract", "maximum", "power"])
@VARY
def test_binary_broadcast(name, vary):
    def body(xp, i, x, y):
        return getattr(xp, name)(*variants(x, y)[vary](i))

    agree(body, positive(7, 3, 5), positive(7, 1, 5, seed=8))


@pytest.mark.parametrize("name", "igamma igammac polygamma zeta xlogy xlog1py betainc".split())
@pytest.mark.parametrize("varying", [0, 1])
def test_binary_special(name, varying):
    """Their values are tested where they are defined."""

    def body(xp, i, x, y):
        a, b = (t[i if k == varying else 0] for k, t in enumerate((x, y)))
        if name == "polygamma":
            a = wnp.floor(a) + 1
        more = (b * 0.5,) if name == "betainc" else ()
        return getattr(weir.lax, name)(a + 1, b, *more)

    agree(body, positive(7, 3, 5), positive(7, 3, 5, seed=8), want=False)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
@VARY
def test_binary_logical(name, vary):
    def body(xp, i, x, y):
        return getattr(xp, name)(*variants(x, y)[vary](i))

    agree(body, numbers(7, 3, 5) > 0, numbers(7, 3, 5, seed=8) > 0)


def test_approximate_equal():
    x = numbers(3, 4)
    y = x + np.float32([0, 1e-9, 1e-2, 1])
    agree(lambda xp, i, x, y: xp.isclose(x[i], y[i], rtol=1e-5, atol=1e-5), x, y)


def test_add_n():
    def body(xp, i, x, y):
        return x[i] + y + x[0] + y[i, 0] + x[i]

    agree(body, numbers(3, 4), numbers(4, 4, seed=8), of_largest=True)


REDUCTIONS = ["sum", "prod", "max", "min", "mean"]
AXES = pytest.mark.parametrize("axis", [1, None, (0, 2), -1, ()])
KEEP = pytest.mark.parametrize("keepdims", [False, True])


@pytest.mark.parametrize("name", REDUCTIONS)
@AXES
@KEEP
def test_reduction(name, axis, keepdims):
    agree(
        lambda xp, i, x: getattr(xp, name)(x[i], axis=axis, keepdims=keepdims),
        positive(4, 3, 5, 2),
        want=lambda i, x: getattr(np, name)(x[i], axis=axis, keepdims=keepdims),
    )


@pytest.mark.parametrize("name", ["any", "all"])
@AXES
@KEEP
def test_boolean_reduction(name, axis, keepdims):
    x = numbers(4, 3, 5, 2) > (1 if name == "any" else -1)
    agree(lambda xp, i, x: getattr(xp, name)(x[i], axis=axis, keepdims=keepdims), x)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("axis", [1, None, -1])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_argmin_argmax(name, axis, dtype):
    x = integers(4, 3, 5, low=0, high=4)
    got = agree(lambda xp, i, x: getattr(xp, name)(x[i], axis=axis).astype(dtype), x)
    assert got.dtype == dtype


def test_bucketize():
    borders = np.float32([0.3, 0.7, 1.2])
    agree(lambda xp, i, x: xp.digitize(x[i], np.array(borders)), positive(3, 2, 4))
    agree(lambda xp, i, x, b: xp.digitize(x[0], b[i]), positive(3, 5), np.sort(positive(3, 4)))


def test_clip():
    def body(xp, i, x):
        return xp.clip(x[i], np.float32(-0.5), np.float32(0.25)), xp.clip(x[0], x[i] - 1, x[i])

    agree(body, numbers(3, 4, 5))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("axis", [1, -2])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_cumulative(name, axis, exclusive, reverse):
    def body(xp, i, x):
        if xp is wnp:
            attrs = {"axis": axis % 3, "exclusive": exclusive, "reverse": reverse}
            return getattr(weir.lax, name)(x[i], **attrs)
        row = np.flip(x[i], axis) if reverse else x[i]
        out = getattr(np, name)(row, axis=axis)
        if exclusive:
            out = np.roll(out, 1, axis)
            np.moveaxis(out, axis, 0)[0] = 1 if name == "cumprod" else 0
        return np.flip(out, axis) if reverse else out

    agree(body, positive(4, 3, 5, 2))


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("vary", ["left", "right", "both"])
def test_bias_add(vary, channels_last):
    def body(xp, i, x, bias):
        image, row = variants(x, bias)[vary](i)
        image = image[0] if vary == "right" else image
        row = row[0] if vary == "left" else row
        return image + (row if channels_last else row[:, None, None])

    shape = (3, 2, 5, 6, 4) if channels_last else (3, 2, 4, 5, 6)
    agree(body, positive(*shape), positive(3, 4, seed=8))


SEGMENTS = {
    "add": (np.add, 0),
    "min": (np.minimum, np.inf),
    "max": (np.maximum, -np.inf),
    "multiply": (np.multiply, 1),
}


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("vary", ["left", "right", "both"])
@pytest.mark.parametrize("name", SEGMENTS)
def test_unsorted_segment(name, vary, dtype):
    ufunc, start = SEGMENTS[name]

    def body(xp, i, x, ids):
        rows = x[0 if vary == "right" else i]
        places = ids[0 if vary == "left" else i]
        if xp is wnp:
            return getattr(wnp.full((4, 2), start, "f32").at[places], name)(rows)
        out = np.full((4, 2), start, np.float32)
        ufunc.at(out, places, rows)
        return out

    agree(body, positive(3, 6, 2), integers(3, 6, low=0, high=4, dtype=dtype))


@pytest.mark.parametrize("kind", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("varying", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("segments", [3, 5])
def test_sparse_segment(kind, varying, segments):
    def body(xp, i, *tables):
        x, places, ids = (t[i if k in varying else 0] for k, t in enumerate(tables))
        rows = x[places]
        if xp is wnp:
            total = wnp.zeros((segments, 2)).at[ids].add(rows)
            count = wnp.zeros((segments, 1)).at[ids].add(wnp.ones((6, 1)))
        else:
            total, count = np.zeros((segments, 2), np.float32), np.zeros((segments, 1), np.float32)
            np.add.at(total, ids, rows)
            np.add.at(count, ids, np.ones((6, 1), np.float32))
        count = xp.maximum(count, np.float32(1))
        return {"sum": total, "mean": total / count, "sqrtn": total / xp.sqrt(count)}[kind]

    ids = np.sort(integers(3, 6, low=0, high=3))
    agree(body, positive(3, 8, 2), integers(3, 6, low=0, high=8), ids)


def test_cast():
    def body(xp, i, x, k):
        return x[i].astype(np.int32), k[i].astype(np.float32), (x[i] > 0).astype(np.float64)

    agree(body, numbers(3, 4) * 10, integers(3, 4))


def test_tanh_axpy():
    agree(lambda xp, i, x, y: xp.tanh(np.float32(3) * x[i] + y[i]), numbers(3, 4), numbers(3, 4))


@pytest.mark.parametrize("rank", [0, 1, 2])
@VARY
def test_select(rank, vary):
    def body(xp, i, x, y, which):
        a, b = variants(x, y)[vary](i)
        condition = (which[i, 0, 0], which[i, :, :1], which[i])[rank]
        return xp.where(condition, a, b)

    agree(body, numbers(4, 3, 5), numbers(4, 3, 5, seed=8), numbers(4, 3, 5, seed=9) > 0)


def test_selectv2_broadcast_condition():
    agree(
        lambda xp, i, x, c: xp.where(c[i], x[i], x[0]),
        numbers(3, 4, 5, 2),
        numbers(3, 4, 1, 1, seed=8) > 0,
    )


def test_selectv2_broadcast_arguments():
    agree(
        lambda xp, i, x, y, c: (xp.where(c[i], x[i], y[i]), xp.where(c[i], x[0], y[0])),
        numbers(3, 1, 5),
        numbers(3),
        numbers(3, 4, 5, seed=8) > 0,
    )


def test_selectv2_fixed_condition():
    agree(
        lambda xp, i, x, y, c: (xp.where(c, x[i], y), xp.where(c, x[0], y[i])),
        numbers(3, 5),
        numbers(5, 5, seed=8),
        numbers(5, seed=9) > 0,
    )
