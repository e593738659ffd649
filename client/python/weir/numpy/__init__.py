"""The functions of NumPy over Weir's arrays, with the names and meanings of jax.numpy.

Inside of traced functions they take and return traced arrays; outside each call is a small program
that runs on the session and returns a NumPy array.
"""

import math as _math

import numpy as _np

from weir.dtypes import bfloat16, promote_types
from weir.numpy import creation, elementwise, integers, matrices, ordering, places, products
from weir.numpy import reductions, selection, shaping, signals, statistics
from weir.numpy import fft, linalg

pi = _math.pi
e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None
bool_ = _np.dtype(_np.bool_)
int8, int16, int32, int64 = (_np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (_np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
float16, float32, float64 = (_np.dtype(f"float{bits}") for bits in (16, 32, 64))
complex64, complex128 = _np.dtype("complex64"), _np.dtype("complex128")


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
    for module in (*basic, integers, places, signals, statistics):
        for name, value in vars(module).items():
            if _is_function_of(module, name, value):
                found[name] = value
    return found


globals().update(_collect())
__all__ = sorted(_collect()) + [
    *"pi e inf nan newaxis bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64".split(),
    *"float16 float32 float64 complex64 complex128 bfloat16 promote_types fft linalg".split(),
]
