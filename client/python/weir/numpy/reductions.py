"""Reductions: sums, extremes, moments, cumulative sums.

`axis` is an integer, a tuple of them, or None for all axes. `where` is a mask that broadcasts to x:
what it leaves out does not count.
"""

from weir import checks, core, dims, dtypes, location
from weir.eager import operation
from weir.numpy import elementwise


def _masked(x, where, neutral):
    if where is None:
        return x
    mask = core.broadcast_to(elementwise.astype(where, bool), x.shape)
    return core.apply("select", [mask, x, core.full(x.shape, neutral, x.dtype_name)])


def _reduce(op, x, axis, keepdims, where=None, neutral=0):
    axes = core.canonical_axes(axis, x.ndim)
    return core.reduce(op, _masked(x, where, neutral), axes, keepdims)


def _accumulated(x, dtype):
    """Sums of small integers are i32 or u32."""
    array = core.as_array(x)
    if dtype is not None:
        return core.to_dtype(array, dtypes.name_of(dtype))
    if array.dtype_name in ("bool", "i8", "i16"):
        return core.cast(array, "i32")
    return core.cast(array, "u32") if array.dtype_name in ("u8", "u16") else array


@operation
def sum(x, axis=None, dtype=None, keepdims=False, where=None):  # pylint: disable=redefined-builtin
    """Returns: the sum over `axis`."""
    return _reduce("reduce_sum", _accumulated(x, dtype), axis, keepdims, where)


@operation
def prod(x, axis=None, dtype=None, keepdims=False, where=None):
    """Returns: the product over `axis`."""
    return _reduce("reduce_prod", _accumulated(x, dtype), axis, keepdims, where, 1)


def _extreme(op, x, axis, keepdims, where, initial, combine):
    array = core.as_array(x)
    if where is not None and initial is None:
        raise ValueError(
            "a maximum or minimum with where= needs initial=, the result where nothing is left"
            f" ({location.text()})"
        )
    if initial is None:
        nothing = ValueError(
            f"a maximum or minimum over no element of {array.describe()} needs initial="
            f" ({location.text()})"
        )
        for i in core.canonical_axes(axis, array.ndim):
            checks.require_at_most(1, array.shape[i], nothing)
    is_bool = array.dtype_name == "bool"
    if is_bool:
        op = "reduce_or" if op == "reduce_max" else "reduce_and"
    out = _reduce(op, array, axis, keepdims, where, initial if where is not None else 0)
    return out if initial is None else combine(out, core.to_dtype(initial, array.dtype_name))


@operation
def max(
    x, axis=None, keepdims=False, where=None, initial=None
):  # pylint: disable=redefined-builtin
    """Returns: the greatest element over `axis`, NaN if there is one; at least `initial`."""
    return _extreme("reduce_max", x, axis, keepdims, where, initial, elementwise.maximum)


@operation
def min(
    x, axis=None, keepdims=False, where=None, initial=None
):  # pylint: disable=redefined-builtin
    """Returns: the smallest element over `axis`, NaN if there is one; at most `initial`."""
    return _extreme("reduce_min", x, axis, keepdims, where, initial, elementwise.minimum)


amax, amin = max, min


@operation
def ptp(x, axis=None, keepdims=False):
    """Returns: the difference between the greatest and the smallest element."""
    return max(x, axis, keepdims) - min(x, axis, keepdims)


@operation
def any(x, axis=None, keepdims=False, where=None):  # pylint: disable=redefined-builtin
    """Returns: whether an element is true (not 0)."""
    return _reduce("reduce_or", elementwise.astype(x, bool), axis, keepdims, where, False)


@operation
def all(x, axis=None, keepdims=False, where=None):  # pylint: disable=redefined-builtin
    """Returns: whether all elements are true (not 0)."""
    return _reduce("reduce_and", elementwise.astype(x, bool), axis, keepdims, where, True)


@operation
def count_nonzero(x, axis=None, keepdims=False):
    """Returns: how many elements are not 0, as i32."""
    return sum(elementwise.astype(x, bool), axis, keepdims=keepdims)


