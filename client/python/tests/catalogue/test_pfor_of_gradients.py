"""Gradients and jacobians, of one example each, in pfor.

Origin: the gradient tests of sections 2.1 to 2.3, TensorFlow's control_flow_ops_test.py,
math_test.py and array_test.py, and the public reports of sections 4B to 4D about gradients.
"""

import numpy as np
import pytest
from conftest import assert_tree_close
from oracle import agree, assert_numbers, numbers, positive

import weir
import weir.numpy as wnp
from weir import nn

VARY = pytest.mark.parametrize("vary", ["neither", "left", "right", "both", "same"])
IMAGES = numbers(3, 1, 2, 6, 6)


def gradient(function, argnums=0):
    """The gradient of the sum of what a function returns, weighed so that all of it counts."""

    def total(*args):
        out = function(*args)
        return wnp.sum(out * wnp.cos(wnp.arange(out.size, dtype=out.dtype)).reshape(out.shape))

    return weir.grad(total, argnums)


def _pair(vary, x, y, i):
    """The ways in which two operands of one example vary."""
    k, j = i if vary in ("left", "both", "same") else 0, i if vary in ("right", "both") else 0
    return (x[k], x[k]) if vary == "same" else (x[k], y[j])


def weights_of(shape, dtype=np.float32):
    return np.cos(np.arange(int(np.prod(shape)), dtype=dtype)).reshape(shape)


def numeric(function, x, step=1e-6):
    """The same by differences, in double precision."""
    x = x.astype(np.float64)
    out = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        change = np.asarray(function(up)) - np.asarray(function(down))
        out[place] = np.sum(change * weights_of(change.shape, np.float64)) / (2 * step)
    return out


# --- 2.1: layers.


def test_per_example_gradient():
    """A dense layer with a penalty: 10 examples of 32 features."""
    w, b = numbers(32, 1, seed=8), numbers(1, seed=9)

    def loss(w, b, x):
        return wnp.sum((x @ w + b) ** 2) + 0.5 * wnp.sum(w * w)

    def body(xp, i, x, w, b):
        if xp is wnp:
            return weir.grad(loss, (0, 1))(w, b, x[i])
        out = 2 * (x[i] @ w + b)
        return np.outer(x[i], out) + w, out

    agree(body, numbers(10, 32), w, b, n=10, of_largest=True)


