"""Convolution and pooling. Arrays: [batch, channels, space...], of one to three axes of space."""

import math

from weir import core, dims, dtypes, location
from weir.eager import operation


def _each(value, count, what):
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise ValueError(f"{what} needs {count} entries, found {values} ({location.text()})")
    return values


def _padding(padding, extents, window, strides, dilation):
    """Returns: one pair (low, high) for each axis of space."""
    if isinstance(padding, str):
        if padding.upper() == "VALID":
            return [(0, 0)] * len(extents)
        if padding.upper() != "SAME":
            raise ValueError(
                f"padding must be 'SAME', 'VALID' or numbers, found {padding!r} ({location.text()})"
            )
        pairs = []
        for extent, size, stride, spread in zip(extents, window, strides, dilation):
            outputs = -(-extent // stride)
            total = dims.larger(0, (outputs - 1) * stride + (size - 1) * spread + 1 - extent)
            total = core.known_integer(total, "the padding 'SAME'")
            pairs.append((total // 2, total - total // 2))
        return pairs
    if isinstance(padding, int):
        return [(padding, padding)] * len(extents)
    pairs = [(p, p) if isinstance(p, int) else tuple(p) for p in padding]
    if len(pairs) != len(extents):
        raise ValueError(
            f"padding needs {len(extents)} entries, found {padding!r} ({location.text()})"
        )
    return pairs


def convolution(array, weights, padding, strides, dilation, spread, groups, batch_groups=1):
    """The convolution of arrays [n, c, space...] and [o, c / groups, window...].

    Args:
      padding: as for `conv`.
      strides, dilation, spread: one number for each axis of space; `spread` is the dilation of the
        array.

    Returns: [n / batch_groups, o, space...].
    """
    extents = [dims.larger(0, (e - 1) * d + 1) for e, d in zip(array.shape[2:], spread)]
    pairs = _padding(padding, extents, weights.shape[2:], strides, dilation)
    attrs = {
        "window_strides": list(strides),
        "padding_low": [low for low, _ in pairs],
        "padding_high": [high for _, high in pairs],
        "lhs_dilation": list(spread),
        "rhs_dilation": list(dilation),
        "feature_group_count": (groups,),
        "batch_group_count": (batch_groups,),
    }
    return core.apply("convolution", [array, weights], attrs)


@operation
def conv(x, kernel, bias=None, strides=1, padding="VALID", dilation=1, groups=1, input_dilation=1):
    """The convolution (without flipping) of x with a kernel.

    Args:
      x: [n, c, space...].
      kernel: [o, c / groups, window...].
      bias: [o], or None.
      strides, dilation, input_dilation: a number, or one for each axis of space.
      padding: "SAME", "VALID", a number, or one number or pair (low, high) for each axis of space.
      groups: how many groups of channels are apart.

    Returns: [n, o, space...].

    Raises: InvalidArgument where the shapes do not fit.
    """
    array, weights = core.promote_inexact(x, kernel)
    if array.ndim < 3 or array.ndim != weights.ndim:
        raise ValueError(
            f"conv needs x [n, c, space...] and a kernel [o, c, space...], found {array.describe()}"
            f" and {weights.describe()} ({location.text()})"
        )
    space = array.ndim - 2
    out = convolution(
        array,
        weights,
        padding,
        strides=_each(strides, space, "strides"),
        dilation=_each(dilation, space, "dilation"),
        spread=_each(input_dilation, space, "input_dilation"),
        groups=groups,
    )
    if bias is None:
        return out
    return out + core.reshape(core.as_array(bias), (weights.shape[0],) + (1,) * space)


def _pool(kind, x, window, strides, padding):
    """Returns: the combination of each window."""
    space = x.ndim - 2
    if space < 1:
        raise ValueError(
            f"pooling needs x [n, c, space...], found {x.describe()} ({location.text()})"
        )
    window = _each(window, space, "window")
    strides = window if strides is None else _each(strides, space, "strides")
    pairs = _padding(padding, x.shape[2:], window, strides, (1,) * space)
    ones = [1] * x.ndim
    attrs = {
        "kind": kind,
        "window_dimensions": [1, 1, *window],
        "window_strides": [1, 1, *strides],
        "padding_low": [0, 0, *(low for low, _ in pairs)],
        "padding_high": [0, 0, *(high for _, high in pairs)],
        "base_dilations": ones,
        "window_dilations": ones,
    }
    return core.apply("reduce_window", [x], attrs)


@operation
def max_pool(x, window, strides=None, padding="VALID"):
    """Returns: the greatest element of each window of x [n, c, space...]. Strides are the window by
    default.
    """
    return _pool("max", core.as_array(x), window, strides, padding)


@operation
def min_pool(x, window, strides=None, padding="VALID"):
    """Returns: the smallest element of each window of x [n, c, space...]."""
    return _pool("min", core.as_array(x), window, strides, padding)


@operation
def avg_pool(x, window, strides=None, padding="VALID", count_include_pad=True):
    """Returns: the mean of each window of x [n, c, space...]; padding counts as zeros unless told
    otherwise.
    """
    (array,) = core.promote_inexact(x)
    total = _pool("sum", array, window, strides, padding)
    if count_include_pad:
        return total / math.prod(_each(window, array.ndim - 2, "window"))
    ones = core.full((1, 1) + array.shape[2:], 1, dtypes.real_of(array.dtype_name))
    return total / _pool("sum", ones, window, strides, padding)
