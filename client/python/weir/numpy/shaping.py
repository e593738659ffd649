"""Functions that move elements: reshape, transpose, join, split, repeat, roll, pad."""

import itertools
import math

import numpy as np

from weir import checks, compaction, core, dims, indexing, location, tree
from weir.array import Array
from weir.dims import Dim
from weir.eager import operation
from weir.lists import List


@operation
def reshape(x, shape, order="C"):
    """Returns: the elements of x in another shape, of which one size may be -1: what the others
    leave. With the order "F" the first index of both counts fastest, with "C" the last one.
    """
    array = core.as_array(x)
    wanted = _resolve(core.canonical_shape(shape), array)
    if order == "F":
        return transpose(core.reshape(transpose(array), wanted[::-1]))
    if order != "C":
        raise ValueError(f"order must be 'C' or 'F', found {order!r} ({location.text()})")
    return core.reshape(array, wanted)


def _resolve(shape, array):
    left = [i for i, extent in enumerate(shape) if dims.same(extent, -1)]
    size = math.prod(extent for i, extent in enumerate(shape) if i not in left)
    if left:
        misfit = ValueError(f"cannot reshape {array.describe()} to {shape} ({location.text()})")
        if len(left) > 1 or dims.same(size, 0):
            raise misfit
        checks.require_same(array.size % size, 0, misfit)
        return (*shape[: left[0]], array.size // size, *shape[left[0] + 1 :])
    misfit = ValueError(
        f"cannot reshape {array.describe()} of {array.size} elements to {shape}"
        f" ({location.text()})"
    )
    checks.require_same(size, array.size, misfit)
    return shape


@operation
def ravel(x):
    """Returns: the elements of x along one axis."""
    array = core.as_array(x)
    return core.reshape(array, (array.size,))


@operation
def transpose(x, axes=None):
    """Returns: x with its axes in this order, reversed by default."""
    array = core.as_array(x)
    order = range(array.ndim)[::-1] if axes is None else core.canonical_axes(axes, array.ndim)
    if len(order) != array.ndim:
        raise ValueError(
            f"transpose of {array.describe()} needs {array.ndim} axes, found {tuple(order)}"
        )
    return core.transpose(array, list(order))


permute_dims = transpose


@operation
def matrix_transpose(x):
    """Returns: x with its last two axes exchanged."""
    return swapaxes(x, -1, -2)


@operation
def swapaxes(x, axis1, axis2):
    """Returns: x with two axes exchanged."""
    array = core.as_array(x)
    order = list(range(array.ndim))
    i, j = core.canonical_axis(axis1, array.ndim), core.canonical_axis(axis2, array.ndim)
    order[i], order[j] = order[j], order[i]
    return core.transpose(array, order)


@operation
def moveaxis(x, source, destination):
    """Returns: x with axes `source` moved to the places `destination`."""
    array = core.as_array(x)
    sources = core.canonical_axes(source, array.ndim)
    targets = core.canonical_axes(destination, array.ndim)
    if len(sources) != len(targets):
        raise ValueError(f"moveaxis has {len(sources)} sources and {len(targets)} destinations")
    order = [i for i in range(array.ndim) if i not in sources]
    for target, axis in sorted(zip(targets, sources)):
        order.insert(target, axis)
    return core.transpose(array, order)


@operation
def expand_dims(x, axis):
    """Returns: x with axes of size 1 where they stand in the result."""
    array = core.as_array(x)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    return core.expand_dims(array, core.canonical_axes(axis, array.ndim + count))


@operation
def squeeze(x, axis=None):
    """Returns: x without these axes of size 1; without all such axes by default."""
    array = core.as_array(x)
    if axis is None:
        axes = [i for i, extent in enumerate(array.shape) if dims.same(extent, 1)]
    else:
        axes = core.canonical_axes(axis, array.ndim)
    for i in axes:
        if not dims.same(array.shape[i], 1):
            raise ValueError(f"cannot squeeze axis {i} of {array.describe()}: its size is not 1")
    return core.reshape(array, [extent for i, extent in enumerate(array.shape) if i not in axes])


@operation
def broadcast_to(x, shape):
    """Returns: x repeated to this shape."""
    return core.broadcast_to(core.as_array(x), core.canonical_shape(shape))


@operation
def broadcast_arrays(*arrays):
    """Returns: the arrays repeated to one shape, as a list."""
    return core.broadcast(*(core.as_array(x) for x in arrays))


@operation
def atleast_1d(x):
    """Returns: x with at least one axis."""
    array = core.as_array(x)
    return array if array.ndim else core.reshape(array, (1,))


@operation
def atleast_2d(x):
    """Returns: x with at least two axes; new ones stand in front."""
    array = core.as_array(x)
    return array if array.ndim > 1 else core.reshape(array, (1,) * (2 - array.ndim) + array.shape)


# --- Joining.


@operation
def concatenate(arrays, axis=0):
    """Returns: the arrays put end to end along `axis`; all made flat if `axis` is None."""
    parts = core.promote(*_sequence("concatenate", arrays))
    if axis is None:
        parts, axis = [ravel(part) for part in parts], 0
    return core.concatenate(parts, core.canonical_axis(axis, parts[0].ndim))


@operation
def stack(arrays, axis=0):
    """Returns: the arrays, of equal shapes, side by side along a new axis."""
    parts = core.promote(*_sequence("stack", arrays))
    for part in parts:
        if not dims.same_shape(part.shape, parts[0].shape):
            raise ValueError(
                f"stack needs equal shapes, found {parts[0].describe()} and {part.describe()}"
            )
    at = core.canonical_axis(axis, parts[0].ndim + 1)
    return core.concatenate([core.expand_dims(part, [at]) for part in parts], at)


def _sequence(what, arrays):
    parts = list(arrays)
    if not parts:
        raise ValueError(f"{what} needs at least one array")
    return parts


@operation
def vstack(arrays):
    """Returns: the arrays below one another; vectors are rows."""
    return concatenate([atleast_2d(x) for x in arrays], 0)


@operation
def hstack(arrays):
    """Returns: the arrays beside one another; vectors end to end."""
    parts = [atleast_1d(x) for x in arrays]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1)


