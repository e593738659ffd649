"""Grids and joins that are written as an index, and places in an array of a known shape."""

import re

import numpy as np

from weir import core, dims, location, trace as tracing
from weir.array import Array
from weir.eager import operation
from weir.numpy import creation, ordering, places, shaping


def _known_array(values):
    """Returns: numbers that are known, with the types of Python's: i32 and f32."""
    kinds = {"i": np.int32, "f": np.float32, "c": np.complex64}
    made = values.astype(kinds.get(values.dtype.kind, values.dtype))
    return made if tracing.current() is None else core.constant(made)


class _Grid:
    """`mgrid[0:3, 0:1:5j]`: the coordinates of a grid, one array for each axis, i32 or f32.

    Each slice is one axis, with a step, or with as many points as an imaginary step says, the stop
    among them. All numbers are known while tracing.
    """

    __slots__ = ("_make", "_is_sparse")

    def __init__(self, make, is_sparse):
        self._make = make
        self._is_sparse = is_sparse

    def __getitem__(self, index):
        grid = self._make[index]
        if not isinstance(grid, (list, tuple)):
            return _known_array(grid)
        return type(grid)(_known_array(part) for part in grid)

    def __repr__(self):
        return "weir.numpy.ogrid" if self._is_sparse else "weir.numpy.mgrid"


mgrid = _Grid(np.mgrid, is_sparse=False)
ogrid = _Grid(np.ogrid, is_sparse=True)


class _Joiner:
    """`r_[0:3, x, 7]`: slices, numbers and arrays joined along an axis; `c_` joins columns.

    A text in front says along which axis, how many axes there are at least, and where those of a
    part with fewer stand in them, such as "0,2,-1"; "r" and "c" make a matrix of a row or a column.
    """

    __slots__ = ("_axis", "_ndmin", "_place")

    def __init__(self, axis, ndmin, place):
        self._axis, self._ndmin, self._place = axis, ndmin, place

    def __getitem__(self, index):
        items = list(index) if isinstance(index, tuple) else [index]
        axis, ndmin, place = self._axis, self._ndmin, self._place
        is_column = False
        if isinstance(items[0], str):
            text = items.pop(0)
            if text in ("r", "c"):
                axis, ndmin, place, is_column = -1, 2, -1, text == "c"
            else:
                numbers = [int(part) for part in re.findall(r"-?\d+", text)]
                if text != ",".join(map(str, numbers)) or len(numbers) > 3:
                    raise ValueError(
                        f"a text in front is 'r', 'c' or up to three numbers such as '0,2,-1',"
                        f" found {text!r} ({location.text()})"
                    )
                axis, ndmin, place = numbers + [axis, ndmin, place][len(numbers) :]
        return _joined(items, axis, ndmin, place, is_column)

    def __repr__(self):
        return "weir.numpy.r_" if self._ndmin == 1 else "weir.numpy.c_"


@operation
def _joined(items, axis, ndmin, place, is_column):
    parts = []
    for item in items:
        if isinstance(item, slice):
            known = np.r_[item]
            part, ndim = _known_array(known), 1
        else:
            part = item if core.is_scalar(item) else creation.array(item)
            part = core.as_array(part)
            ndim = part.ndim
            part = core.reshape(part, (1,)) if ndim == 0 else part
        parts.append(_with_axes(part, max(ndim, 1), ndmin, place))
    if is_column:
        axis = 0
        parts = [shaping.swapaxes(part, 0, 1) if part.ndim == 2 else part for part in parts]
    return shaping.concatenate(parts, axis)


def _with_axes(part, ndim, ndmin, place):
    """Returns: a part with at least `ndmin` axes, of which its own stand at `place`."""
    if part.ndim >= ndmin:
        return part
    added = ndmin - ndim
    first = place if place >= 0 else place + added + 1
    first = min(max(first, 0), added)
    return core.expand_dims(part, [i for i in range(ndmin) if not first <= i < first + ndim])


r_ = _Joiner(0, 1, -1)
c_ = _Joiner(-1, 2, 0)
s_ = np.s_
index_exp = np.index_exp


@operation
def fromfunction(function, shape, dtype=float, **kwargs):
    """Returns: `function` of the coordinates of an array of this shape: one array for each axis,
    of the type `dtype` (f32 by default).
    """
    extents = core.canonical_shape(shape)
    if not extents:
        return function(**kwargs)
    return function(*creation.indices(extents, dtype=dtype), **kwargs)


@operation
def diag_indices_from(x):
    """Returns: the indices of the diagonal of x, whose axes have equal sizes."""
    extents = ordering.shape(x)
    message = f"diag_indices_from needs two axes or more of one size, found {extents}"
    if len(extents) < 2:
        raise ValueError(f"{message} ({location.text()})")
    for extent in extents:
        if not dims.same(extent, extents[0]):
            raise dims.unequal(extent, extents[0], message)
    return places.diag_indices(extents[0], len(extents))


def _matrix_shape(what, x):
    extents = ordering.shape(x)
    if len(extents) != 2:
        raise ValueError(f"{what} needs a matrix, found the shape {extents}")
    return extents


@operation
def tril_indices_from(x, k=0):
    """Returns: (rows, columns) of the elements of a matrix at and below diagonal k."""
    n, m = _matrix_shape("tril_indices_from", x)
    return places.tril_indices(n, k, m)


@operation
def triu_indices_from(x, k=0):
    """Returns: (rows, columns) of the elements of a matrix at and above diagonal k."""
    n, m = _matrix_shape("triu_indices_from", x)
    return places.triu_indices(n, k, m)


@operation
def mask_indices(n, mask_func, k=0):
    """Returns: (rows, columns) of the elements that `mask_func(ones, k)`, such as `triu`, keeps of
    an n by n matrix. `mask_func` works on NumPy arrays, or is a function of `weir.numpy`.
    """
    names = {"tril": np.tril, "triu": np.triu}
    known = names.get(getattr(mask_func, "__name__", ""), mask_func)
    kept = known(np.ones((n, n), np.int32), k)
    if isinstance(kept, Array):
        raise TypeError("mask_indices needs a mask that is known: a function of NumPy arrays")
    return tuple(core.constant(index) for index in np.nonzero(kept))
