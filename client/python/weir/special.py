"""Special functions, with the names and meanings of scipy.special and jax.scipy.special.

All work element by element, broadcast, and make f32 of integers; those of the registry's ops are
exact to a few parts in the last digit. Operands are real.
"""

import fractions
import math
import sys

import numpy as np

from weir import core, dtypes, location
from weir.eager import operation
from weir.nn import log_softmax, softmax
from weir.numpy import digamma, erf, erfc, erfinv, logsumexp, where
from weir.numpy import creation, elementwise, xlog1py, xlogy

_MODULE = sys.modules[__name__]

# scipy's name: (op, meaning).
_OPS = {
    "gammaln": ("lgamma", "the logarithm of the absolute gamma function"),
    "gammainc": ("igamma", "the regularized lower incomplete gamma function of order a at x"),
    "gammaincc": ("igammac", "the regularized upper incomplete gamma function of order a at x"),
    "betainc": ("betainc", "the regularized incomplete beta function of a and b at x"),
    "expi": ("expint", "the exponential integral Ei, its principal value below 0"),
    "expit": ("logistic", "1 / (1 + exp(-x))"),
    "ndtri": ("ndtri", "the inverse of the normal distribution function, NaN outside of [0, 1]"),
    "dawsn": ("dawsn", "Dawson's integral: exp(-x^2) times the integral of exp(t^2) from 0 to x"),
    "spence": ("spence", "the dilogarithm of 1 - x, NaN below 0"),
    "i0": ("bessel_i0", "the modified Bessel function of the first kind of order 0"),
    "i0e": ("bessel_i0e", "exp(-|x|) i0(x)"),
    "i1": ("bessel_i1", "the modified Bessel function of the first kind of order 1"),
    "i1e": ("bessel_i1e", "exp(-|x|) i1(x)"),
    "j0": ("bessel_j0", "the Bessel function of the first kind of order 0"),
    "j1": ("bessel_j1", "the Bessel function of the first kind of order 1"),
    "k0": ("bessel_k0", "the modified Bessel function of the second kind of order 0"),
    "k0e": ("bessel_k0e", "exp(x) k0(x)"),
    "k1": ("bessel_k1", "the modified Bessel function of the second kind of order 1"),
    "k1e": ("bessel_k1e", "exp(x) k1(x)"),
    "y0": ("bessel_y0", "the Bessel function of the second kind of order 0"),
    "y1": ("bessel_y1", "the Bessel function of the second kind of order 1"),
}
_PARAMETERS = {"gammainc": "a, x", "gammaincc": "a, x", "betainc": "a, b, x"}


def _define(name, op, meaning):
    parameters = _PARAMETERS.get(name, "x")

    # One function for each number of operands, so that help() and keywords have their names.
    def unary(x):
        return core.elementwise_inexact(op, x)

    def binary(a, x):
        return core.elementwise_inexact(op, a, x)

    def ternary(a, b, x):
        return core.elementwise_inexact(op, a, b, x)

    function = {"x": unary, "a, x": binary, "a, b, x": ternary}[parameters]
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"Returns: {meaning}."
    setattr(_MODULE, name, operation(function))


for _name, (_op, _meaning) in _OPS.items():
    _define(_name, _op, _meaning)
gammaln = _MODULE.gammaln
psi = digamma


# --- Gamma and beta functions. Differences of logarithms lose digits, so they are taken in f64.


def _doubles(*operands):
    """Returns: (the operands as f64, the type in which they meet)."""
    arrays = core.broadcast(*core.promote_inexact(*operands))
    name = arrays[0].dtype_name
    if name in dtypes.COMPLEXES:
        raise TypeError(
            f"this function takes real numbers, found {arrays[0].describe()} ({location.text()})"
        )
    return [core.cast(x, "f64") for x in arrays], name


@operation
def gammasgn(x):
    """Returns: the sign of the gamma function: 1 or -1; NaN at the negative integers and -inf; at
    0 that of the zero.
    """
    (array,) = core.promote_inexact(x)
    below = elementwise.floor(array)
    odd = elementwise.mod(below, 2) != 0
    sign = where((array < 0) & odd, -1.0, 1.0)
    sign = where(array == 0, elementwise.copysign(1.0, array), sign)
    sign = where((array < 0) & (below == array), math.nan, sign)
    return core.cast(where(elementwise.isnan(array), array, sign), array.dtype_name)


@operation
def gamma(x):
    """Returns: the gamma function; infinite at 0 with its sign, NaN at the negative integers."""
    (array,), name = _doubles(x)
    return core.cast(gammasgn(array) * elementwise.exp(gammaln(array)), name)


@operation
def factorial(n, exact=False):
    """Returns: n!, the gamma function of n + 1, as floats; 0 for negative n."""
    if exact:
        raise NotImplementedError(f"factorial gives floats, with exact=False ({location.text()})")
    (array,) = core.promote_inexact(n)
    return where(array < 0, 0, gamma(array + 1))


