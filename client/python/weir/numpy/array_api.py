"""Functions that the array API standard has beside NumPy's, and others of one line."""

import numpy as np

from weir import core, dims, dtypes, location, vectorize
from weir.eager import operation
from weir.numpy import creation, elementwise, ordering, products, reductions, selection, shaping
from weir.numpy import statistics

euler_gamma = np.euler_gamma


@operation
def unstack(x, axis=0):
    """Returns: a tuple of the slices of x along `axis`."""
    array = core.as_array(x)
    if not array.ndim:
        raise ValueError(
            f"unstack needs an array with axes, found {array.describe()} ({location.text()})"
        )
    at = core.canonical_axis(axis, array.ndim)
    return tuple(shaping.moveaxis(array, at, 0)[i] for i in range(array.shape[at]))


@operation
def matvec(x, y):
    """Returns: the products of matrices [..., m, n] and vectors [..., n]; the axes in front
    broadcast.
    """
    a, b = core.promote(x, y)
    _check_axes("matvec", a, 2, b, 1)
    return core.reshape(*_dropped(products.matmul(a, core.expand_dims(b, [b.ndim])), -1))


@operation
def vecmat(x, y):
    """Returns: the products of vectors [..., n], conjugated, and matrices [..., n, m]; the axes in
    front broadcast.
    """
    a, b = core.promote(x, y)
    _check_axes("vecmat", a, 1, b, 2)
    a = core.expand_dims(elementwise.conj(a), [a.ndim - 1])
    return core.reshape(*_dropped(products.matmul(a, b), -2))


def _check_axes(what, a, least_a, b, least_b):
    if a.ndim < least_a or b.ndim < least_b:
        raise ValueError(
            f"{what} needs {least_a} and {least_b} axes, found {a.describe()} and {b.describe()}"
            f" ({location.text()})"
        )


def _dropped(x, axis):
    return x, [extent for i, extent in enumerate(x.shape) if i != axis % x.ndim]


def _running(what, function, x, axis, dtype, include_initial, first):
    array = core.as_array(x)
    if axis is None:
        if array.ndim != 1:
            raise ValueError(
                f"{what} needs an axis for {array.describe()}, which has {array.ndim}"
                f" ({location.text()})"
            )
        axis = 0
    at = core.canonical_axis(axis, array.ndim)
    out = function(array, at, dtype)
    if not include_initial:
        return out
    shape = [1 if i == at else extent for i, extent in enumerate(out.shape)]
    return core.concatenate([core.full(shape, first, out.dtype_name), out], at)


@operation
def cumulative_sum(x, axis=None, dtype=None, include_initial=False):
    """Returns: the sums up to each element along `axis`, which only a vector may leave out; with
    `include_initial` a 0 in front.
    """
    return _running("cumulative_sum", reductions.cumsum, x, axis, dtype, include_initial, 0)


@operation
def cumulative_prod(x, axis=None, dtype=None, include_initial=False):
    """Returns: the products up to each element along `axis`, which only a vector may leave out;
    with `include_initial` a 1 in front.
    """
    return _running("cumulative_prod", reductions.cumprod, x, axis, dtype, include_initial, 1)


@operation
def ediff1d(x, to_end=None, to_begin=None):
    """Returns: the differences of neighbours of x made flat, between the elements `to_begin` and
    `to_end`, which take its type.
    """
    flat = shaping.ravel(x)
    parts = [reductions.diff(flat)]
    if to_begin is not None:
        parts.insert(0, shaping.ravel(core.to_dtype(creation.array(to_begin), flat.dtype_name)))
    if to_end is not None:
        parts.append(shaping.ravel(core.to_dtype(creation.array(to_end), flat.dtype_name)))
    return core.concatenate(parts, 0)


@operation
def sort_complex(x):
    """Returns: x as complex numbers, sorted along the last axis by real and then imaginary part."""
    array = core.as_array(x)
    if array.dtype_name not in dtypes.COMPLEXES:
        array = core.cast(array, "c128" if array.dtype_name in ("f64", "i64", "u64") else "c64")
    axis = array.ndim - 1
    order = ordering.argsort(elementwise.imag(array), axis)
    array = ordering.take_along_axis(array, order, axis)
    order = ordering.argsort(elementwise.real(array), axis)
    return ordering.take_along_axis(array, order, axis)


# --- Statistics.


@operation
def nanpercentile(x, q, axis=None, keepdims=False):
    """Returns: the element below which q hundredths of the elements that are not NaN lie, as
    `nanquantile`; q may be an array, whose axes come first.
    """
    if not core.is_scalar(q):
        parts = core.as_array(creation.array(q))
        if parts.ndim:
            mapped = vectorize.vmap(lambda part: nanpercentile(x, part, axis, keepdims))
            made = mapped(shaping.ravel(parts))
            return core.reshape(made, parts.shape + made.shape[1:])
        q = parts
    return statistics.nanquantile(x, q / 100, axis, keepdims)


