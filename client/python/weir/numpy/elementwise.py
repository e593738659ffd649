"""Functions of each element: arithmetic, exponentials, rounding, comparison, logic, bits, complex
numbers.

As in jax.numpy: operands broadcast, types promote (`weir.dtypes`), and functions that need floats
make f32 of integers.
"""

import math
import sys

import numpy as np

from weir import core, dtypes, location
from weir.eager import operation
from weir.numpy import complexes

_MODULE = sys.modules[__name__]


def _define(name, function, doc):
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = doc
    setattr(_MODULE, name, operation(function))


# --- One operand, floats. NumPy's name: (op, meaning).
_FLOAT_UNARY = {
    "exp": ("exp", "e to the power x"),
    "exp2": ("exp2", "2 to the power x"),
    "expm1": ("expm1", "e to the power x, minus 1, exact near 0"),
    "log": ("log", "the natural logarithm"),
    "log2": ("log2", "the logarithm to base 2"),
    "log10": ("log10", "the logarithm to base 10"),
    "log1p": ("log1p", "the natural logarithm of 1 + x, exact near 0"),
    "sqrt": ("sqrt", "the square root"),
    "cbrt": ("cbrt", "the cube root"),
    "sin": ("sin", "the sine"),
    "cos": ("cos", "the cosine"),
    "tan": ("tan", "the tangent"),
    "arcsin": ("asin", "the inverse sine"),
    "arccos": ("acos", "the inverse cosine"),
    "arctan": ("atan", "the inverse tangent"),
    "sinh": ("sinh", "the hyperbolic sine"),
    "cosh": ("cosh", "the hyperbolic cosine"),
    "tanh": ("tanh", "the hyperbolic tangent"),
    "arcsinh": ("asinh", "the inverse hyperbolic sine"),
    "arccosh": ("acosh", "the inverse hyperbolic cosine"),
    "arctanh": ("atanh", "the inverse hyperbolic tangent"),
    "floor": ("floor", "the greatest integer below"),
    "ceil": ("ceil", "the least integer above"),
    "trunc": ("trunc", "the integer towards 0"),
    "rint": ("round_half_even", "the nearest integer, of two the even one"),
    "reciprocal": ("reciprocal", "1 / x"),
    "rsqrt": ("rsqrt", "1 / sqrt(x)"),
    "erf": ("erf", "the error function"),
    "erfc": ("erfc", "1 - erf(x), exact for great x"),
    "erfinv": ("erf_inv", "the inverse error function"),
    "lgamma": ("lgamma", "the logarithm of the absolute gamma function"),
    "digamma": ("digamma", "the derivative of lgamma"),
}


def _inexact(op, x):
    """An op on floats, or what stands for it where x is complex."""
    (array,) = core.promote_inexact(x)
    if array.dtype_name in dtypes.COMPLEXES:
        return complexes.unary(op, array)
    return core.apply(op, [array], weak_type=array.weak_type)


def _float_unary(op):
    def function(x):
        return _inexact(op, x)

    return function


for _name, (_op, _meaning) in _FLOAT_UNARY.items():
    _define(_name, _float_unary(_op), f"Returns: {_meaning}, of each element; integers become f32.")

# --- Two operands, any numbers; what the op is for bools.
_BINARY = {
    "add": ("add", "or", "x + y"),
    "multiply": ("multiply", "and", "x * y"),
    "maximum": ("maximum", "or", "the greater one, NaN if either is"),
    "minimum": ("minimum", "and", "the smaller one, NaN if either is"),
    "subtract": ("subtract", None, "x - y"),
    "mod": ("floor_mod", None, "x - y * floor(x / y), with the sign of y; integers: x % 0 is x"),
    "fmod": ("remainder", None, "x - y * trunc(x / y), with the sign of x"),
}


def _binary(name, op, bool_op):
    def function(x, y):
        a, b = core.broadcast(*core.promote(x, y))
        if a.dtype_name == "bool":
            if bool_op is None:
                raise TypeError(
                    f"{name} is not defined for bool; convert with .astype, or use logical_xor"
                )
            return core.apply(bool_op, [a, b])
        return core.apply(op, [a, b], weak_type=a.weak_type and b.weak_type)

    return function


for _name, (_op, _bool_op, _meaning) in _BINARY.items():
    _define(_name, _binary(_name, _op, _bool_op), f"Returns: {_meaning}, of each pair of elements.")
remainder = mod = _MODULE.mod

_FLOAT_BINARY = {
    "true_divide": ("divide", "x / y"),
    "arctan2": ("atan2", "the angle of the point (y, x)"),
    "hypot": ("hypot", "sqrt(x * x + y * y)"),
    "copysign": ("copysign", "x with the sign of y"),
    "nextafter": ("next_after", "the next number after x towards y"),
    "xlogy": ("xlogy", "x * log(y), 0 where x is 0"),
    "xlog1py": ("xlog1py", "x * log1p(y), 0 where x is 0"),
}