def _float(x, dtype):
    if dtype is not None:
        return core.to_dtype(x, dtypes.name_of(dtype)), dtypes.name_of(dtype)
    (array,) = core.promote_inexact(x)
    return array, array.dtype_name


def _widened(array):
    """Half floats are summed in f32."""
    return core.cast(array, "f32") if array.dtype_name in ("f16", "bf16") else array


def _count(array, axes, keepdims, where):
    if where is None:
        total = 1
        for axis in axes:
            total *= array.shape[axis]
        return total
    mask = core.broadcast_to(elementwise.astype(where, bool), array.shape)
    return core.reduce(
        "reduce_sum", core.cast(mask, dtypes.real_of(array.dtype_name)), axes, keepdims
    )


@operation
def mean(x, axis=None, dtype=None, keepdims=False, where=None):
    """Returns: the mean over `axis`; f32 for integers."""
    array, name = _float(x, dtype)
    wide = _widened(array)
    axes = core.canonical_axes(axis, wide.ndim)
    total = core.reduce("reduce_sum", _masked(wide, where, 0), axes, keepdims)
    return core.cast(elementwise.divide(total, _count(wide, axes, keepdims, where)), name)


@operation
def var(x, axis=None, dtype=None, ddof=0, keepdims=False, where=None):
    """Returns: the variance over `axis`, divided by the number of elements minus `ddof`."""
    array, name = _float(x, dtype)
    wide = _widened(array)
    axes = core.canonical_axes(axis, wide.ndim)
    distance = elementwise.abs(wide - mean(wide, axes, keepdims=True, where=where))
    total = core.reduce("reduce_sum", _masked(distance * distance, where, 0), axes, keepdims)
    count = _count(distance, axes, keepdims, where)
    # As in NumPy no degrees of freedom divide by 0.
    freedom = elementwise.maximum(core.to_dtype(count, total.dtype_name) - ddof, 0)
    return core.cast(elementwise.divide(total, freedom), dtypes.real_of(name))


@operation
def std(x, axis=None, dtype=None, ddof=0, keepdims=False, where=None):
    """Returns: the square root of the variance."""
    return elementwise.sqrt(var(x, axis, dtype, ddof, keepdims, where))


@operation
def average(x, axis=None, weights=None, keepdims=False):
    """Returns: the mean with weights, which have the shape of x or of its one axis `axis`."""
    if weights is None:
        return mean(x, axis, keepdims=keepdims)
    array, factors = core.promote_inexact(x, weights)
    if not dims.same_shape(factors.shape, array.shape):
        at = 0 if axis is None else core.canonical_axis(axis, array.ndim)
        if axis is None or not dims.same_shape(factors.shape, array.shape[at : at + 1]):
            raise ValueError(
                f"the weights of average have the shape of {array.describe()} or of its one axis"
                f" {axis}, found {factors.describe()} ({location.text()})"
            )
        factors = core.reshape(factors, [e if i == at else 1 for i, e in enumerate(array.shape)])
        factors = core.broadcast_to(factors, array.shape)
    return sum(array * factors, axis, keepdims=keepdims) / sum(factors, axis, keepdims=keepdims)


@operation
def logsumexp(x, axis=None, keepdims=False, where=None):
    """Returns: log(sum(exp(x))) without overflow."""
    (array,) = core.promote_inexact(x)
    array = _masked(array, where, -float("inf"))
    axes = core.canonical_axes(axis, array.ndim)
    greatest = core.reduce("reduce_max", array, axes, True)
    # Infinities stay as they are.
    finite = core.apply("is_finite", [greatest])
    shift = core.apply(
        "select", [finite, greatest, core.full(greatest.shape, 0, greatest.dtype_name)]
    )
    total = core.reduce("reduce_sum", elementwise.exp(array - shift), axes, True)
    out = elementwise.log(total) + shift
    return (
        out
        if keepdims
        else core.reshape(out, [e for i, e in enumerate(array.shape) if i not in axes])
    )


@operation
def nansum(x, axis=None, keepdims=False):
    """Returns: the sum of what is not NaN."""
    return sum(x, axis, keepdims=keepdims, where=elementwise.logical_not(elementwise.isnan(x)))


