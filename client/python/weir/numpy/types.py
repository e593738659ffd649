"""Element types: constructors such as `float32(x)`, which are types wherever one is asked for, and
what can be asked about types.
"""

import numpy as np

from weir import core, dtypes, errors
from weir.array import Array
from weir.numpy import creation

generic, number, inexact, floating = np.generic, np.number, np.inexact, np.floating
integer, signedinteger, unsignedinteger = np.integer, np.signedinteger, np.unsignedinteger
complexfloating = np.complexfloating

_KINDS = {
    "bool": ("bool",),
    "signed integer": dtypes.SIGNED,
    "unsigned integer": dtypes.UNSIGNED,
    "integral": dtypes.INTEGERS,
    "real floating": dtypes.FLOATS,
    "complex floating": dtypes.COMPLEXES,
    "numeric": dtypes.INTEGERS + dtypes.FLOATS + dtypes.COMPLEXES,
}


class _ScalarType:
    """An element type that makes arrays of its type: `float32([1, 2])`.

    It stands for the NumPy type wherever one is asked for, compares equal with it, and has its
    attributes (`name`, `itemsize`, `kind`, ...).

    Attributes:
      dtype: the NumPy type.
    """

    __slots__ = ("dtype",)

    def __init__(self, name):
        self.dtype = np.dtype(name)

    def __call__(self, x=0):
        """Returns: x, a number, nested lists or an array, as array of this type.

        Raises: OverflowError for a Python integer that the type does not hold.
        """
        if type(x) is int:
            core.check_range(x, dtypes.name_of(self.dtype))
        return creation.array(x, self.dtype)

    def __getattr__(self, name):
        return getattr(object.__getattribute__(self, "dtype"), name)

    def __reduce__(self):
        return (_ScalarType, (self.dtype.name,))

    def __eq__(self, other):
        # An array has a type and is none.
        if isinstance(other, Array) or core.is_numpy(other):
            return NotImplemented
        return self.dtype == (other.dtype if isinstance(other, _ScalarType) else other)

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return f"weir.numpy.{self.dtype.name}{'_' if self.dtype.kind == 'b' else ''}"


bool_ = _ScalarType("bool")
int8, int16, int32, int64 = (_ScalarType(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (_ScalarType(f"uint{bits}") for bits in (8, 16, 32, 64))
float16, float32, float64 = (_ScalarType(f"float{bits}") for bits in (16, 32, 64))
complex64, complex128 = _ScalarType("complex64"), _ScalarType("complex128")


def _known(dtype):
    """Returns: Weir's name of a type, or of the type of an array; None for what is neither."""
    try:
        return dtypes.name_of(dtype.dtype_name if isinstance(dtype, Array) else dtype)
    except errors.InvalidArgument:
        return None


class _BFloat16Info:
    """What `finfo` tells of bf16: one sign, eight bits of exponent, seven of fraction."""

    dtype = dtypes.bfloat16
    bits, nmant, nexp = 16, 7, 8
    minexp, maxexp = -126, 128
    eps, epsneg = 2.0**-7, 2.0**-8
    max, min = (2 - 2.0**-7) * 2.0**127, -(2 - 2.0**-7) * 2.0**127
    tiny = smallest_normal = 2.0**-126
    smallest_subnormal = 2.0**-133
    resolution, precision = 0.01, 2


def finfo(dtype):
    """Returns: the limits of a float type, or of the parts of a complex type, as `numpy.finfo`
    has them: eps, max, min, tiny, bits, ...
    """
    name = _known(dtype)
    return _BFloat16Info() if name == "bf16" else np.finfo(np.dtype(dtypes.to_numpy(name or dtype)))


def iinfo(dtype):
    """Returns: the limits of an integer type, as `numpy.iinfo` has them: min, max, bits."""
    name = _known(dtype)
    return np.iinfo(np.dtype(dtypes.to_numpy(name) if name else dtype))


def issubdtype(dtype, kind):
    """Returns: whether a type is of a kind, such as `floating`, or is that type. bf16 is
    `floating`.
    """
    if dtype is dtypes.bfloat16 or kind is dtypes.bfloat16:
        if dtype is kind:
            return True
        return isinstance(kind, type) and issubclass(np.floating, kind)
    types = [each.dtype if isinstance(each, _ScalarType) else each for each in (dtype, kind)]
    return np.issubdtype(*types)


def isdtype(dtype, kind):
    """Returns: whether a type is of a kind: a type, one of "bool", "signed integer", "unsigned
    integer", "integral", "real floating", "complex floating" and "numeric", or a tuple of such.

    Raises: ValueError for other texts.
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"a kind of types is one of {', '.join(_KINDS)}, found {kind!r}")
        return _known(dtype) in _KINDS[kind]
    return dtypes.name_of(dtype) == dtypes.name_of(kind)


def can_cast(from_, to, casting="safe"):
    """Returns: whether a conversion between two types is allowed by NumPy's rule `casting`: "no",
    "equiv", "safe", "same_kind" or "unsafe". bf16 converts safely to f32 and wider.
    """
    source, target = (dtypes.name_of(_type_of(each)) for each in (from_, to))
    if "bf16" not in (source, target):
        return np.can_cast(dtypes.to_numpy(source), dtypes.to_numpy(target), casting)
    if source == target or casting in ("no", "equiv"):
        return source == target
    if casting == "safe" and target == "bf16":
        return source in ("bool", "i8", "u8")
    # Of the types of 16 bits the other one holds no bf16.
    if casting == "safe" and target == "f16":
        return False
    return np.can_cast(dtypes.to_numpy(source), dtypes.to_numpy(target), casting)


def _type_of(x):
    return dtypes.to_public(x.dtype_name) if isinstance(x, Array) else getattr(x, "dtype", x)


def iscomplexobj(x):
    """Returns: whether x has a complex element type, a Python bool."""
    return _kind(x) == "complex"


def isrealobj(x):
    """Returns: whether x has no complex element type, a Python bool."""
    return _kind(x) != "complex"


def _kind(x):
    if isinstance(x, Array):
        return dtypes.kind_of(x.dtype_name)
    return "complex" if np.iscomplexobj(x) else "real"


def isscalar(x):
    """Returns: whether x is a number or an array without axes, a Python bool."""
    return x.ndim == 0 if isinstance(x, (Array, np.ndarray)) else np.isscalar(x)
