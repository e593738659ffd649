"""Derivatives where elements are equal, are zero, or are masked: what JAX has there."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp
from weir import nn


def gradient(function, *args, argnums=0):
    return weir.grad(lambda *xs: wnp.sum(function(*xs)), argnums)(*map(np.array, args))


def check(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_equal_operands_share():
    for function in (wnp.maximum, wnp.minimum):
        by_x, by_y = gradient(function, [1.0, 2.0], [1.0, 2.0], argnums=(0, 1))
        check((by_x, by_y), np.full((2, 2), 0.5))


def test_equal_elements_of_a_reduction_share():
    x = [3.0, 1.0, 3.0, 3.0]
    check(gradient(wnp.max, x), np.array([1, 0, 1, 1]) / 3)
    check(gradient(wnp.min, [-v for v in x]), np.array([1, 0, 1, 1]) / 3)
    got = gradient(lambda x: weir.segment_max(x, np.zeros(4, int), 1), x)
    check(got, np.array([1, 0, 1, 1]) / 3)
    check(gradient(lambda x: wnp.zeros(1).at[0].max(x[0]), [0.0]), [0.5])


def test_corners_have_no_slope():
    check(gradient(wnp.abs, [-2.0, 0.0, 2.0]), [-1, 0, 1])
    check(gradient(nn.relu, [-2.0, 0.0, 2.0]), [0, 0, 1])
    check(gradient(lambda x: weir.lax.clamp(-1.0, x, 1.0), [-2.0, -1.0, 0.5, 1.0]), [0, 0, 1, 0])
    check(gradient(wnp.sign, [-2.0, 0.0]), [0, 0])


def test_bounds_of_a_clamp():
    low, x, high = [0.0, 0.0, 0.0, 2.0], [-1.0, 0.5, 3.0, 1.0], [1.0, 1.0, 1.0, 1.0]
    by_low, by_x, by_high = gradient(weir.lax.clamp, low, x, high, argnums=(0, 1, 2))
    check((by_low, by_x, by_high), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]])


@pytest.mark.parametrize("x", [[2.0, 3.0, 4.0], [2.0, 0.0, 4.0], [0.0, 3.0, 0.0]])
def test_products_with_zeros(x):
    others = [np.prod(np.delete(x, i)) for i in range(3)]
    check(gradient(wnp.prod, x), others)
    second = [[(i != j) * x[3 - i - j] if i != j else 0 for j in range(3)] for i in range(3)]
    check(weir.hessian(wnp.prod)(np.array(x)), second)
    running = gradient(lambda x: wnp.cumprod(x)[-1] + wnp.cumprod(x)[1], x)
    check(running, np.array(others) + [x[1], x[0], 0])
    check(gradient(lambda x: weir.lax.cumprod(x, reverse=True)[1], x), [0, x[2], x[1]])
    check(gradient(lambda x: weir.segment_prod(x, np.zeros(3, int), 1), x), others)
    check(weir.hessian(lambda x: weir.segment_prod(x, np.zeros(3, int), 1)[0])(np.array(x)), second)


def test_products_of_several_elements_with_zeros():
    """Updates of elements of their own, mixed, one of them dropped, against the written product."""
    ids = np.array([1, 0, 1, 2, 9, 0, 1])

    def scattered(x, y, ids):
        return wnp.sum(x.at[ids].multiply(y) * np.array([1.0, 2.0, 3.0]))

    def written(x, y, _):
        return x[0] * y[1] * y[5] + 2 * x[1] * y[0] * y[2] * y[6] + 3 * x[2] * y[3]

    x = np.array([0.5, 2.0, 0.0])
    for y in ([1.0, 2, 3, 4, 5, 6, 7], [0.0, 2, 0, 0, 5, 0, 7], [0.0, 0, 0, 4, 0, 0, 0]):
        at = (x, np.array(y), ids)
        gradients = weir.grad(scattered, (0, 1))(*at)
        for found, want in zip(gradients, weir.grad(written, (0, 1))(*at)):
            check(found, want)
        second = weir.hessian(scattered, (0, 1))(*at)
        for row, want_row in zip(second, weir.hessian(written, (0, 1))(*at)):
            for found, want in zip(row, want_row):
                check(found, want)
        third = weir.jacfwd(weir.hessian(scattered, 1), 1)(*at)
        check(third, weir.jacfwd(weir.hessian(written, 1), 1)(*at))


def test_the_last_of_several_updates_counts():
    ids = np.array([1, 1, 0, 9])

    @weir.jit
    def both(x, rows, ids):
        def f(x, rows):
            return wnp.sum(x.at[ids].set(rows) * np.arange(1.0, 4.0))

        return weir.grad(f, (0, 1))(x, rows)

    by_x, by_rows = both(np.zeros(3), np.ones(4), ids)
    check(by_x, [0, 0, 3])
    check(by_rows, [0, 2, 1, 0])


def test_indices_outside():
    def f(x, i):
        return wnp.sum(x[i] * 2)

    by_index = weir.jit(lambda x, i: weir.grad(lambda x: f(x, i))(x))
    check(by_index(np.zeros(3), np.array([7, 1])), [0, 2, 2])
    dropped = weir.jit(lambda v, i: weir.grad(lambda v: wnp.sum(wnp.zeros(3).at[i].add(v)))(v))
    check(dropped(np.ones(2), np.array([7, 1])), [0, 1])


def test_powers():
    check(gradient(lambda x: x**2, [0.0, 3.0]), [0, 6])
    check(gradient(lambda x: x**0, [0.0, 3.0]), [0, 0])
    check(gradient(lambda x: x**0.0, [0.0]), [0])
    check(gradient(lambda x: x**1.0, [0.0]), [1])
    check(gradient(lambda y: 0.0**y, [2.0]), [0])
    check(gradient(lambda y: 2.0**y, [3.0]), [8 * np.log(2)])


def test_masked_elements():
    check(gradient(wnp.logsumexp, [0.0, -np.inf]), [1, 0])
    check(gradient(lambda x: nn.softmax(x)[0], [1.0, -np.inf]), [0, 0])
    masked = gradient(lambda x: wnp.where(x > 0, wnp.sqrt(wnp.where(x > 0, x, 1)), 0), [4.0, -1.0])
    check(masked, [0.25, 0])
    kept = np.array([True, False, True])
    check(gradient(lambda x: nn.log_softmax(x, where=kept)[0], [0.0, 9.0, 0.0]), [0.5, 0, -0.5])


def test_losses_of_large_logits():
    check(gradient(nn.softplus, [-800.0, 0.0, 800.0]), [0, 0.5, 1])
    check(gradient(nn.sigmoid, [-800.0, 0.0, 800.0]), [0, 0.25, 0])
    one = gradient(lambda x: nn.softmax_cross_entropy(x, np.array([0.0, 1.0])), [1e4, 0.0])
    check(one, [1, -1])
    check(gradient(nn.log_sigmoid, [-800.0, 800.0]), [1, 0])


def test_windows_of_equal_elements_have_their_first_one():
    x = np.ones((1, 1, 2, 2))
    check(gradient(lambda x: nn.max_pool(x, (2, 2)), x)[0, 0], [[1, 0], [0, 0]])
    check(gradient(lambda x: weir.lax.cummax(x), [1.0, 1.0, 2.0]), [2, 0, 1])


def test_determinants():
    a = np.array([[2.0, 1.0], [0.5, 3.0]])
    check(weir.grad(wnp.linalg.det)(a), np.linalg.det(a) * np.linalg.inv(a).T)
    check(weir.grad(lambda a: wnp.linalg.slogdet(a)[1])(a), np.linalg.inv(a).T)
    # The cofactors, also where the determinant is 0.
    check(weir.grad(wnp.linalg.det)(np.array([[1.0, 2.0], [2.0, 4.0]])), [[4, -2], [-2, 1]])
    check(weir.grad(wnp.linalg.det)(np.zeros((2, 2))), np.zeros((2, 2)))
    several = np.stack([a, [[1.0, 2.0], [2.0, 4.0]]])
    by_each = weir.grad(lambda a: wnp.sum(wnp.linalg.det(a)))(several)
    check(by_each, [[[3, -0.5], [-1, 2]], [[4, -2], [-2, 1]]])
    second = weir.hessian(wnp.linalg.det)(a)
    check(second[0, 0], [[0, 0], [0, 1]])
    check(second[0, 1], [[0, 0], [-1, 0]])


def test_symmetric_matrices_have_symmetric_gradients():
    a = np.array([[2.0, 0.3], [0.3, 1.0]])
    by_cholesky = weir.grad(lambda a: 2 * wnp.sum(wnp.log(wnp.diag(wnp.linalg.cholesky(a)))))(a)
    check(by_cholesky, np.linalg.inv(a))
    by_eigh = weir.grad(lambda a: wnp.sum(wnp.log(wnp.linalg.eigh(a)[0])))(a)
    check(by_eigh, np.linalg.inv(a))
    # Equal eigenvalues have derivatives of their own, if not their vectors.
    check(weir.grad(lambda a: wnp.sum(wnp.linalg.eigvalsh(a) ** 2))(np.eye(2)), 2 * np.eye(2))