@operation
def nanmean(x, axis=None, keepdims=False):
    """Returns: the mean of what is not NaN."""
    return mean(x, axis, keepdims=keepdims, where=elementwise.logical_not(elementwise.isnan(x)))


@operation
def nanmax(x, axis=None, keepdims=False):
    """Returns: the greatest element that is not NaN; NaN where all are."""
    array = core.as_array(x)
    if array.dtype_name not in dtypes.FLOATS:
        return max(array, axis, keepdims)
    missing = elementwise.isnan(array)
    found = max(elementwise.where(missing, -float("inf"), array), axis, keepdims)
    return elementwise.where(all(missing, axis, keepdims), float("nan"), found)


@operation
def nanmin(x, axis=None, keepdims=False):
    """Returns: the smallest element that is not NaN; NaN where all are."""
    array = core.as_array(x)
    if array.dtype_name not in dtypes.FLOATS:
        return min(array, axis, keepdims)
    missing = elementwise.isnan(array)
    found = min(elementwise.where(missing, float("inf"), array), axis, keepdims)
    return elementwise.where(all(missing, axis, keepdims), float("nan"), found)


# --- Positions.


def _position(op, x, axis, keepdims):
    array = core.as_array(x)
    shape = array.shape
    if axis is None:
        axis, array = 0, core.reshape(array, (array.size,))
        kept = [1] * len(shape)
    else:
        axis = core.canonical_axis(axis, array.ndim)
        kept = [1 if i == axis else extent for i, extent in enumerate(shape)]
    if array.dtype_name == "bool":
        array = core.cast(array, "u8")
    out = core.apply(op, [array], {"axis": axis, "dtype": "i32"})
    return core.reshape(out, kept) if keepdims else out


@operation
def argmax(x, axis=None, keepdims=False):
    """Returns: the position of the greatest element, the first of equals, as i32; over all of x by
    default.
    """
    return _position("argmax", x, axis, keepdims)


@operation
def argmin(x, axis=None, keepdims=False):
    """Returns: the position of the smallest element, the first of equals, as i32; over all of x by
    default.
    """
    return _position("argmin", x, axis, keepdims)


# --- Cumulative.


def _cumulative(op, array, axis, reverse=False):
    if axis is None:
        axis, array = 0, core.reshape(array, (array.size,))
    attrs = {"axis": core.canonical_axis(axis, array.ndim), "reverse": reverse, "exclusive": False}
    return core.apply(op, [array], attrs)


@operation
def cumsum(x, axis=None, dtype=None):
    """Returns: the sums up to each element along `axis`; of x made flat by default."""
    return _cumulative("cumsum", _accumulated(x, dtype), axis)


@operation
def cumprod(x, axis=None, dtype=None):
    """Returns: the products up to each element along `axis`; of x made flat by default."""
    return _cumulative("cumprod", _accumulated(x, dtype), axis)


@operation
def cummax(x, axis=None):
    """Returns: the greatest elements up to each one along `axis`."""
    return _cumulative("cummax", core.as_array(x), axis)


@operation
def cummin(x, axis=None):
    """Returns: the smallest elements up to each one along `axis`."""
    return _cumulative("cummin", core.as_array(x), axis)


@operation
def diff(x, n=1, axis=-1):
    """Returns: differences of neighbours along `axis`, n times over."""
    out = core.as_array(x)
    at = core.canonical_axis(axis, out.ndim)
    for _ in range(n):
        extent = out.shape[at]
        behind = core.slice_axis(out, at, dims.smaller(1, extent), extent)
        before = core.slice_axis(out, at, 0, extent - dims.smaller(1, extent))
        op = elementwise.not_equal if out.dtype_name == "bool" else elementwise.subtract
        out = op(behind, before)
    return out


@operation
def allclose(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Returns: whether all pairs of elements are close (`isclose`)."""
    return all(elementwise.isclose(x, y, rtol, atol, equal_nan))


@operation
def array_equal(x, y):
    """Returns: whether shapes and all elements are equal."""
    a, b = core.as_array(x), core.as_array(y)
    return all(elementwise.equal(a, b)) if a.shape == b.shape else core.scalar(False, "bool")
