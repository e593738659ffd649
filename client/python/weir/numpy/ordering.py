"""Sorting, searching and taking elements by position."""

import math

import numpy as np

from weir import checks, core, dims, dtypes, indexing, location
from weir.array import Array
from weir.eager import operation
from weir.numpy import elementwise, reductions, shaping


@operation
def sort(x, axis=-1, descending=False):
    """Returns: x sorted along `axis` (None: made flat), NaN last; equals keep their order."""
    array, at = _along(x, axis)
    return core.apply("sort", [array], {"axis": at, "descending": descending, "is_stable": True})


@operation
def argsort(x, axis=-1, descending=False):
    """Returns: the positions, as i32, in which elements along `axis` are sorted; of equals the
    first comes first.
    """
    array, at = _along(x, axis)
    positions = core.iota(array.shape, at, "i32")
    attrs = {"axis": at, "descending": descending, "is_stable": True}
    return core.apply_all("sort", [array, positions], attrs)[1]


def _along(x, axis):
    array = core.as_array(x)
    if axis is None:
        array, axis = shaping.ravel(array), 0
    return array, core.canonical_axis(axis, array.ndim)


@operation
def top_k(x, k):
    """Returns: (the k greatest of the last axis in descending order, their positions as i32)."""
    values, positions = core.apply_all("top_k", [core.as_array(x)], {"k": k})
    return values, core.cast(positions, "i32")


@operation
def median(x, axis=None, keepdims=False):
    """Returns: the middle of the sorted elements, the mean of two for an even number; NaN if there
    is one.
    """
    return quantile(x, 0.5, axis, keepdims)


@operation
def quantile(x, q, axis=None, keepdims=False):
    """Returns: the element below which a part q of the elements lies, interpolated; NaN if there is
    one.

    Args:
      x: real numbers.
      q: a number or an array, known or traced; its axes come first in the result.
      axis: one axis or several; all of them by default.
      keepdims: whether the axes stay with size 1.
    """
    if isinstance(q, Array) or np.ndim(q):
        return _quantiles(x, q, axis, keepdims)
    if not 0 <= float(q) <= 1:
        raise ValueError(f"a quantile lies between 0 and 1, found {q} ({location.text()})")
    array, at, kept = core.join_axes(core.promote_inexact(x)[0], axis)
    if not dims.known(array.shape[at]):
        return _quantile_open(array, at, kept if keepdims else None, q)
    if not array.shape[at]:
        kind = array.dtype_name
        array = core.full([1 if i == at else e for i, e in enumerate(array.shape)], np.nan, "f64")
        array = core.cast(array, kind)
    ordered = core.apply("sort", [array], {"axis": at, "descending": False, "is_stable": True})
    place = float(q) * (array.shape[at] - 1)
    low = int(place)
    high = min(low + 1, array.shape[at] - 1)
    below = core.slice_axis(ordered, at, low, low + 1)
    above = core.slice_axis(ordered, at, high, high + 1)
    last = core.slice_axis(ordered, at, array.shape[at] - 1, array.shape[at])
    out = below + (above - below) * (place - low) if place > low else below
    out = core.apply("select", [core.apply("is_nan", [last]), last, out])
    if keepdims:
        return core.reshape(out, kept)
    return core.reshape(out, [extent for i, extent in enumerate(out.shape) if i != at])


def _quantile_open(array, at, kept, q):
    """`quantile` along an axis whose size only the run knows; of no element NaN."""
    last = array.shape[at] - 1
    ordered = core.apply("sort", [array], {"axis": at, "descending": False, "is_stable": True})
    row = [1 if i == at else extent for i, extent in enumerate(array.shape)]
    ordered = core.concatenate([ordered, core.full(row, np.nan, array.dtype_name)], at)
    place = core.elementwise("maximum", core.scalar(float(q), "f64") * last, 0.0)
    low = core.cast(core.apply("floor", [place]), "i64")
    high = core.elementwise("minimum", low + 1, dims.larger(last, 0))
    part = core.cast(place - core.cast(low, "f64"), array.dtype_name)
    end = core.scalar(dims.larger(last, 0), "i64")
    below, above, greatest = (take(ordered, where, at) for where in (low, high, end))
    out = elementwise.where(part > 0, below + (above - below) * part, below)
    out = core.apply("select", [core.apply("is_nan", [greatest]), greatest, out])
    return out if kept is None else core.reshape(out, kept)


