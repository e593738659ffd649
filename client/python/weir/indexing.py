"""Indexing of traced arrays as in NumPy, and updates through `.at`.

An index has one entry for each axis: a slice with Python bounds, an integer, or an integer array
(traced or not). What lies outside: an integer known while tracing raises IndexError, a traced one
is clamped when reading and dropped when updating, as in JAX. Negative numbers count from the end.

A boolean mask that is known chooses elements as in NumPy, alone or beside other items. A traced one
stands alone and gives a `weir.List` of them, as only the run knows how many there are.
"""

import numpy as np

from weir import checks, compaction, core, dims, dtypes, errors, lists, location
from weir.array import Array
from weir.dims import Dim


def take_row(x, index):
    """Row `index` (i64 scalar, not negative) of axis 0: what a parallel loop does first."""
    return _gather(x, core.as_array(index), [0])


def getitem(x, index):
    """Returns: `x[index]`."""
    if is_mask(index):
        return _masked(x, index)
    plan = _Plan(x, index)
    picked = _slice_known(plan)
    if not plan.arrays:
        return picked
    return _move_picked(plan, _gather_arrays(plan, picked))


def is_mask(item):
    """True for boolean arrays with axes."""
    is_array = isinstance(item, Array) or core.is_numpy(item)
    return is_array and item.ndim > 0 and core.type_of(item)[0] == "bool"


def _check_mask(x, mask):
    if not dims.same_shape(mask.shape, x.shape[: mask.ndim]):
        raise IndexError(
            f"a mask of shape {tuple(mask.shape)} does not fit the first axes of {x.describe()}"
            f" ({location.text()})"
        )


def _masked(x, mask):
    _check_mask(x, mask)
    if core.is_numpy(mask):
        return getitem(x, np.nonzero(mask))
    flat = core.reshape(mask, (mask.size,))
    rows = core.reshape(x, (mask.size, *x.shape[mask.ndim :]))
    chosen = compaction.places(flat)
    return lists.List(compaction.take(rows, chosen), chosen.size)


class _Entry:
    """The index of one axis: `kind` is "all", "slice" (start, count, step, limit), "int" or
    "array".
    """

    __slots__ = ("kind", "value")

    def __init__(self, kind, value=None):
        self.kind = kind
        self.value = value


class _Plan:
    """An index taken apart.

    Attributes:
      x: the array with the new axes of the index (size 1).
      entries: one for each of its axes.
      arrays: positions of the entries that are arrays; integers beside arrays with axes are arrays
        too.
      adjacent: whether those stand side by side; else their axes come first in the result.
    """

    def __init__(self, x, index):
        items = _expand(x, index)
        new_axes = [i for i, item in enumerate(items) if item is None]
        self.x = core.expand_dims(x, new_axes) if new_axes else x
        self.entries = [
            _entry(slice(None) if item is None else item, extent, axis)
            for axis, (item, extent) in enumerate(zip(items, self.x.shape))
        ]
        arrays = [i for i, entry in enumerate(self.entries) if entry.kind == "array"]
        if any(self.entries[i].value.ndim > 0 for i in arrays):
            for i, entry in enumerate(self.entries):
                if entry.kind == "int":
                    self.entries[i] = _Entry("array", core.scalar(entry.value, "i64"))
                    self.entries[i].value.is_index = True
            arrays = [i for i, entry in enumerate(self.entries) if entry.kind == "array"]
        self.arrays = arrays
        self.adjacent = not arrays or arrays == list(range(arrays[0], arrays[-1] + 1))


def _expand(x, index):
    """Returns: one item for each axis of the result of adding new axes, without an ellipsis."""
    items = list(index) if isinstance(index, tuple) else [index]
    items = _without_known_masks(x, items)
    for item in items:
        _check_item(item)
    used = sum(1 for item in items if item is not None and item is not Ellipsis)
    if used > x.ndim:
        raise IndexError(
            f"{used} indices for an array of {x.ndim} axes: {x.describe()} ({location.text()})"
        )
    ellipses = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError(f"an index has at most one ellipsis ({location.text()})")
    at = ellipses[0] if ellipses else len(items)
    rest = [slice(None)] * (x.ndim - used)
    return items[:at] + rest + items[at + 1 :]


