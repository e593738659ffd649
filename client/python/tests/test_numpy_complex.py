"""Functions of complex numbers against NumPy's in extended precision."""

import numpy as np
import pytest
from conftest import assert_same_bits

import weir
import weir.numpy as wnp

NAMES = (
    "exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan arcsin arccos arctan sinh cosh tanh"
    " arcsinh arccosh arctanh reciprocal"
).split()
# What grows or turns with its operand, and has no value for huge ones.
TURNING = "exp exp2 expm1 sin cos tan sinh cosh tanh".split()
DTYPES = pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
N = 2000

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def domains(dtype):
    """Returns: {name: numbers}; where these functions cancel, overflow, or have a branch point."""
    rng = np.random.default_rng(11)
    info = np.finfo(dtype)
    most = np.log10(float(info.max)) - 2
    a, b = rng.normal(size=(2, N))
    angle = rng.uniform(-np.pi, np.pi, N)
    close, closer = 10.0 ** rng.uniform(-8, 0, N), 10.0 ** rng.uniform(-20, 0, N)

    def wide(low, high):
        return 10.0 ** rng.uniform(low, high, N)

    pairs = {
        "normal": (a, b),
        "some turns": (20 * a, 20 * b),
        "small": (a * wide(-most, 0), b * wide(-most, 0)),
        "wide": (a * wide(-most, most), b * wide(-most, most)),
        "unit circle": (np.cos(angle), np.sin(angle)),
        "unit circle about -1": (np.cos(angle) - 1, np.sin(angle)),
        "about 1": (1 + a * close, b * closer),
        "about -1": (-1 + a * close, b * closer),
        "about i": (b * closer, 1 + a * close),
        "real axis": (5 * a, 0 * b),
        "imaginary axis": (0 * a, 5 * b),
        "overflow": (np.log(float(info.max)) + 2 * a, 7 * b),
        "huge": (float(info.max) * np.tanh(a), float(info.max) * np.tanh(b)),
        "subnormal": (float(info.tiny) * np.tanh(a), float(info.tiny) * np.tanh(b)),
    }
    return {name: complex_of(x, y, dtype) for name, (x, y) in pairs.items()}


def complex_of(x, y, dtype):
    """x + i y with the signs of zeros."""
    out = np.empty(np.shape(x), dtype)
    out.real, out.imag = x, y
    return out


def reference(name, z):
    """NumPy's function with more digits, but for log1p, which cancels there."""
    z = z.astype(np.clongdouble)
    if name == "reciprocal":
        return 1 / z
    if name != "log1p":
        return getattr(np, name)(z)
    x, y = z.real, z.imag
    excess = x * (2 + x) + y * y
    near = (np.abs(z) < 3) & (excess > -0.5)
    length = np.where(near, np.log1p(excess) / 2, np.log(np.hypot(1 + x, y)))
    return complex_of(length, np.arctan2(y, 1 + x), np.clongdouble)


@DTYPES
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_few_eps(name, dtype):
    info = np.finfo(dtype)
    left_out = ("wide", "huge") if name in TURNING else ()
    z = np.concatenate([z for domain, z in domains(dtype).items() if domain not in left_out])
    got, want = getattr(wnp, name)(z), reference(name, z)
    assert got.dtype == dtype
    length = np.abs(want)
    assert np.isfinite(got[length < info.max / 4]).all()
    counts = (length > 4 * info.tiny) & (length < info.max / 4)
    bound = 4 * float(info.eps) * (1 + np.abs(z) if name == "exp2" else 1)
    error = (np.abs(got - want) / length / bound)[counts]
    assert (error < 1).all(), (z[counts][np.argmax(error)], error.max())


@pytest.mark.parametrize("name", NAMES)
def test_branch_cuts_and_signs_of_zeros(name):
    """Points on both axes, with zeros of both signs: equal parts with equal signs."""
    values = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0]
    x, y = np.meshgrid(values, values)
    for dtype in (np.complex64, np.complex128):
        z = complex_of(x, y, dtype)
        if name == "reciprocal":
            z = z[z != 0]
        got, want = getattr(wnp, name)(z), getattr(np, name)(z)
        tolerance = 8 * np.finfo(dtype).eps
        for a, b in ((got.real, want.real), (got.imag, want.imag)):
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * (name == "exp2"))
            np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("expm1", "reciprocal")])
def test_infinite_parts(name):
    """As in annex G of C99: the same parts are infinite, NaN or numbers. (Where it leaves the sign
    of a zero or an infinity open, NumPy's is not the one here.)
    """
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, np.inf, -np.inf, np.nan]
    x, y = np.meshgrid(values, values)
    z = complex_of(x, y, np.complex128)
    z = z[~np.isfinite(z)]
    got, want = getattr(wnp, name)(z), getattr(np, name)(z)
    np.testing.assert_allclose(np.abs(got.real), np.abs(want.real), rtol=1e-15)
    np.testing.assert_allclose(np.abs(got.imag), np.abs(want.imag), rtol=1e-15)


