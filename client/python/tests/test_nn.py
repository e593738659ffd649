"""weir.nn against formulas in NumPy."""

import math

import numpy as np
import pytest
from conftest import assert_tree_close

import weir
from weir import nn

_RNG = np.random.default_rng(6)
X = _RNG.normal(size=(4, 6)).astype(np.float32) * 3
ERF = np.vectorize(math.erf)


def sigmoid(x):
    return 1 / (1 + np.exp(-x.astype(np.float64)))


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "sigmoid": sigmoid,
    "log_sigmoid": lambda x: np.log(sigmoid(x)),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "silu": lambda x: x * sigmoid(x),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "soft_sign": lambda x: x / (1 + abs(x)),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "selu": lambda x: 1.05070098735548 * np.where(x > 0, x, 1.673263242354377 * np.expm1(x)),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "glu": lambda x: x[:, :3] * sigmoid(x[:, 3:]),
    "softmax": softmax,
    "log_softmax": lambda x: np.log(softmax(x)),
    "standardize": (
        lambda x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    ),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    assert_tree_close(getattr(nn, name)(X), ACTIVATIONS[name](X), tol=1e-4)


def test_exact_gelu():
    assert_tree_close(
        nn.gelu(X, approximate=False), X * 0.5 * (1 + ERF(X / math.sqrt(2))), tol=1e-4
    )


def test_masked_softmax():
    mask = X > 0
    mask[:, 0] = True
    powers = np.exp(X) * mask
    assert_tree_close(nn.softmax(X, where=mask), powers / powers.sum(-1, keepdims=True))


def test_one_hot():
    labels = np.array([0, 2, 5, -1])
    want = (labels[:, None] == np.arange(3)).astype(np.float32)
    assert_tree_close(nn.one_hot(labels, 3), want)
    assert_tree_close(nn.one_hot(labels, 3, axis=0), want.T)


def naive_conv(x, kernel, stride, pad, dilation, groups):
    x = np.pad(x, ((0, 0), (0, 0), pad, pad))
    (n, c, h, w), (o, _, kh, kw) = x.shape, kernel.shape
    rows = range(0, h - (kh - 1) * dilation, stride)
    columns = range(0, w - (kw - 1) * dilation, stride)
    out = np.zeros((n, o, len(rows), len(columns)))
    for k in range(o):
        first = k // (o // groups) * (c // groups)
        for i, a in enumerate(rows):
            for j, b in enumerate(columns):
                part = x[
                    :,
                    first : first + c // groups,
                    a : a + kh * dilation : dilation,
                    b : b + kw * dilation : dilation,
                ]
                out[:, k, i, j] = (part * kernel[k]).sum((1, 2, 3))
    return out


