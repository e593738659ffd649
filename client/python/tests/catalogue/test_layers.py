"""Convolutions, pools, normalizations, losses and shifts.

Origin: section 2.1, the NNTest of TensorFlow's control_flow_ops_test.py. Images are
[batch, channels, space...].
"""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from oracle import agree, integers, numbers, positive, variants

import weir
import weir.numpy as wnp
from weir import nn

IMAGES = numbers(3, 2, 3, 12, 12)
KERNELS = numbers(3, 7, 3, 3, 3, seed=8)


def _windows(x, window, strides):
    space = tuple(range(2, x.ndim))
    cut = tuple(slice(None, None, stride) for stride in strides)
    return sliding_window_view(x, window, axis=space)[(slice(None), slice(None), *cut)]


def _conv(x, kernel, stride, groups=1):
    """A convolution without padding."""
    windows = _windows(x, kernel.shape[2:], (stride, stride))
    parts = zip(np.split(windows, groups, axis=1), np.split(kernel, groups, axis=0))
    made = [np.einsum("nchwij,ocij->nohw", a, b) for a, b in parts]
    return np.concatenate(made, axis=1)


def _conv_to_input(grad, kernel, stride, groups=1):
    """The transpose of `_conv` with respect to its x, for grad [n, o, h, w]."""
    n, _, h, w = grad.shape
    spread = np.zeros((n, grad.shape[1], (h - 1) * stride + 1, (w - 1) * stride + 1), grad.dtype)
    spread[:, :, ::stride, ::stride] = grad
    around = [(size - 1, size - 1) for size in kernel.shape[2:]]
    padded = np.pad(spread, [(0, 0), (0, 0), *around])
    return _conv(padded, _turned(np, kernel, groups), 1, groups)


