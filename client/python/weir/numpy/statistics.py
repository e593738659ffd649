"""Statistics: covariances, histograms, and reductions that leave NaN out."""

import numpy as np

from weir import core, dims, dtypes, location
from weir.array import Array
from weir.eager import operation
from weir.numpy import creation, elementwise, matrices, ordering, products, reductions, shaping


@operation
def percentile(x, q, axis=None, keepdims=False):
    """Returns: the element below which q hundredths of the elements lie, as `quantile`."""
    parts = elementwise.divide(q, 100) if isinstance(q, Array) else np.asarray(q) / 100
    return ordering.quantile(x, parts, axis, keepdims)


@operation
def cov(x, y=None, rowvar=True, ddof=1):
    """Returns: the covariances of variables, [m, m]; a scalar for one variable.

    Args:
      x: [m, n], n observations of m variables, or [n] of one.
      y: further variables, as x.
      rowvar: whether variables are the rows; else they are the columns.
      ddof: the sums are divided by n - ddof.
    """
    table = _variables(x, rowvar)
    if y is not None:
        table = core.concatenate(list(core.promote(table, _variables(y, rowvar))), 0)
    centred = table - reductions.mean(table, 1, keepdims=True)
    turned = shaping.transpose(elementwise.conj(centred))
    # As in NumPy no degrees of freedom divide by 0.
    freedom = elementwise.maximum(
        core.scalar(table.shape[1], dtypes.real_of(table.dtype_name)) - ddof, 0
    )
    return shaping.squeeze(products.matmul(centred, turned) / freedom)


def _variables(x, rowvar):
    (array,) = core.promote_inexact(x)
    if array.ndim > 2:
        raise ValueError(f"cov takes a matrix, found {array.describe()} ({location.text()})")
    if array.ndim < 2:
        return core.reshape(array, (1, array.size))
    return array if rowvar else shaping.transpose(array)


@operation
def corrcoef(x, y=None, rowvar=True):
    """Returns: the correlations of variables, [m, m], between -1 and 1; arguments as of `cov`."""
    table = cov(x, y, rowvar)
    if table.ndim == 0:
        return table / table
    deviation = elementwise.sqrt(elementwise.real(matrices.diagonal(table)))
    return table / deviation[:, None] / deviation[None, :]


@operation
def histogram(x, bins=10, range=None, weights=None):  # pylint: disable=redefined-builtin
    """Returns: (how many elements lie in each bin, as i32, or the sums of their weights; the edges
    of the bins). The last bin has both its edges.

    Args:
      x: real numbers; all axes count.
      bins: how many of equal width, known while tracing, or the increasing edges.
      range: (low, high) of equal bins; the least and the greatest element by default, 0 and 1
        where there is none.
      weights: of the shape of x.
    """
    (flat,) = core.promote_inexact(shaping.ravel(x))
    if core.is_scalar(bins) or isinstance(bins, np.integer) or dims.is_size(bins):
        count = core.known_size(bins, "the number of bins")
        low, high = _span(flat) if range is None else range
        # Bins of no width become one around the number.
        flat_range = elementwise.equal(low, high)
        low = elementwise.where(flat_range, elementwise.subtract(low, 0.5), low)
        high = elementwise.where(flat_range, elementwise.add(high, 0.5), high)
        steps = creation.linspace(0, 1, count + 1)
        # The sum that makes the last edge is rounded and may lie below the greatest element.
        line = elementwise.where(steps == 1, high, low + (high - low) * steps)
        edges = core.cast(line, flat.dtype_name)
    else:
        edges = core.as_array(creation.array(bins))
        count = edges.shape[0] - 1
    place = ordering.searchsorted(edges, flat, "right") - 1
    place = elementwise.where(elementwise.equal(flat, edges[-1]), count - 1, place)
    inside = (flat >= edges[0]) & (flat <= edges[-1])
    place = elementwise.where(inside, place, count)
    numbers = None if weights is None else shaping.ravel(weights)
    return ordering.bincount(place, numbers, length=count + 1)[:count], edges


def _span(flat):
    """Returns: the least and the greatest element; 0 and 1 where there is none."""
    if dims.at_most(1, flat.size):
        return reductions.min(flat), reductions.max(flat)
    is_empty = core.scalar(flat.size, "i64") == 0
    low, high = reductions.min(flat, initial=np.inf), reductions.max(flat, initial=-np.inf)
    return elementwise.where(is_empty, 0, low), elementwise.where(is_empty, 1, high)