@pytest.mark.parametrize(
    "stride, pad, dilation, groups", [(1, (0, 0), 1, 1), (2, (1, 1), 1, 1), (1, (2, 1), 2, 2)]
)
def test_conv(stride, pad, dilation, groups):
    x = _RNG.normal(size=(2, 4, 7, 7)).astype(np.float32)
    kernel = _RNG.normal(size=(6, 4 // groups, 3, 3)).astype(np.float32)
    bias = np.arange(6, dtype=np.float32)
    got = nn.conv(
        x, kernel, bias, strides=stride, padding=[pad, pad], dilation=dilation, groups=groups
    )
    want = naive_conv(x, kernel, stride, pad, dilation, groups) + bias[:, None, None]
    assert_tree_close(got, want, tol=1e-4)


def test_conv_keeps_the_size_with_same_padding():
    x = np.ones((1, 1, 5, 7), np.float32)
    kernel = np.ones((1, 1, 3, 3), np.float32)
    got = nn.conv(x, kernel, padding="SAME")
    assert_tree_close(got, naive_conv(x, kernel, 1, (1, 1), 1, 1))


def test_pooling():
    x = _RNG.normal(size=(2, 3, 4, 6)).astype(np.float32)
    blocks = x.reshape(2, 3, 2, 2, 3, 2)
    assert_tree_close(nn.max_pool(x, 2), blocks.max((3, 5)))
    assert_tree_close(nn.min_pool(x, 2), blocks.min((3, 5)))
    assert_tree_close(nn.avg_pool(x, (2, 2)), blocks.mean((3, 5)))
    ones = np.ones((1, 1, 3, 3), np.float32)
    assert nn.avg_pool(ones, 2, 1, "SAME")[0, 0, 2, 2] == 0.25
    assert_tree_close(nn.avg_pool(ones, 2, 1, "SAME", count_include_pad=False), ones)


def test_normalization():
    x = _RNG.normal(size=(3, 4, 5)).astype(np.float32)
    scale, bias = np.arange(1, 5, dtype=np.float32), np.arange(4, dtype=np.float32)
    mean, var = x.mean((0, 2)), x.var((0, 2))

    def normal(m, v):
        return (x - m) / np.sqrt(v + 1e-5) * scale[:, None] + bias[:, None]

    batch = normal(mean[:, None], var[:, None])
    assert_tree_close(nn.batch_norm(x, scale, bias), (batch, mean, var), tol=1e-4)
    assert_tree_close(
        nn.batch_norm(x, scale, bias, bias, scale), normal(bias[:, None], scale[:, None]), tol=1e-4
    )
    groups = x.reshape(3, 2, 10)
    spread = [np.repeat(f(groups, -1), 2, 1)[..., None] for f in (np.mean, np.var)]
    assert_tree_close(nn.group_norm(x, 2, scale, bias), normal(*spread), tol=1e-4)
    each = normal(x.mean(-1, keepdims=True), x.var(-1, keepdims=True))
    assert_tree_close(nn.instance_norm(x, scale, bias), each, tol=1e-4)
    assert_tree_close(nn.layer_norm(x, scale[:, None], bias[:, None]), each, tol=1e-4)
    root = np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)
    assert_tree_close(nn.rms_norm(x, np.float32(2)), x / root * 2)


def test_losses():
    labels = np.array([0, 5, 2, 1])
    want = -np.log(softmax(X))[np.arange(4), labels]
    assert_tree_close(nn.softmax_cross_entropy_with_integer_labels(X, labels), want, tol=1e-4)
    assert_tree_close(
        nn.softmax_cross_entropy(X, np.eye(6, dtype=np.float32)[labels]), want, tol=1e-4
    )
    y = (X > 1).astype(np.float32)
    p = sigmoid(X)
    assert_tree_close(
        nn.sigmoid_binary_cross_entropy(X, y), -y * np.log(p) - (1 - y) * np.log1p(-p), tol=1e-4
    )
    assert_tree_close(nn.squared_error(X, y), (X - y) ** 2, tol=1e-4)
    e = abs(X - y)
    assert_tree_close(nn.huber_loss(X, y), np.where(e < 1, e**2 / 2, e - 0.5), tol=1e-4)
    q = softmax(X[::-1])
    assert_tree_close(
        nn.kl_divergence(np.log(softmax(X)), q), (q * np.log(q / softmax(X))).sum(-1), tol=1e-4
    )


def test_recurrent_cells():
    h, c, x = (_RNG.normal(size=(2, k)).astype(np.float32) for k in (3, 3, 5))
    w, u, b = (_RNG.normal(size=shape).astype(np.float32) for shape in ((5, 12), (3, 12), (12,)))
    i, f, g, o = np.split(x @ w + h @ u + b, 4, axis=1)
    new_c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    new_h = sigmoid(o) * np.tanh(new_c)
    assert_tree_close(nn.lstm_cell((h, c), x, w, u, b), ((new_h, new_c), new_h), tol=1e-4)
    xs, hs = np.split(x @ w[:, :9], 3, axis=1), np.split(h @ u[:, :9], 3, axis=1)
    r, z = sigmoid(xs[0] + hs[0]), sigmoid(xs[1] + hs[1])
    want = (1 - z) * np.tanh(xs[2] + r * hs[2]) + z * h
    assert_tree_close(nn.gru_cell(h, x, w[:, :9], u[:, :9]), (want, want), tol=1e-4)
    want = np.tanh(x @ w[:, :3] + h @ u[:, :3])
    assert_tree_close(nn.rnn_cell(h, x, w[:, :3], u[:, :3]), (want, want), tol=1e-4)


def test_a_cell_in_a_scan():
    sequence = _RNG.normal(size=(7, 2, 5)).astype(np.float32)
    w, u = np.full((5, 12), 0.1, np.float32), np.full((3, 12), 0.2, np.float32)
    state = (np.zeros((2, 3), np.float32),) * 2
    last, outputs = weir.scan(lambda s, x: nn.lstm_cell(s, x, w, u), state, sequence)
    for x in sequence:
        state, _ = nn.lstm_cell(state, x, w, u)
    assert_tree_close(last, state)
    assert_tree_close(outputs[-1], state[0])
