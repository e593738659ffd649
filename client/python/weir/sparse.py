"""Arrays of which only some elements are stored: `weir.Sparse`."""

import math

import numpy as np

from weir import checks, core, dims, dtypes, location, numpy as wnp, tree
from weir.array import Array
from weir.eager import operation


class Sparse:
    """An array that is 0 but for some elements; a pytree, so that `vmap` maps it, loops carry it
    and functions take and return it.

    Elements that are stored at one place add up. One that is stored outside of the shape counts for
    nothing, so that arrays with fewer elements have room for as many as others.

    Attributes:
      indices: i64[k, axes], where the elements stand.
      values: T[k].
      shape: of the whole array, known while tracing. What `vmap` returns are the arrays of all
        examples in one: `indices` and `values` have an axis more, in front, and `stacked` joins
        them.
    """

    __slots__ = ("indices", "values", "shape")
    __array_ufunc__ = None  # NumPy arrays leave `array @ sparse` to this class

    def __init__(self, indices, values, shape):
        """Makes an array of its attributes."""
        self.indices = indices
        self.values = values
        self.shape = core.canonical_shape(shape)

    @classmethod
    def of(cls, dense, count):
        """Returns: the elements of an array that are not 0. A run fails if there are more.

        Args:
          dense: T[...].
          count: for how many elements there is room, known while tracing.
        """
        if isinstance(count, Array):
            raise TypeError(
                "the number of stored elements must be known while tracing, found"
                f" {count.describe()} ({location.text()})"
            )
        return _of(dense, core.known_size(count, "count"))

    @property
    def ndim(self):
        """The number of axes."""
        return len(self.shape)

    @property
    def T(self):  # pylint: disable=invalid-name
        """The array with its axes in reverse order."""
        return Sparse(_reversed(self.indices), self.values, self.shape[::-1])

    @operation
    def to_dense(self):
        """Returns: T[shape]."""
        columns, values = self._parts()
        size = math.prod(self.shape)
        place, inside = wnp.zeros(values.shape, "i64"), wnp.ones(values.shape, "bool")
        for column, extent in zip(columns, self.shape):
            inside = inside & (column >= 0) & (column < extent)
            place = place * extent + column
        return wnp.reshape(_summed(values, wnp.where(inside, place, size), size), self.shape)

    @operation
    def stacked(self):
        """Returns: the arrays of n examples, of shape [...], as one array of shape [n, ...].

        Raises: ValueError for what is one array already.
        """
        indices, values = core.as_array(self.indices), core.as_array(self.values)
        if indices.ndim != 3:
            raise ValueError(f"this is one array already: {self} ({location.text()})")
        n, stored, axes = indices.shape
        example = wnp.broadcast_to(wnp.arange(n, dtype="i64")[:, None, None], (n, stored, 1))
        joined = wnp.concatenate([example, indices.astype("i64")], 2)
        return Sparse(joined.reshape(-1, axes + 1), wnp.ravel(values), (n, *self.shape))

    @operation
    def __matmul__(self, dense):
        """Returns: the product of this matrix [m, n] with T[n] or T[n, k]."""
        return _product(self, dense)

    @operation
    def __rmatmul__(self, dense):
        """Returns: the product of T[m] or T[k, m] with this matrix [m, n]."""
        return wnp.transpose(_product(self.T, wnp.transpose(dense)))

    def __repr__(self):
        kind = core.type_of(self.values)[0]
        stored = np.shape(self.values)[-1]
        return f"weir.Sparse({kind}[{','.join(map(str, self.shape))}], {stored} stored)"

    def _parts(self):
        """Returns: (one column of indices for each axis, values). Raises: TypeError, ValueError."""
        indices = core.as_array(self.indices, "the indices of a sparse array")
        values = core.as_array(self.values, "the values of a sparse array")
        if indices.ndim == 3:
            raise TypeError(
                f"this is not one array but the arrays of {indices.shape[0]} examples"
                f" ({location.text()}); weir.vmap maps a function of one over them, and stacked()"
                " joins them"
            )
        if indices.dtype_name not in dtypes.INTEGERS:
            raise TypeError(
                f"the indices of a sparse array must be integers, found {indices.describe()}"
                f" ({location.text()})"
            )
        message = (
            f"a sparse array of shape {self.shape} has indices i64[k,{self.ndim}] and values [k],"
            f" found {indices.describe()} and {values.describe()}"
        )
        if values.ndim != 1 or indices.ndim != 2:
            raise ValueError(f"{message} ({location.text()})")
        for extent, wanted in zip(indices.shape, (values.shape[0], self.ndim)):
            if not dims.same(extent, wanted):
                raise dims.unequal(extent, wanted, message)
        return [indices[:, axis].astype("i64") for axis in range(self.ndim)], values


tree.register(Sparse, ("indices", "values"), fixed=("shape",))


@operation
def _of(dense, count):
    dense = core.as_array(dense, "an array to store")
    flat = wnp.ravel(dense)
    holds = flat != 0
    found = wnp.sum(holds, dtype="i64")
    checks.check(found <= count, f"an array has more elements that are not 0 than {count}")
    # The k-th of them goes to place k, and the others to one that does not exist.
    places = wnp.where(holds, wnp.cumsum(holds, dtype="i64") - 1, count)
    rest = _summed(wnp.arange(flat.size, dtype="i64"), places, count)
    columns = []
    for extent in reversed(dense.shape):
        columns.insert(0, rest % extent)
        rest = rest // extent
    indices = wnp.stack(columns, 1) if columns else core.full((count, 0), 0, "i64")
    stored = wnp.arange(count) < found
    indices = wnp.where(stored[:, None], indices, -1)
    return Sparse(indices, _summed(flat, places, count), dense.shape)


@operation
def _reversed(indices):
    return wnp.flip(indices, -1)


def _product(matrix, dense):
    columns, values = matrix._parts()
    dense = core.as_array(dense, "an operand of @")
    message = f"a sparse array of shape {matrix.shape} has no product with {dense.describe()}"
    if matrix.ndim != 2 or dense.ndim not in (1, 2):
        raise ValueError(f"{message} ({location.text()})")
    if not dims.same(dense.shape[0], matrix.shape[1]):
        raise dims.unequal(dense.shape[0], matrix.shape[1], message)
    height, width = matrix.shape
    row, column = columns
    inside = (column >= 0) & (column < width)
    factors = wnp.reshape(values, (*values.shape, *[1] * (dense.ndim - 1)))
    picked = dense[wnp.where(inside, column, 0)] if width else wnp.zeros_like(factors)
    return _summed(factors * picked, wnp.where(inside, row, height), height)


def _summed(rows, places, count):
    """Returns: T[count, ...], zeros to which each row is added at its place, if there is one."""
    # Negative places are none either.
    places.is_index = True
    return wnp.zeros((count, *rows.shape[1:]), rows.dtype).at[places].add(rows)