def _float_binary(op):
    def function(x, y):
        return core.elementwise_inexact(op, x, y)

    return function


for _name, (_op, _meaning) in _FLOAT_BINARY.items():
    _define(_name, _float_binary(_op), f"Returns: {_meaning}, of each pair; integers become f32.")
divide = _MODULE.true_divide

_COMPARISONS = {
    "equal": "x == y",
    "not_equal": "x != y",
    "less": "x < y",
    "less_equal": "x <= y",
    "greater": "x > y",
    "greater_equal": "x >= y",
}


def _comparison(op):
    def function(x, y):
        return core.compare(op, x, y)

    return function


for _name, _meaning in _COMPARISONS.items():
    _define(_name, _comparison(_name), f"Returns: whether {_meaning}, for each pair of elements.")

# --- Logic and bits.


def _truth(x):
    array = core.as_array(x)
    return array if array.dtype_name == "bool" else core.compare("not_equal", array, 0)


def _logical(op):
    def function(x, y):
        return core.apply(op, core.broadcast(_truth(x), _truth(y)))

    return function


def _bitwise(op):
    def function(x, y):
        return core.elementwise(op, x, y)

    return function


for _name in ("and", "or", "xor"):
    _define(
        f"logical_{_name}",
        _logical(_name),
        f"Returns: x {_name} y of truth values; numbers are true unless 0.",
    )
    _define(
        f"bitwise_{_name}",
        _bitwise(_name),
        f"Returns: x {_name} y, bit by bit; integers and bools.",
    )


@operation
def logical_not(x):
    """Returns: whether each element is false (0)."""
    return core.apply("not", [_truth(x)])


@operation
def invert(x):
    """Returns: the integers with all bits turned, the bools negated."""
    return core.elementwise("not", x)


bitwise_not = invert


@operation
def left_shift(x, y):
    """Returns: the bits of x moved up by y places."""
    return core.elementwise("shift_left", x, y)


@operation
def right_shift(x, y):
    """Returns: the bits of x moved down by y places; the sign stays."""
    a, b = core.promote(x, y)
    op = "shift_right_logical" if a.dtype_name in dtypes.UNSIGNED else "shift_right_arithmetic"
    return core.elementwise(op, a, b)


@operation
def bitwise_count(x):
    """Returns: how many bits of each integer are 1."""
    return core.elementwise("popcnt", abs(x))


# --- Signs, powers, rounding.


@operation
def negative(x):
    """Returns: -x."""
    return core.elementwise("negate", x)


@operation
def copy(x):
    """Returns: x; arrays of a program never change."""
    return core.as_array(x)


@operation
def positive(x):
    """Returns: x."""
    return core.as_array(x)


@operation
def abs(x):  # pylint: disable=redefined-builtin
    """Returns: the absolute value; the length of a complex number."""
    array = core.as_array(x)
    if array.dtype_name in dtypes.UNSIGNED + dtypes.BOOLS:
        return array
    return core.apply("abs", [array], weak_type=array.weak_type)


absolute = fabs = abs


@operation
def sign(x):
    """Returns: -1, 0 or 1 with the sign of x; of a complex number x / |x|, as in NumPy 2."""
    array = core.as_array(x)
    if array.dtype_name in dtypes.COMPLEXES:
        return complexes.unary("sign", array)
    if array.dtype_name in dtypes.UNSIGNED:
        return core.elementwise("minimum", array, 1)
    return core.apply("sign", [array], weak_type=array.weak_type)


@operation
def signbit(x):
    """Returns: whether the sign is minus, also of -0."""
    (array,) = core.promote_inexact(x)
    return core.compare(
        "less", core.elementwise("copysign", core.scalar(1.0, array.dtype_name), array), 0
    )


@operation
def square(x):
    """Returns: x * x."""
    return _MODULE.multiply(x, x)


@operation
def power(x, y):
    """Returns: x to the power y. Integers to a negative power round towards 0. Of complex numbers
    the principal value.
    """
    if type(y) is int and y == 2:
        return square(x)
    a, b = core.promote(x, y)
    return _power(a, b, y if type(y) is int else None)


def _power(a, b, exponent):
    """The same of promoted operands; `exponent` is b as a number, if known."""
    if a.dtype_name not in dtypes.COMPLEXES:
        return core.elementwise("power", a, b)
    known = None if exponent is None else complexes.whole_power(a, exponent)
    return complexes.power(*core.broadcast(a, b)) if known is None else known


pow = power  # pylint: disable=redefined-builtin


@operation
def float_power(x, y):
    """Returns: x to the power y, as floats or complex numbers."""
    return _power(*core.promote_inexact(x, y), y if type(y) is int else None)