def test_overflow_that_a_sine_takes_back():
    z = complex_of([800, 1000, 1400], [1e-300, -1e-320, 1e-320], np.complex128)
    assert (z.imag != 0).all()
    for name in ("exp", "sinh", "cosh"):
        got, want = getattr(wnp, name)(z), getattr(np, name)(z.astype(np.clongdouble))
        assert np.isinf(got.real).all()
        np.testing.assert_allclose(got.imag, want.imag.astype(np.float64), rtol=1e-14)


@DTYPES
@pytest.mark.parametrize("exponent", [3, -5, 0, 1, 100, -101, 0.5, -2.25, 1.5 - 2j, 1j])
def test_powers_of_numbers(dtype, exponent):
    x, y = np.random.default_rng(3).normal(size=(2, N))
    z = complex_of(x, y, dtype)
    z = z[(np.abs(z) > 0.5) & (np.abs(z) < 2)]
    want = z.astype(np.clongdouble) ** exponent
    bound = 4 * float(np.finfo(dtype).eps) * (1 + np.abs(exponent * np.log(z)) + abs(exponent))
    for got in (wnp.power(z, exponent), weir.jit(lambda z: z**exponent)(z)):
        assert got.dtype == dtype
        assert (np.abs(got - want) <= bound * np.abs(want)).all()


def test_powers_of_arrays():
    x, y = np.random.default_rng(3).normal(size=(2, 3, 4, 5))
    z, exponent = complex_of(x, y, np.complex64), complex_of(y, x, np.complex64)[0]
    np.testing.assert_allclose(wnp.power(z, exponent), z**exponent, rtol=1e-5)
    np.testing.assert_allclose(wnp.power(np.abs(x), exponent), np.abs(x) ** exponent, rtol=1e-5)
    np.testing.assert_allclose(wnp.float_power(z, 2), z**2, rtol=1e-5)
    assert wnp.power(np.abs(x), exponent).dtype == np.complex128
    got = weir.jit(lambda z: 2**z)(z)
    assert got.dtype == np.complex64
    np.testing.assert_allclose(got, 2**z, rtol=1e-5)


def test_powers_of_zero():
    zero = np.zeros(1, np.complex128)
    for exponent in (0, 0.0, 2, 2.5, 1 + 0j):
        np.testing.assert_array_equal(wnp.power(zero, exponent), 0j**exponent)
    for exponent in (-2.5, 1j, 1 + 1j):
        assert np.isnan(wnp.power(zero, exponent)).all()


def test_signs_and_rounding():
    z = complex_of([3, -4, 0, 1e300, 3e-310], [4, 0, 0, -1e300, 4e-310], np.complex128)
    want = [0.6 + 0.8j, -1, 0, np.sqrt(0.5) * (1 - 1j), 0.6 + 0.8j]
    np.testing.assert_allclose(wnp.sign(z), want, rtol=1e-12)
    z = complex_of([0.5, 1.5, -2.5], [-0.25, 7.75, 3.5], np.complex64)
    assert_same_bits(wnp.rint(z), np.rint(z))
    assert_same_bits(wnp.round(z), np.round(z))
    np.testing.assert_allclose(wnp.round(z, 1), np.round(z, 1), rtol=1e-6)
    np.testing.assert_allclose(wnp.sinc(z), np.sinc(z), rtol=1e-5, atol=1e-5)


def test_types_and_refusals():
    assert wnp.exp(1j).dtype == np.complex64
    assert (wnp.exp(1j) * np.float32(1)).dtype == np.complex64
    kept = weir.jit(lambda x: x * wnp.exp(1j))(np.float64(1))
    assert kept.dtype == np.complex128
    for name in ("floor", "cbrt", "erf"):
        with pytest.raises(weir.InvalidArgument, match=rf"{name} .*not defined .*c64"):
            getattr(wnp, name)(np.complex64(1))


def test_iterations_have_the_same_bits():
    z = domains(np.complex64)["normal"][:30].reshape(10, 3)

    def body(i):
        row = wnp.array(z)[i]
        return wnp.sign(row), row ** -3, row**i, row ** wnp.array(z)[0]

    want = weir.for_loop(body, 10)
    assert_same_bits(weir.pfor(body, 10, strict=True), want)
    assert_same_bits(weir.pfor(body, 10, chunk_size=4, strict=True), want)
    assert_same_bits(wnp.sign(z), want[0])
