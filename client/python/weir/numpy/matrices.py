"""Triangles, diagonals and other parts of matrices."""

from weir import core, dims, dtypes
from weir.eager import operation
from weir.numpy import reductions


def _below(shape, k):
    rows = core.iota(shape, len(shape) - 2, "i64")
    columns = core.iota(shape, len(shape) - 1, "i64")
    return core.compare("greater_equal", core.elementwise("add", rows, k), columns)


def _matrix(x, what):
    array = core.as_array(x)
    if array.ndim < 2:
        raise ValueError(f"{what} needs a matrix, found {array.describe()}")
    return array


@operation
def tril(x, k=0):
    """Returns: x with zeros above diagonal k of its last two axes."""
    array = _matrix(x, "tril")
    mask = core.broadcast_to(_below(array.shape[-2:], k), array.shape)
    return core.apply("select", [mask, array, core.full(array.shape, 0, array.dtype_name)])


@operation
def triu(x, k=0):
    """Returns: x with zeros below diagonal k of its last two axes."""
    array = _matrix(x, "triu")
    mask = core.broadcast_to(_below(array.shape[-2:], k - 1), array.shape)
    return core.apply("select", [mask, core.full(array.shape, 0, array.dtype_name), array])


@operation
def diagonal(x, offset=0, axis1=0, axis2=1):
    """Returns: diagonal `offset` of two axes, as last axis."""
    array = _matrix(x, "diagonal")
    first, second = core.canonical_axis(axis1, array.ndim), core.canonical_axis(axis2, array.ndim)
    order = [i for i in range(array.ndim) if i not in (first, second)] + [first, second]
    array = core.transpose(array, order)
    row, column = (-offset, 0) if offset < 0 else (0, offset)
    count = dims.larger(0, dims.smaller(array.shape[-2] - row, array.shape[-1] - column))
    line = core.iota((count,), 0, "i64")
    rows, columns = core.elementwise("add", line, row), core.elementwise("add", line, column)
    rows.is_index = columns.is_index = True
    return array[..., rows, columns]


@operation
def diag(x, k=0):
    """Returns: diagonal k of a matrix, or the matrix with a vector on diagonal k."""
    array = core.as_array(x)
    if array.ndim == 2:
        return diagonal(array, k)
    if array.ndim != 1:
        raise ValueError(f"diag needs a vector or a matrix, found {array.describe()}")
    size = array.size + abs(k)
    line = core.iota((array.size,), 0, "i64")
    rows, columns = core.elementwise("add", line, max(0, -k)), core.elementwise(
        "add", line, max(0, k)
    )
    rows.is_index = columns.is_index = True
    return core.full((size, size), 0, array.dtype_name).at[rows, columns].set(array)


@operation
def trace(x, offset=0, axis1=0, axis2=1):
    """Returns: the sum of a diagonal."""
    return reductions.sum(diagonal(x, offset, axis1, axis2), -1)


@operation
def cross(x, y, axis=-1):
    """Returns: the cross product of vectors of three elements along `axis`."""
    a, b = core.broadcast(*core.promote(x, y))
    at = core.canonical_axis(axis, a.ndim)
    if not dims.same(a.shape[at], 3):
        message = f"cross needs 3 elements along axis {at}, found {a.describe()}"
        raise dims.unequal(a.shape[at], 3, message)

    def part(array, i):
        return core.slice_axis(array, at, i, i + 1)

    parts = [
        part(a, (i + 1) % 3) * part(b, (i + 2) % 3) - part(a, (i + 2) % 3) * part(b, (i + 1) % 3)
        for i in range(3)
    ]
    return core.concatenate(parts, at)


@operation
def vander(x, n=None, increasing=False):
    """Returns: the matrix whose columns are powers of the vector x."""
    array = core.as_array(x)
    count = array.size if n is None else n
    powers = core.iota(
        (count,), 0, array.dtype_name if array.dtype_name not in dtypes.BOOLS else "i32"
    )
    if not increasing:
        powers = core.reverse(powers, [0])
    return core.elementwise("power", core.reshape(array, (array.size, 1)), powers)
