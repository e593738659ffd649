"""What an array holds, and where: results whose size only the run knows.

They are `weir.List`s with room for all that there may be, and zeros behind what there is. As in
JAX, `size` gives an array of this size instead, cut, or filled up with `fill_value`.
"""

from weir import compaction, core, dims, dtypes, tree
from weir.eager import operation
from weir.lists import List
from weir.numpy import elementwise, shaping


def _check_fill(size, fill_value):
    if size is None and fill_value is not None:
        raise ValueError("fill_value needs size=, the size that it fills up")


def _given(found, size, fill_value):
    """Returns: the list, or arrays of the size that the caller asks for."""
    _check_fill(size, fill_value)
    if size is None:
        return found
    length = core.known_size(size, "size")
    fill = 0 if fill_value is None else fill_value
    return tree.map(lambda rows: compaction.fixed(rows, found.size, length, fill), found.elements)


def _flat_truth(x):
    return shaping.ravel(elementwise.astype(x, bool))


@operation
def nonzero(x, size=None, fill_value=None):
    """Returns: the places of the elements that are not 0, row by row: a `weir.List` of tuples with
    one index for each axis, as i32. With `size` a tuple of vectors.
    """
    array = core.as_array(x)
    if array.ndim == 0:
        raise ValueError("nonzero needs an array with axes; use weir.numpy.atleast_1d")
    found = compaction.places(_flat_truth(array))
    rest = found.elements
    columns = []
    for extent in reversed(array.shape):
        columns.append(core.cast(elementwise.mod(rest, dims.larger(extent, 1)), "i32"))
        rest = elementwise.floor_divide(rest, dims.larger(extent, 1))
    return _given(List(tuple(reversed(columns)), found.size), size, fill_value)


@operation
def flatnonzero(x, size=None, fill_value=None):
    """Returns: the places of the elements that are not 0 in x made flat, as i32."""
    found = nonzero(shaping.ravel(core.as_array(x)))
    return _given(List(found.elements[0], found.size), size, fill_value)


@operation
def argwhere(x, size=None, fill_value=None):
    """Returns: the places of the elements that are not 0, each a vector of i32 with one index for
    each axis.
    """
    found = nonzero(x)
    columns = [core.expand_dims(column, [1]) for column in found.elements]
    return _given(List(core.concatenate(columns, 1), found.size), size, fill_value)


@operation
def where(condition, x=None, y=None, size=None, fill_value=None):
    """Returns: elements of x where the condition holds, else of y; all three broadcast. Without x
    and y: `nonzero(condition)`.
    """
    if x is None and y is None:
        return nonzero(condition, size, fill_value)
    if x is None or y is None:
        raise ValueError("where takes both x and y, or none of them")
    if size is not None or fill_value is not None:
        raise ValueError("where takes size and fill_value without x and y only")
    return elementwise.where(condition, x, y)


@operation
def compress(condition, x, axis=None, size=None, fill_value=None):
    """Returns: the slices of x along `axis` (None: the elements of x made flat) for which the
    vector `condition` holds. The elements of the list are slices; with `size` they lie along
    `axis`.
    """
    array = core.as_array(x)
    if axis is None:
        array, axis = shaping.ravel(array), 0
    at = core.canonical_axis(axis, array.ndim)
    mask = elementwise.astype(condition, bool)
    if mask.ndim != 1 or dims.below(array.shape[at], mask.shape[0]):
        raise ValueError(
            f"compress needs a vector of at most {array.shape[at]} conditions, found"
            f" {mask.describe()}"
        )
    rows = core.slice_axis(shaping.moveaxis(array, at, 0), 0, 0, mask.shape[0])
    chosen = compaction.places(mask)
    found = _given(List(compaction.take(rows, chosen), chosen.size), size, fill_value)
    return found if size is None else shaping.moveaxis(found, 0, at)


@operation
def extract(condition, x, size=None, fill_value=None):
    """Returns: the elements of x for which the condition, of the same size, holds."""
    return compress(_flat_truth(condition), x, None, size, fill_value)


# --- Sets.


