"""Activation functions."""

import math

from weir import core
from weir.eager import operation
from weir.numpy import elementwise, reductions


@operation
def relu(x):
    """Returns: max(x, 0)."""
    array = core.as_array(x)
    return core.apply("relu", [array], weak_type=array.weak_type)


@operation
def relu6(x):
    """Returns: x between 0 and 6."""
    return elementwise.clip(x, 0, 6)


@operation
def sigmoid(x):
    """Returns: 1 / (1 + exp(-x))."""
    return core.elementwise_inexact("logistic", x)


@operation
def log_sigmoid(x):
    """Returns: log(sigmoid(x)), exact for small x."""
    return -softplus(-core.promote_inexact(x)[0])


@operation
def softplus(x):
    """Returns: log(1 + exp(x))."""
    return core.elementwise_inexact("softplus", x)


@operation
def silu(x):
    """Returns: x * sigmoid(x)."""
    (array,) = core.promote_inexact(x)
    return array * sigmoid(array)


swish = silu


@operation
def hard_sigmoid(x):
    """Returns: relu6(x + 3) / 6."""
    (array,) = core.promote_inexact(x)
    return relu6(array + 3) / 6


@operation
def hard_tanh(x):
    """Returns: x between -1 and 1."""
    return elementwise.clip(x, -1, 1)


@operation
def soft_sign(x):
    """Returns: x / (1 + |x|)."""
    (array,) = core.promote_inexact(x)
    return array / (elementwise.abs(array) + 1)


@operation
def elu(x, alpha=1.0):
    """Returns: x where it is positive, else alpha * (exp(x) - 1)."""
    (array,) = core.promote_inexact(x)
    below = elementwise.minimum(array, 0)
    return elementwise.where(array > 0, array, alpha * elementwise.expm1(below))


@operation
def selu(x):
    """Returns: the scaled elu that keeps mean and variance."""
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


@operation
def celu(x, alpha=1.0):
    """Returns: x where it is positive, else alpha * (exp(x / alpha) - 1)."""
    (array,) = core.promote_inexact(x)
    below = elementwise.minimum(array, 0)
    return elementwise.maximum(array, 0) + alpha * elementwise.expm1(below / alpha)


@operation
def leaky_relu(x, negative_slope=0.01):
    """Returns: x where it is positive, else negative_slope * x."""
    (array,) = core.promote_inexact(x)
    return elementwise.where(array >= 0, array, negative_slope * array)


@operation
def gelu(x, approximate=True):
    """Returns: x times the normal distribution function at x, by tanh if `approximate`."""
    (array,) = core.promote_inexact(x)
    if approximate:
        inside = math.sqrt(2 / math.pi) * (array + 0.044715 * (array * array * array))
        return array * (0.5 * (1.0 + elementwise.tanh(inside)))
    return array * (elementwise.erfc(-array / math.sqrt(2)) / 2)


@operation
def glu(x, axis=-1):
    """Returns: the first half of x along `axis` times the sigmoid of the second."""
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    half = array.shape[at] // 2
    if array.shape[at] % 2:
        raise ValueError(f"glu needs an even size of axis {at}, found {array.describe()}")
    first = core.slice_axis(array, at, 0, half)
    return first * sigmoid(core.slice_axis(array, at, half, 2 * half))


@operation
def softmax(x, axis=-1, where=None):
    """Returns: exp(x) divided by its sum over `axis`; 0 where the mask `where` is false."""
    (array,) = core.promote_inexact(x)
    if where is not None:
        array = elementwise.where(where, array, -math.inf)
    axes = core.canonical_axes(axis, array.ndim)
    powers = elementwise.exp(array - core.reduce("reduce_max", array, axes, True))
    return powers / core.reduce("reduce_sum", powers, axes, True)


@operation
def log_softmax(x, axis=-1, where=None):
    """Returns: the logarithm of softmax."""
    (array,) = core.promote_inexact(x)
    if where is not None:
        array = elementwise.where(where, array, -math.inf)
    axes = core.canonical_axes(axis, array.ndim)
    shifted = array - core.reduce("reduce_max", array, axes, True)
    total = core.reduce("reduce_sum", elementwise.exp(shifted), axes, True)
    return shifted - elementwise.log(total)


@operation
def standardize(x, axis=-1, epsilon=1e-5):
    """Returns: x moved to mean 0 and scaled to variance 1 over `axis`."""
    (array,) = core.promote_inexact(x)
    centered = array - reductions.mean(array, axis, keepdims=True)
    variance = reductions.mean(centered * centered, axis, keepdims=True)
    return centered * elementwise.rsqrt(variance + epsilon)


@operation
def one_hot(x, num_classes, dtype="f32", axis=-1):
    """Returns: for each integer of x a vector along a new axis with 1 at its position; zeros for
    what lies outside.
    """
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim + 1)
    shape = array.shape[:at] + (num_classes,) + array.shape[at:]
    positions = core.iota(shape, at, "i64")
    wanted = core.broadcast_to(core.expand_dims(core.cast(array, "i64"), [at]), shape)
    return elementwise.astype(core.compare("equal", wanted, positions), dtype)
