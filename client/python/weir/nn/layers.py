"""Layers of few lines: linear maps, embeddings, dropout, transposed convolutions, moved pixels."""

from weir import core, dims, dtypes, location, random
from weir.eager import operation
from weir.nn import windows
from weir.numpy import elementwise, linalg, products, reductions, shaping


@operation
def linear(x, kernel, bias=None):
    """Returns: x [..., features] times the kernel [features, outputs], plus the bias [outputs]."""
    out = products.matmul(x, kernel)
    return out if bias is None else out + bias


@operation
def embedding(indices, table, padding_index=None):
    """Returns: the rows of the table [n, ...] at integer indices, whose axes come first; zeros at
    `padding_index`. Indices outside of a traced array are clamped, known ones raise.
    """
    rows, places = core.as_array(table), core.as_array(indices)
    if not rows.ndim or places.dtype_name not in dtypes.INTEGERS:
        raise TypeError(
            f"embedding takes integers and a table with axes, found {places.describe()} and"
            f" {rows.describe()} ({location.text()})"
        )
    out = rows[indices] if core.is_scalar(indices) or core.is_numpy(indices) else rows[places]
    if padding_index is None:
        return out
    is_padding = core.reshape(places == padding_index, places.shape + (1,) * (rows.ndim - 1))
    return elementwise.where(is_padding, 0, out)


@operation
def dropout(x, rate=0.5, *, seed, deterministic=False, axis=None):
    """Returns: x with elements set to 0 with the probability `rate`, the others divided by
    1 - rate.

    Args:
      x: the array.
      rate: a number of [0, 1), or a scalar of the program.
      seed: as of `weir.random`.
      deterministic: whether to return x as it is, as in inference.
      axis: the axes along which elements go alone; those along the others go together. None: each
        goes alone.
    """
    (array,) = core.promote_inexact(x)
    if core.is_scalar(rate) and not 0 <= rate < 1:
        raise ValueError(f"the rate of dropout is at least 0 and below 1, found {rate}")
    if deterministic or (core.is_scalar(rate) and rate == 0):
        return array
    alone = core.canonical_axes(axis, array.ndim)
    shape = [extent if i in alone else 1 for i, extent in enumerate(array.shape)]
    kept = core.to_dtype(1 - rate, dtypes.real_of(array.dtype_name))
    stays = random.bernoulli(kept, shape=shape, seed=seed)
    return elementwise.where(stays, array / kept, 0)


