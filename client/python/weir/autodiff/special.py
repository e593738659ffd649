"""Derivatives of special functions: Abramowitz and Stegun, and the NIST Handbook (DLMF) 5.15, 6.2,
7.2, 7.10, 8.8, 8.17, 10.6, 10.29, 25.11.
"""

import math

from weir import core, errors, location
from weir import numpy as wnp
from weir.autodiff.rules import RULES, Elementwise


def _op(name, *operands):
    return core.apply(name, list(operands))


def _where(condition, a, b):
    return wnp.where(condition, a, b)


def _over(y, x):
    """y / x, of which the limit at 0 is a half."""
    is_zero = core.compare("equal", x, 0)
    return _where(is_zero, 0.5, y / _where(is_zero, 1, x))


def _trigamma(x):
    """By reflection below 0, where polygamma is not defined."""
    below = core.compare("less", x, 0)
    order = core.full(x.shape, 1, x.dtype_name)
    above = _op("polygamma", order, _where(below, 1 - x, x))
    sine = wnp.sin(math.pi * _where(below, x - wnp.floor(x), 0.5))
    return _where(below, (math.pi / sine) ** 2 - above, above)


def _gamma_density(a, x):
    return wnp.exp((a - 1) * wnp.log(x) - x - _op("lgamma", a))


def _beta_density(a, b, x):
    log_beta = _op("lgamma", a) + _op("lgamma", b) - _op("lgamma", a + b)
    return wnp.exp((a - 1) * wnp.log(x) + (b - 1) * _op("log1p", -x) - log_beta)


def _polygamma(g, z, n, x):
    # Of order 0, digamma, there is a derivative below 0 too.
    return g * _where(core.compare("equal", n, 0), _trigamma(x), _op("polygamma", n + 1, x))


def _spence(g, y, x):
    is_one = core.compare("equal", x, 1)
    return g * _where(is_one, -1, wnp.log(x) / _where(is_one, 1, 1 - x))


def _i1e(g, y, x):
    # The part that the scale e^-|x| changes is 0 at 0.
    return g * (_op("bessel_i0e", x) - y * _op("sign", x) - _over(y, x))


def _without(op, what):
    """The partial derivative for an operand in which the op cannot be differentiated."""

    def partial(g, *rest):
        raise errors.NotDifferentiable(
            f"{op} at {location.text()} has no derivative in {what}; use weir.stop_gradient on it,"
            " or weir.custom_jvp"
        )

    return partial


_OF_ONE = {
    "erf": lambda g, y, x: g * (2 / math.sqrt(math.pi) * wnp.exp(-x * x)),
    "erfc": lambda g, y, x: g * (-2 / math.sqrt(math.pi) * wnp.exp(-x * x)),
    "erf_inv": lambda g, y, x: g * (math.sqrt(math.pi) / 2 * wnp.exp(y * y)),
    "lgamma": lambda g, y, x: g * _op("digamma", x),
    "digamma": lambda g, y, x: g * _trigamma(x),
    "bessel_i0": lambda g, y, x: g * _op("bessel_i1", x),
    "bessel_i1": lambda g, y, x: g * (_op("bessel_i0", x) - _over(y, x)),
    "bessel_i0e": lambda g, y, x: g * (_op("bessel_i1e", x) - _op("sign", x) * y),
    "bessel_i1e": _i1e,
    "bessel_j0": lambda g, y, x: -g * _op("bessel_j1", x),
    "bessel_j1": lambda g, y, x: g * (_op("bessel_j0", x) - _over(y, x)),
    "bessel_y0": lambda g, y, x: -g * _op("bessel_y1", x),
    "bessel_y1": lambda g, y, x: g * (_op("bessel_y0", x) - y / x),
    "bessel_k0": lambda g, y, x: -g * _op("bessel_k1", x),
    "bessel_k1": lambda g, y, x: -g * (_op("bessel_k0", x) + y / x),
    "bessel_k0e": lambda g, y, x: g * (y - _op("bessel_k1e", x)),
    "bessel_k1e": lambda g, y, x: g * (y - _op("bessel_k0e", x) - y / x),
    "ndtri": lambda g, y, x: g * (math.sqrt(2 * math.pi) * wnp.exp(0.5 * y * y)),
    "expint": lambda g, y, x: g * (wnp.exp(x) / x),
    "dawsn": lambda g, y, x: g * (1 - 2 * x * y),
    "spence": _spence,
    "fresnel_cos": lambda g, y, x: g * wnp.cos((math.pi / 2) * x * x),
    "fresnel_sin": lambda g, y, x: g * wnp.sin((math.pi / 2) * x * x),
}
RULES.update({op: Elementwise([partial]) for op, partial in _OF_ONE.items()})
RULES["igamma"] = Elementwise(
    [_without("igamma", "its order"), lambda g, z, a, x: g * _gamma_density(a, x)]
)
RULES["igammac"] = Elementwise(
    [_without("igammac", "its order"), lambda g, z, a, x: -g * _gamma_density(a, x)]
)
RULES["polygamma"] = Elementwise([_without("polygamma", "its order"), _polygamma])
RULES["zeta"] = Elementwise(
    [_without("zeta", "its exponent"), lambda g, z, s, q: g * (-s * _op("zeta", s + 1, q))]
)
RULES["betainc"] = Elementwise(
    [_without("betainc", "its parameters")] * 2
    + [lambda g, z, a, b, x: g * _beta_density(a, b, x)]
)