# --- Without NaN.


def _there(x):
    return elementwise.logical_not(elementwise.isnan(x))


@operation
def nanprod(x, axis=None, keepdims=False):
    """Returns: the product of what is not NaN."""
    return reductions.prod(x, axis, keepdims=keepdims, where=_there(x))


@operation
def nanvar(x, axis=None, ddof=0, keepdims=False):
    """Returns: the variance of what is not NaN; NaN where that are no more than `ddof`."""
    there = _there(x)
    found = reductions.var(x, axis, ddof=ddof, keepdims=keepdims, where=there)
    count = reductions.sum(there, axis, keepdims=keepdims)
    return elementwise.where(count > ddof, found, np.nan)


@operation
def nanstd(x, axis=None, ddof=0, keepdims=False):
    """Returns: the square root of `nanvar`."""
    return elementwise.sqrt(nanvar(x, axis, ddof, keepdims))


@operation
def nanargmax(x, axis=None, keepdims=False):
    """Returns: the position of the greatest element that is not NaN, as i32; -1 where all
    are.
    """
    if core.as_array(x).dtype_name not in dtypes.FLOATS:
        return reductions.argmax(x, axis, keepdims)
    there = _there(x)
    found = reductions.argmax(elementwise.where(there, x, -np.inf), axis, keepdims)
    return elementwise.where(reductions.any(there, axis, keepdims), found, -1)


@operation
def nanargmin(x, axis=None, keepdims=False):
    """Returns: the position of the smallest element that is not NaN, as i32; -1 where all
    are.
    """
    if core.as_array(x).dtype_name not in dtypes.FLOATS:
        return reductions.argmin(x, axis, keepdims)
    there = _there(x)
    found = reductions.argmin(elementwise.where(there, x, np.inf), axis, keepdims)
    return elementwise.where(reductions.any(there, axis, keepdims), found, -1)


@operation
def nancumsum(x, axis=None):
    """Returns: the sums up to each element along `axis`, in which NaN counts as 0."""
    return reductions.cumsum(elementwise.where(_there(x), x, 0), axis)


@operation
def nanquantile(x, q, axis=None, keepdims=False):
    """Returns: the element below which a part q of the elements that are not NaN lies,
    interpolated; NaN where all are.

    Args:
      x: real numbers.
      q: a scalar, known or traced.
      axis: one axis or several; all of them by default.
      keepdims: whether the axes stay with size 1.
    """
    array, axis, kept = core.join_axes(core.promote_inexact(x)[0], axis)
    if dims.same(array.shape[axis], 0):
        none = core.to_dtype(float("nan"), array.dtype_name)
        return core.broadcast_to(none, kept if keepdims else _without(array.shape, axis))
    ordered = ordering.sort(array, axis)
    if not dims.at_most(1, array.shape[axis]):
        # One more that is not there, so that there is an element to take.
        row = [1 if i == axis else extent for i, extent in enumerate(array.shape)]
        ordered = core.concatenate([ordered, core.full(row, np.nan, array.dtype_name)], axis)
    last = reductions.sum(_there(ordered), axis, keepdims=True) - 1
    place = core.cast(last, array.dtype_name) * core.to_dtype(q, array.dtype_name)
    low = elementwise.maximum(core.cast(elementwise.floor(place), "i64"), 0)
    high = elementwise.minimum(low + 1, elementwise.maximum(core.cast(last, "i64"), 0))
    below = ordering.take_along_axis(ordered, low, axis)
    above = ordering.take_along_axis(ordered, high, axis)
    part = place - core.cast(low, array.dtype_name)
    # Infinities have no difference, and none is needed at an element.
    out = elementwise.where(part == 0, below, below + (above - below) * part)
    out = elementwise.where(last >= 0, out, np.nan)
    return core.reshape(out, kept if keepdims else _without(out.shape, axis))


def _without(shape, axis):
    return tuple(extent for i, extent in enumerate(shape) if i != axis)


@operation
def nanmedian(x, axis=None, keepdims=False):
    """Returns: the middle of the elements that are not NaN; NaN where all are."""
    return nanquantile(x, 0.5, axis, keepdims)
