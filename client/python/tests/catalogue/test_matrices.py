"""Products, factorizations and solutions.

Origin: section 2.2, the tests of TensorFlow's math_test.py for products and linear algebra.
"""

import numpy as np
import pytest
from oracle import agree, numbers, variants

import weir
import weir.numpy as wnp

FLAGS = [False, True]
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])


def _swapped(xp, x, swap):
    return xp.swapaxes(x, -1, -2) if swap else x


def _product(shape_a, shape_b, swap_a, swap_b, stack_a, stack_b):
    """Tests the product of two operands, each as it is or transposed, varying or not."""

    def body(xp, i, a, b):
        a, b = a[i] if stack_a else a[0], b[i] if stack_b else b[0]
        return xp.matmul(_swapped(xp, a, swap_a), _swapped(xp, b, swap_b))

    a = _swapped(np, numbers(5, *shape_a), swap_a)
    b = _swapped(np, numbers(5, *shape_b, seed=8), swap_b)
    agree(body, np.ascontiguousarray(a), np.ascontiguousarray(b), n=5, of_largest=True)


def product_cases(test):
    """All sixteen ways to transpose and to vary two operands."""
    for name in ("stack_b", "stack_a", "swap_b", "swap_a"):
        test = pytest.mark.parametrize(name, FLAGS)(test)
    return test


@product_cases
def test_matmul(swap_a, swap_b, stack_a, stack_b):
    _product((3, 4), (4, 6), swap_a, swap_b, stack_a, stack_b)


@product_cases
def test_batch_matmul(swap_a, swap_b, stack_a, stack_b):
    _product((2, 3, 4), (2, 4, 6), swap_a, swap_b, stack_a, stack_b)


@product_cases
def test_batch_matmul_broadcast(swap_a, swap_b, stack_a, stack_b):
    _product((2, 1, 3, 4), (5, 4, 6), swap_a, swap_b, stack_a, stack_b)


@pytest.mark.parametrize("vary", variants(None, None))
@pytest.mark.parametrize(
    "subscripts, left, right",
    [
        ("ij,jk->ik", (4, 4), (4, 4)),
        ("ij,jk", (4, 4), (4, 4)),
        ("ba,bc->ac", (3, 4), (3, 4)),
        ("abc,cde->bade", (2, 3, 2), (2, 3, 2)),
        ("ii,ij->i", (4, 4), (4, 4)),
    ],
)
def test_einsum(subscripts, left, right, vary):
    def body(xp, i, x, y):
        a, b = variants(x, y)[vary](i)
        # An operand that does not vary is one of the rows.
        a = a[1] if a.ndim > len(left) else a
        b = b[1] if b.ndim > len(right) else b
        return xp.einsum(subscripts, a, b)

    agree(body, numbers(3, *left), numbers(3, *right, seed=8), of_largest=True)


def test_einsum_with_an_implicit_transpose():
    def body(xp, i, x):
        return xp.einsum("ba", x[i]), xp.einsum("b...a->a...b", x[i])

    agree(body, numbers(3, 2, 4))


def _definite(dtype, *batch):
    a = numbers(*batch, 4, 4, dtype=dtype)
    return a @ np.conj(np.swapaxes(a, -1, -2)) + 4 * np.eye(4, dtype=dtype)


def _regular(dtype, *batch):
    return numbers(*batch, 4, 4, dtype=dtype) + 6 * np.eye(4, dtype=dtype)


@DTYPES
def test_cholesky(dtype):
    agree(lambda xp, i, x: xp.linalg.cholesky(x[i]), _definite(dtype, 3, 2), of_largest=True)


@DTYPES
@pytest.mark.parametrize("batch", [(3, 4), (3,)])
def test_log_matrix_determinant(batch, dtype):
    x = _regular(dtype, *batch)
    agree(lambda xp, i, x: tuple(xp.linalg.slogdet(x[i])), x, of_largest=True)


@DTYPES
@pytest.mark.parametrize("adjoint", FLAGS)
def test_matrix_inverse(adjoint, dtype):
    def body(xp, i, x):
        return xp.linalg.inv(xp.conj(xp.swapaxes(x[i], -1, -2)) if adjoint else x[i])

    agree(body, _regular(dtype, 3, 2), of_largest=True)


SOLVE = pytest.mark.parametrize("vary", [name for name in variants(0, 0) if name != "same"])


def _equations(vary, i, a, b):
    """The matrix and the right-hand side, each of them a row of its table."""
    left, right = variants(a, b)[vary](i)
    return left[0] if left.ndim == 3 else left, right[0] if right.ndim == 3 else right


@DTYPES
@SOLVE
@pytest.mark.parametrize("adjoint", FLAGS)
def test_matrix_solve(adjoint, vary, dtype):
    def body(xp, i, a, b):
        a, b = _equations(vary, i, a, b)
        return xp.linalg.solve(xp.conj(xp.swapaxes(a, -1, -2)) if adjoint else a, b)

    agree(body, _regular(dtype, 3), numbers(3, 4, 2, dtype=dtype), of_largest=True)


@DTYPES
@SOLVE
@pytest.mark.parametrize("lower", FLAGS)
@pytest.mark.parametrize("adjoint", FLAGS)
def test_matrix_triangular_solve(adjoint, lower, vary, dtype):
    attrs = {
        "left_side": True,
        "lower": lower,
        "unit_diagonal": False,
        "transpose_a": "ADJOINT" if adjoint else "NO_TRANSPOSE",
    }

    def body(xp, i, a, b):
        a, b = _equations(vary, i, a, b)
        if xp is wnp:
            return weir.lax.triangular_solve(a, b, **attrs)
        triangle = np.tril(a) if lower else np.triu(a)
        return np.linalg.solve(np.conj(triangle.T) if adjoint else triangle, b)

    agree(body, _regular(dtype, 3), numbers(3, 4, 2, dtype=dtype), of_largest=True)


@DTYPES
def test_self_adjoint_eig(dtype):
    x = _definite(dtype, 3, 2)
    agree(lambda xp, i, x: xp.linalg.eigvalsh(x[i]), x, of_largest=True)

    def rebuilt(xp, i, x):
        values, vectors = xp.linalg.eigh(x[i])
        return vectors * values[..., None, :] @ xp.conj(xp.swapaxes(vectors, -1, -2))

    agree(rebuilt, x, want=lambda i, x: x[i], of_largest=True)
