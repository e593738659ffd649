"""Places in arrays: numbers of places, orders by several keys, membership."""

import math

import numpy as np

from weir import checks, core, dims as sizes, location, vectorize
from weir.eager import operation
from weir.numpy import creation, elementwise, matrices, ordering, reductions, shaping


def _known(places):
    return tuple(core.constant(np.asarray(place)) for place in places)


def _fixed(n, k, m):
    """The sizes of a matrix whose number of elements in a triangle must be known."""
    rows = core.known_integer(n, "the number of rows")
    return rows, k, rows if m is None else core.known_integer(m, "the number of columns")


@operation
def tril_indices(n, k=0, m=None):
    """Returns: (rows, columns) of the elements at and below diagonal k of an n by m matrix."""
    return _known(np.tril_indices(*_fixed(n, k, m)))


@operation
def triu_indices(n, k=0, m=None):
    """Returns: (rows, columns) of the elements at and above diagonal k of an n by m matrix."""
    return _known(np.triu_indices(*_fixed(n, k, m)))


@operation
def diag_indices(n, ndim=2):
    """Returns: the indices of the diagonal of an array with `ndim` axes of size n."""
    line = core.iota((core.known_size(n, "the size"),), 0, "i64")
    return (line,) * ndim


@operation
def ix_(*vectors):
    """Returns: the vectors, each along an axis of its own, so that x[ix_(rows, columns)] is the
    part of x in these rows and columns.
    """
    out = []
    for i, vector in enumerate(vectors):
        array = core.as_array(vector)
        if array.ndim != 1:
            raise ValueError(f"ix_ takes vectors, found {array.describe()} ({location.text()})")
        out.append(core.expand_dims(array, [k for k in range(len(vectors)) if k != i]))
    return tuple(out)


@operation
def unravel_index(indices, shape):
    """Returns: the index along each axis of an array of this shape, from places in it made flat."""
    rest, found = core.as_array(indices), []
    for extent in reversed(core.canonical_shape(shape)):
        found.append(elementwise.mod(rest, extent))
        rest = elementwise.floor_divide(rest, extent)
    return tuple(reversed(found))


@operation
def ravel_multi_index(multi_index, dims):
    """Returns: the place in an array of the shape `dims` made flat, from the index along each axis.
    Nothing checks that it lies inside.
    """
    dims = core.canonical_shape(dims)
    if len(multi_index) != len(dims):
        raise ValueError(
            f"ravel_multi_index has {len(multi_index)} indices for {len(dims)} axes"
            f" ({location.text()})"
        )
    place = core.scalar(0, "i64")
    place.weak_type = True
    for index, extent in zip(multi_index, dims):
        place = elementwise.add(elementwise.multiply(place, extent), index)
    return place


@operation
def lexsort(keys, axis=-1):
    """Returns: the positions, as i32, that sort by several keys; the last one comes first.

    Args:
      keys: sequence of arrays of one shape, or an array whose rows they are.
      axis: which axis of a key is sorted.
    """
    keys = [core.as_array(key) for key in keys]
    if not keys:
        raise ValueError(f"lexsort needs a key ({location.text()})")
    order = ordering.argsort(keys[0], axis)
    for key in keys[1:]:
        moved = ordering.take_along_axis(key, order, axis)
        order = ordering.take_along_axis(order, ordering.argsort(moved, axis), axis)
    return order


@operation
def partition(x, kth, axis=-1):
    """Returns: x with element `kth` of the sorted order in its place along `axis`, lesser ones
    before it and greater ones behind; all of it is sorted.
    """
    _check_kth(x, kth, axis)
    return ordering.sort(x, axis)


@operation
def argpartition(x, kth, axis=-1):
    """Returns: the positions, as i32, of the elements of `partition`."""
    _check_kth(x, kth, axis)
    return ordering.argsort(x, axis)


def _check_kth(x, kth, axis):
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    try:
        core.place(core.known_size(kth, "kth"), array.shape[at], at)
    except IndexError as error:
        raise ValueError(f"kth: {error}") from None


@operation
def isin(x, values, invert=False):
    """Returns: whether each element of x is one of the values, or with `invert` none of them."""
    array, sought = core.as_array(x), shaping.ravel(creation.array(values))
    found = reductions.any(elementwise.equal(array[..., None], sought), -1)
    return elementwise.logical_not(found) if invert else found


