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
from weir.nn.attention import dot_product_attention
from weir.nn.layers import (
    conv_transpose,
    cosine_similarity,
    dropout,
    embedding,
    global_avg_pool,
    global_max_pool,
    l2_normalize,
    linear,
    pixel_shuffle,
    pixel_unshuffle,
    upsample,
)
from weir.nn.losses import (
    absolute_error,
    hinge_loss,
    huber_loss,
    kl_divergence,
    log_cosh,
    poisson_loss,
    sigmoid_binary_cross_entropy,
    sigmoid_focal_loss,
    smooth_labels,
    softmax_cross_entropy,
    softmax_cross_entropy_with_integer_labels,
    squared_error,
)
from weir.nn.normalization import batch_norm, group_norm, instance_norm, layer_norm, rms_norm
from weir.nn.recurrent import gru_cell, lstm_cell, rnn_cell
from weir.nn.smooth import (
    hard_shrink,
    hard_silu,
    hard_swish,
    identity,
    log1mexp,
    logmeanexp,
    mish,
    prelu,
    soft_shrink,
    softmin,
    sparse_plus,
    sparse_sigmoid,
    squareplus,
    tanh_shrink,
    threshold,
)
from weir.nn.windows import avg_pool, conv, max_pool, min_pool
from weir.numpy import logsumexp, tanh

__all__ = (
    "avg_pool batch_norm celu conv elu gelu glu group_norm gru_cell hard_sigmoid hard_tanh"
    " huber_loss instance_norm kl_divergence layer_norm leaky_relu log_sigmoid log_softmax"
    " logsumexp lstm_cell max_pool min_pool one_hot relu relu6 rms_norm rnn_cell selu sigmoid"
    " sigmoid_binary_cross_entropy silu soft_sign softmax softmax_cross_entropy"
    " softmax_cross_entropy_with_integer_labels softplus squared_error standardize swish"
    " absolute_error conv_transpose cosine_similarity dot_product_attention dropout embedding"
    " global_avg_pool global_max_pool hard_shrink hard_silu hard_swish hinge_loss identity"
    " l2_normalize linear log1mexp log_cosh logmeanexp mish pixel_shuffle pixel_unshuffle"
    " poisson_loss prelu sigmoid_focal_loss smooth_labels soft_shrink softmin sparse_plus"
    " sparse_sigmoid squareplus tanh tanh_shrink threshold upsample"
).split()