@operation
def nancumprod(x, axis=None):
    """Returns: the products up to each element along `axis`, in which NaN counts as 1."""
    return reductions.cumprod(elementwise.where(elementwise.isnan(x), 1, x), axis)


@operation
def histogram_bin_edges(x, bins=10, range=None):  # pylint: disable=redefined-builtin
    """Returns: the edges of the bins of `histogram`."""
    return statistics.histogram(x, bins, range)[1]


@operation
def histogram2d(x, y, bins=10, range=None, weights=None):  # pylint: disable=redefined-builtin
    """Counts points in the rectangles of a grid.

    Args:
      x, y: the coordinates, one axis each of one size.
      bins: how many of equal width along both axes, a vector of edges for both, or a pair of
        either.
      range: ((low, high), (low, high)) of equal bins; the least and the greatest by default.
      weights: what each point counts; 1 by default.

    Returns: (f32[n, m], the edges along x, the edges along y).
    """
    a, b = core.as_array(x), core.as_array(y)
    message = f"histogram2d takes two vectors of one size, found {a.describe()} and {b.describe()}"
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"{message} ({location.text()})")
    if not dims.same(a.size, b.size):
        raise dims.unequal(a.size, b.size, message)
    pair = bins if isinstance(bins, (tuple, list)) and len(bins) == 2 else (bins, bins)
    limits = (None, None) if range is None else range
    edges = [histogram_bin_edges(*each) for each in zip((a, b), pair, limits)]
    n, m = (each.shape[0] - 1 for each in edges)
    rows, columns = (_bins(each, line) for each, line in zip((a, b), edges))
    inside = elementwise.logical_and(rows >= 0, columns >= 0)
    place = elementwise.where(inside, rows * m + columns, n * m)
    factors = core.full(a.shape, 1, "f32") if weights is None else core.as_array(weights)
    counts = ordering.bincount(place, factors, length=n * m + 1)[: n * m]
    return core.reshape(counts, (n, m)), *edges


def _bins(x, edges):
    """Returns: the bin of each number, of which the last one has both its edges; -1 outside."""
    (flat,) = core.promote_inexact(x)
    count = edges.shape[0] - 1
    place = ordering.searchsorted(edges, flat, "right") - 1
    place = elementwise.where(elementwise.equal(flat, edges[-1]), count - 1, place)
    inside = (flat >= edges[0]) & (flat <= edges[-1])
    return elementwise.where(inside, place, -1)


@operation
def i0(x):
    """Returns: the modified Bessel function of the first kind of order 0."""
    return core.elementwise_inexact("bessel_i0", x)


@operation
def kaiser(n, beta):
    """Returns: f32[n], the Kaiser window with the shape `beta`, which may be traced."""
    count = core.known_integer(n, "the length of kaiser")
    if count < 2:
        return core.full((max(count, 0),), 1, "f32")
    half = (count - 1) / 2
    line = np.sqrt(np.maximum(1 - ((np.arange(count) - half) / half) ** 2, 0))
    scale = core.to_dtype(beta, "f32")
    return i0(scale * core.constant(line.astype(np.float32))) / i0(scale)


# --- Sets.


@operation
def setxor1d(x, y, size=None, fill_value=None):
    """Returns: the different elements that only one of x and y has, sorted; a `weir.List`, or with
    `size` an array, as of `unique`.
    """
    ours, theirs = (shaping.ravel(each) for each in core.promote(x, y))
    kinds = selection.unique(core.concatenate([ours, theirs], 0))
    both = [selection.isin(kinds.elements, each) for each in (ours, theirs)]
    return selection._of(kinds, elementwise.logical_xor(*both), size, fill_value)


@operation
def unique_all(x, size=None, fill_value=None):
    """Returns: (values, places of the first of each, number of its value for each element,
    counts), as of `unique`.
    """
    return selection.unique(x, True, True, True, size=size, fill_value=fill_value)


@operation
def unique_counts(x, size=None, fill_value=None):
    """Returns: (values, counts), as of `unique`."""
    return selection.unique(x, return_counts=True, size=size, fill_value=fill_value)


@operation
def unique_inverse(x, size=None, fill_value=None):
    """Returns: (values, number of its value for each element), as of `unique`."""
    return selection.unique(x, return_inverse=True, size=size, fill_value=fill_value)


@operation
def unique_values(x, size=None, fill_value=None):
    """Returns: the different elements, sorted, as of `unique`."""
    return selection.unique(x, size=size, fill_value=fill_value)