@operation
def betaln(a, b):
    """Returns: the logarithm of the absolute beta function."""
    (a, b), name = _doubles(a, b)
    return core.cast(gammaln(a) + gammaln(b) - gammaln(a + b), name)


@operation
def beta(a, b):
    """Returns: the beta function: gamma(a) gamma(b) / gamma(a + b)."""
    (a, b), name = _doubles(a, b)
    sign = gammasgn(a) * gammasgn(b) * gammasgn(a + b)
    return core.cast(sign * elementwise.exp(betaln(a, b)), name)


@operation
def comb(n, k, exact=False, repetition=False):
    """Returns: how many ways there are to choose k of n, as floats: 0 unless 0 <= k <= n; with
    `repetition` each may be chosen again. Below 2^30 whole numbers are exact until they are rounded
    to the type.
    """
    if exact:
        raise NotImplementedError(f"comb gives floats, with exact=False ({location.text()})")
    (n, k), name = _doubles(n, k)
    if repetition:
        found = where((n == 0) & (k == 0), 1.0, comb(n + k - 1, k))
        return core.cast(found, name)
    found = elementwise.exp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
    # Whole numbers show no rounding of exponentials.
    whole = elementwise.rint(found)
    is_whole = (elementwise.rint(n) == n) & (elementwise.rint(k) == k)
    found = where(is_whole & (whole < 2.0**30), whole, found)
    return core.cast(where((k < 0) | (k > n) | (n < 0), 0.0, found), name)


@operation
def poch(z, m):
    """Returns: the rising factorial gamma(z + m) / gamma(z), 1 where m is 0."""
    (z, m), name = _doubles(z, m)
    size = elementwise.exp(gammaln(z + m) - gammaln(z))
    return core.cast(where(m == 0, 1.0, gammasgn(z + m) * gammasgn(z) * size), name)


@operation
def multigammaln(a, d):
    """Returns: the logarithm of the gamma function of d dimensions, d a Python integer, at
    a > (d - 1) / 2.
    """
    count = core.known_integer(d, "the dimension of multigammaln")
    (array,), name = _doubles(a)
    total = gammaln(array) + count * (count - 1) / 4 * math.log(math.pi)
    for i in range(1, count):
        total = total + gammaln(array - i / 2)
    return core.cast(total, name)


@operation
def polygamma(n, x):
    """Returns: the n-th derivative of digamma at x > 0."""
    return core.elementwise_inexact("polygamma", n, x)


@operation
def zeta(x, q=1):
    """Returns: the sum of (k + q)^-x over k >= 0: Hurwitz' zeta function, and Riemann's where q is
    1.
    """
    return core.elementwise_inexact("zeta", x, q)


def bernoulli(n):
    """Returns: f32[n + 1], the numbers of Bernoulli from B_0 to B_n, of which B_1 is -1/2; n is a
    Python integer.
    """
    # Akiyama and Tanigawa's algorithm, in whole fractions.
    numbers, row = [], []
    for m in range(core.known_integer(n, "n of bernoulli") + 1):
        row.append(fractions.Fraction(1, m + 1))
        for j in range(m, 0, -1):
            row[j - 1] = j * (row[j - 1] - row[j])
        numbers.append(float(row[0]))
    if len(numbers) > 1:
        numbers[1] = -0.5
    return creation.array(numbers, dtype="f32")


# --- Normal distribution.


@operation
def ndtr(x):
    """Returns: the normal distribution function."""
    (array,) = core.promote_inexact(x)
    return erfc(-array * math.sqrt(0.5)) / 2


@operation
def log_ndtr(x):
    """Returns: the logarithm of the normal distribution function, exact far below 0 too."""
    (array,) = core.promote_inexact(x)
    wide = core.cast(array, "f32") if array.dtype_name in ("f16", "bf16") else array
    low = -20.0 if wide.dtype_name == "f64" else -10.0
    middle = elementwise.log(ndtr(elementwise.clip(wide, low, 0)))
    high = elementwise.log1p(-ndtr(-elementwise.maximum(wide, 0)))
    # The asymptotic series of Abramowitz and Stegun 26.2.12.
    tail = elementwise.minimum(wide, low)
    inverse, total, term = 1 / (tail * tail), 1.0, 1.0
    for k in range(1, 7):
        term = term * inverse * -(2 * k - 1)
        total = total + term
    tail = -tail * tail / 2 - elementwise.log(-tail) - math.log(2 * math.pi) / 2
    tail = tail + elementwise.log(total)
    out = where(wide > 0, high, where(wide < low, tail, middle))
    return core.cast(where(elementwise.isnan(wide), wide, out), array.dtype_name)


@operation
def logit(x):
    """Returns: log(x / (1 - x)), the inverse of expit; NaN outside of [0, 1]."""
    (array,) = core.promote_inexact(x)
    # Near 1/2 the quotient is near 1, and its logarithm loses digits.
    near = (array > 0.3) & (array < 0.65)
    middle = elementwise.log1p((2 * array - 1) / (1 - array))
    return where(near, middle, elementwise.log(array) - elementwise.log1p(-array))


# --- Integrals.


