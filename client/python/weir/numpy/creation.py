"""Arrays out of nothing, or of numbers that are known while tracing."""

import math

import numpy as np

from weir import checks, compaction, core, dims, dtypes, location, trace as tracing, tree
from weir.array import Array
from weir.dims import Dim
from weir.eager import operation
from weir.lists import List


def array(values, dtype=None):
    """An array of numbers, of nested lists of them, or of nested lists of arrays.

    Python numbers have the types that they have in operations: integers i32, floats f32. NumPy
    arrays keep theirs.

    Returns: a traced array inside of a traced function, else a NumPy array.

    Raises: InvalidArgument for what has no element type here, such as texts.
    """
    if tracing.current() is None:
        made = np.array(_known(values, dtype))
        dtypes.name_of(made.dtype)
        return made
    if isinstance(values, Array):
        return values if dtype is None else core.to_dtype(values, dtypes.name_of(dtype))
    if any(isinstance(leaf, (Array, Dim)) for leaf in tree.leaves(values)):
        return _stacked(values, dtype)
    if core.is_scalar(values) and dtype is None:
        return core.as_array(values)
    known = core.constant(_known(values, dtype))
    return known if dtype is None else core.cast(known, dtypes.name_of(dtype))


asarray = array


def _known(values, dtype):
    made = np.asarray(values)
    if dtype is not None:
        return made.astype(dtypes.to_numpy(dtypes.name_of(dtype)))
    if core.is_numpy(values) or any(core.is_numpy(leaf) for leaf in tree.leaves(values)):
        return made
    # NumPy makes unsigned integers or objects of what 64 bits do not hold.
    if made.dtype.kind in "iuO":
        ends = (made.max(), made.min()) if made.size and made.dtype.kind != "O" else made.ravel()
        for number in ends:
            core.check_range(number if made.dtype.kind == "O" else int(number), "i32")
    kind = {"i": np.int32, "f": np.float32, "c": np.complex64}.get(made.dtype.kind, made.dtype)
    return made.astype(kind)


def _stacked(values, dtype):
    if isinstance(values, (list, tuple)):
        parts = [_stacked(value, dtype) for value in values]
        parts = core.promote(*parts)
        return core.concatenate([core.expand_dims(part, [0]) for part in parts], 0)
    return core.as_array(values) if dtype is None else core.to_dtype(values, dtypes.name_of(dtype))


def _name(dtype, default="f32"):
    return default if dtype is None else dtypes.name_of(dtype)


@operation
def zeros(shape, dtype=None):
    """Returns: an array of zeros, f32 by default."""
    return core.full(core.canonical_shape(shape), 0, _name(dtype))


@operation
def ones(shape, dtype=None):
    """Returns: an array of ones, f32 by default."""
    return core.full(core.canonical_shape(shape), 1, _name(dtype))


empty = zeros


@operation
def full(shape, fill_value, dtype=None):
    """Returns: an array of one value, which broadcasts to `shape`; by default of its type."""
    value = core.as_array(fill_value)
    if dtype is not None:
        value = core.to_dtype(fill_value, dtypes.name_of(dtype))
    out = core.broadcast_to(value, core.canonical_shape(shape))
    return core.cast(out, out.dtype_name)


def _like(x, dtype, shape):
    like = core.as_array(x)
    extents = like.shape if shape is None else core.canonical_shape(shape)
    return extents, _name(dtype, like.dtype_name)


@operation
def zeros_like(x, dtype=None, shape=None):
    """Returns: zeros with the shape and type of x."""
    extents, name = _like(x, dtype, shape)
    return core.full(extents, 0, name)


@operation
def ones_like(x, dtype=None, shape=None):
    """Returns: ones with the shape and type of x."""
    extents, name = _like(x, dtype, shape)
    return core.full(extents, 1, name)


empty_like = zeros_like


@operation
def full_like(x, fill_value, dtype=None, shape=None):
    """Returns: one value with the shape and type of x."""
    extents, name = _like(x, dtype, shape)
    return core.broadcast_to(core.to_dtype(fill_value, name), extents)