def _pool_gradient(x, window, share):
    """Of pools without overlap: what each window gets is shared out by `share`, from windows to
    parts of 1.
    """
    n, c, *space = x.shape
    size = window[0]
    split = [part for extent in space for part in (extent // size, size)]
    order = [0, 1, *range(2, 2 + 2 * len(space), 2), *range(3, 3 + 2 * len(space), 2)]
    windows = x.reshape(n, c, *split).transpose(order)
    outs = windows.shape[: 2 + len(space)]
    parts = share(windows.reshape(*outs, -1)) * weights_of(outs)[..., None]
    back = parts.reshape(windows.shape).transpose(np.argsort(order))
    return back.reshape(x.shape)


def _means(windows):
    return np.full(windows.shape, 1 / windows.shape[-1], np.float32)


def _greatest(windows):
    return np.eye(windows.shape[-1], dtype=np.float32)[windows.argmax(-1)]


@pytest.mark.parametrize("varies", [True, False])
def test_avg_pool_gradient(varies):
    def body(xp, i, x):
        image = x[i if varies else 0]
        if xp is wnp:
            return gradient(lambda x: nn.avg_pool(x, (2, 2)))(image)
        return _pool_gradient(image, (2, 2), _means)

    agree(body, IMAGES)


def test_avg_pool3d_gradient():
    def body(xp, i, x):
        if xp is wnp:
            return gradient(lambda x: nn.avg_pool(x, (2, 2, 2)))(x[i])
        return _pool_gradient(x[i], (2, 2, 2), _means)

    agree(body, numbers(3, 1, 2, 4, 4, 4))


@pytest.mark.parametrize("varies", [True, False])
def test_max_pool_gradient(varies):
    def body(xp, i, x):
        image = x[i if varies else 0]
        if xp is wnp:
            return gradient(lambda x: nn.max_pool(x, (2, 2)))(image)
        return _pool_gradient(image, (2, 2), _greatest)

    agree(body, IMAGES)


def test_max_pool_gradient_of_gradient():
    """Of the sum of the squares of the pool's gradient: 2 out where an element is the greatest."""

    def of_squares(x):
        return wnp.sum(nn.max_pool(x, (2, 2)) ** 3)

    def body(xp, i, x):
        if xp is wnp:
            return weir.grad(lambda x: wnp.sum(weir.grad(of_squares)(x)))(x[i])
        return 6 * x[i] * (_pool_gradient(x[i], (2, 2), _greatest) != 0)

    agree(body, IMAGES)


@pytest.mark.parametrize("is_training", [True, False])
def test_fused_batch_norm_gradient(is_training):
    scale, bias = positive(2), numbers(2, seed=9)
    mean, var = numbers(2, seed=10), positive(2, seed=11)

    def layer(x, scale, bias):
        known = {} if is_training else {"mean": mean, "var": var}
        out = nn.batch_norm(x, scale, bias, **known)
        return out[0] if isinstance(out, tuple) else out

    def body(xp, i, x):
        return gradient(layer, (0, 1, 2))(x[i], scale, bias)

    x = numbers(3, 4, 2, 3, 3)
    got = agree(body, x, want=False)
    layer = weir.jit(layer)
    one = x[1].astype(np.float64)
    scale, bias, mean, var = (v.astype(np.float64) for v in (scale, bias, mean, var))
    want = (
        numeric(lambda x: layer(x, scale, bias), one),
        numeric(lambda scale: layer(one, scale, bias), scale),
        numeric(lambda bias: layer(one, scale, bias), bias),
    )
    assert_tree_close(weir.tree.map(lambda leaf: leaf[1], got), want, tol=1e-4)


def test_softmax_cross_entropy_gradient():
    logits, labels = numbers(3, 5, 4), positive(3, 5, 4, seed=8)
    labels /= labels.sum(-1, keepdims=True)

    def body(xp, i, logits, labels):
        if xp is wnp:
            return weir.grad(lambda x: wnp.sum(nn.softmax_cross_entropy(x, labels[i])))(logits[i])
        e = np.exp(logits[i] - logits[i].max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) - labels[i]

    agree(body, logits, labels, of_largest=True)


# --- 2.1: lists, loops and calls.


def test_tensor_array_gradient():
    """Through a list that is taken apart and put together."""

    def body(xp, i, x):
        if xp is wnp:
            return weir.grad(
                lambda x: wnp.sum(weir.List.of(x).map(lambda row: row * row).stack() * x)
            )(x[i])
        return 3 * x[i] ** 2

    agree(body, numbers(3, 4, 2))


def test_while_jacobian():
    """Of x y y y y, where the loop multiplies."""
    y = numbers(3, 3, seed=8) / 2

    def power(x, y):
        return weir.fori_loop(0, 4, lambda i, x: x @ y, x)

    def body(xp, i, x, y):
        if xp is wnp:
            return weir.jacrev(power)(x[i], y)
        return np.linalg.matrix_power(y, 4).T

    agree(body, numbers(3, 3), y, of_largest=True)

    @weir.jit
    def forward(x, y):
        def powers(x):
            return weir.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] @ y), (0, x))[1]

        return weir.jacfwd(powers)(x)

    assert_tree_close(forward(numbers(3), y), np.linalg.matrix_power(y, 4).T)