def _without_known_masks(x, items):
    """Returns: the items with the places that they choose, one vector for each axis, instead of
    masks that are known.
    """
    widths = [_width(item) for item in items]
    out, axis = [], 0
    for k, (item, width) in enumerate(zip(items, widths)):
        if item is Ellipsis:
            axis = x.ndim - sum(widths[k + 1 :])
        elif core.is_numpy(item) and is_mask(item):
            if item.shape != x.shape[axis : axis + width]:
                raise IndexError(
                    f"a mask of shape {item.shape} does not fit the axes from {axis} on of"
                    f" {x.describe()} ({location.text()})"
                )
            out += np.nonzero(item)
            axis += width
            continue
        axis += width
        out.append(item)
    return out


def _width(item):
    """Returns: how many axes of an array an item of an index is for."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if is_mask(item) else 1


def _check_item(item):
    is_bool = isinstance(item, bool) or (
        (isinstance(item, Array) or core.is_numpy(item)) and core.type_of(item)[0] == "bool"
    )
    if is_bool:
        raise IndexError(
            f"a boolean mask as index at {location.text()} must stand alone or be known, and have"
            " axes; use weir.numpy.where(mask, x, y) to choose element by element, or where= of a"
            " reduction"
        )
    if isinstance(item, (list, str, float)):
        raise TypeError(
            f"an index must be an integer, a slice or an integer array, found {type(item).__name__}"
            f" ({location.text()}); weir.numpy.array makes an array of a list"
        )


def _entry(item, extent, axis):
    if isinstance(item, slice):
        return _slice_entry(item, extent)
    if isinstance(item, Array) or core.is_numpy(item):
        return _array_entry(item, extent, axis)
    number = _known_integer(item)
    return _Entry("int", core.place(number, extent, axis))


def _known_integer(item):
    if type(item) is Dim:
        return item
    try:
        return item.__index__()
    except AttributeError:
        raise TypeError(
            f"an index must be an integer, a slice or an integer array, found {type(item).__name__}"
            f" ({location.text()})"
        ) from None


def _slice_entry(item, extent):
    for bound in (item.start, item.stop, item.step):
        if isinstance(bound, Array):
            raise TypeError(
                f"the bounds of a slice must be known while tracing, found {bound.describe()} "
                f"({location.text()}); weir.lax.dynamic_slice takes a start that is not"
            )
    start, limit, step = _slice_bounds(item, extent)
    count = dims.larger((limit - start + step - (1 if step > 0 else -1)) // step, 0)
    if step == 1 and dims.same(start, 0) and dims.same(count, extent):
        return _Entry("all")
    return _Entry("slice", (start, count, step, limit))


def _slice_bounds(item, extent):
    """Returns: (start, limit, step) of a slice, with `limit` not before `start` in the direction of
    the step.
    """
    if dims.known(extent, item.start, item.stop):
        return item.indices(extent)
    step = 1 if item.step is None else _known_integer(item.step)
    if step > 0:
        start = 0 if item.start is None else bound(item.start, extent)
        limit = extent if item.stop is None else bound(item.stop, extent)
        return start, limit if dims.at_most(start, limit) else dims.larger(start, limit), step
    item.indices(0)  # raises for a step of 0
    start = extent - 1 if item.start is None else bound(item.start, extent, -1)
    limit = -1 if item.stop is None else bound(item.stop, extent, -1)
    return start, limit if dims.at_most(limit, start) else dims.smaller(start, limit), step


def bound(number, extent, below=0):
    """Returns: where a slice of an axis of this size starts or ends: a number that counts from the
    end if it is negative, cut to `below` .. extent + below.
    """
    number = _known_integer(number)
    if dims.below(number, 0):
        return dims.larger(number + extent, below)
    # Where a size such as n - 1 may be negative, counting from the end must give nothing too.
    if not dims.at_most(0, number) and not dims.at_most(extent - number, 2 + 2 * below):
        raise errors.InconclusiveDimension(
            f"whether the bound {number} of a slice counts from the end",
            f"weir.Dim.max({number}, 0) does not, and a negative integer does: x[:-3] in place of"
            " x[:n - 3]",
        )
    return dims.larger(dims.smaller(number, extent + below), below)


def _array_entry(item, extent, axis):
    dtype_name, _ = core.type_of(item)
    if dtype_name not in dtypes.INTEGERS:
        raise TypeError(
            f"an index array must hold integers, found {dtype_name} ({location.text()})"
        )
    if core.is_numpy(item):
        if item.ndim == 0:
            number = int(item)
            return _Entry("int", core.place(number, extent, axis))
        if item.size:
            _check_inside(int(item.min()), int(item.max()), extent, axis)
        if not dims.known(extent):
            return _Entry("array", _from_front(core.constant(item), extent, bool((item < 0).any())))
        array = core.constant(item % max(extent, 1))
        array.is_index = True
        return _Entry("array", array)
    return _Entry("array", _from_front(core.check_scope(item), extent))


def _check_inside(least, greatest, extent, axis):
    checks.require_at_most(-least, extent, core.outside(least, extent, axis))
    checks.require_at_most(greatest + 1, extent, core.outside(greatest, extent, axis))


def _from_front(index, extent, may_be_negative=True):
    """Negative numbers count from the end."""
    if not may_be_negative or index.is_index or index.dtype_name in dtypes.UNSIGNED:
        return index
    # The type of the index need not hold the extent.
    index = core.cast(index, "i64")
    negative = core.compare("less", index, 0)
    return core.apply("select", [negative, core.elementwise("add", index, extent), index])


# --- Reading.


def _slice_known(plan):
    """Applies slices and, where there are no arrays with axes, integers. Drops their entries and
    axes.
    """
    x = plan.x
    start, limit, stride, flipped, turned = [], [], [], [], []
    for axis, (entry, extent) in enumerate(zip(plan.entries, x.shape)):
        first, last, step = 0, extent, 1
        if entry.kind == "int":
            first, last = entry.value, entry.value + 1
        elif entry.kind == "slice":
            first, count, step, last = entry.value
            if not dims.known(first, count):
                if step < 0:
                    # Of the axis turned round, as the count decides what the last element is.
                    turned.append(axis)
                    first, last, step = extent - 1 - first, extent - 1 - last, -step
            else:
                first, last, step = _ascending(first, count, step)
                if entry.value[2] < 0:
                    flipped.append(axis)
        start.append(first)
        limit.append(last)
        stride.append(step)
    x = core.reverse(core.slice_axes(core.reverse(x, turned), start, limit, stride), flipped)
    kept = [i for i, entry in enumerate(plan.entries) if entry.kind != "int"]
    x = core.reshape(x, [x.shape[i] for i in kept])
    plan.entries = [plan.entries[i] for i in kept]
    plan.arrays = [i for i, entry in enumerate(plan.entries) if entry.kind == "array"]
    return x


def _ascending(start, count, step):
    """Returns: (first, limit, stride) of the elements of a slice, in ascending order."""
    if count == 0:
        return 0, 0, 1
    last = start + (count - 1) * step
    return (start, last + 1, step) if step > 0 else (last, start + 1, -step)


def _gather_arrays(plan, x):
    """Returns: the gathered array, with the axes of the index arrays where the first of them
    stands.
    """
    indices = [plan.entries[i].value for i in plan.arrays]
    if len(indices) == 1:
        return _gather(x, indices[0], plan.arrays)
    return _gather(x, _index_vectors(indices), plan.arrays, vectors=True)


def _index_vectors(indices):
    """Returns: i64[..., k], the index arrays broadcast together and stacked behind."""
    cast = core.broadcast(*(core.cast(index, "i64") for index in indices))
    return core.concatenate([core.expand_dims(index, [index.ndim]) for index in cast], cast[0].ndim)


def _gather(x, indices, axes, vectors=False):
    """Elements of `axes` at the indices, whose own axes stand where the first of `axes` was."""
    index_ndim = indices.ndim - (1 if vectors else 0)
    others = [i for i in range(x.ndim) if i not in axes]
    first = axes[0]
    offset_dims = [k if axis < first else k + index_ndim for k, axis in enumerate(others)]
    attrs = {
        "offset_dims": offset_dims,
        "collapsed_slice_dims": list(axes),
        "operand_batching_dims": [],
        "start_indices_batching_dims": [],
        "start_index_map": list(axes),
        "index_vector_dim": index_ndim,
        "slice_sizes": tuple(1 if i in axes else extent for i, extent in enumerate(x.shape)),
    }
    return core.apply("gather", [x, indices], attrs, x.weak_type)


def _move_picked(plan, gathered):
    """Axes of index arrays that do not stand side by side come first."""
    if plan.adjacent:
        return gathered
    indices = [plan.entries[i].value for i in plan.arrays]
    count = len(core.broadcast_shapes(*(index.shape for index in indices)))
    first = plan.arrays[0]
    moved = list(range(first, first + count))
    rest = [i for i in range(gathered.ndim) if i not in moved]
    return core.transpose(gathered, moved + rest)


# --- Updating.


class IndexUpdater:
    """`x.at[index]`: each method returns a copy of `x` in which the elements of `x[index]` are
    updated.

    The operand is broadcast to the shape of `x[index]` and converted to the type of `x`; for a
    mask, bool with the leading axes of `x`, to the shape of one row that it chooses, the same for
    each. Where an element is named more than once, `set` keeps the last one and the others apply
    all. Elements outside are left out.
    """

    __slots__ = ("_x", "_index")

    def __init__(self, x, index):
        self._x = x
        self._index = index

    def get(self):
        """Returns: `x[index]`."""
        return getitem(self._x, self._index)

    def set(self, value):
        """Puts `value` in their place."""
        return self._update("set", value)

    def add(self, value):
        """Adds `value`."""
        return self._update("add", value)

    def subtract(self, value):
        """Subtracts `value`."""
        return self._update("add", core.apply("negate", [core.to_dtype(value, self._x.dtype_name)]))

    def multiply(self, value):
        """Multiplies with `value`."""
        return self._update("mul", value)

    def min(self, value):
        """Takes the smaller one of element and `value`."""
        return self._update("min", value)

    def max(self, value):
        """Takes the greater one of element and `value`."""
        return self._update("max", value)

    def divide(self, value):
        """Divides by `value`; integers become f32, all of them."""
        name = dtypes.to_inexact(self._x.dtype_name)
        ones = core.full(self._x.shape, 1, name)
        return core.cast(self._x, name) / IndexUpdater(ones, self._index).multiply(value)

    def power(self, value):
        """Takes to the power `value`, of several to that of their product."""
        ones = core.full(self._x.shape, 1, self._x.dtype_name)
        return self._x ** IndexUpdater(ones, self._index).multiply(value)

    def apply(self, function):
        """Puts `function` of the elements in their place, a function of all of x that works element
        by element; as often as each is named.
        """
        from weir import carried  # which is made of indexing

        zeros = IndexUpdater(core.full(self._x.shape, 0, "i64"), self._index)
        often = zeros.add(1)

        def once(step, x):
            made = core.broadcast_to(core.to_dtype(function(x), x.dtype_name), x.shape)
            return core.apply("select", [core.elementwise("greater", often, step), made, x])

        if is_mask(self._index) or not _Plan(self._x, self._index).arrays:
            return once(0, self._x)
        attrs = {"axes": list(range(self._x.ndim))}
        most = core.apply("reduce_max", [often], attrs) if self._x.size else 0
        return carried.fori_loop(0, most, once, self._x)

    def _update(self, combiner, value):
        value = core.to_dtype(value, self._x.dtype_name)
        if is_mask(self._index):
            return _update_masked(self._x, self._index, value, combiner)
        return _scatter(self._x, self._index, value, combiner)


class AtProperty:
    """What `x.at` is: `x.at[index]` gives an `IndexUpdater`."""

    __slots__ = ("_x",)

    def __init__(self, x):
        self._x = x

    def __getitem__(self, index):
        return IndexUpdater(self._x, index)


_OF_COMBINER = {"add": "add", "mul": "multiply", "min": "minimum", "max": "maximum"}


def _update_masked(x, mask, value, combiner):
    """`x` with those rows combined with `value` that the mask chooses."""
    _check_mask(x, mask)
    mask = core.as_array(mask)
    row = x.shape[mask.ndim :]
    if not dims.same_shape(core.broadcast_shapes(value.shape, row), row):
        raise ValueError(
            f"through a mask {x.shape[mask.ndim:]} is set, found {value.describe()}"
            f" ({location.text()}); weir.numpy.where(mask, value, x) chooses element by element"
        )
    value = core.broadcast_to(value, x.shape)
    new = value if combiner == "set" else core.elementwise(_OF_COMBINER[combiner], x, value)
    chosen = core.broadcast_in_dim(mask, x.shape, range(mask.ndim))
    return core.apply("select", [chosen, new, x], weak_type=x.weak_type)


def _scatter(x, index, value, combiner):
    """Every axis that the index touches becomes part of the index vectors; the others form the
    window.
    """
    plan = _Plan(x, index)
    target = plan.x
    for axis, (entry, extent) in enumerate(zip(plan.entries, target.shape)):
        if entry.kind == "int":
            outside = core.outside(entry.value, extent, axis)
            checks.require_at_most(0, entry.value, outside)
            checks.require_at_most(entry.value + 1, extent, outside)
    touched = [i for i, entry in enumerate(plan.entries) if entry.kind != "all"]
    window = [i for i, entry in enumerate(plan.entries) if entry.kind == "all"]
    if not touched:
        touched, window = ([0], window[1:]) if target.ndim else ([], [])
    layout = _Layout(plan, touched)
    updates = core.transpose(
        core.broadcast_to(value, layout.result_shape), layout.to_updates(window)
    )
    batch_ndim = updates.ndim - len(window)
    attrs = {
        "update_window_dims": list(range(batch_ndim, updates.ndim)),
        "inserted_window_dims": list(touched),
        "input_batching_dims": [],
        "scatter_indices_batching_dims": [],
        "scatter_dims_to_operand_dims": list(touched),
        "index_vector_dim": batch_ndim,
        "combiner": combiner,
    }
    indices = layout.index_vectors(touched)
    out = core.apply("scatter", [target, indices, updates], attrs, x.weak_type)
    return core.reshape(out, x.shape)


class _Layout:
    """Which axis of `x[index]` each part of an index makes.

    The axes of an update are: those of the index arrays, one for each slice, then those of the
    window.
    """

    def __init__(self, plan, touched):
        self._plan = plan
        arrays = [plan.entries[i].value for i in plan.arrays]
        self._array_shape = core.broadcast_shapes(*(x.shape for x in arrays)) if arrays else ()
        self._slices = [i for i in touched if plan.entries[i].kind in ("slice", "all")]
        # The result's axes in order: ("array", k) or ("axis", operand axis).
        axes = []
        arrays_done = False
        for i, entry in enumerate(plan.entries):
            if entry.kind in ("slice", "all"):
                axes.append(("axis", i))
            elif entry.kind == "array" and plan.adjacent and not arrays_done:
                axes += [("array", k) for k in range(len(self._array_shape))]
                arrays_done = True
        if plan.arrays and not plan.adjacent:
            axes = [("array", k) for k in range(len(self._array_shape))] + axes
        self._axes = axes

    def _count(self, axis):
        entry = self._plan.entries[axis]
        return entry.value[1] if entry.kind == "slice" else self._plan.x.shape[axis]

    @property
    def result_shape(self):
        """The shape of `x[index]`."""
        return tuple(
            self._array_shape[which] if kind == "array" else self._count(which)
            for kind, which in self._axes
        )

    def to_updates(self, window):
        """Returns: the permutation from the result's axes to those of the updates."""
        order = [("array", k) for k in range(len(self._array_shape))]
        order += [("axis", i) for i in self._slices] + [("axis", i) for i in window]
        return [self._axes.index(axis) for axis in order]

    def index_vectors(self, touched):
        """Returns: i64[arrays..., slices..., k]."""
        shape = self._array_shape + tuple(self._count(i) for i in self._slices)
        columns = [core.broadcast_to(self._column(axis, len(shape)), shape) for axis in touched]
        if not columns:
            return core.full((0,), 0, "i64")
        return core.concatenate([core.expand_dims(c, [len(shape)]) for c in columns], len(shape))

    def _column(self, axis, ndim):
        entry = self._plan.entries[axis]
        if entry.kind == "int":
            return core.scalar(entry.value, "i64")
        if entry.kind == "array":
            index = core.cast(entry.value, "i64")
            return core.reshape(index, index.shape + (1,) * (ndim - len(self._array_shape)))
        start, count, step = 0, self._count(axis), 1
        if entry.kind == "slice":
            start, count, step, _ = entry.value
        line = core.iota((count,), 0, "i64")
        line = core.elementwise("add", core.elementwise("multiply", line, step), start)
        behind = len(self._slices) - self._slices.index(axis) - 1
        return core.reshape(line, (count,) + (1,) * behind)
