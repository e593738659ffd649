"""Functions of complex numbers, made of operations on their real and imaginary parts.

`unary` and `power` take what `weir.numpy.elementwise` has promoted: arrays of c64 or c128. What
they return is T[...] of the operand's type and shape.

How exact they are: for finite numbers, the error is at most 4 eps of the modulus of the result
(eps is that of the parts: 1.2e-7 for c64, 2.2e-16 for c128), as long as that is neither subnormal
nor infinite. For exp2 it is 4 eps times 1 + |z|, and for powers times 1 + |y log x|. c128 angles
beyond 1e5 lose what the sine of their size loses. Nothing overflows, and no small length or angle
is lost, on the way to a result that is representable.

Branch cuts are those of C99 (annex G) and NumPy; the sign of a zero says on which side of a cut
its number lies. Infinite parts give what annex G says, but for reciprocals, signs and powers.
NaN gives NaN in a part, except where annex G knows the result.

Sources:
  Kahan, "Branch cuts for complex elementary functions", 1987: the square root, and sines by
    hyperbolic sines.
  Hull, Fairgrieve, Tang, "Implementing the complex arcsine and arccosine functions using exception
    handling", ACM TOMS 23(3), 1997: asinh, acos, and what is made of them.
  Dekker, "A floating-point technique for extending the available precision", 1971, and Knuth, "The
    art of computer programming", 4.2.2: the logarithm near the unit circle.
"""

import math

import numpy as np

from weir import core, dtypes

# Known whole exponents up to this are made of products.
_MOST_PRODUCTS = 100
_LN2 = math.log(2)


def unary(op, z):
    """Returns: the op of this name, of complex elements. Raises: InvalidArgument for ops that are
    not defined for them.
    """
    function = _FUNCTIONS.get(op)
    if function is None:
        return core.apply(op, [z])  # The op itself says for which types it is.
    return _assemble(*function(*_parts(z)), z.weak_type)


def power(z, exponent):
    """Returns: z to the power `exponent` (T[...], the principal value; 0 to the power 0 is 1)."""
    x, y = _parts(z)
    a, b = _parts(exponent)
    log_length, angle = _log(x, y)
    re, im = _exp(a * log_length - b * angle, a * angle + b * log_length)
    # The logarithm of 0 is no number. As in NumPy 0 has powers for exponents > 0, and for 0.
    known = ~_is_zero(x, y)
    at_zero = _where((a > 0) & (b == 0), a * 0, math.nan)
    re, im = _where(known, re, at_zero), _where(known, im, at_zero)
    no_exponent = _is_zero(a, b)
    re, im = _where(no_exponent, 1.0, re), _where(no_exponent, 0.0, im)
    return _assemble(re, im, z.weak_type and exponent.weak_type)


def whole_power(z, exponent):
    """Returns: z to the power of a Python integer, by products; None if that is too long."""
    if not -_MOST_PRODUCTS <= exponent <= _MOST_PRODUCTS:
        return None
    out, factor, rest = None, z, abs(exponent)
    while rest:
        if rest % 2:
            out = factor if out is None else out * factor
        rest //= 2
        factor = factor * factor if rest else factor
    if out is None:
        return core.full(z.shape, 1, z.dtype_name)
    return out if exponent > 0 else unary("reciprocal", out)


# --- Parts, choices and the numbers of a type.


def _parts(z):
    return core.apply("real", [z]), core.apply("imag", [z])


def _assemble(re, im, weak_type):
    return core.apply("complex", core.broadcast(re, im), weak_type=weak_type)


def _where(condition, a, b):
    a, b = core.promote(a, b)
    return core.apply("select", core.broadcast(condition, a, b))


def _apply(op, *operands):
    return core.elementwise(op, *operands)


def _copysign(x, y):
    return core.elementwise("copysign", x, y)


def _is_zero(x, y):
    return (x == 0) & (y == 0)


def _is_finite(x):
    return core.apply("is_finite", [x])


def _is_inf(x):
    return core.apply("is_inf", [x])