@operation
def conv_transpose(
    x, kernel, bias=None, strides=1, padding=0, output_padding=0, dilation=1, groups=1
):
    """The transposed convolution: each element of x adds its multiple of the kernel to the result.

    Args:
      x: [n, c, space...].
      kernel: [c, o / groups, window...].
      bias: [o], or None.
      strides, dilation: a number, or one for each axis of space.
      padding: how much is cut from both ends: a number, or a number or pair for each axis.
      output_padding: how much is added behind.
      groups: how many groups of channels are apart.

    Returns: [n, o, space...]; an axis of e elements gets (e - 1) stride + (window - 1) dilation + 1
      - padding + output_padding.
    """
    array, weights = core.promote_inexact(x, kernel)
    space = array.ndim - 2
    message = (
        "conv_transpose needs x [n, c, space...] and a kernel [c, o, space...], found"
        f" {array.describe()} and {weights.describe()}"
    )
    if space < 1 or array.ndim != weights.ndim:
        raise ValueError(f"{message} ({location.text()})")
    if not dims.same(weights.shape[0], array.shape[1]):
        raise dims.unequal(weights.shape[0], array.shape[1], message)
    if weights.shape[0] % groups:
        raise ValueError(
            f"conv_transpose: {weights.shape[0]} channels do not split into {groups} groups"
            f" ({location.text()})"
        )
    strides, spread = (
        windows._each(value, space, what)
        for value, what in ((strides, "strides"), (dilation, "dilation"))
    )
    behind = windows._each(output_padding, space, "output_padding")
    cuts = windows._padding(padding, array.shape[2:], weights.shape[2:], strides, spread)
    window = weights.shape[2:]
    parts = core.reshape(weights, (groups, weights.shape[0] // groups, *weights.shape[1:]))
    parts = core.reverse(shaping.swapaxes(parts, 1, 2), list(range(3, 3 + space)))
    turned = core.reshape(parts, (groups * parts.shape[1], parts.shape[2], *window))
    reach = [(size - 1) * step for size, step in zip(window, spread)]
    pairs = [
        (r - low, r - high + more) for r, (low, high), more in zip(reach, cuts, behind, strict=True)
    ]
    return windows.conv(
        array,
        turned,
        bias,
        padding=pairs,
        dilation=spread,
        groups=groups,
        input_dilation=strides,
    )


@operation
def pixel_shuffle(x, factor):
    """Returns: [n, c, h * factor, w * factor] from x [n, c * factor^2, h, w]: channels become
    neighbours in space.
    """
    array = _image(x, "pixel_shuffle")
    n, channels, h, w = array.shape
    if channels % (factor * factor):
        raise ValueError(
            f"pixel_shuffle: {channels} channels do not split into {factor}^2 ({location.text()})"
        )
    c = channels // (factor * factor)
    parts = core.reshape(array, (n, c, factor, factor, h, w))
    return core.reshape(core.transpose(parts, [0, 1, 4, 2, 5, 3]), (n, c, h * factor, w * factor))


@operation
def pixel_unshuffle(x, factor):
    """Returns: [n, c * factor^2, h / factor, w / factor] from x [n, c, h, w], as pixel_shuffle was
    given it.
    """
    array = _image(x, "pixel_unshuffle")
    n, c, h, w = array.shape
    if h % factor or w % factor:
        raise ValueError(
            f"pixel_unshuffle: {array.describe()} does not split into squares of {factor}"
            f" ({location.text()})"
        )
    parts = core.reshape(array, (n, c, h // factor, factor, w // factor, factor))
    parts = core.transpose(parts, [0, 1, 3, 5, 2, 4])
    return core.reshape(parts, (n, c * factor * factor, h // factor, w // factor))


def _image(x, what):
    array = core.as_array(x)
    if array.ndim != 4:
        raise ValueError(f"{what} takes [n, c, h, w], found {array.describe()} ({location.text()})")
    return array


@operation
def upsample(x, factor):
    """Returns: x [n, c, space...] with each element `factor` times (a number, or one for each axis)
    along the axes of space.
    """
    array = core.as_array(x)
    for axis, count in enumerate(windows._each(factor, array.ndim - 2, "factor"), start=2):
        array = shaping.repeat(array, count, axis)
    return array


@operation
def global_avg_pool(x, keepdims=False):
    """Returns: [n, c], the means over the space of x [n, c, space...]."""
    array = core.as_array(x)
    return reductions.mean(array, tuple(range(2, array.ndim)), keepdims=keepdims)


@operation
def global_max_pool(x, keepdims=False):
    """Returns: [n, c], the greatest elements in the space of x [n, c, space...]."""
    array = core.as_array(x)
    return reductions.max(array, tuple(range(2, array.ndim)), keepdims=keepdims)


@operation
def l2_normalize(x, axis=-1, epsilon=1e-12):
    """Returns: x divided by its length over `axis`, or by `epsilon` where that is less."""
    (array,) = core.promote_inexact(x)
    length = linalg.norm(array, axis=axis, keepdims=True)
    return array / elementwise.maximum(length, epsilon)


@operation
def cosine_similarity(x, y, axis=-1, epsilon=1e-8):
    """Returns: the cosine of the angle between vectors along `axis`; lengths below `epsilon` count
    as that.
    """
    a, b = core.broadcast(*core.promote_inexact(x, y))
    lengths = [elementwise.maximum(linalg.norm(each, axis=axis), epsilon) for each in (a, b)]
    return reductions.sum(a * b, axis) / (lengths[0] * lengths[1])