def _quantiles(x, q, axis, keepdims):
    if not isinstance(q, Array):
        known = np.asarray(q)
        found = [quantile(x, part, axis, keepdims) for part in known.ravel()]
        return core.reshape(shaping.stack(found), known.shape + found[0].shape)
    array, at, kept = core.join_axes(core.promote_inexact(x)[0], axis)
    array = shaping.moveaxis(array, at, 0)
    ordered, last = sort(array, 0), array.shape[0] - 1
    place = core.to_dtype(q, array.dtype_name) * last
    low = core.cast(core.apply("floor", [place]), "i64")
    part = place - core.cast(low, array.dtype_name)
    high = core.elementwise("minimum", low + 1, last)
    below, above = ordered[low], ordered[high]
    part = core.reshape(part, (*part.shape, *[1] * (array.ndim - 1)))
    # Infinities have no difference, and none is needed at an element.
    out = core.apply("select", core.broadcast(part == 0, below, below + (above - below) * part))
    greatest = core.broadcast_to(ordered[last], out.shape)
    out = core.apply("select", [core.apply("is_nan", [greatest]), greatest, out])
    return core.reshape(out, (*core.as_array(q).shape, *kept)) if keepdims else out


@operation
def take(x, indices, axis=None, mode=None, fill_value=None):
    """Returns: elements of x at `indices`, whose axes replace `axis`; of x made flat by default.

    Args:
      x: the array.
      indices: integers, known or traced.
      axis: None or an axis.
      mode: None: negative positions count from the end, known ones outside raise, traced ones are
        clamped; "clip": all below 0 are 0, all behind the end the last; "wrap": counted round;
        "fill": negative ones count from the end, what lies outside is `fill_value`.
      fill_value: NaN by default, of integers the least one (of unsigned ones the greatest).
    """
    array = core.as_array(x)
    if axis is None:
        array, axis = shaping.ravel(array), 0
    at = core.canonical_axis(axis, array.ndim)
    if mode is None:
        is_known = core.is_scalar(indices) or dims.is_size(indices)
        where = indices if is_known else core.as_array(indices)
        return indexing.getitem(array, (slice(None),) * at + (where,))
    where = core.as_array(indices)
    if where.dtype_name not in dtypes.INTEGERS:
        raise TypeError(f"take needs integers, found {where.describe()} ({location.text()})")
    return _take_outside(array, core.cast(where, "i64"), at, mode, fill_value)


def _take_outside(array, where, at, mode, fill_value):
    """Elements at positions of which `mode` says what they are outside."""
    extent = array.shape[at]
    if mode not in ("clip", "wrap", "fill"):
        raise ValueError(
            f"mode must be None, 'clip', 'wrap' or 'fill', found {mode!r} ({location.text()})"
        )
    if mode != "fill":
        nothing = IndexError(
            f"take of an axis without elements: {array.describe()} ({location.text()})"
        )
        checks.require_at_most(dims.smaller(where.size, 1), extent, nothing)
    if mode == "wrap":
        inside = core.elementwise("floor_mod", where, dims.larger(extent, 1))
    else:
        low = where
        if mode == "fill":
            low = core.apply("select", [where < 0, where + extent, where])
        inside = core.elementwise("maximum", core.elementwise("minimum", low, extent - 1), 0)
    inside.is_index = True
    if mode != "fill":
        return indexing.getitem(array, (slice(None),) * at + (inside,))
    name = array.dtype_name
    if fill_value is None:
        is_unsigned = name in dtypes.UNSIGNED + dtypes.BOOLS
        fill_value = dtypes.greatest(name) if is_unsigned else math.nan
        fill_value = dtypes.least(name) if name in dtypes.SIGNED else fill_value
    shape = array.shape[:at] + where.shape + array.shape[at + 1 :]
    fill = core.broadcast_to(core.to_dtype(fill_value, name), shape)
    if not dims.at_most(1, extent):
        # One more that is not there, so that there is an element to take.
        row = [1 if i == at else size for i, size in enumerate(array.shape)]
        array = core.concatenate([array, core.full(row, 0, name)], at)
    picked = indexing.getitem(array, (slice(None),) * at + (inside,))
    is_there = core.apply("and", [low >= 0, low < extent])
    is_there = core.broadcast_in_dim(is_there, shape, range(at, at + where.ndim))
    return core.apply("select", [is_there, picked, fill])


