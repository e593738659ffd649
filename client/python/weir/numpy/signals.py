"""Vectors as signals: convolutions, differences, integrals and windows."""

import numpy as np

from weir import checks, core, dims, dtypes, location
from weir.eager import operation
from weir.numpy import creation, elementwise, products, reductions, shaping


@operation
def convolve(x, y, mode="full"):
    """The convolution of two vectors.

    Args:
      x, y: T[n] and T[m].
      mode: "full": all n + m - 1 places; "same": the middle max(n, m) of them; "valid": those in
        which the shorter vector lies in the longer one.

    Returns: the sums of products of x and y turned round.
    """
    longer, shorter = _vectors("convolve", x, y)
    known = dims.known(longer.size, shorter.size)
    # All places are the same from either side.
    if (known or mode != "full") and longer.size < shorter.size:
        longer, shorter = shorter, longer
    return _slid(longer, shorter, mode)


@operation
def correlate(x, y, mode="valid"):
    """Returns: the sums of products of x with y conjugated, y at each place of x; arguments as of
    `convolve`.
    """
    x, y = _vectors("correlate", x, y)
    turned = core.reverse(elementwise.conj(y), [0])
    if x.size >= y.size:
        return _slid(x, turned, mode)
    return _slid(turned, x, mode)


def _vectors(what, x, y):
    x, y = core.promote(x, y)
    wrong = ValueError(
        f"{what} takes two vectors that are not empty, found {x.describe()} and {y.describe()}"
        f" ({location.text()})"
    )
    if x.ndim != 1 or y.ndim != 1:
        raise wrong
    for array in (x, y):
        checks.require_at_most(1, array.size, wrong)
    return x, y


def _slid(longer, shorter, mode):
    """Returns: the convolution with a vector that is not longer."""
    n, m = longer.size, shorter.size
    if mode not in ("full", "same", "valid"):
        raise ValueError(
            f"mode must be 'full', 'same' or 'valid', found {mode!r} ({location.text()})"
        )
    low, high = {"full": (m - 1, m - 1), "valid": (0, 0)}.get(mode, (m // 2, (m - 1) // 2))
    padded = shaping.pad(longer, (low, high))
    count = n + low + high - m + 1
    turned = core.reverse(shorter, [0])
    if longer.dtype_name in dtypes.FLOATS:
        attrs = {name: [0] for name in ("padding_low", "padding_high")}
        attrs |= {name: [1] for name in ("window_strides", "lhs_dilation", "rhs_dilation")}
        attrs |= {name: (1,) for name in ("feature_group_count", "batch_group_count")}
        image = core.reshape(padded, (1, 1, padded.size))
        kernel = core.reshape(turned, (1, 1, m))
        return core.reshape(core.apply("convolution", [image, kernel], attrs), (count,))
    shape = (count, m)
    places = core.elementwise("add", core.iota(shape, 0, "i64"), core.iota(shape, 1, "i64"))
    places.is_index = True
    return products.matmul(padded[places], turned)


@operation
def gradient(x, spacing=1, axis=None):
    """Returns: the derivative by differences: of both neighbours inside, of one at the ends. One
    array for each axis, as a list; the array alone where there is one axis.

    Args:
      x: real or complex numbers, at least two along each axis.
      spacing: the distance of neighbours, a scalar.
      axis: one axis or several; all by default.
    """
    (array,) = core.promote_inexact(x)
    axes = core.canonical_axes(axis, array.ndim)
    found = [_slope(array, at, spacing) for at in axes]
    return found[0] if len(found) == 1 else found


def _slope(array, at, spacing):
    extent = array.shape[at]
    too_few = ValueError(
        f"gradient needs two elements along axis {at} of {array.describe()} ({location.text()})"
    )
    checks.require_at_most(2, extent, too_few)
    first = _difference(array, at, 0, 1, 1)
    last = _difference(array, at, extent - 2, extent - 1, 1)
    middle = _difference(array, at, 0, 2, extent - 2) / 2
    return core.concatenate([first, middle, last], at) / spacing


def _difference(array, at, before, behind, count):
    greater = core.slice_axis(array, at, behind, behind + count)
    return greater - core.slice_axis(array, at, before, before + count)


@operation
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Returns: the integral of y along `axis`, by trapezia.

    Args:
      y: the values.
      x: where they stand, a vector or of the shape of y; by default `dx` apart.
      dx: the distance of neighbours.
      axis: the axis of integration.
    """
    (array,) = core.promote_inexact(y)
    at = core.canonical_axis(axis, array.ndim)
    extent = array.shape[at]
    one = dims.smaller(1, extent)
    sums = core.slice_axis(array, at, one, extent) + core.slice_axis(array, at, 0, extent - one)
    if x is None:
        return reductions.sum(sums, at) * dx / 2
    widths = reductions.diff(x, axis=0 if core.as_array(x).ndim == 1 else at)
    if widths.ndim == 1:
        widths = core.expand_dims(widths, [i for i in range(array.ndim) if i != at])
    return reductions.sum(sums * widths, at) / 2


trapz = trapezoid


@operation
def unwrap(x, discont=None, axis=-1, period=2 * np.pi):
    """Returns: angles along `axis` without jumps: where one is greater than `discont` (half a
    period by default), all behind it change by whole periods.
    """
    (array,) = core.promote_inexact(x)
    at = core.canonical_axis(axis, array.ndim)
    half = period / 2
    steps = reductions.diff(array, axis=at)
    near = elementwise.mod(steps + half, period) - half
    near = elementwise.where((near == -half) & (steps > 0), half, near)
    change = elementwise.where(
        elementwise.abs(steps) < (half if discont is None else discont), 0, near - steps
    )
    one = dims.smaller(1, array.shape[at])
    first = core.slice_axis(array, at, 0, one)
    rest = core.slice_axis(array, at, one, array.shape[at]) + reductions.cumsum(change, at)
    return core.reshape(core.concatenate([first, rest], at), array.shape)


def _window(make, n):
    return core.constant(make(core.known_integer(n, "the size of a window")).astype(np.float32))


@operation
def bartlett(n):
    """Returns: f32[n], the triangular window."""
    return _window(np.bartlett, n)


@operation
def blackman(n):
    """Returns: f32[n], the Blackman window."""
    return _window(np.blackman, n)


@operation
def hamming(n):
    """Returns: f32[n], the Hamming window."""
    return _window(np.hamming, n)


@operation
def hanning(n):
    """Returns: f32[n], the Hann window."""
    return _window(np.hanning, n)


@operation
def geomspace(start, stop, num=50, endpoint=True, dtype=None):
    """Returns: `num` positive numbers from start to stop, each the same multiple of the one before;
    f32 by default.
    """
    low, high = core.promote_inexact(start, stop)
    line = creation.linspace(0, 1, num, endpoint)
    made = elementwise.exp(elementwise.log(low) + line * elementwise.log(high / low))
    return made if dtype is None else elementwise.astype(made, dtype)
