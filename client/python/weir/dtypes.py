"""Element types: Weir's names, NumPy's types, and how types meet (JAX's published promotion
lattice).

A Python scalar is *weak*: it takes the type of the array beside it. Where a weak number must have a
type it is i32, f32 or c64.
"""

import numpy as np

from weir import errors


class BFloat16:
    """The type bf16, which NumPy does not have. Results of this type come back as float32.

    Called, it makes an array of this type: `bfloat16(x)`.
    """

    name = "bfloat16"
    itemsize = 2
    kind = "V"

    def __call__(self, x=0):
        """Returns: x, a number, nested lists or an array, as array of this type; outside of traced
        functions as float32.
        """
        from weir.numpy import elementwise, creation  # which are made of types

        return elementwise.astype(creation.array(x), self)

    def __repr__(self):
        return "weir.bfloat16"


bfloat16 = BFloat16()

_TO_NUMPY = {
    "bool": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}
_FROM_NUMPY = {dtype: name for name, dtype in _TO_NUMPY.items()}
_PYTHON = {bool: "bool", int: "i32", float: "f32", complex: "c64"}

BOOLS = ("bool",)
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")
COMPLEXES = ("c64", "c128")
INTEGERS = SIGNED + UNSIGNED


def name_of(dtype):
    """Returns: Weir's name of a type given as NumPy type, Python type, name ("f32", "float32") or
    bfloat16.

    Raises: InvalidArgument for types without a counterpart.
    """
    if isinstance(dtype, str) and (dtype in _TO_NUMPY or dtype == "bf16"):
        return dtype
    if dtype is bfloat16 or (isinstance(dtype, str) and dtype == "bfloat16"):
        return "bf16"
    if isinstance(dtype, type) and dtype in _PYTHON:
        return _PYTHON[dtype]
    try:
        found = _FROM_NUMPY.get(np.dtype(dtype).newbyteorder("="))
    except TypeError as error:
        raise errors.InvalidArgument(f"{dtype!r} is no element type") from error
    if found is None:
        raise errors.InvalidArgument(
            f"{np.dtype(dtype)!r} is no element type of Weir; these are: {', '.join(_TO_NUMPY)},"
            " bf16"
        )
    return found


def to_public(name):
    """Returns: what `.dtype` of an array shows: a NumPy type, or bfloat16."""
    return bfloat16 if name == "bf16" else _TO_NUMPY[name]


def to_numpy(name):
    """Returns: the NumPy type that holds values of this type at the boundary; float32 for bf16."""
    return _TO_NUMPY["f32" if name == "bf16" else name]


def kind_of(name):
    """Returns: "bool", "int", "float" or "complex"."""
    if name in INTEGERS:
        return "int"
    if name in FLOATS:
        return "float"
    return "complex" if name in COMPLEXES else "bool"


def of_scalar(value):
    """Returns: the type that a Python scalar has where it stands alone."""
    return _PYTHON[type(value)]


def to_inexact(name):
    """Returns: the type itself if it is a float or complex type, else f32."""
    return name if name in FLOATS + COMPLEXES else "f32"


def real_of(name):
    """Returns: the type of the parts of a complex type; other types themselves."""
    return {"c64": "f32", "c128": "f64"}.get(name, name)


def least(name):
    """Returns: the least number of a real type, as a Python number."""
    if name in INTEGERS:
        return int(np.iinfo(to_numpy(name)).min)
    return False if name == "bool" else -float("inf")


def greatest(name):
    """Returns: the greatest number of a real type, as a Python number."""
    if name in INTEGERS:
        return int(np.iinfo(to_numpy(name)).max)
    return True if name == "bool" else float("inf")


# --- Promotion.

# What directly contains what; a star marks the weak types.
_EDGES = (
    ("bool", "int*"),
    ("int*", "u8"),
    ("int*", "i8"),
    ("u8", "u16"),
    ("u8", "i16"),
    ("u16", "u32"),
    ("u16", "i32"),
    ("u32", "u64"),
    ("u32", "i64"),
    ("i8", "i16"),
    ("i16", "i32"),
    ("i32", "i64"),
    ("u64", "float*"),
    ("i64", "float*"),
    ("float*", "bf16"),
    ("float*", "f16"),
    ("float*", "complex*"),
    ("bf16", "f32"),
    ("f16", "f32"),
    ("f32", "f64"),
    ("f32", "c64"),
    ("f64", "c128"),
    ("complex*", "c64"),
    ("c64", "c128"),
)
_WEAK_DEFAULT = {"int*": "i32", "float*": "f32", "complex*": "c64"}


def _upper_bounds():
    above = {}
    for edge in _EDGES:
        for node in edge:
            above.setdefault(node, {node})
    for _ in range(len(above)):
        for low, high in _EDGES:
            above[low] |= above[high]
    return above


_ABOVE = _upper_bounds()


def _join(a, b):
    common = _ABOVE[a] & _ABOVE[b]
    return next(node for node in common if common <= _ABOVE[node])


def promote(types):
    """The type in which types meet. `types` are pairs (name, weak). Returns: such a pair."""
    nodes = [f"{kind_of(name)}*" if weak and name != "bool" else name for name, weak in types]
    met = nodes[0]
    for node in nodes[1:]:
        met = _join(met, node)
    if met in _WEAK_DEFAULT:
        # Weak numbers have a width too: that of loop variables is 64.
        same = [name for (name, _), node in zip(types, nodes) if node == met]
        widest = max(same, key=lambda name: _TO_NUMPY[name].itemsize, default=_WEAK_DEFAULT[met])
        return widest, True
    return met, False


def promote_types(a, b):
    """Returns: the type in which two array types meet, as `.dtype` shows it."""
    return to_public(promote([(name_of(a), False), (name_of(b), False)])[0])