@operation
def exp1(x):
    """Returns: the exponential integral E1: infinite at 0, NaN below."""
    (array,) = core.promote_inexact(x)
    found = -core.elementwise("expint", -array)
    return where(array < 0, math.nan, found)


@operation
def expn(n, x):
    """Returns: the exponential integral of order n, a Python integer of at least 0, or an array of
    such: the integral of exp(-x t) / t^n from 1 on; NaN for x < 0.
    """
    (array,) = core.promote_inexact(x)
    if not core.is_scalar(n):
        order = core.as_array(n)
        if order.dtype_name not in dtypes.INTEGERS:
            raise TypeError(f"expn takes integers n, found {order.describe()} ({location.text()})")
        return _expn(*core.broadcast(core.cast(order, "i32"), array))
    count = core.known_integer(n, "the order of expn")
    return _expn(core.full(array.shape, count, "i32"), array)


def _expn(order, array):
    """The power series up to x = 1 (5.1.12 of Abramowitz and Stegun), beyond it the continued
    fraction (5.1.22), from its end.
    """
    name = "f64" if array.dtype_name == "f64" else "f32"
    x, count = core.cast(array, name), core.cast(order, name)
    before = elementwise.maximum(count - 1, 1)
    near = elementwise.clip(x, 1e-30, 1)
    first = where(count == 1, -elementwise.log(near) - np.euler_gamma, 1 / before)
    total, power = first, core.full(x.shape, 1, name)
    harmonic = digamma(elementwise.maximum(count, 1))
    for k in range(1, 30):
        power = power * (-near) / k
        at_pole = power * (harmonic - elementwise.log(near))
        plain = -power / where(count - 1 == k, 1, k - (count - 1))
        total = total + where(count - 1 == k, at_pole, plain)
    far = elementwise.maximum(x, 1)
    steps = 120 if name == "f64" else 40
    last = core.full(x.shape, 0, name)
    for k in range(steps, 0, -1):
        last = k * (count + (k - 1)) / (far + count + 2 * k - last)
    fraction = elementwise.exp(-far) / (far + count - last)
    out = where(x < 1, total, fraction)
    at_zero = where(count > 1, 1 / before, math.inf)
    out = where(x == 0, at_zero, out)
    out = where(count == 0, elementwise.exp(-x) / x, out)
    out = where(x == math.inf, 0, out)
    out = where((x < 0) | (count < 0) | elementwise.isnan(x), math.nan, out)
    return core.cast(out, array.dtype_name)


@operation
def fresnel(x):
    """Returns: (S, C), the integrals of sin(pi t^2 / 2) and cos(pi t^2 / 2) from 0 to x."""
    (array,) = core.promote_inexact(x)
    return core.elementwise("fresnel_sin", array), core.elementwise("fresnel_cos", array)


# --- Entropies and transformations.


@operation
def entr(x):
    """Returns: -x log(x): 0 at 0, -inf below."""
    (array,) = core.promote_inexact(x)
    return where(array < 0, -math.inf, -xlogy(array, array))


@operation
def rel_entr(p, q):
    """Returns: p log(p / q): 0 where p is 0 and q is not negative; infinite where either is
    negative, or q is 0 alone.
    """
    p, q = core.broadcast(*core.promote_inexact(p, q))
    both = (p > 0) & (q > 0)
    found = p * elementwise.log(where(both, p, 1) / where(both, q, 1))
    found = where(both, found, where((p == 0) & (q >= 0), 0, math.inf))
    missing = elementwise.isnan(p) | elementwise.isnan(q)
    return core.cast(where(missing, math.nan, found), p.dtype_name)


@operation
def kl_div(p, q):
    """Returns: p log(p / q) - p + q, and infinity where `rel_entr` has it."""
    (p, q), name = _doubles(p, q)
    found = rel_entr(p, q)
    return core.cast(where(elementwise.isinf(found), found, found - p + q), name)


@operation
def boxcox(x, lmbda):
    """Returns: (x^lmbda - 1) / lmbda, log(x) where lmbda is 0; NaN below 0."""
    x, power = core.broadcast(*core.promote_inexact(x, lmbda))
    return _boxcox(elementwise.log(x), power)


@operation
def boxcox1p(x, lmbda):
    """Returns: ((1 + x)^lmbda - 1) / lmbda, log(1 + x) where lmbda is 0; NaN below -1."""
    x, power = core.broadcast(*core.promote_inexact(x, lmbda))
    return _boxcox(elementwise.log1p(x), power)


def _boxcox(logarithm, power):
    return where(
        power == 0, logarithm, elementwise.expm1(power * logarithm) / where(power == 0, 1, power)
    )


__all__ = sorted(_OPS) + (
    "bernoulli beta betaln boxcox boxcox1p comb digamma entr erf erfc erfinv exp1 expn factorial"
    " fresnel gamma gammasgn kl_div log_ndtr log_softmax logit logsumexp multigammaln ndtr poch"
    " polygamma psi rel_entr softmax xlog1py xlogy zeta"
).split()