def _turned(xp, kernel, groups):
    """The kernel turned round, with its channels in and out swapped inside of each group."""
    o, c, h, w = kernel.shape
    swapped = xp.swapaxes(kernel.reshape(groups, o // groups, c, h, w), 1, 2)
    return xp.flip(swapped.reshape(groups * c, o // groups, h, w), (2, 3))


def _operands(vary, i, x, y):
    return {"left": (x[i], y[0]), "right": (x[0], y[i]), "both": (x[i], y[i])}[vary]


VARY = pytest.mark.parametrize("vary", ["left", "right", "both"])


@VARY
def test_conv2d(vary):
    def body(xp, i, x, k):
        conv = (lambda a, b: nn.conv(a, b, strides=2)) if xp is wnp else lambda a, b: _conv(a, b, 2)
        return conv(*_operands(vary, i, x, k))

    agree(body, IMAGES, KERNELS, of_largest=True)


@VARY
def test_conv2d_backprop_input(vary):
    def body(xp, i, grads, k):
        grad, kernel = _operands(vary, i, grads, k)
        if xp is np:
            return _conv_to_input(grad, kernel, 2)
        return nn.conv(grad, _turned(wnp, kernel, 1), padding=2, input_dilation=2)

    agree(body, numbers(3, 2, 7, 5, 5), KERNELS, of_largest=True)


@VARY
def test_conv2d_backprop_filter(vary):
    def body(xp, i, x, grads):
        image, grad = _operands(vary, i, x, grads)
        if xp is np:
            windows = _windows(image, (3, 3), (2, 2))[:, :, :5, :5]
            return np.einsum("nchwij,nohw->ocij", windows, grad)
        image, grad = (wnp.swapaxes(a, 0, 1) for a in (image[..., :11, :11], grad))
        return wnp.swapaxes(nn.conv(image, grad, dilation=2), 0, 1)

    agree(body, IMAGES, numbers(3, 2, 7, 5, 5, seed=8), of_largest=True)


@VARY
def test_depthwise_conv2d(vary):
    def body(xp, i, x, k):
        image, kernel = _operands(vary, i, x, k)
        return nn.conv(image, kernel, groups=3) if xp is wnp else _conv(image, kernel, 1, 3)

    agree(body, IMAGES, numbers(3, 6, 1, 3, 3), of_largest=True)


@VARY
def test_depthwise_conv2d_backprop_input(vary):
    def body(xp, i, grads, k):
        grad, kernel = _operands(vary, i, grads, k)
        if xp is np:
            return _conv_to_input(grad, kernel, 1, 3)
        return nn.conv(grad, _turned(wnp, kernel, 3), padding=2, groups=3)

    agree(body, numbers(3, 2, 6, 5, 5), numbers(3, 6, 1, 3, 3), of_largest=True)


@VARY
def test_depthwise_conv2d_backprop_filter(vary):
    attrs = {
        **{name: [1, 1] for name in ("window_strides", "lhs_dilation", "rhs_dilation")},
        **{name: [0, 0] for name in ("padding_low", "padding_high")},
        "feature_group_count": (1,),
        "batch_group_count": (3,),
    }

    def body(xp, i, x, grads):
        image, grad = _operands(vary, i, x, grads)
        if xp is np:
            grouped = grad.reshape(2, 3, 2, 10, 10)
            windows = _windows(image, (3, 3), (1, 1))
            return np.einsum("nghwij,ngmhw->gmij", windows, grouped).reshape(6, 1, 3, 3)
        image, grad = (wnp.swapaxes(a, 0, 1) for a in (image, grad))
        return wnp.swapaxes(weir.lax.convolution(image, grad, **attrs), 0, 1)

    agree(body, IMAGES, numbers(3, 2, 6, 10, 10), of_largest=True)


@pytest.mark.parametrize("axis", [0, 2, -1])
@pytest.mark.parametrize("shift", [1, -2, 0, 17])
def test_roll(shift, axis):
    agree(lambda xp, i, x: xp.roll(x[i], shift, axis), numbers(3, 4, 5, 6))


def test_roll_of_variant_shifts():
    def body(xp, i, x):
        return xp.roll(x[i], (i - 2, -1, i), (1, 2, 2))

    agree(body, numbers(3, 4, 5, 6))


@pytest.mark.parametrize("axis", [0, -1, None])
def test_roll_of_a_variant_shift(axis):
    agree(lambda xp, i, x: xp.roll(x[i], 3 * i - 4, axis), numbers(3, 4, 5, 6))


def test_ensure_shape():
    agree(lambda xp, i, x: xp.reshape(x[i], (2, 4)), numbers(3, 2, 4))
    x = numbers(3, 2, 4)
    with pytest.raises(ValueError, match=r"f32\[2,4\] .*test_layers.py:\d+ of 8 .* \(2, 3\)"):
        weir.pfor(lambda i: wnp.reshape(wnp.array(x)[i], (2, 3)), 3)


def _pooled(reduce, window, strides):
    def want(i, x):
        axes = tuple(range(-len(window), 0))
        return reduce(_windows(x[i], window, strides), axis=axes)

    return want


def test_avg_pool():
    want = _pooled(np.mean, (3, 3), (2, 2))
    agree(lambda xp, i, x: nn.avg_pool(x[i], 3, 2), IMAGES, want=want, of_largest=True)


def test_avg_pool3d():
    want = _pooled(np.mean, (2, 3, 3), (1, 2, 2))
    x = numbers(3, 2, 3, 4, 5, 5)
    agree(lambda xp, i, x: nn.avg_pool(x[i], (2, 3, 3), (1, 2, 2)), x, want=want, of_largest=True)


def test_max_pool():
    agree(lambda xp, i, x: nn.max_pool(x[i], 2), IMAGES, want=_pooled(np.max, (2, 2), (2, 2)))


def test_max_pool_v2():
    def want(i, x):
        padded = np.pad(x[i], [(0, 0), (0, 0), (0, 1), (0, 1)], constant_values=-np.inf)
        return _windows(padded, (3, 3), (2, 2)).max((-2, -1))

    agree(lambda xp, i, x: nn.max_pool(x[i], 3, 2, "SAME"), IMAGES, want=want)


def test_max_pool3d():
    want = _pooled(np.max, (2, 3, 3), (1, 2, 2))
    x = numbers(3, 2, 3, 4, 5, 5)
    agree(lambda xp, i, x: nn.max_pool(x[i], (2, 3, 3), (1, 2, 2)), x, want=want)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("training", [True, False])
def test_fused_batch_norm(training, channels_last):
    def body(xp, i, x, scale, bias, mean, var):
        image = xp.moveaxis(x[i], -1, 1) if channels_last else x[i]
        given = () if training else (mean[i], var[i])
        if xp is wnp:
            return nn.batch_norm(image, scale[i], bias[i], *given)
        mean, var = given or (image.mean((0, 2, 3)), image.var((0, 2, 3)))
        wide = (slice(None), None, None)
        normal = (image - mean[wide]) / np.sqrt(var[wide] + np.float32(1e-5))
        out = normal * scale[i][wide] + bias[i][wide]
        return (out, mean, var) if training else out

    shape = (3, 2, 5, 6, 4) if channels_last else (3, 2, 4, 5, 6)
    rows = [positive(3, 4, seed=seed) for seed in range(4)]
    agree(body, numbers(*shape), *rows, of_largest=True)


def _softmax(x, axis):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


AXES = pytest.mark.parametrize("axis", [-1, 0, 1])


@AXES
def test_log_softmax(axis):
    def want(i, x):
        return np.log(_softmax(x[i].astype(np.float64), axis)).astype(np.float32)

    agree(lambda xp, i, x: nn.log_softmax(x[i], axis), numbers(3, 4, 5), want=want)


@AXES
def test_softmax(axis):
    agree(
        lambda xp, i, x: nn.softmax(x[i], axis),
        numbers(3, 4, 5),
        want=lambda i, x: _softmax(x[i], axis),
    )


@pytest.mark.parametrize("vary", [name for name in variants(0, 0) if name != "same"])
def test_softmax_cross_entropy(vary):
    labels = _softmax(numbers(3, 3, 5, seed=9), -1)

    def body(xp, i, x, y):
        logits, labels = variants(x, y)[vary](i)
        if xp is wnp:
            return nn.softmax_cross_entropy(logits, labels)
        return -(np.log(_softmax(logits, -1)) * labels).sum(-1)

    agree(body, numbers(3, 3, 5), labels, of_largest=True)


@pytest.mark.parametrize("vary", ["left", "right", "both"])
def test_sparse_softmax_cross_entropy(vary):
    def body(xp, i, x, y):
        logits, labels = _operands(vary, i, x, y)
        if xp is wnp:
            return nn.softmax_cross_entropy_with_integer_labels(logits, labels)
        return -np.log(_softmax(logits, -1))[np.arange(4), labels]

    agree(body, numbers(3, 4, 5), integers(3, 4, low=0, high=5), of_largest=True)
