"""Layers and losses over `weir.numpy`. Images are [batch, channels, space...], as in ONNX."""

from weir.nn.activations import (
    celu,
    elu,
    gelu,
    glu,
    hard_sigmoid,
    hard_tanh,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    one_hot,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_sign,
    softmax,
    softplus,
    standardize,
    swish,
)
from weir.nn.losses import (
    huber_loss,
    kl_divergence,
    sigmoid_binary_cross_entropy,
    softmax_cross_entropy,
    softmax_cross_entropy_with_integer_labels,
    squared_error,
)
from weir.nn.normalization import batch_norm, group_norm, instance_norm, layer_norm, rms_norm
from weir.nn.recurrent import gru_cell, lstm_cell, rnn_cell
from weir.nn.windows import avg_pool, conv, max_pool, min_pool
from weir.numpy import logsumexp

__all__ = (
    "avg_pool batch_norm celu conv elu gelu glu group_norm gru_cell hard_sigmoid hard_tanh"
    " huber_loss instance_norm kl_divergence layer_norm leaky_relu log_sigmoid log_softmax"
    " logsumexp lstm_cell max_pool min_pool one_hot relu relu6 rms_norm rnn_cell selu sigmoid"
    " sigmoid_binary_cross_entropy silu soft_sign softmax softmax_cross_entropy"
    " softmax_cross_entropy_with_integer_labels softplus squared_error standardize swish"
).split()