@operation
def dstack(arrays):
    """Returns: the arrays side by side along the third axis."""
    parts = [atleast_2d(x) for x in arrays]
    return concatenate([x if x.ndim > 2 else core.expand_dims(x, [2]) for x in parts], 2)


@operation
def column_stack(arrays):
    """Returns: vectors as the columns of a matrix; matrices stay."""
    parts = [core.as_array(x) for x in arrays]
    return concatenate([x if x.ndim > 1 else core.reshape(x, (x.size, 1)) for x in parts], 1)


@operation
def append(x, values, axis=None):
    """Returns: `values` behind x along `axis`; both made flat if it is None."""
    return concatenate([x, values], axis)


# --- Splitting.


@operation
def split(x, indices_or_sections, axis=0):
    """Returns: a list of equal parts, or of the parts between the given places."""
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    if isinstance(indices_or_sections, (int, np.integer)):
        rest = array.shape[at] % indices_or_sections
        checks.require_at_most(
            rest,
            0,
            ValueError(
                f"axis {at} of {array.describe()} does not split into {indices_or_sections} equal"
                f" parts ({location.text()})"
            ),
        )
        if not dims.same(rest, 0):
            size = array.shape[at] // indices_or_sections
            places = [i * size for i in range(indices_or_sections + 1)]
            return [core.slice_axis(array, at, i, j) for i, j in zip(places, places[1:])]
    return array_split(array, indices_or_sections, at)