def test_external_while_gradient():
    """A loop outside of the pfor, which walks it back once for each element."""
    x, y = numbers(4), positive(4, seed=8)

    def program(loop, x, y):
        out, pull = weir.vjp(lambda x: weir.fori_loop(0, 3, lambda i, x: x * x * y, x), x)
        return loop(lambda i: pull(wnp.eye(4, dtype=np.float32)[i])[0], 4)

    got = weir.jit(lambda x, y: program(weir.pfor, x, y))(x, y)
    assert np.array_equal(got, weir.jit(lambda x, y: program(weir.for_loop, x, y))(x, y))
    assert_tree_close(got, np.diag(8 * x**7 * y**7), tol=1e-4)


def test_tensor_array_while_gradient():
    """Through a list that a loop fills."""

    def product(x):
        def step(k, found):
            return found.push(found[k] * x[k])

        return weir.fori_loop(0, 3, step, weir.List.empty(4, x[0]).push(x[0])).stack()

    def body(xp, i, x):
        return gradient(product)(x[i])

    x = numbers(4, 3)
    got = agree(body, x, n=4, want=False)
    own = weir.jit(product)
    want = np.stack([numeric(own, row) for row in x])
    assert_tree_close(got, want, tol=1e-4)


def test_gradient_of_scan_in_vectorized_map():
    def f(x):
        return weir.scan(lambda c, row: (wnp.sin(c + row), c * row), wnp.zeros_like(x[0]), x)[1]

    x = numbers(3, 4, 2)
    got = weir.vmap(gradient(f), strict=True)(x)
    want = np.stack([numeric(weir.jit(f), each) for each in x])
    assert_tree_close(got, want, tol=1e-4)


def test_gradient_of_scan_over_a_captured_variable():
    """The sum of two equal elements that a scan takes: 2 for the variable's value."""
    variable = weir.Variable(np.float32(3))

    def f(value):
        return weir.scan(lambda c, _: (c + value, None), wnp.float32(0), length=2)[0]

    got = weir.pfor(lambda i: weir.grad(f)(variable.read()), 4, strict=True)
    assert got.tolist() == [2, 2, 2, 2]


def test_call_gradient():
    """Through a function of the program that calls another."""

    @weir.function
    def square(x):
        return x * x

    @weir.function
    def fourth(x):
        return square(square(x))

    def body(xp, i, x):
        if xp is wnp:
            return weir.grad(lambda x: wnp.sum(fourth(x)))(x[i])
        return 4 * x[i] ** 3

    agree(body, numbers(3, 4))


# --- 2.2: functions of one and two arrays.

_UNARY = {
    "abs": (np.sign, numbers),
    "arccosh": (lambda x: 1 / np.sqrt(x * x - 1), lambda *s: positive(*s) + 1),
    "arcsinh": (lambda x: 1 / np.sqrt(x * x + 1), numbers),
    "arctan": (lambda x: 1 / (1 + x * x), numbers),
    "arctanh": (lambda x: 1 / (1 - x * x), lambda *s: np.tanh(numbers(*s)) / 2),
    "arcsin": (lambda x: 1 / np.sqrt(1 - x * x), lambda *s: np.tanh(numbers(*s)) / 2),
    "arccos": (lambda x: -1 / np.sqrt(1 - x * x), lambda *s: np.tanh(numbers(*s)) / 2),
    "cos": (lambda x: -np.sin(x), numbers),
    "cosh": (np.sinh, numbers),
    "exp": (np.exp, numbers),
    "expm1": (np.exp, numbers),
    "log": (lambda x: 1 / x, positive),
    "log1p": (lambda x: 1 / (1 + x), positive),
    "negative": (lambda x: -np.ones_like(x), numbers),
    "reciprocal": (lambda x: -1 / (x * x), positive),
    "sin": (np.cos, numbers),
    "sinh": (np.cosh, numbers),
    "sqrt": (lambda x: 0.5 / np.sqrt(x), positive),
    "square": (lambda x: 2 * x, numbers),
    "tan": (lambda x: 1 + np.tan(x) ** 2, lambda *s: np.tanh(numbers(*s))),
    "tanh": (lambda x: 1 - np.tanh(x) ** 2, numbers),
}