@operation
def arange(start, stop=None, step=None, dtype=None, capacity=None):
    """Returns: start, start + step, ... below stop; i32 for integers, f32 for floats by default.

    Integers may be sizes; other numbers must be known while tracing. With a capacity, how many
    there may be, they need not: the result is then a `weir.List`, and a run fails where there are
    more.
    """
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if capacity is not None:
        capacity = core.known_size(capacity, "capacity")
        return _listed_range(start, stop, step, dtype, capacity)
    for number in (start, stop, step):
        if isinstance(number, Array):
            raise TypeError(
                f"the bounds of arange must be known while tracing, found {number.describe()}: they"
                f" decide the shape; give capacity= for a weir.List ({location.text()})"
            )
    integers = all(dims.is_size(number) for number in (start, stop, step))
    name = _name(dtype, "i32" if integers else "f32")
    if not integers:
        start, stop, step = (float(x) if type(x) is Dim else x for x in (start, stop, step))
        return core.cast(
            core.constant(np.arange(start, stop, step).astype(dtypes.to_numpy(name))), name
        )
    step = core.known_integer(step, "the step of arange")
    if step == 0:
        raise ValueError(f"the step of arange is 0 ({location.text()})")
    count = dims.larger((stop - start + step - (1 if step > 0 else -1)) // step, 0)
    if dims.known(start, count) and count:
        core.check_range(int(start), name)
        core.check_range(int(start + (count - 1) * step), name)
    counted = core.iota((count,), 0, "i64")
    out = core.cast(
        core.elementwise("add", core.elementwise("multiply", counted, step), start), name
    )
    return out


def _listed_range(start, stop, step, dtype, capacity):
    first, last, by = core.promote(start, stop, step)
    if first.dtype_name in dtypes.INTEGERS:
        first, last, by = (core.cast(x, "i64") for x in (first, last, by))
        # Rounded up: minus the quotient of the other sign, rounded down.
        count = -core.elementwise("floor_divide", first - last, by)
    else:
        count = core.cast(core.apply("ceil", [core.elementwise("divide", last - first, by)]), "i64")
    count = core.elementwise("maximum", count, 0)
    checks.check(
        core.compare("less_equal", count, capacity),
        f"arange makes at most {capacity} numbers, its capacity",
    )
    name, weak = dtypes.promote([core.type_of(x) for x in (start, stop, step)])
    line = core.cast(core.iota((capacity,), 0, "i64"), first.dtype_name)
    numbers = core.elementwise("add", core.elementwise("multiply", line, by), first)
    numbers = core.cast(numbers, _name(dtype, name), weak and dtype is None)
    return List(compaction.cleared(numbers, count), count)


@operation
def linspace(start, stop, num=50, endpoint=True, dtype=None):
    """Returns: `num` numbers from start to stop in equal steps, along a new axis in front where
    these are arrays; f32 by default.

    start and stop are known or traced.
    """
    name = _name(dtype)
    if not dims.known(start, stop, num):
        return core.cast(_open_line(start, stop, num, endpoint, name), name)
    if not isinstance(start, Array) and not isinstance(stop, Array):
        line = np.linspace(start, stop, num, endpoint=endpoint).astype(dtypes.to_numpy(name))
        return core.cast(core.constant(line), name)
    fractions = np.linspace(0, 1, num, endpoint=endpoint)
    floats = dtypes.to_inexact(name)
    first, last = core.broadcast(core.to_dtype(start, floats), core.to_dtype(stop, floats))
    weights = core.constant(fractions.astype(dtypes.to_numpy(floats)))
    weights = core.reshape(weights, (num, *[1] * first.ndim))
    return core.cast(first * (1 - weights) + last * weights, name)


def _open_line(start, stop, num, endpoint, name):
    """`linspace` of a size that only the run knows, in f64."""
    first, last = core.broadcast(core.to_dtype(start, "f64"), core.to_dtype(stop, "f64"))
    shape = (core.known_size(num, "num"), *first.shape)
    first, last = core.broadcast_to(first, shape), core.broadcast_to(last, shape)
    line = core.iota(shape, 0, "f64")
    steps = dims.larger(num - 1 if endpoint else num, 1)
    made = first + line * ((last - first) / core.scalar(steps, "f64"))
    if not endpoint:
        return made
    is_last = core.compare("equal", line, core.scalar(steps, "f64"))
    return core.apply("select", [is_last, last, made])


@operation
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None):
    """Returns: base to the power of linspace(start, stop, num)."""
    line = linspace(start, stop, num, endpoint)
    return core.cast(core.elementwise("power", base, line), _name(dtype))


@operation
def eye(n, m=None, k=0, dtype=None):
    """Returns: an n by m matrix with ones on diagonal k."""
    m = n if m is None else m
    rows = core.iota((n, m), 0, "i64")
    columns = core.iota((n, m), 1, "i64")
    return core.cast(core.compare("equal", core.elementwise("add", rows, k), columns), _name(dtype))


def identity(n, dtype=None):
    """Returns: the n by n identity matrix."""
    return eye(n, dtype=dtype)


@operation
def tri(n, m=None, k=0, dtype=None):
    """Returns: an n by m matrix with ones at and below diagonal k."""
    m = n if m is None else m
    rows = core.iota((n, m), 0, "i64")
    columns = core.iota((n, m), 1, "i64")
    mask = core.compare("greater_equal", core.elementwise("add", rows, k), columns)
    return core.cast(mask, _name(dtype))


@operation
def meshgrid(*arrays, indexing="xy", sparse=False):
    """Returns: a list of coordinate arrays of a grid, as NumPy's."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', found {indexing!r}")
    lines = [core.as_array(x) for x in arrays]
    axes = list(range(len(lines)))
    if indexing == "xy" and len(axes) > 1:
        axes[0], axes[1] = 1, 0
    shaped = []
    for line, axis in zip(lines, axes):
        shape = [1] * len(lines)
        shape[axis] = line.size
        shaped.append(core.reshape(line, shape))
    return shaped if sparse else core.broadcast(*shaped)


@operation
def indices(dimensions, dtype=None):
    """Returns: one array of coordinates for each axis, stacked in front."""
    shape = core.canonical_shape(dimensions)
    grids = [core.iota(shape, axis, _name(dtype, "i32")) for axis in range(len(shape))]
    return core.concatenate([core.expand_dims(grid, [0]) for grid in grids], 0)
