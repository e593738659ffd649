"""Losses, one number for each example; average them with weir.numpy.mean."""

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