@operation
def take_along_axis(x, indices, axis):
    """Returns: for each line of x along `axis` the elements at the positions in the same line of
    `indices`.
    """
    array, where = core.as_array(x), core.as_array(indices)
    at = core.canonical_axis(axis, array.ndim)
    if where.ndim != array.ndim:
        raise ValueError(
            f"take_along_axis needs equal numbers of axes: {array.describe()}, {where.describe()}"
        )
    lines = core.broadcast_shapes(_without(array.shape, at), _without(where.shape, at))
    array = core.broadcast_to(array, lines[:at] + (array.shape[at],) + lines[at:])
    where = core.broadcast_to(where, lines[:at] + (where.shape[at],) + lines[at:])
    entries = [core.iota(where.shape, i, "i64") for i in range(array.ndim)]
    for entry in entries:
        entry.is_index = True
    entries[at] = where
    return indexing.getitem(array, tuple(entries))


def _without(shape, axis):
    return shape[:axis] + shape[axis + 1 :]


@operation
def searchsorted(x, values, side="left"):
    """Returns: where `values` would stand in the sorted vector x, as i32; before or behind equal
    elements.
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right', found {side!r}")
    line, wanted = core.promote(x, values)
    if line.ndim != 1:
        raise ValueError(
            f"searchsorted takes a sorted vector, found {line.describe()} ({location.text()})"
        )
    if line.dtype_name == "bool":
        line, wanted = core.cast(line, "u8"), core.cast(wanted, "u8")
    flat = core.reshape(wanted, (wanted.size,))
    # NaN stands behind all numbers, as in sort.
    place = core.apply("searchsorted", [line, flat], {"side": side})
    return core.reshape(core.cast(place, "i32"), wanted.shape)


@operation
def digitize(x, bins, right=False):
    """Returns: the number of the bin of each element, as i32; `bins` is a vector of their borders,
    increasing or decreasing.
    """
    borders = core.as_array(bins if isinstance(bins, Array) else np.asarray(bins))
    if borders.ndim != 1:
        raise ValueError(
            f"digitize takes a vector of borders, found {borders.describe()} ({location.text()})"
        )
    up = searchsorted(borders, x, "left" if right else "right")
    down = searchsorted(core.reverse(borders, [0]), x, "left" if right else "right")
    # No border rises too, and there every element has the bin 0.
    rises = core.broadcast_to(reductions.all(borders[:1] <= borders[-1:]), up.shape)
    return core.apply("select", [rises, up, borders.size - down])


@operation
def bincount(x, weights=None, length=None):
    """Returns: how often each of 0 .. length-1 occurs in the vector of integers x, or the sums of
    their weights.

    `length` decides the shape and must be given.
    """
    if length is None:
        raise ValueError("bincount needs length=, which decides the shape of the result")
    array = core.as_array(x)
    factors = core.full(array.shape, 1, "i32") if weights is None else core.as_array(weights)
    counts = core.full(core.canonical_shape(length), 0, factors.dtype_name)
    return counts.at[array].add(factors)


@operation
def interp(x, xp, fp):
    """Returns: the values at x of the line through the points (xp, fp), xp increasing; constant
    outside.
    """
    at, places, values = core.promote_inexact(x, xp, fp)
    last = places.size - 1
    right = core.elementwise("maximum", searchsorted(places, at, "right"), 1)
    right = core.elementwise("minimum", right, last)
    left = right - 1
    right.is_index = left.is_index = True
    x0, x1, y0, y1 = places[left], places[right], values[left], values[right]
    line = y0 + (at - x0) / (x1 - x0) * (y1 - y0)
    line = core.apply(
        "select", core.broadcast(core.compare("less", at, places[0]), values[0], line)
    )
    return core.apply(
        "select", core.broadcast(core.compare("greater", at, places[last]), values[last], line)
    )


@operation
def polyval(coefficients, x):
    """Returns: the polynomial with these coefficients, the highest power first, at x."""
    factors, at = core.promote(coefficients, x)
    out = core.full(at.shape, 0, at.dtype_name)
    for i in range(core.known_integer(factors.shape[0], "the number of coefficients")):
        out = out * at + factors[i]
    return out


def shape(x):
    """Returns: the shape of x."""
    return tuple(getattr(x, "shape", ()))


def ndim(x):
    """Returns: the number of axes of x."""
    return len(shape(x))


def size(x, axis=None):
    """Returns: the number of elements of x, or of its axis `axis`: a Python integer or a
    `weir.Dim`.
    """
    extents = shape(x)
    return math.prod(extents) if axis is None else extents[core.canonical_axis(axis, len(extents))]


def result_type(*operands):
    """Returns: the element type in which operands meet, as `.dtype` shows it."""
    return dtypes.to_public(dtypes.promote([core.type_of(x) for x in operands])[0])