@operation
def floor_divide(x, y):
    """Returns: the greatest integer below x / y, of each pair; integers: x // 0 is -1."""
    a, b = core.broadcast(*core.promote(x, y))
    if a.dtype_name == "bool":
        raise TypeError(f"floor_divide is not defined for bool; use .astype ({location.text()})")
    if a.dtype_name not in dtypes.FLOATS:
        return core.elementwise("floor_divide", a, b)
    # Of the exact x / y: as in Python, 1.0 // 0.1 is 9, and -1.0 // inf is -1.
    rest = core.elementwise("remainder", a, b)
    whole = (a - rest) / b
    down = (rest != 0) & ((rest < 0) != (b < 0))
    return where(b == 0, a / b, round(where(down, whole - 1, whole)))


@operation
def divmod(x, y):  # pylint: disable=redefined-builtin
    """Returns: (floor_divide(x, y), mod(x, y))."""
    return floor_divide(x, y), mod(x, y)


@operation
def modf(x):
    """Returns: (what is behind the point, what is in front of it), both with the sign of x."""
    (array,) = core.promote_inexact(x)
    whole = core.elementwise("trunc", array)
    infinite = core.apply("is_inf", [array])
    zero = core.full(array.shape, 0, array.dtype_name)
    rest = core.apply("select", [infinite, zero, core.elementwise("subtract", array, whole)])
    return core.elementwise("copysign", rest, array), whole


@operation
def round(x, decimals=0):  # pylint: disable=redefined-builtin
    """Returns: x rounded to this many decimals; of two nearest numbers the even one."""
    array = core.as_array(x)
    if array.dtype_name in dtypes.INTEGERS + dtypes.BOOLS:
        if decimals < 0:
            raise NotImplementedError("round of integers takes no negative number of decimals")
        return array
    if decimals == 0:
        return _inexact("round_half_even", array)
    scale = 10.0**decimals
    return divide(_inexact("round_half_even", array * scale), scale)


around = round


@operation
def clip(
    x, min=None, max=None, *, a_min=None, a_max=None
):  # pylint: disable=redefined-builtin
    """Returns: x within the bounds, which have two names each; None is no bound."""
    out = core.as_array(x)
    min, max = a_min if min is None else min, a_max if max is None else max
    if min is not None:
        out = core.elementwise("maximum", out, min)
    if max is not None:
        out = core.elementwise("minimum", out, max)
    return out


@operation
def fmax(x, y):
    """Returns: the greater one; a number where the other is NaN."""
    a, b = core.broadcast(*core.promote(x, y))
    greater = _MODULE.maximum(a, b)
    if a.dtype_name not in dtypes.FLOATS:
        return greater
    return core.apply("select", [isnan(a), b, core.apply("select", [isnan(b), a, greater])])


@operation
def fmin(x, y):
    """Returns: the smaller one; a number where the other is NaN."""
    a, b = core.broadcast(*core.promote(x, y))
    smaller = _MODULE.minimum(a, b)
    if a.dtype_name not in dtypes.FLOATS:
        return smaller
    return core.apply("select", [isnan(a), b, core.apply("select", [isnan(b), a, smaller])])


@operation
def logaddexp(x, y):
    """Returns: log(exp(x) + exp(y)) without overflow; integers become f32."""
    a, b = core.broadcast(*core.promote_inexact(x, y))
    greater = _MODULE.maximum(a, b)
    difference = core.apply("subtract", [a, b])
    tail = core.apply("log1p", [core.apply("exp", [core.apply("negate", [abs(difference)])])])
    # Equal infinities have no difference.
    return core.apply(
        "select", [isnan(difference), core.apply("add", [a, b]), core.apply("add", [greater, tail])]
    )


@operation
def logaddexp2(x, y):
    """Returns: log2(2**x + 2**y) without overflow."""
    a, b = core.promote_inexact(x, y)
    return logaddexp(a * math.log(2), b * math.log(2)) / math.log(2)


@operation
def sinc(x):
    """Returns: sin(pi x) / (pi x), 1 at 0."""
    (array,) = core.promote_inexact(x)
    angle = array * math.pi
    zero = core.compare("equal", array, 0)
    one = core.full(array.shape, 1, array.dtype_name)
    safe = core.apply("select", [zero, one, angle])
    return core.apply(
        "select", [zero, one, core.apply("divide", [_inexact("sin", safe), safe])]
    )


@operation
def heaviside(x, y):
    """Returns: 0 for x < 0, y for x == 0, 1 for x > 0."""
    a, b = core.broadcast(*core.promote_inexact(x, y))
    step = core.apply("maximum", [core.apply("sign", [a]), core.full(a.shape, 0, a.dtype_name)])
    return core.apply("select", [core.compare("equal", a, 0), b, step])