@operation
def array_split(x, indices_or_sections, axis=0):
    """Returns: a list of parts of nearly equal size, or of the parts between the given places."""
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    extent = array.shape[at]
    if type(indices_or_sections) is Dim:
        core.known_integer(indices_or_sections, "the number of parts")
    if isinstance(indices_or_sections, (int, np.integer)):
        parts = int(indices_or_sections)
        # The first ones are greater by one where it does not come out even.
        sizes = [(extent + parts - 1 - i) // parts for i in range(parts)]
        places = [0, *itertools.accumulate(sizes[:-1]), extent]
    else:
        places = [0] + [indexing.bound(i, extent) for i in indices_or_sections] + [extent]
    return [
        core.slice_axis(array, at, begin, dims.larger(begin, end))
        for begin, end in zip(places, places[1:])
    ]


# --- Repeating.


@operation
def tile(x, reps):
    """Returns: x repeated as a whole, reps[i] times along axis i."""
    counts = core.canonical_shape(reps)
    array = core.as_array(x)
    ndim = max(len(counts), array.ndim)
    counts = (1,) * (ndim - len(counts)) + counts
    shape = (1,) * (ndim - array.ndim) + array.shape
    wide = [size for pair in zip(counts, shape) for size in pair]
    spread = core.reshape(array, [size for extent in shape for size in (1, extent)])
    spread = core.broadcast_to(spread, wide)
    return core.reshape(spread, [count * extent for count, extent in zip(counts, shape)])


@operation
def repeat(x, repeats, axis=None, total_repeat_length=None, capacity=None):
    """Returns: each element `repeats` times along `axis`; of x made flat by default.

    Args:
      x: array.
      repeats: an integer or a sequence with one for each element. One that only the run knows needs
        one of the following.
      axis: None or an axis of x.
      total_repeat_length: the size of the result, which is cut, or filled up with the last element.
      capacity: how many there may be; the result is then a `weir.List` of slices along the axis. A
        run fails where there are more.
    """
    array = core.as_array(x)
    if axis is None:
        array, axis = ravel(array), 0
    at = core.canonical_axis(axis, array.ndim)
    if total_repeat_length is None and capacity is None:
        if isinstance(repeats, Array):
            raise TypeError(
                f"the repeats of repeat must be known while tracing, found {repeats.describe()}:"
                " they decide the shape; give total_repeat_length, or capacity for a weir.List"
                f" ({location.text()})"
            )
        if dims.is_size(repeats):
            places = core.iota((array.shape[at] * repeats,), 0, "i64")
            places = core.elementwise("floor_divide", places, dims.larger(repeats, 1))
            places.is_index = True
        else:
            extent = core.known_integer(array.shape[at], "the axis of repeats that differ")
            places = np.repeat(np.arange(extent), repeats)
        return array[(slice(None),) * at + (places,)]
    rows = moveaxis(array, at, 0)
    counts = core.broadcast_to(core.to_dtype(repeats, "i64"), rows.shape[:1])
    total = core.reduce("reduce_sum", counts, [0], False)
    if total_repeat_length is not None:
        length = core.known_size(total_repeat_length, "total_repeat_length")
        return moveaxis(rows[_repeated(counts, length)], 0, at)
    capacity = core.known_size(capacity, "capacity")
    checks.check(
        core.compare("less_equal", total, capacity),
        f"repeat makes at most {capacity} elements, its capacity",
    )
    return List(compaction.cleared(rows[_repeated(counts, capacity)], total), total)


def _repeated(counts, length):
    """Returns: i64[length], 0 as often as counts[0] says, then 1, ..; the last one behind."""
    cumulative = {"axis": 0, "reverse": False, "exclusive": False}
    ends = core.apply("cumsum", [counts], cumulative)
    ends.is_index = True
    steps = core.full((length,), 0, "i64").at[ends].add(1)
    places = core.apply("cumsum", [steps], cumulative)
    places = core.elementwise("minimum", places, dims.larger(counts.shape[0] - 1, 0))
    places.is_index = True
    return places


# --- Turning and shifting.


@operation
def flip(x, axis=None):
    """Returns: x with its elements turned round along `axis` (all axes by default)."""
    array = core.as_array(x)
    return core.reverse(array, core.canonical_axes(axis, array.ndim))


def flipud(x):
    """Returns: x with its rows in reverse order."""
    return flip(x, 0)


def fliplr(x):
    """Returns: x with its columns in reverse order."""
    return flip(x, 1)


@operation
def rot90(x, k=1, axes=(0, 1)):
    """Returns: x turned by k right angles in the plane of two axes."""
    array = core.as_array(x)
    first, second = core.canonical_axes(axes, array.ndim)
    if k % 4 == 2:
        return core.reverse(array, [first, second])
    if k % 4 == 0:
        return array
    if k % 4 == 1:
        return swapaxes(core.reverse(array, [second]), first, second)
    return core.reverse(swapaxes(array, first, second), [second])


@operation
def roll(x, shift, axis=None):
    """Returns: x with elements moved round by `shift` places along `axis`; through x made flat by
    default.

    `shift` and `axis` may be sequences. Shifts may be known only at run time.
    """
    array = core.as_array(x)
    if axis is None:
        return core.reshape(roll(ravel(array), shift, 0), array.shape)
    shifts, axes = _as_list(shift), _as_list(axis)
    if len(axes) == 1:
        axes *= len(shifts)
    if len(shifts) == 1:
        shifts *= len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll has {len(shifts)} shifts and {len(axes)} axes ({location.text()})")
    for places, which in zip(shifts, axes):
        at = core.canonical_axis(which, array.ndim)
        if dims.same(array.shape[at], 0):
            continue
        array = (_roll_by_data if isinstance(places, Array) else _roll_known)(array, places, at)
    return array


def _as_list(x):
    return list(x) if isinstance(x, (tuple, list)) or np.ndim(x) == 1 else [x]


def _roll_known(array, places, at):
    extent = array.shape[at]
    cut = -core.known_size(places, "the shift of roll") % dims.larger(extent, 1)
    parts = [core.slice_axis(array, at, cut, extent), core.slice_axis(array, at, 0, cut)]
    return core.concatenate(parts, at)


def _roll_by_data(array, places, at):
    extent = array.shape[at]
    order = core.elementwise("subtract", core.iota((extent,), 0, "i64"), core.cast(places, "i64"))
    order = core.elementwise("floor_mod", order, extent)
    order.is_index = True
    return indexing.getitem(array, (slice(None),) * at + (order,))


# --- Padding.


@operation
def pad(x, pad_width, mode="constant", constant_values=0):
    """Returns: x with more elements around it.

    Args:
      x: the array.
      pad_width: a number, a pair (before, after), or one pair for each axis.
      mode: "constant", "edge", "reflect", "symmetric" or "wrap", as in NumPy.
      constant_values: the number to pad with.
    """
    array = core.as_array(x)
    widths = _widths(pad_width, array.ndim)
    if mode == "constant" and not dims.known(*(width for pair in widths for width in pair)):
        return _pad_open(array, widths, core.to_dtype(constant_values, array.dtype_name))
    if mode == "constant":
        attrs = {
            "low": [low for low, _ in widths],
            "high": [high for _, high in widths],
            "interior": [0] * array.ndim,
        }
        return core.apply("pad", [array, core.to_dtype(constant_values, array.dtype_name)], attrs)
    for axis, (low, high) in enumerate(widths):
        if dims.known(low, high, array.shape[axis]) and mode != "wrap":
            places = np.pad(np.arange(array.shape[axis]), (low, high), mode=mode)
        else:
            places = _padding_places(mode, array, axis, low, high)
        array = array[(slice(None),) * axis + (places,)]
    return array


def _widths(pad_width, ndim):
    """Returns: one pair (before, after) for each axis."""
    if type(pad_width) is Dim:
        return [(pad_width, pad_width)] * ndim
    if not any(type(leaf) is Dim for leaf in tree.leaves(pad_width)):
        return np.broadcast_to(np.asarray(pad_width), (ndim, 2)).tolist()
    pairs = list(pad_width)
    if all(dims.is_size(width) for width in pairs):
        pairs = [pairs]
    pairs = [tuple(pair) * (2 // len(pair)) for pair in pairs]
    if len(pairs) not in (1, ndim):
        raise ValueError(
            f"pad needs one pair (before, after), or one for each of {ndim} axes, found"
            f" {pad_width!r} ({location.text()})"
        )
    return pairs * (ndim // len(pairs))


def _pad_open(array, widths, value):
    """Pads with a number, by widths that only the run knows."""
    for axis, pair in enumerate(widths):
        shapes = [[w if i == axis else e for i, e in enumerate(array.shape)] for w in pair]
        low, high = (core.broadcast_to(value, shape) for shape in shapes)
        array = core.concatenate([low, array, high], axis)
    return array


def _padding_places(mode, array, axis, low, high):
    """Returns: which elements of an axis stand in the padded one, whoever knows the sizes."""
    extent = array.shape[axis]
    nothing = ValueError(f"pad: axis {axis} has no element to pad with ({location.text()})")
    checks.require_at_most(dims.smaller(low + high, 1), extent, nothing)
    line = core.iota((low + extent + high,), 0, "i64") - low
    if mode == "edge":
        places = core.elementwise("minimum", core.elementwise("maximum", line, 0), extent - 1)
    elif mode == "wrap":
        places = core.elementwise("floor_mod", line, dims.larger(extent, 1))
    elif mode in ("reflect", "symmetric"):
        # There and back again, with the elements at the ends once or twice.
        period = 2 * extent - 2 if mode == "reflect" else 2 * extent
        line = core.elementwise("floor_mod", line, dims.larger(period, 1))
        back = 2 * extent - (2 if mode == "reflect" else 1)
        places = core.elementwise("minimum", line, back - line)
    else:
        raise ValueError(f"pad has no mode {mode!r} ({location.text()})")
    places.is_index = True
    return places


@operation
def delete(x, index, axis):
    """Returns: x without one row of `axis`, which must be known while tracing."""
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    row = core.known_size(index, "the row of delete")
    row = core.place(row, array.shape[at], at)
    parts = [
        core.slice_axis(array, at, 0, row),
        core.slice_axis(array, at, row + 1, array.shape[at]),
    ]
    return core.concatenate(parts, at)
