"""Layers, losses and functions made of many ops, against differences in both modes."""

import numpy as np
import pytest
from differences import Checked

import weir
import weir.numpy as wnp
from weir import nn, special

RNG = np.random.default_rng(3)
KERNEL = RNG.normal(size=(4, 2, 3, 3))
IMAGES = RNG.normal(size=(3, 2, 5, 4))
TABLE = RNG.normal(size=(4, 4))
IDS = np.array([2, 0, 2])
LABELS = np.array([1, 3, 0])
PARTS = np.array([[0.1, 0.2, 0.3, 0.4]] * 3)

# Functions of x [3, 4].
OF_ROWS = {
    "gelu": nn.gelu,
    "exact gelu": lambda x: nn.gelu(x, approximate=False),
    "silu": nn.silu,
    "elu": nn.elu,
    "selu": nn.selu,
    "mish": nn.mish,
    "glu": nn.glu,
    "softmax": nn.softmax,
    "log_softmax": nn.log_softmax,
    "standardize": nn.standardize,
    "layer_norm": lambda x: nn.layer_norm(x, x[0], x[1]),
    "rms_norm": lambda x: nn.rms_norm(x, x[0]),
    "linear": lambda x: nn.linear(x, TABLE, x[0]),
    "embedding": lambda x: nn.embedding(IDS, x),
    "dropout": lambda x: nn.dropout(x, 0.5, seed=1),
    "l2_normalize": nn.l2_normalize,
    "cosine_similarity": lambda x: nn.cosine_similarity(x, x[::-1] + 1),
    "cross entropy": lambda x: nn.softmax_cross_entropy(x, PARTS),
    "integer labels": lambda x: nn.softmax_cross_entropy_with_integer_labels(x, LABELS),
    "binary cross entropy": lambda x: nn.sigmoid_binary_cross_entropy(x, PARTS),
    "huber": lambda x: nn.huber_loss(x, PARTS),
    "log_cosh": lambda x: nn.log_cosh(x, PARTS),
    "kl_divergence": lambda x: nn.kl_divergence(nn.log_softmax(x), PARTS),
    "focal loss": lambda x: nn.sigmoid_focal_loss(x, (PARTS > 0.2) * 1.0),
    "attention": lambda x: nn.dot_product_attention(
        x[None, :, None], (x @ TABLE)[None, :, None], wnp.sin(x)[None, :, None], is_causal=True
    ),
    "lstm_cell": lambda x: nn.lstm_cell((x[:, :1], x[:, 1:2]), x[:, 2:], TABLE[:2], TABLE[2:3]),
    "gru_cell": lambda x: nn.gru_cell(x[:, :1], x[:, 1:], TABLE[:3, :3], TABLE[3:, :3]),
    "norm": wnp.linalg.norm,
    "vector_norm": lambda x: wnp.linalg.vector_norm(x, axis=1, ord=3),
    "nuclear norm": lambda x: wnp.linalg.norm(x, "nuc"),
    "std": lambda x: wnp.std(x, axis=1),
    "var": lambda x: wnp.var(x, axis=0, ddof=1),
    "median": lambda x: wnp.median(x, axis=1),
    "quantile": lambda x: wnp.quantile(x, 0.3, axis=1),
    "logsumexp": lambda x: wnp.logsumexp(x, axis=0),
    "logaddexp": lambda x: wnp.logaddexp(x, x[::-1]),
    "einsum": lambda x: wnp.einsum("ij,kj,kl->il", x, x, x),
    "tensordot": lambda x: wnp.tensordot(x, TABLE, 1),
    "kron": lambda x: wnp.kron(x, TABLE[:2, :2]),
    "cross": lambda x: wnp.cross(x[:, :3], x[:, 1:]),
    "convolve": lambda x: wnp.convolve(x[0], x[1]),
    "interp": lambda x: wnp.interp(x[0], np.arange(-3.0, 4.0), np.arange(7.0) ** 2),
    "polyval": lambda x: wnp.polyval(x[0], x[1:]),
    "trapezoid": lambda x: wnp.trapezoid(x, axis=1),
    "diff": lambda x: wnp.diff(x, n=2, axis=1),
    "roll": lambda x: wnp.roll(x, 1, axis=0),
    "tile": lambda x: wnp.tile(x, (2, 3)),
    "repeat": lambda x: wnp.repeat(x, 2, axis=1),
    "pad": lambda x: wnp.pad(x, 1, mode="reflect"),
    "triangle": lambda x: wnp.tril(x) + wnp.triu(x, 1) * 2,
    "clip": lambda x: wnp.clip(x, -0.5, 0.5),
    "where": lambda x: wnp.where(x > 0, wnp.log1p(wnp.abs(x)), x),
    "sinc": wnp.sinc,
    "pinv": wnp.linalg.pinv,
    "lstsq": lambda x: wnp.linalg.lstsq(x.T, x.T[:, 0] + 1)[0],
    "expm": lambda x: wnp.linalg.expm(x[:, :3] * 0.3),
    "matrix_power": lambda x: wnp.linalg.matrix_power(x[:, :3], 3),
    "inverse": lambda x: wnp.linalg.inv(x[:, :3] + 3 * wnp.eye(3)),
    "det": lambda x: wnp.linalg.det(x[:, :3]),
    "spectrum": lambda x: wnp.abs(wnp.fft.rfft2(x)) ** 2,
    "filter": lambda x: wnp.fft.irfft(wnp.fft.rfft(x, axis=1) * 0.5, n=4, axis=1),
    "segments": lambda x: weir.segment_mean(x, np.array([0, 1, 0]), 2),
    "gamma": lambda x: special.gamma(wnp.abs(x) + 1),
    "betaln": lambda x: special.betaln(wnp.abs(x) + 1, 2.5),
    "ndtr": special.ndtr,
    "log_ndtr": special.log_ndtr,
    "entr": lambda x: special.entr(wnp.abs(x) + 0.1),
    "logit": lambda x: special.logit(nn.sigmoid(x)),
    "associative_scan": lambda x: weir.lax.associative_scan(lambda a, b: a * b + b, x),
}
# Functions of images [2, 2, 6, 6].
OF_IMAGES = {
    "conv": lambda x: nn.conv(x, KERNEL, padding="SAME", strides=2),
    "dilated": lambda x: nn.conv(x, KERNEL, dilation=2),
    "grouped": lambda x: nn.conv(x, KERNEL[:, :1], groups=2),
    "by a kernel": lambda x: nn.conv(IMAGES, x[:, :, :2, :2]),
    "transposed": lambda x: nn.conv_transpose(x, np.moveaxis(KERNEL, 0, 1), strides=2),
    "max_pool": lambda x: nn.max_pool(x, (3, 3), (2, 2), padding="SAME"),
    "avg_pool": lambda x: nn.avg_pool(x, (3, 3), (1, 2), padding="SAME", count_include_pad=False),
    "batch_norm": lambda x: nn.batch_norm(x),
    "group_norm": lambda x: nn.group_norm(x, 2),
    "instance_norm": lambda x: nn.instance_norm(x),
    "shuffle": lambda x: nn.pixel_unshuffle(x, 2),
    "upsample": lambda x: nn.upsample(x, 2),
    "global pools": lambda x: (nn.global_avg_pool(x), nn.global_max_pool(x)),
}


@pytest.mark.parametrize("name", OF_ROWS)
def test_of_rows(name, rng):
    checked = Checked(rng, OF_ROWS[name], [rng.normal(size=(3, 4))])
    checked.check()
    assert checked.compared


@pytest.mark.parametrize("name", OF_IMAGES)
def test_of_images(name, rng):
    checked = Checked(rng, OF_IMAGES[name], [rng.normal(size=(2, 2, 6, 6))])
    checked.check()
    assert checked.compared
