"""Normalization layers. Images are [batch, channels, space...]."""

from weir import core, location
from weir.eager import operation
from weir.numpy import elementwise, reductions


def _affine(x, scale, bias, shape):
    if scale is not None:
        x = x * core.reshape(core.as_array(scale), shape)
    if bias is not None:
        x = x + core.reshape(core.as_array(bias), shape)
    return x


def _channel_shape(x):
    return [extent if i == 1 else 1 for i, extent in enumerate(x.shape)]


@operation
def layer_norm(x, scale=None, bias=None, axis=-1, epsilon=1e-5):
    """Returns: x with mean 0 and variance 1 over `axis`, times `scale` plus `bias`, which broadcast
    to x.
    """
    (array,) = core.promote_inexact(x)
    centered = array - reductions.mean(array, axis, keepdims=True)
    variance = reductions.mean(centered * centered, axis, keepdims=True)
    out = centered * elementwise.rsqrt(variance + epsilon)
    out = out if scale is None else out * scale
    return out if bias is None else out + bias


@operation
def rms_norm(x, scale=None, axis=-1, epsilon=1e-6):
    """Returns: x divided by the root of its mean square over `axis`, times `scale`."""
    (array,) = core.promote_inexact(x)
    out = array * elementwise.rsqrt(reductions.mean(array * array, axis, keepdims=True) + epsilon)
    return out if scale is None else out * scale


@operation
def batch_norm(x, scale=None, bias=None, mean=None, var=None, epsilon=1e-5):
    """Normalizes each channel of x [n, c, ...].

    Args:
      x: the array.
      scale, bias: [c], or None.
      mean, var: [c], statistics of inference. Without them those of this batch are used.
      epsilon: added to the variance.

    Returns: the normalized array; without `mean` and `var` a tuple (array, mean, var) with those of
    the batch.
    """
    (array,) = core.promote_inexact(x)
    if (mean is None) != (var is None):
        raise ValueError(f"batch_norm takes both mean and var, or neither ({location.text()})")
    from_batch = mean is None
    shape = _channel_shape(array)
    if from_batch:
        axes = tuple(i for i in range(array.ndim) if i != 1)
        mean, var = reductions.mean(array, axes), reductions.var(array, axes)
    center = core.reshape(core.as_array(mean), shape)
    spread = core.reshape(core.as_array(var), shape)
    out = _affine((array - center) * elementwise.rsqrt(spread + epsilon), scale, bias, shape)
    return (out, mean, var) if from_batch else out


@operation
def group_norm(x, groups, scale=None, bias=None, epsilon=1e-5):
    """Returns: x [n, c, space...] normalized over each of `groups` groups of channels; scale and
    bias are [c].
    """
    (array,) = core.promote_inexact(x)
    if array.ndim < 2 or array.shape[1] % groups:
        raise ValueError(
            f"group_norm: the channels of {array.describe()} do not split into {groups} groups"
            f" ({location.text()})"
        )
    grouped = core.reshape(
        array, (array.shape[0], groups, array.shape[1] // groups) + array.shape[2:]
    )
    out = layer_norm(grouped, axis=tuple(range(2, grouped.ndim)), epsilon=epsilon)
    return _affine(core.reshape(out, array.shape), scale, bias, _channel_shape(array))


@operation
def instance_norm(x, scale=None, bias=None, epsilon=1e-5):
    """Returns: x [n, c, space...] normalized over the space of each channel."""
    array = core.as_array(x)
    return group_norm(array, array.shape[1], scale, bias, epsilon)
