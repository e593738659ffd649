"""Losses, one number for each example; average them with weir.numpy.mean."""

import math

from weir import core
from weir.eager import operation
from weir.nn import activations
from weir.numpy import elementwise, ordering, reductions


@operation
def softmax_cross_entropy(logits, labels, axis=-1):
    """Returns: the cross entropy between softmax(logits) and the distribution `labels` of the same
    shape.
    """
    return -reductions.sum(activations.log_softmax(logits, axis) * labels, axis)


@operation
def softmax_cross_entropy_with_integer_labels(logits, labels):
    """Returns: minus the logarithm of the softmax, over the last axis, at the integer `labels` of
    the other axes.
    """
    scores = activations.log_softmax(logits)
    places = core.expand_dims(core.as_array(labels), [scores.ndim - 1])
    picked = ordering.take_along_axis(scores, places, -1)
    return -core.reshape(picked, picked.shape[:-1])


@operation
def sigmoid_binary_cross_entropy(logits, labels):
    """Returns: the cross entropy between sigmoid(logits) and the probabilities `labels`, element by
    element.
    """
    scores, wanted = core.promote_inexact(logits, labels)
    return -wanted * activations.log_sigmoid(scores) - (1 - wanted) * activations.log_sigmoid(
        -scores
    )


@operation
def squared_error(predictions, targets):
    """Returns: (predictions - targets) ** 2, element by element."""
    return core.elementwise_inexact("squared_difference", predictions, targets)


@operation
def huber_loss(predictions, targets, delta=1.0):
    """Returns: half the squared error where it is at most delta, beyond that a line."""
    a, b = core.promote_inexact(predictions, targets)
    error = elementwise.abs(a - b)
    near = elementwise.minimum(error, delta)
    return 0.5 * near * near + delta * (error - near)


@operation
def kl_divergence(log_predictions, targets, axis=-1):
    """Returns: the divergence of the distribution `targets` from exp(log_predictions)."""
    predicted, wanted = core.promote_inexact(log_predictions, targets)
    return reductions.sum(elementwise.xlogy(wanted, wanted) - wanted * predicted, axis)


@operation
def absolute_error(predictions, targets):
    """Returns: |predictions - targets|, element by element."""
    a, b = core.promote_inexact(predictions, targets)
    return elementwise.abs(a - b)


@operation
def log_cosh(predictions, targets):
    """Returns: log(cosh(predictions - targets)) without overflow, element by element."""
    a, b = core.promote_inexact(predictions, targets)
    return elementwise.logaddexp(a - b, b - a) - math.log(2)


@operation
def hinge_loss(predictions, targets):
    """Returns: max(0, 1 - predictions * targets), for targets of -1 and 1."""
    a, b = core.promote_inexact(predictions, targets)
    return elementwise.maximum(1 - a * b, 0)


@operation
def poisson_loss(log_predictions, targets):
    """Returns: exp(log_predictions) - targets * log_predictions, element by element."""
    a, b = core.promote_inexact(log_predictions, targets)
    return elementwise.exp(a) - b * a


@operation
def smooth_labels(labels, alpha):
    """Returns: (1 - alpha) labels + alpha / n, for distributions over n classes along the last
    axis.
    """
    (array,) = core.promote_inexact(labels)
    return (1 - alpha) * array + alpha / core.scalar(array.shape[-1], array.dtype_name)


@operation
def sigmoid_focal_loss(logits, labels, alpha=None, gamma=2.0):
    """Returns: the binary cross entropy times (1 - p)^gamma, p the probability of the label; with
    `alpha` times alpha where the label is 1 and 1 - alpha where it is 0.
    """
    scores, wanted = core.promote_inexact(logits, labels)
    loss = sigmoid_binary_cross_entropy(scores, wanted)
    p = activations.sigmoid(scores)
    loss = loss * (1 - (p * wanted + (1 - p) * (1 - wanted))) ** gamma
    return loss if alpha is None else loss * (alpha * wanted + (1 - alpha) * (1 - wanted))
