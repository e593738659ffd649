"""One program for all sizes has the derivatives of those for each of them."""

import numpy as np
import pytest
from conftest import assert_tree_close

import weir
import weir.numpy as wnp
from weir import nn


IMAGES = np.random.default_rng(5).normal(size=(1, 2, 6, 6))


def spd(x):
    return x @ x.T + wnp.eye(x.shape[0], dtype=np.float64)


# Functions of x [n, k] and y [n], n and k at least 2.
FUNCTIONS = {
    "elementwise": lambda x, y: wnp.sin(x) * y[:, None] + wnp.maximum(x, 0.2),
    "means": lambda x, y: wnp.mean(x, axis=0) * wnp.sum(y),
    "extremes": lambda x, y: wnp.max(x, axis=1) * wnp.min(y),
    "products": lambda x, y: wnp.prod(y) * x,
    "running": lambda x, y: wnp.cumsum(x, axis=0) * wnp.cumprod(y)[:, None],
    "running extremes": lambda x, y: weir.lax.cummax(x, axis=1),
    "slices": lambda x, y: x[1:] * y[:-1, None],
    "steps": lambda x, y: x[::2],
    "reversed": lambda x, y: x[::-1] * y[:, None],
    "places": lambda x, y: x[1] * y[-1],
    "pads": lambda x, y: wnp.pad(x, ((1, 2), (0, 1))),
    "joins": lambda x, y: wnp.concatenate([x, x * 2, y[:, None]], axis=1),
    "matmul": lambda x, y: x.T @ y,
    "outer": lambda x, y: wnp.outer(y, x.reshape(-1)),
    "sorts": lambda x, y: wnp.sort(x, axis=0) * wnp.sort(y)[:, None],
    "scatters": lambda x, y: wnp.zeros_like(y).at[wnp.argsort(y)].add(x[:, 0]),
    "sets": lambda x, y: x.at[0].set(y[0]).at[:, 1].multiply(y),
    "gathers": lambda x, y: wnp.take_along_axis(x, wnp.argsort(x, axis=1), axis=1),
    "softmax": lambda x, y: nn.softmax(x) * y[:, None],
    "norms": lambda x, y: nn.layer_norm(x) * wnp.linalg.norm(y),
    "cholesky": lambda x, y: wnp.linalg.cholesky(spd(x)),
    "solve": lambda x, y: wnp.linalg.solve(spd(x), y),
    "inverse": lambda x, y: wnp.linalg.inv(spd(x)),
    "eigenvalues": lambda x, y: wnp.linalg.eigvalsh(spd(x)),
    "singular values": lambda x, y: wnp.linalg.svdvals(x),
    "qr": lambda x, y: wnp.linalg.qr(spd(x))[1],
    "determinant": lambda x, y: wnp.linalg.slogdet(spd(x))[1],
    "fourier": lambda x, y: wnp.abs(wnp.fft.fft(y)),
    "vmap": lambda x, y: weir.vmap(lambda row, e: wnp.sum(row * row) * e)(x, y),
    "scan": lambda x, y: weir.scan(lambda c, e: (c * e + 1, c), 1.0, y)[1],
    "scan backwards": lambda x, y: weir.scan(
        lambda c, row: (wnp.tanh(c + row), c), wnp.zeros_like(x[0]), x, reverse=True
    )[0],
    "loop": lambda x, y: weir.fori_loop(0, y.shape[0], lambda i, z: z * y[i] + x[i, 0], y),
    "branch": lambda x, y: weir.cond(y[0] > 0, lambda: wnp.sum(x) * y, lambda: y * y),
    "meeting": lambda x, y: weir.vmap(lambda e: e * weir.psum(e * e))(y),
    "conv": lambda x, y: nn.conv(
        y[:, None, None, None] * IMAGES, y[:2] * np.ones((3, 2, 2, 2)), strides=2
    ),
    "sums of windows": lambda x, y: nn.avg_pool(y[:, None, None, None] * IMAGES, (2, 2)),
    "greatest of windows": lambda x, y: nn.max_pool(y[:, None, None, None] * IMAGES, (2, 2)),
}
# What needs the numbers of the sizes.
REFUSED = {
    "max_pool": lambda x: nn.max_pool(x[None, None], (2, 2)),
    "avg_pool": lambda x: nn.avg_pool(x[None, None], (2, 2)),
    "convolve": lambda x: wnp.convolve(x[0], x[0]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_open_sizes(name, rng):
    function = FUNCTIONS[name]

    def derivatives(x, y):
        def total(x, y):
            out = function(x, y)
            return wnp.sum(out * wnp.cos(out))

        change = weir.jvp(function, (x, y), (wnp.ones_like(x), y))[1]
        return weir.grad(total, (0, 1))(x, y), change

    opened = weir.jit(derivatives, shapes=("n+2, k+2", "n+2"))
    for n, k in ((2, 3), (5, 4)):
        x, y = rng.normal(size=(n, k)), rng.normal(size=n)
        assert_tree_close(opened(x, y), weir.jit(derivatives)(x, y), tol=1e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    function = REFUSED[name]
    gradient = weir.jit(weir.grad(lambda x: wnp.sum(function(x))), shapes="n+2, k+2")
    message = r"test_derivatives_of_open_sizes.py:\d+ has no derivative where .* of open size"
    with pytest.raises(weir.NotDifferentiable, match=message):
        gradient(np.ones((4, 4)))


def test_jacobians_of_open_sizes(rng):
    function = weir.jit(
        lambda x: (weir.jacrev(wnp.sin)(x), weir.hessian(lambda x: wnp.prod(x))(x)), shapes="n"
    )
    for n in (0, 1, 4):
        x = rng.normal(size=n)
        jacobian, hessian = function(x)
        np.testing.assert_allclose(jacobian, np.diag(np.cos(x)), atol=1e-12)
        others = [[np.prod(np.delete(x, [i, j])) * (i != j) for j in range(n)] for i in range(n)]
        np.testing.assert_allclose(hessian, np.reshape(others, (n, n)), atol=1e-12)
