"""The functions of NumPy over Weir's arrays, with the names and meanings of jax.numpy.

Inside of traced functions they take and return traced arrays; outside each call is a small program
that runs on the session and returns a NumPy array.
"""

import math as _math

from weir.dtypes import bfloat16, promote_types
from weir.numpy import creation, elementwise, integers, matrices, ordering, places, products
from weir.numpy import reductions, selection, shaping, signals, statistics
from weir.numpy import fft, linalg
from weir.numpy import array_api, bits, grids, mapping, polynomials, types
from weir.numpy.array_api import euler_gamma
from weir.numpy.grids import c_, index_exp, mgrid, ogrid, r_, s_
from weir.numpy.types import bool_, complex64, complex128, float16, float32, float64
from weir.numpy.types import int8, int16, int32, int64, uint8, uint16, uint32, uint64
from weir.numpy.types import complexfloating, floating, generic, inexact, integer, number
from weir.numpy.types import signedinteger, unsignedinteger

pi = _math.pi
e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None

# Other names of functions, most of them those of the array API.
_SPELLINGS = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "concat": "concatenate",
    "fix": "trunc",
}


def _is_function_of(module, name, value):
    return (
        callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", "") == module.__name__
    )


def _collect():
    """The public functions of the modules are those of this package."""
    found = {}
    basic = (elementwise, creation, reductions, shaping, matrices, products, ordering, selection)
    later = (array_api, bits, grids, mapping, polynomials, types)
    for module in (*basic, integers, places, signals, statistics, *later):
        for name, value in vars(module).items():
            if _is_function_of(module, name, value):
                found[name] = value
    return found | {name: found[other] for name, other in _SPELLINGS.items()}


globals().update(_collect())
__all__ = sorted(_collect()) + [
    *"pi e inf nan newaxis bfloat16 promote_types fft linalg".split(),
    *"complexfloating floating generic inexact integer number signedinteger".split(),
    *"unsignedinteger euler_gamma c_ index_exp mgrid ogrid r_ s_".split(),
]