class _Limits:
    """Numbers on which the formulas for the element type of `x` turn."""

    def __init__(self, x):
        info = np.finfo(dtypes.to_numpy(x.dtype_name))
        self.eps = float(info.eps)
        # Twice exp(exp) and twice 2^exp2 are finite.
        self.exp = math.floor(math.log(float(info.max))) - 1.0
        self.exp2 = float(info.maxexp - 2)
        # Sums of three numbers below `great` are finite; eps^2 times one above `small` is normal.
        self.great = float(info.max) / 8
        self.small = float(info.tiny) / self.eps**2
        # Powers of 4, so that neither a product nor its square root rounds.
        self.down = 0.0625
        self.up = 4.0 ** (2 + info.nmant)


def _scaled(x, y):
    """Returns: (s x, s y, s) for a power s of 4, so that the length of (s x, s y) neither overflows
    nor is subnormal.
    """
    limits = _Limits(x)
    greater = _apply("maximum", abs(x), abs(y))
    one = core.full(greater.shape, 1, x.dtype_name)
    factor = _where(greater < limits.small, limits.up, one)
    factor = _where((greater > limits.great) & _is_finite(greater), limits.down, factor)
    return x * factor, y * factor, factor


# --- Exponentials.


def _split_exponent(op, x):
    """Returns: (r, f, g) with op(x) = op(r) f g, for exp and exp2. Only the product may be
    infinite: a sine or cosine, multiplied first, brings it back to what is finite.
    """
    most = getattr(_Limits(x), op)
    one = core.full(x.shape, 1, x.dtype_name)
    step = math.exp(most) if op == "exp" else 2.0**most
    first = x > most
    r = _where(first, x - most, x)
    second = r > most
    return _where(second, r - most, r), _where(first, step, one), _where(second, step, one)


def _cos_sin(x, y):
    """Returns: (cos y, sin y). Beside an infinite x an unknown direction is (1, NaN)."""
    unknown = _is_inf(x) & ~_is_finite(y)
    return _where(unknown, 1.0, _apply("cos", y)), _apply("sin", y)


def _exponential(op, x, y):
    """op(x), for exp and exp2, in the direction of the angle y."""
    r, f, g = _split_exponent(op, x)
    cos, sin = _cos_sin(x, y)
    length = _apply(op, r)
    re, im = cos * f * g * length, sin * f * g * length
    nothing = (x == -math.inf) & ~_is_finite(y)
    return re, _where(y == 0, y, _where(nothing, 0.0, im))


def _exp(x, y):
    return _exponential("exp", x, y)


def _exp2(x, y):
    return _exponential("exp2", x, y * _LN2)


def _expm1(x, y):
    """exp(x) cos(y) - 1 is expm1(x) cos(y) - 2 sin(y / 2)^2."""
    great, im = _exp(x, y)
    half = _apply("sin", y * 0.5)
    re = _apply("expm1", x) * _apply("cos", y) - 2 * half * half
    return _where((x > _Limits(x).exp) | ~_is_finite(x) | ~_is_finite(y), great - 1, re), im


def _sinh_cosh(x):
    """Returns: (sinh x, cosh x, f, g): what is to be multiplied by f and g."""
    r, f, g = _split_exponent("exp", abs(x))
    half = _apply("exp", r) * 0.5
    great = f > 1
    sinh = _where(great, _copysign(half, x), _apply("sinh", x))
    return sinh, _where(great, half, _apply("cosh", x)), f, g


def _sinh(x, y):
    sinh, cosh, f, g = _sinh_cosh(x)
    cos, sin = _cos_sin(x, y)
    re = _where((x == 0) & ~_is_finite(y), x, cos * f * g * sinh)
    return re, _where(y == 0, y, sin * f * g * cosh)


def _cosh(x, y):
    sinh, cosh, f, g = _sinh_cosh(x)
    cos, sin = _cos_sin(x, y)
    im = _where((x == 0) & ~_is_finite(y), x, sin * f * g * sinh)
    return cos * f * g * cosh, _where(y == 0, y * _copysign(1.0, x), im)


def _tanh(x, y):
    """sinh x cosh x + i sin y cos y over sinh^2 x + cos^2 y; no sum of it cancels."""
    sinh, cosh = _apply("sinh", x), _apply("cosh", x)
    cos, sin = _apply("cos", y), _apply("sin", y)
    divisor = sinh * sinh + cos * cos
    # From here on tanh x is 1, and sinh^2 x is exp(2 |x|) / 4.
    great = abs(x) > 22
    far = 4 * (sin * cos) * _apply("exp", -2 * abs(x))
    far = _where(_is_finite(y), far, _copysign(0.0, y))
    re = _where(great, _copysign(1.0, x), sinh * cosh / divisor)
    im = _where(great, far, sin * cos / divisor)
    return _where(x == 0, x, re), _where(y == 0, y, im)