@operation
def insert(x, index, values, axis):
    """Returns: x with further rows before row `index` of `axis`, which is known while tracing.

    Args:
      x: the array.
      index: a Python integer.
      values: one row, which broadcasts, or k of them: T[k, ...].
      axis: the axis that grows.
    """
    array, rows = core.as_array(x), core.to_dtype(values, core.as_array(x).dtype_name)
    at = core.canonical_axis(axis, array.ndim)
    extent = array.shape[at]
    index = core.known_size(index, "the row of insert")
    index = index + extent if sizes.below(index, 0) else index
    if sizes.below(index, 0) or sizes.below(extent, index):
        raise IndexError(
            f"insert: {index} is outside of axis {axis} of size {extent} ({location.text()})"
        )
    rows = shaping.moveaxis(core.expand_dims(rows, range(array.ndim - rows.ndim)), 0, at)
    count = rows.shape[at]
    rows = core.broadcast_to(rows, [count if i == at else e for i, e in enumerate(array.shape)])
    parts = [core.slice_axis(array, at, 0, index), rows, core.slice_axis(array, at, index, extent)]
    return core.concatenate(parts, at)


@operation
def diagflat(x, k=0):
    """Returns: the matrix with the elements of x on diagonal k."""
    return matrices.diag(shaping.ravel(x), k)


@operation
def atleast_3d(x):
    """Returns: x with at least three axes, as NumPy adds them: a vector is [1, n, 1]."""
    array = core.as_array(x)
    added = {0: [0, 1, 2], 1: [0, 2], 2: [2]}.get(array.ndim, [])
    return core.expand_dims(array, added) if added else array


@operation
def rollaxis(x, axis, start=0):
    """Returns: x with `axis` moved to stand before axis `start`."""
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    start += array.ndim if start < 0 else 0
    return shaping.moveaxis(array, at, start - 1 if at < start else start)


@operation
def hsplit(x, indices_or_sections):
    """Returns: parts along axis 1, of a vector along axis 0, as `split`."""
    return shaping.split(x, indices_or_sections, 0 if ordering.ndim(x) == 1 else 1)


@operation
def vsplit(x, indices_or_sections):
    """Returns: parts along axis 0, as `split`."""
    return shaping.split(x, indices_or_sections, 0)


@operation
def dsplit(x, indices_or_sections):
    """Returns: parts along axis 2, as `split`."""
    return shaping.split(x, indices_or_sections, 2)


@operation
def block(arrays):
    """Returns: the array made of nested lists of blocks; the innermost run along the last axis."""
    depth = _depth(arrays)
    return _joined(arrays, depth, max(depth, 1))


def _depth(blocks):
    return 1 + max(map(_depth, blocks)) if isinstance(blocks, list) else 0


def _joined(blocks, depth, ndim):
    if not isinstance(blocks, list):
        array = core.as_array(blocks)
        return core.expand_dims(array, range(ndim - array.ndim)) if array.ndim < ndim else array
    parts = [_joined(each, depth - 1, ndim) for each in blocks]
    return shaping.concatenate(parts, -depth)


@operation
def resize(x, new_shape):
    """Returns: an array of this shape filled with the elements of x, again and again."""
    flat, shape = shaping.ravel(x), core.canonical_shape(new_shape)
    count = math.prod(shape)
    if not sizes.same(count, 0):
        nothing = ValueError(
            f"resize: there is no element to fill {shape} with ({location.text()})"
        )
        checks.require_at_most(sizes.smaller(count, 1), flat.size, nothing)
        flat = shaping.tile(flat, -(-count // sizes.larger(flat.size, 1)))
    return core.reshape(core.slice_axis(flat, 0, 0, count), shape)


def broadcast_shapes(*shapes):
    """Returns: the shape to which all broadcast, a tuple. Raises: ValueError if there is none."""
    return core.broadcast_shapes(*map(core.canonical_shape, shapes))


@operation
def apply_along_axis(function, axis, x):
    """Calls a function of vectors for each line of x along `axis`.

    Args:
      function: from T[n] to an array.
      axis: the axis of the lines.
      x: the array.

    Returns: the results, whose axes stand in the place of `axis`.
    """
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    order = [i for i in range(array.ndim) if i != at] + [at]
    mapped = function
    for _ in order[1:]:
        mapped = vectorize.vmap(mapped)
    found = mapped(core.transpose(array, order))
    made = found.ndim - (array.ndim - 1)
    return shaping.moveaxis(found, range(-made, 0), range(at, at + made)) if made else found


@operation
def array_equiv(x, y):
    """Returns: whether the arrays broadcast together and all elements are equal then."""
    try:
        core.broadcast_shapes(ordering.shape(x), ordering.shape(y))
    except ValueError:
        return core.scalar(False, "bool")
    return reductions.all(elementwise.equal(x, y))


@operation
def iscomplex(x):
    """Returns: whether each number has an imaginary part that is not 0."""
    return elementwise.not_equal(elementwise.imag(x), 0)


@operation
def isreal(x):
    """Returns: whether each number has no imaginary part, or one of 0."""
    return elementwise.equal(elementwise.imag(x), 0)
