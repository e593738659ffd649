"""Rarer activation functions, and logarithms of sums and differences."""

import math

from weir import core
from weir.eager import operation
from weir.nn import activations
from weir.numpy import elementwise, reductions, tanh


def identity(x):
    """Returns: x."""
    return elementwise.copy(x)


@operation
def hard_silu(x):
    """Returns: x * relu6(x + 3) / 6."""
    (array,) = core.promote_inexact(x)
    return array * activations.hard_sigmoid(array)


hard_swish = hard_silu


@operation
def mish(x):
    """Returns: x * tanh(softplus(x))."""
    (array,) = core.promote_inexact(x)
    return array * tanh(activations.softplus(array))


@operation
def squareplus(x, b=4):
    """Returns: (x + sqrt(x^2 + b)) / 2."""
    (array,) = core.promote_inexact(x)
    return (array + elementwise.sqrt(array * array + b)) / 2


@operation
def sparse_plus(x):
    """Returns: 0 up to -1, x from 1 on, and (x + 1)^2 / 4 between."""
    (array,) = core.promote_inexact(x)
    middle = (array + 1) * (array + 1) / 4
    return elementwise.where(array <= -1, 0, elementwise.where(array >= 1, array, middle))


@operation
def sparse_sigmoid(x):
    """Returns: the derivative of sparse_plus: (x + 1) / 2 between 0 and 1."""
    (array,) = core.promote_inexact(x)
    return elementwise.clip((array + 1) / 2, 0, 1)


@operation
def softmin(x, axis=-1, where=None):
    """Returns: softmax(-x)."""
    return activations.softmax(-core.promote_inexact(x)[0], axis, where)


@operation
def prelu(x, slope):
    """Returns: x where it is positive, else slope * x; `slope` broadcasts."""
    array, slope = core.promote_inexact(x, slope)
    return elementwise.where(array >= 0, array, slope * array)


@operation
def threshold(x, threshold, value):  # pylint: disable=redefined-outer-name
    """Returns: x where it is greater than the threshold, else `value`."""
    array = core.as_array(x)
    return elementwise.where(array > threshold, array, value)


@operation
def hard_shrink(x, bound=0.5):
    """Returns: x where |x| > bound, else 0."""
    (array,) = core.promote_inexact(x)
    return elementwise.where(elementwise.abs(array) <= bound, 0, array)


@operation
def soft_shrink(x, bound=0.5):
    """Returns: x moved towards 0 by `bound`, 0 where |x| is not greater."""
    (array,) = core.promote_inexact(x)
    return array - elementwise.clip(array, -bound, bound)


@operation
def tanh_shrink(x):
    """Returns: x - tanh(x)."""
    (array,) = core.promote_inexact(x)
    return array - tanh(array)


@operation
def log1mexp(x):
    """Returns: log(1 - exp(-x)) for x > 0, exact near 0 and far from it."""
    (array,) = core.promote_inexact(x)
    near = elementwise.log(-elementwise.expm1(-array))
    return elementwise.where(array < math.log(2), near, elementwise.log1p(-elementwise.exp(-array)))


@operation
def logmeanexp(x, axis=None, where=None, keepdims=False):
    """Returns: log(mean(exp(x))) over `axis` without overflow, of the elements that the mask
    `where` keeps.
    """
    (array,) = core.promote_inexact(x)
    total = reductions.logsumexp(array, axis, where=where, keepdims=keepdims)
    ones = core.full(array.shape, 1, "f32")
    count = reductions.sum(ones, axis, keepdims=keepdims, where=where)
    return total - core.cast(elementwise.log(count), total.dtype_name)