def _sine_of(hyperbolic):
    """f(z) = -i h(i z): sin of sinh, tan of tanh, and their inverses."""

    def function(x, y):
        re, im = hyperbolic(-y, x)
        return im, -re

    return function


def _cos(x, y):
    return _cosh(-y, x)


# --- Logarithms and roots.


def _sum(a, b):
    """Returns: (s, e): a + b rounded, and what rounding took (Knuth)."""
    s = a + b
    c = s - a
    return s, (a - (s - c)) + (b - c)


def _square(a):
    """Returns: (p, e): a^2 rounded, and what rounding took (Dekker)."""
    digits = np.finfo(dtypes.to_numpy(a.dtype_name)).nmant + 1
    c = a * float(2 ** ((digits + 1) // 2) + 1)
    high = c - (c - a)
    low = a - high
    p = a * a
    return p, ((high * high - p) + 2 * (high * low)) + low * low


def _excess(x, y):
    """|1 + x + i y|^2 - 1, for parts below 4: 2 x + x^2 + y^2 in twice the digits, because it
    cancels where 1 + x + i y is close to the unit circle.
    """
    xx, xx_rest = _square(x)
    yy, yy_rest = _square(y)
    s, first = _sum(2 * x, xx)
    s, second = _sum(s, yy)
    return s + ((first + second) + (xx_rest + yy_rest))


def _is_near(excess, greatest):
    """Where log1p of the excess is better than the logarithm of the length."""
    return (greatest < 3) & (excess > -0.5) & (excess < 3)


def _log_of_length(x, y):
    """The logarithm of |x + i y|, wherever that is representable."""
    s, t, factor = _scaled(x, y)
    limits = _Limits(x)
    shift = _where(factor == limits.up, math.log(limits.up), x * 0)
    shift = _where(factor == limits.down, math.log(limits.down), shift)
    shift = _where(factor == 1, 0.0, shift)
    return _apply("log", _apply("hypot", s, t)) - shift


def _log(x, y):
    greater = _apply("maximum", abs(x), abs(y))
    less = _apply("minimum", abs(x), abs(y))
    excess = _excess(greater - 1, less)
    far = _log_of_length(x, y)
    near = 0.5 * _apply("log1p", excess)
    return _where(_is_near(excess, greater), near, far), _apply("atan2", y, x)


def _log1p(x, y):
    greater = _apply("maximum", abs(x), abs(y))
    excess = _excess(x, y)
    far = _log_of_length(1 + x, y)
    near = 0.5 * _apply("log1p", excess)
    return _where(_is_near(excess, greater), near, far), _apply("atan2", y, 1 + x)


def _log_to(base):
    def function(x, y):
        re, im = _log(x, y)
        return re / math.log(base), im / math.log(base)

    return function


def _sqrt(x, y):
    s, t, factor = _scaled(x, y)
    greater = _apply("sqrt", (abs(s) + _apply("hypot", s, t)) * 0.5)
    less = _where(greater == 0, abs(t), abs(t) / (2 * greater))
    limits = _Limits(x)
    back = _where(factor == limits.up, limits.up**-0.5, core.full(x.shape, 1, x.dtype_name))
    back = _where(factor == limits.down, limits.down**-0.5, back)
    greater, less = greater * back, less * back
    is_right = x >= 0
    re, im = _where(is_right, greater, less), _where(is_right, less, greater)
    return _where(_is_inf(y), math.inf, re), _copysign(_where(_is_inf(y), math.inf, im), y)


# --- Inverse functions. In the papers' terms R and S are the distances from the branch points.


def _half_gap(a, b, distance):
    """(|a + i b| - b) / 2 for a >= 0, where `distance` is that length."""
    positive = a * (a / (distance + abs(b))) * 0.5
    return _where(b < 0, (distance - b) * 0.5, _where(b == 0, a * 0.5, positive))


def _arcs(x, y):
    """For x, y >= 0. Returns: (Re asinh z, p, q), where p / q is the tangent of Im asinh z."""
    eps = _Limits(x).eps
    r, s = _apply("hypot", x, y + 1), _apply("hypot", x, y - 1)
    a = _apply("maximum", (r + s) * 0.5, 1.0)
    is_wide = ~(x < eps * abs(y - 1))  # NaN is.
    product = _apply("sqrt", abs((y - 1) * (y + 1)))
    at_branch_point = (y == 1) & (x < eps * eps / 128)

    above_1 = _half_gap(x, 1 + y, r) + _half_gap(x, 1 - y, s)
    re = _apply("log1p", above_1 + _apply("sqrt", above_1 * (a + 1)))
    on_axis = _where(y < 1, x / product, _apply("log1p", (y - 1) + product))
    re = _where(is_wide, re, on_axis)
    re = _where(at_branch_point, _apply("sqrt", x), re)
    re = _where(a >= 10, _apply("log", a + _apply("sqrt", a * a - 1)), re)

    above_y = _half_gap(x, y + 1, r) + _half_gap(x, y - 1, s)
    on_axis = _where(y < 1, product, x * (y / product))
    q = _where(is_wide, _apply("sqrt", above_y * (a + y)), on_axis)
    q = _where(at_branch_point, _apply("sqrt", x) * _apply("sqrt", (a + y) * 0.5), q)
    return re, y, q


def _is_far(x, y):
    far = 1 / _Limits(x).eps
    return (abs(x) > far) | (abs(y) > far)


def _asinh(x, y):
    u, v = abs(x), abs(y)
    re, p, q = _arcs(u, v)
    far = _is_far(x, y)
    re = _where(far, _log_of_length(x, y) + _LN2, re)
    im = _where(y == 0, y, _apply("atan2", _where(far, v, p), _where(far, u, q)))
    return _copysign(re, x), _copysign(im, y)


def _acos(x, y):
    u, v = abs(x), abs(y)
    length, _, q = _arcs(v, u)
    far = _is_far(x, y)
    length = _where(far, _log_of_length(x, y) + _LN2, length)
    re = _where(x == 0, math.pi / 2, _apply("atan2", _where(far, v, q), x))
    return re, _copysign(length, -y)


def _acosh(x, y):
    re, im = _acos(x, y)
    return abs(im), _copysign(re, y)


def _atanh(x, y):
    u, v = abs(x), abs(y)
    re = 0.25 * _apply("log1p", 4 * u / ((u - 1) * (u - 1) + v * v))
    close = (u == 1) & (v < _Limits(x).eps)
    re = _where(close, 0.5 * (_LN2 - _apply("log", v)), re)
    im = 0.5 * _apply("atan2", 2 * v, (1 - u) * (1 + u) - v * v)
    far = _is_far(x, y)
    length = _apply("hypot", x, y)
    inverse = _where(_is_inf(length), 0.0, u / length / length)
    re, im = _where(far, inverse, re), _where(far & (v == v), math.pi / 2, im)
    return _copysign(_where(x == 0, x, re), x), _copysign(im, y)


# --- Arithmetic.


def _reciprocal(x, y):
    one = core.full(x.shape, 1, x.dtype_name)
    z = _assemble(x, y, False)
    re, im = _parts(core.apply("divide", [_assemble(one, one * 0, False), z]))
    return _copysign(re, x), _copysign(im, -y)


def _rsqrt(x, y):
    return _reciprocal(*_sqrt(x, y))


def _sign(x, y):
    """z / |z|, by parts between -1 and 1."""
    greater = _apply("maximum", abs(x), abs(y))
    u, v = x / greater, y / greater
    length = _apply("hypot", u, v)
    return _where(greater == 0, x, u / length), _where(greater == 0, y, v / length)


def _rint(x, y):
    return _apply("round_half_even", x), _apply("round_half_even", y)


_FUNCTIONS = {
    "exp": _exp,
    "exp2": _exp2,
    "expm1": _expm1,
    "log": _log,
    "log2": _log_to(2),
    "log10": _log_to(10),
    "log1p": _log1p,
    "sqrt": _sqrt,
    "rsqrt": _rsqrt,
    "sin": _sine_of(_sinh),
    "cos": _cos,
    "tan": _sine_of(_tanh),
    "asin": _sine_of(_asinh),
    "acos": _acos,
    "atan": _sine_of(_atanh),
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": _atanh,
    "reciprocal": _reciprocal,
    "sign": _sign,
    "round_half_even": _rint,
}