@pytest.mark.parametrize("name", _UNARY)
def test_unary_gradient(name):
    slope, draw = _UNARY[name]
    x = draw(3, 4, 5)

    def body(xp, i, x):
        if xp is wnp:
            return gradient(getattr(wnp, name))(x[i])
        return slope(x[i]) * weights_of((4, 5))

    agree(body, x, of_largest=True)


_BINARY = {
    "add": (lambda x, y: (np.ones_like(x), np.ones_like(y))),
    "subtract": (lambda x, y: (np.ones_like(x), -np.ones_like(y))),
    "multiply": (lambda x, y: (y, x)),
    "divide": (lambda x, y: (1 / y, -x / (y * y))),
    "power": (lambda x, y: (y * x ** (y - 1), x**y * np.log(x))),
    "arctan2": (lambda x, y: (y / (x * x + y * y), -x / (x * x + y * y))),
    "maximum": (lambda x, y: ((x > y) + (x == y) / 2, (x < y) + (x == y) / 2)),
    "minimum": (lambda x, y: ((x < y) + (x == y) / 2, (x > y) + (x == y) / 2)),
    "hypot": (lambda x, y: (x / np.hypot(x, y), y / np.hypot(x, y))),
}


@VARY
@pytest.mark.parametrize("name", _BINARY)
def test_binary_gradient(name, vary):
    def body(xp, i, x, y):
        a, b = _pair(vary, x, y, i)
        if xp is wnp:
            return gradient(getattr(wnp, name), (0, 1))(a, b)
        return tuple((s * weights_of(s.shape)).astype(np.float32) for s in _BINARY[name](a, b))

    agree(body, positive(3, 4, 5), positive(3, 4, 5, seed=8), of_largest=True)


@VARY
def test_bias_add_gradient(vary):
    images, biases = numbers(3, 2, 4, 5), numbers(3, 4, seed=8)

    def body(xp, i, x, b):
        image, bias = _pair("both" if vary == "same" else vary, x, b, i)
        if xp is wnp:
            return gradient(lambda image, bias: image + bias[:, None], (0, 1))(image, bias)
        weights = weights_of((2, 4, 5))
        return weights, weights.sum((0, 2))

    agree(body, images, biases, of_largest=True)


@pytest.mark.parametrize("kind", ["sum", "mean"])
def test_sparse_segment_gradient(kind):
    """Rows of a table, chosen and added up by segment."""
    places = np.array([[0, 3, 3, 1], [2, 2, 0, 1], [3, 1, 1, 0]])
    ids = np.array([0, 0, 2, 2])
    reduce = weir.segment_sum if kind == "sum" else weir.segment_mean
    share = 1 if kind == "sum" else 2

    def body(xp, i, x, places):
        if xp is wnp:
            chosen = places[i]
            return gradient(lambda x: wnp.nan_to_num(reduce(x[chosen], ids, 3)))(x[i])
        out = np.zeros_like(x[i])
        np.add.at(out, places[i], weights_of((3, 2))[ids] / np.float32(share))
        return out

    agree(body, numbers(3, 4, 2), places, of_largest=True)


# --- 2.3: movements.


def test_identity_gradient():
    """Of the identity, and of what stops gradients."""

    def body(xp, i, x):
        if xp is wnp:
            plain = gradient(wnp.positive)(x[i])
            return plain, gradient(lambda x: weir.stop_gradient(x) + x)(x[i])
        return weights_of((3, 5)), weights_of((3, 5))

    agree(body, numbers(3, 3, 5))