class _Groups:
    """The elements of an array, sorted, with equal ones side by side.

    Attributes:
      values: the elements; NaN last, and all of them equal.
      order: the place of each in the array.
      first: whether it is the first of its kind.
      number: of its kind.
    """

    def __init__(self, flat):
        is_bool = flat.dtype_name == "bool"
        line = core.iota(flat.shape, 0, "i64")
        attrs = {"axis": 0, "descending": False, "is_stable": True}
        keys = core.cast(flat, "u8") if is_bool else flat
        self.values, self.order = core.apply_all("sort", [keys, line], attrs)
        self.order.is_index = True
        count = flat.shape[0]
        one = dims.smaller(1, count)
        before = core.slice_axis(self.values, 0, 0, count - one)
        behind = core.slice_axis(self.values, 0, one, count)
        differs = core.compare("not_equal", before, behind)
        if flat.dtype_name in dtypes.FLOATS:
            both = core.apply("and", [elementwise.isnan(before), elementwise.isnan(behind)])
            differs = core.apply("and", [differs, core.apply("not", [both])])
        first = core.concatenate([core.full((one,), True, "bool"), differs], 0)
        self.first = core.reshape(first, (count,))
        attrs = {"axis": 0, "reverse": False, "exclusive": False}
        kinds = core.apply("cumsum", [core.cast(self.first, "i64")], attrs)
        self.number = core.elementwise("subtract", kinds, 1)
        self.number.is_index = True
        if is_bool:
            self.values = core.cast(self.values, "bool")


@operation
def unique(
    x, return_index=False, return_inverse=False, return_counts=False, size=None, fill_value=None
):
    """Returns: the different elements of x, sorted; NaN once.

    Args:
      x: array; is made flat.
      return_index: also the place of the first of each, as i32.
      return_inverse: also the number of the element in the result, for each of x, as i32 in the
        shape of x.
      return_counts: also how often each occurs, as i32.
      size, fill_value: as for `nonzero`; the default of fill_value is the least element. Indices
        are filled up with that of the least element, counts with 0.

    Returns: a `weir.List`, or a tuple of it and what else is asked for: `weir.List`s of the same
      size, and an array as `inverse`.
    """
    _check_fill(size, fill_value)
    array = core.as_array(x)
    flat = core.reshape(array, (array.size,))
    groups = _Groups(flat)
    kinds = compaction.places(groups.first)

    def given(elements, fill):
        if size is None:
            return List(elements, kinds.size)
        if fill is None:
            fill = _first_or_zero(elements)
        length = core.known_size(size, "size")
        return compaction.fixed(elements, kinds.size, length, fill)

    out = [given(compaction.take(groups.values, kinds), fill_value)]
    if return_index:
        out.append(given(compaction.take(core.cast(groups.order, "i32"), kinds), None))
    if return_inverse:
        inverse = core.full(flat.shape, 0, "i32").at[groups.order].set(groups.number)
        out.append(core.reshape(inverse, array.shape))
    if return_counts:
        out.append(given(core.full(flat.shape, 0, "i32").at[groups.number].add(1), 0))
    return out[0] if len(out) == 1 else tuple(out)


def _first_or_zero(elements):
    """The first element of a vector, 0 where there is none."""
    zero = core.full((1,), 0, elements.dtype_name)
    return core.reshape(core.slice_axis(core.concatenate([elements, zero], 0), 0, 0, 1), ())


@operation
def isin(x, of, invert=False):
    """Returns: for each element of x, whether it is one of `of`."""
    array, others = core.promote(x, of)
    if array.dtype_name == "bool":
        array, others = core.cast(array, "u8"), core.cast(others, "u8")
    attrs = {"axis": 0, "descending": False, "is_stable": True}
    line = core.apply("sort", [shaping.ravel(others)], attrs)
    flat = shaping.ravel(array)
    place = core.apply("searchsorted", [line, flat], {"side": "left"})
    place.is_index = True
    # One more element, so that there is one at each place.
    line = core.concatenate([line, core.full((1,), 0, line.dtype_name)], 0)
    found = core.compare("equal", line[place], flat)
    found = core.apply("and", [found, core.compare("less", place, others.size)])
    found = core.reshape(found, array.shape)
    return core.apply("not", [found]) if invert else found


def _of(x, mask, size, fill_value):
    """The elements of the list x for which the mask holds."""
    line = core.iota(mask.shape, 0, "i64")
    chosen = compaction.places(core.apply("and", [mask, core.compare("less", line, x.size)]))
    return _given(List(compaction.take(x.elements, chosen), chosen.size), size, fill_value)


@operation
def union1d(x, y, size=None, fill_value=None):
    """Returns: the different elements of x and y, sorted."""
    both = core.concatenate([shaping.ravel(each) for each in core.promote(x, y)], 0)
    return unique(both, size=size, fill_value=fill_value)


@operation
def intersect1d(x, y, size=None, fill_value=None):
    """Returns: the different elements that x and y share, sorted."""
    ours, theirs = core.promote(x, y)
    kinds = unique(ours)
    return _of(kinds, isin(kinds.elements, theirs), size, fill_value)


@operation
def setdiff1d(x, y, size=None, fill_value=None):
    """Returns: the different elements of x that are none of y, sorted."""
    ours, theirs = core.promote(x, y)
    kinds = unique(ours)
    return _of(kinds, isin(kinds.elements, theirs, invert=True), size, fill_value)