@operation
def deg2rad(x):
    """Returns: the angle in radians."""
    (array,) = core.promote_inexact(x)
    return array * (math.pi / 180)


@operation
def rad2deg(x):
    """Returns: the angle in degrees."""
    (array,) = core.promote_inexact(x)
    return array * (180 / math.pi)


radians, degrees = deg2rad, rad2deg

# --- Classes of numbers.


def _class_of_number(op, otherwise):
    def function(x):
        array = core.as_array(x)
        if array.dtype_name in dtypes.INTEGERS + dtypes.BOOLS:
            return core.full(array.shape, otherwise, "bool")
        if array.dtype_name in dtypes.COMPLEXES:
            parts = [core.apply(op, [core.apply(part, [array])]) for part in ("real", "imag")]
            return core.apply("and" if otherwise else "or", parts)
        return core.apply(op, [array])

    return function


_define("isnan", _class_of_number("is_nan", False), "Returns: whether each element is NaN.")
_define("isinf", _class_of_number("is_inf", False), "Returns: whether each element is infinite.")
_define(
    "isfinite",
    _class_of_number("is_finite", True),
    "Returns: whether each element is a finite number.",
)
isnan, isinf, isfinite = _MODULE.isnan, _MODULE.isinf, _MODULE.isfinite


@operation
def isposinf(x):
    """Returns: whether each element is plus infinity."""
    return core.compare("equal", x, math.inf)


@operation
def isneginf(x):
    """Returns: whether each element is minus infinity."""
    return core.compare("equal", x, -math.inf)


@operation
def isclose(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Returns: whether |x - y| <= atol + rtol * |y|, for each pair; infinities are close to
    themselves.
    """
    a, b = core.broadcast(*core.promote_inexact(x, y))
    near = abs(a - b) <= atol + rtol * abs(b)
    both = core.apply("and", [isfinite(a), isfinite(b)])
    close = core.apply("or", [core.apply("and", [near, both]), core.apply("equal", [a, b])])
    if equal_nan:
        close = core.apply("or", [close, core.apply("and", [isnan(a), isnan(b)])])
    return close


@operation
def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    """Returns: x with NaN and infinities replaced, these by the largest numbers of the type unless
    given.
    """
    array = core.as_array(x)
    if array.dtype_name in dtypes.COMPLEXES:
        parts = [nan_to_num(part, nan, posinf, neginf) for part in (real(array), imag(array))]
        return core.apply("complex", parts)
    if array.dtype_name not in dtypes.FLOATS:
        return array
    largest = (
        3.3895313892515355e38 if array.dtype_name == "bf16" else float(np.finfo(array.dtype).max)
    )
    for condition, value in (
        (isnan(array), nan),
        (isposinf(array), largest if posinf is None else posinf),
        (isneginf(array), -largest if neginf is None else neginf),
    ):
        array = core.apply(
            "select", [condition, core.full(array.shape, value, array.dtype_name), array]
        )
    return array


# --- Complex numbers.


@operation
def real(x):
    """Returns: the real parts."""
    array = core.as_array(x)
    return core.apply("real", [array]) if array.dtype_name in dtypes.COMPLEXES else array


@operation
def imag(x):
    """Returns: the imaginary parts."""
    array = core.as_array(x)
    if array.dtype_name in dtypes.COMPLEXES:
        return core.apply("imag", [array])
    return core.full(array.shape, 0, array.dtype_name)


@operation
def conj(x):
    """Returns: the numbers with their imaginary parts negated."""
    array = core.as_array(x)
    return core.apply("conjugate", [array]) if array.dtype_name in dtypes.COMPLEXES else array


conjugate = conj


@operation
def angle(x):
    """Returns: the angle of complex numbers, in radians."""
    (array,) = core.promote_inexact(x)
    return core.elementwise_inexact("atan2", imag(array), real(array))


# --- Choice.


@operation
def where(condition, x, y):
    """Returns: elements of x where the condition holds, else of y; all three broadcast."""
    chosen, a, b = core.broadcast(_truth(condition), *core.promote(x, y))
    return core.apply("select", [chosen, a, b], weak_type=a.weak_type and b.weak_type)


@operation
def select(conditions, choices, default=0):
    """Returns: elements of the first choice whose condition holds, else `default`."""
    if len(conditions) != len(choices):
        raise ValueError(f"select has {len(conditions)} conditions and {len(choices)} choices")
    out = default
    for condition, choice in reversed(list(zip(conditions, choices))):
        out = where(condition, choice, out)
    return out


@operation
def astype(x, dtype):
    """Returns: x in another element type. Floats become integers by dropping what is behind the
    point, saturated.
    """
    name = dtypes.name_of(dtype)
    array = core.as_array(x)
    if name == "bool":
        return _truth(array)
    return core.cast(array, name)
