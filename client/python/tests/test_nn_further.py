"""Attention, further layers, activations and losses of weir.nn against formulas in NumPy."""

import itertools
import math

import numpy as np
import pytest
from conftest import assert_same_bits, assert_tree_close

import weir
from weir import nn

_RNG = np.random.default_rng(8)
X = (_RNG.normal(size=(4, 6)) * 2).astype(np.float32)
Y = _RNG.normal(size=(4, 6)).astype(np.float32)


def _softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


ELEMENTWISE = {
    "identity": lambda x: x,
    "tanh": np.tanh,
    "hard_silu": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hard_swish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "squareplus": lambda x: (x + np.sqrt(x * x + 4)) / 2,
    "sparse_plus": lambda x: np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4)),
    "sparse_sigmoid": lambda x: np.clip((x + 1) / 2, 0, 1),
    "softmin": lambda x: np.exp(-x) / np.exp(-x).sum(-1, keepdims=True),
    "hard_shrink": lambda x: np.where(np.abs(x) > 0.5, x, 0),
    "soft_shrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0),
    "tanh_shrink": lambda x: x - np.tanh(x),
    "l2_normalize": lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True)),
}
LOSSES = {
    "absolute_error": lambda p, t: np.abs(p - t),
    "log_cosh": lambda p, t: np.log(np.cosh(p - t)),
    "hinge_loss": lambda p, t: np.maximum(0, 1 - p * t),
    "poisson_loss": lambda p, t: np.exp(p) - t * p,
    "prelu": lambda x, a: np.where(x > 0, x, a * x),
    "cosine_similarity": lambda a, b: (a * b).sum(-1)
    / np.sqrt((a * a).sum(-1) * (b * b).sum(-1)),
    "sigmoid_focal_loss": lambda x, t: (_softplus(x) - t * x)
    * (1 - (t + (1 - 2 * t) / (1 + np.exp(x)))) ** 2,
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_activations(name):
    function, want = getattr(nn, name), ELEMENTWISE[name](X.astype(np.float64))
    assert_tree_close(function(X), want, tol=1e-5)
    assert_tree_close(weir.vmap(function, strict=True)(X), want, tol=1e-5)
    assert function(X.astype(np.float16)).dtype == np.float16


@pytest.mark.parametrize("name", LOSSES)
def test_pairs(name):
    labels = (Y > 0).astype(np.float32) if name == "sigmoid_focal_loss" else Y
    function, want = getattr(nn, name), LOSSES[name](X.astype(np.float64), labels)
    assert_tree_close(function(X, labels), want, tol=1e-5)
    assert_tree_close(weir.vmap(function, strict=True)(X, labels), want, tol=1e-5)


def test_others_of_one_line():
    assert_same_bits(nn.threshold(X, 0.5, 7), np.where(X > 0.5, X, np.float32(7)))
    x = np.float32([1e-6, 0.1, 0.69, 0.7, 5, 50])
    wide = x.astype(np.float64)
    want = np.where(x < 1, np.log(-np.expm1(-wide)), np.log1p(-np.exp(-wide)))
    np.testing.assert_allclose(nn.log1mexp(x), want, rtol=1e-6)
    want = np.log(np.exp(X.astype(np.float64)).mean(1))
    assert_tree_close(nn.logmeanexp(X, axis=1), want, tol=1e-6)
    kept = X > 0
    want = np.log((np.exp(X) * kept).sum() / kept.sum())
    assert_tree_close(nn.logmeanexp(X, where=kept), want, tol=1e-6)
    assert nn.logmeanexp(np.float32([1e4, 1e4])) == 1e4
    assert nn.log_cosh(np.float32(1e4), np.float32(0)) == np.float32(1e4 - math.log(2))
    labels = np.eye(3, dtype=np.float32)
    assert_tree_close(nn.smooth_labels(labels, 0.1), labels * 0.9 + 0.1 / 3)
    weighed = nn.sigmoid_focal_loss(X, (Y > 0).astype("f"), alpha=0.25)
    plain = nn.sigmoid_focal_loss(X, (Y > 0).astype("f"))
    assert_tree_close(weighed, plain * np.where(Y > 0, 0.25, 0.75))
    assert_tree_close(nn.linear(X, Y.T, Y[0, :4]), X @ Y.T + Y[0, :4])


# --- Attention.


def _attention(q, k, v, seen, bias=0, scale=None):
    """Returns: [b, t, n, h] by loops over batches and heads; `seen` is [b, n, t, s]."""
    out = np.zeros(q.shape[:3] + v.shape[3:])
    for b, n in itertools.product(range(q.shape[0]), range(q.shape[2])):
        group = n // (q.shape[2] // k.shape[2])
        scores = q[b, :, n].astype(np.float64) @ k[b, :, group].T
        scores = scores * (q.shape[3] ** -0.5 if scale is None else scale)
        scores = scores + np.broadcast_to(bias, seen.shape)[b, n]
        scores = np.where(seen[b, n], scores, -1e30)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        out[b, :, n] = powers / powers.sum(-1, keepdims=True) @ v[b, :, group]
    return out


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_attention(groups):
    q = _RNG.normal(size=(2, 5, 4, 3)).astype(np.float32)
    k, v = _RNG.normal(size=(2, 2, 7, groups, 3)).astype(np.float32)
    rows, columns = np.arange(5)[:, None], np.arange(7)
    bias = _RNG.normal(size=(4, 5, 7)).astype(np.float32)
    mask = _RNG.random((2, 1, 5, 7)) < 0.7
    mask[..., 0] = True
    lengths = np.int32([7, 3])
    cases = [
        ({}, np.True_),
        ({"bias": bias, "scale": 0.3}, np.True_),
        ({"mask": mask}, mask),
        ({"is_causal": True}, rows >= columns),
        ({"local_window_size": 1}, np.abs(rows - columns) <= 1),
        ({"local_window_size": (2, 0)}, (columns >= rows - 2) & (columns <= rows)),
        ({"key_value_seq_lengths": lengths}, columns < lengths[:, None, None, None]),
    ]
    for kwargs, seen in cases:
        seen = np.broadcast_to(seen, (2, 4, 5, 7))
        want = _attention(q, k, v, seen, kwargs.get("bias", 0), kwargs.get("scale"))
        assert_tree_close(nn.dot_product_attention(q, k, v, **kwargs), want, tol=1e-5)
    got = nn.dot_product_attention(q, k, v, query_seq_lengths=np.int32([2, 5]))
    assert not got[0, 2:].any() and got[1].all()
    want = nn.dot_product_attention(q, k, v, is_causal=True)
    each = weir.vmap(lambda *x: nn.dot_product_attention(*x, is_causal=True), strict=True)
    assert_tree_close(each(q, k, v), want, tol=1e-6)
    half = nn.dot_product_attention(*(x.astype(np.float16) for x in (q, k, v)))
    assert half.dtype == np.float16
    nothing = nn.dot_product_attention(q, k, v, mask=np.zeros((5, 7), bool))
    assert np.isfinite(nothing).all()
    with pytest.raises(ValueError, match="whose groups divide the heads"):
        nn.dot_product_attention(q[:, :, :3], np.tile(k, (1, 1, 4, 1))[:, :, :2], v[:, :, :2])


# --- Layers.


def _scattered(x, kernel, strides, dilation, groups):
    """Returns: the transposed convolution over two axes, element by element."""
    n, c, h, w = x.shape
    per_group, size = kernel.shape[1], kernel.shape[2:]
    extents = [(e - 1) * s + (k - 1) * d + 1 for e, s, k, d in zip((h, w), strides, size, dilation)]
    out = np.zeros((n, groups * per_group, *extents))
    for i, j, channel, a, b in itertools.product(
        range(h), range(w), range(c), range(size[0]), range(size[1])
    ):
        first = channel // (c // groups) * per_group
        row, column = i * strides[0] + a * dilation[0], j * strides[1] + b * dilation[1]
        part = x[:, channel, i, j, None] * kernel[channel, :, a, b]
        out[:, first : first + per_group, row, column] += part
    return out


@pytest.mark.parametrize(
    "strides, dilation, groups", [((1, 1), 1, 1), ((2, 3), 2, 2), ((3, 1), (1, 2), 4)]
)
def test_transposed_convolution(strides, dilation, groups):
    x = _RNG.normal(size=(2, 4, 3, 4)).astype(np.float32)
    kernel = _RNG.normal(size=(4, 2, 3, 2)).astype(np.float32)
    spread = (dilation, dilation) if isinstance(dilation, int) else dilation
    want = _scattered(x, kernel, strides, spread, groups)
    options = {"strides": strides, "dilation": dilation, "groups": groups}
    assert_tree_close(nn.conv_transpose(x, kernel, **options), want, tol=1e-5)
    cut = nn.conv_transpose(x, kernel, padding=(1, (0, 1)), **options)
    assert_tree_close(cut, want[:, :, 1:-1, :-1], tol=1e-5)
    wide = nn.conv_transpose(x, kernel, output_padding=1, **options)
    assert_tree_close(wide[:, :, :-1, :-1], want, tol=1e-5)
    bias = np.arange(2 * groups, dtype=np.float32)
    got = weir.vmap(lambda k: nn.conv_transpose(x, k, bias, **options), strict=True)(kernel[None])
    assert_tree_close(got[0], want + bias[:, None, None], tol=1e-5)


def test_embedding():
    places = np.array([[0, 3], [2, 2]])
    want = X[places]
    assert_same_bits(nn.embedding(places, X), want)
    want[1] = 0
    got = weir.vmap(lambda i: nn.embedding(i, X, padding_index=2), strict=True)(places)
    assert_same_bits(got, want)
    with pytest.raises(TypeError, match="embedding takes integers"):
        nn.embedding(X, X)


def test_dropout():
    x = np.ones((200, 50), np.float32)
    got = nn.dropout(x, 0.25, seed=3)
    assert set(np.unique(got).tolist()) == {0.0, np.float32(1 / 0.75).item()}
    assert abs((got == 0).mean() - 0.25) < 0.02
    together = nn.dropout(x, 0.5, seed=3, axis=0)
    assert (together == together[:, :1]).all() and 0 < (together == 0).mean() < 1
    assert_same_bits(nn.dropout(x, 0.5, seed=1, deterministic=True), x)
    rows = weir.vmap(lambda row: nn.dropout(row, 0.5, seed=1), strict=True)(x)
    assert not (rows[0] == rows[1]).all()
    traced = weir.jit(lambda x, rate: nn.dropout(x, rate, seed=3))(x, np.float32(0.25))
    assert_same_bits(traced, got)
    with pytest.raises(ValueError, match="found 1"):
        nn.dropout(x, 1, seed=0)


def test_pixels():
    x = _RNG.normal(size=(2, 12, 3, 4)).astype(np.float32)
    want = x.reshape(2, 3, 2, 2, 3, 4).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 6, 8)
    assert_same_bits(nn.pixel_shuffle(x, 2), want)
    assert_same_bits(nn.pixel_unshuffle(want, 2), x)
    assert_same_bits(nn.upsample(x, (2, 1)), x.repeat(2, 2))
    assert_tree_close(nn.global_avg_pool(x), x.mean((2, 3)))
    assert_same_bits(nn.global_max_pool(x, keepdims=True), x.max((2, 3), keepdims=True))
    with pytest.raises(ValueError, match="do not split into 5"):
        nn.pixel_shuffle(x, 5)