@pytest.mark.parametrize(
    "index", [np.s_[1:3, ::2], np.s_[::-1, 1], np.s_[..., None, 2], np.s_[-2:, 3:0:-2], np.s_[2]]
)
def test_strided_slice_gradient(index):
    def body(xp, i, x):
        if xp is wnp:
            return gradient(lambda x: x[index])(x[i])
        out = np.zeros_like(x[i])
        out[index] = weights_of(out[index].shape)
        return out

    agree(body, numbers(3, 4, 5))


# --- 4: public reports.


def test_b27_jacobian_of_a_branch():
    """The jacobian of a gradient through a branch by the example's own number: 2, or 6 x."""

    def f(x):
        return wnp.sum(weir.cond(wnp.sum(x) > 0, lambda: x**2, lambda: x**3))

    def body(xp, i, x):
        if xp is wnp:
            return weir.jacrev(weir.grad(f))(x[i]), weir.hessian(f)(x[i])
        want = np.diag(np.float32(2) * np.ones(1, np.float32) if x[i, 0] > 0 else 6 * x[i])
        return want, want

    agree(body, np.array([[0.5], [-0.5], [2.0]], np.float32))


def test_b29_jacobian_of_a_recurrent_layer_with_variables():
    w_input = weir.Variable(numbers(2, 12, seed=8), "w_input")
    w_hidden = weir.Variable(numbers(3, 12, seed=9), "w_hidden")
    zeros = np.zeros(3, np.float32)

    def layer(xs):
        def step(state, x):
            state = nn.lstm_cell(state, x, w_input.read(), w_hidden.read())
            state = state[0] if isinstance(state[0], tuple) else state
            return state, None

        return weir.scan(step, (zeros, zeros), xs)[0][0]

    def body(xp, i, xs):
        return weir.jacrev(layer)(xs[i])

    xs = numbers(3, 4, 2)
    got = agree(body, xs, want=False)
    assert got.shape == (3, 3, 4, 2)
    assert_numbers(got, weir.vmap(weir.jacfwd(layer))(xs), of_largest=True)


def test_b31_residuals_of_the_branch_that_ran():
    """One branch is dear and seldom runs: its backward half runs for its own examples only."""
    w = numbers(64, 64, seed=8) / 8

    def f(x):
        def dear():
            y = x
            for _ in range(4):
                y = wnp.sin(w @ y)
            return y

        return wnp.sum(weir.cond(x[0] > 2, dear, lambda: x))

    x = numbers(100, 64).clip(-1, 1)
    x[7, 0] = 3

    @weir.jit
    def gradients(x):
        return weir.vmap(weir.grad(f))(x)

    explanation = weir.explain(gradients, x)
    assert not explanation.fallbacks
    # Four layers of one example, forward and once more on the way back; nothing for the others.
    assert explanation.counters["elements"]["sin"] <= 2 * 4 * 64
    others = np.delete(gradients(x), 7, axis=0)
    assert np.array_equal(others, np.ones((99, 64), np.float32))


def test_c35_gradient_of_one_example():
    """Of a batch of one, and of none: shapes as for two."""

    def log_density(state):
        return -0.5 * wnp.sum(state * state)

    for n in (0, 1, 2):
        state = numbers(2, 1)[:n]
        got = weir.vmap(weir.grad(log_density), strict=True)(state)
        assert got.shape == (n, 1)
        assert np.array_equal(got, -state)
        total = weir.grad(lambda s: wnp.sum(weir.vmap(log_density)(s)))(state)
        assert np.array_equal(total, -state)


def test_d57_gradient_of_an_unused_parameter():
    """Zeros for each example, not an error."""
    params = {"used": numbers(3), "unused": numbers(2, 2)}

    def loss(params, x):
        return wnp.sum(params["used"] * x)

    x = numbers(5, 3)
    got = weir.vmap(weir.grad(loss), in_axes=(None, 0), strict=True)(params, x)
    assert_numbers(got, {"used": x, "unused": np.zeros((5, 2, 2), np.float32)})
