"""Derivatives of element-wise ops: arithmetic, rounding, elementary functions.

Where an operand is as large as the other one, maximum, minimum and clamp give each half, as JAX
does; at the corner of relu and abs the derivative is 0.
"""

import math

from weir import core
from weir import numpy as wnp
from weir.autodiff.rules import RULES, Elementwise, zero

_LOG2, _LOG10 = math.log(2), math.log(10)


def _where(condition, a, b):
    return wnp.where(condition, a, b)


def _chosen(g, result, x, other):
    """g where x is the result, half of it where the other operand is too."""
    share = _where(core.compare("equal", x, result), 1.0, 0.0)
    both = core.compare("equal", x, other)
    return g * core.cast(_where(both, 0.5, share), g.dtype_name)


def _in_range(g, low, x, high):
    inside = core.apply("and", [core.compare("less", low, x), core.compare("less", x, high)])
    return _where(inside, g, 0)


def _limit_low(g, result, low, x, high):
    return _where(
        core.apply("and", [core.compare("less", x, low), core.compare("less", low, high)]), g, 0
    )


def _limit_high(g, result, low, x, high):
    return _where(core.compare("less", high, wnp.maximum(low, x)), g, 0)


def _power_base(g, result, x, y):
    lower = core.apply("power", [x, _where(core.compare("equal", y, 0), 1, y - 1)])
    return g * (y * lower)


def _power_exponent(g, result, x, y):
    # Where the base is 0 the result is 0 for all larger exponents.
    is_zero = core.compare("equal", x, 0)
    return g * (result * wnp.log(_where(is_zero, 1, x)))


def _remainder_divisor(g, result, x, y):
    return -g * core.apply("trunc", [x / y])


def _over_root(g, x):
    return g / wnp.sqrt(1 - x * x)


def _hypot(g, result, x):
    return g * _where(core.compare("equal", result, 0), 0, x / result)


def _signed(g, x):
    return g * core.apply("sign", [x])


def _copysign(g, result, x, y):
    return _where(core.compare("equal", result, x), g, -g)


_OF_ONE = {
    "negate": lambda g, y, x: -g,
    "square": lambda g, y, x: g * (2 * x),
    "reciprocal": lambda g, y, x: -g * y * y,
    "relu": lambda g, y, x: _where(core.compare("greater", x, 0), g, 0),
    "exp": lambda g, y, x: g * y,
    "exp2": lambda g, y, x: g * y * _LOG2,
    "expm1": lambda g, y, x: g * (y + 1),
    "log": lambda g, y, x: g / x,
    "log2": lambda g, y, x: g / (x * _LOG2),
    "log10": lambda g, y, x: g / (x * _LOG10),
    "log1p": lambda g, y, x: g / (x + 1),
    "logistic": lambda g, y, x: g * y * (1 - y),
    "softplus": lambda g, y, x: g * core.apply("logistic", [x]),
    "sqrt": lambda g, y, x: g * (0.5 / y),
    "rsqrt": lambda g, y, x: g * (-0.5 * (y / x)),
    "cbrt": lambda g, y, x: g * (y / (3 * x)),
    "sin": lambda g, y, x: g * wnp.cos(x),
    "cos": lambda g, y, x: -g * wnp.sin(x),
    "tan": lambda g, y, x: g * (1 + y * y),
    "asin": lambda g, y, x: _over_root(g, x),
    "acos": lambda g, y, x: -_over_root(g, x),
    "atan": lambda g, y, x: g / (1 + x * x),
    "sinh": lambda g, y, x: g * wnp.cosh(x),
    "cosh": lambda g, y, x: g * wnp.sinh(x),
    "tanh": lambda g, y, x: g * (1 - y * y),
    "asinh": lambda g, y, x: g / wnp.sqrt(x * x + 1),
    "acosh": lambda g, y, x: g / (wnp.sqrt(x - 1) * wnp.sqrt(x + 1)),
    "atanh": lambda g, y, x: g / ((1 - x) * (1 + x)),
}
_OF_TWO = {
    "add": (lambda g, z, x, y: g, lambda g, z, x, y: g),
    "subtract": (lambda g, z, x, y: g, lambda g, z, x, y: -g),
    "multiply": (lambda g, z, x, y: g * y, lambda g, z, x, y: g * x),
    "divide": (lambda g, z, x, y: g / y, lambda g, z, x, y: -g * (z / y)),
    "squared_difference": (
        lambda g, z, x, y: g * (2 * (x - y)),
        lambda g, z, x, y: g * (2 * (y - x)),
    ),
    "remainder": (lambda g, z, x, y: g, _remainder_divisor),
    "floor_mod": (lambda g, z, x, y: g, lambda g, z, x, y: -g * wnp.floor(x / y)),
    "maximum": (lambda g, z, x, y: _chosen(g, z, x, y), lambda g, z, x, y: _chosen(g, z, y, x)),
    "minimum": (lambda g, z, x, y: _chosen(g, z, x, y), lambda g, z, x, y: _chosen(g, z, y, x)),
    "power": (_power_base, _power_exponent),
    "hypot": (lambda g, z, x, y: _hypot(g, z, x), lambda g, z, x, y: _hypot(g, z, y)),
    "atan2": (
        lambda g, z, y, x: g * (x / (x * x + y * y)),
        lambda g, z, y, x: -g * (y / (x * x + y * y)),
    ),
    "copysign": (_copysign, None),
    "xlogy": (lambda g, z, x, y: g * wnp.log(y), lambda g, z, x, y: g * (x / y)),
    "xlog1py": (
        lambda g, z, x, y: g * core.apply("log1p", [y]),
        lambda g, z, x, y: g * (x / (y + 1)),
    ),
}

RULES.update({op: Elementwise([partial]) for op, partial in _OF_ONE.items()})
RULES.update({op: Elementwise(partials) for op, partials in _OF_TWO.items()})
RULES["clamp"] = Elementwise(
    [_limit_low, lambda g, z, low, x, high: _in_range(g, low, x, high), _limit_high]
)
RULES["select"] = Elementwise(
    [None, lambda g, z, c, a, b: _where(c, g, 0), lambda g, z, c, a, b: _where(c, 0, g)]
)

zero(
    "floor_divide sign floor ceil trunc round_half_even round_half_away next_after",
    "it is constant but for its steps",
)
zero(
    "and or xor not shift_left shift_right_logical shift_right_arithmetic popcnt"
    " count_leading_zeros equal not_equal less less_equal greater greater_equal is_finite is_inf"
    " is_nan",
    "its results are no floats",
)
