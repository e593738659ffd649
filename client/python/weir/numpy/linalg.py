"""numpy.linalg: factorizations, solutions and what follows from them.

All functions take matrices as the last two axes, [..., m, n], of f32, f64, c64 or c128; other
numbers become f32. Singular matrices make inf or NaN, not errors.
"""

import functools
import math

import numpy as np

from weir import branches, core, dims, dtypes, location
from weir.eager import operation
from weir.numpy import elementwise, matrices, ordering, products, reductions, shaping
from weir.numpy.creation import eye

__all__ = (
    "cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_power matrix_rank multi_dot norm"
    " pinv qr slogdet solve solve_triangular svd svdvals"
    " cross diagonal expm matmul matrix_norm matrix_transpose outer tensordot tensorinv tensorsolve"
    " trace vecdot vector_norm"
).split()


def _matrices(x, what):
    array = core.promote_inexact(core.as_array(x))[0]
    if array.ndim < 2:
        raise ValueError(f"{what} needs a matrix, found {array.describe()} ({location.text()})")
    return array


def _squares(x, what):
    array = _matrices(x, what)
    if not dims.same(array.shape[-1], array.shape[-2]):
        raise dims.unequal(
            *array.shape[-2:], f"{what} needs a square matrix, found {array.describe()}"
        )
    return array


def _adjoint(x):
    axes = list(range(x.ndim))
    axes[-1], axes[-2] = axes[-2], axes[-1]
    return elementwise.conj(core.transpose(x, axes))


def _eps(x):
    return float(np.finfo(dtypes.to_numpy(x.dtype_name)).eps)


def _exceeding(s, relative):
    """Returns: which singular values are larger than `relative` times the largest."""
    greatest = reductions.max(s, axis=-1, keepdims=True, initial=0)
    return core.compare("greater", s, greatest * relative)


def _rounding(array, s, factor=1):
    """Returns: the rounding error of an element, times the greater side of the matrix."""
    greater = dims.larger(array.shape[-2], array.shape[-1])
    if dims.known(greater):
        return factor * greater * _eps(s)
    return core.scalar(greater, s.dtype_name) * (factor * _eps(s))


def _lu(x):
    """Returns: both triangles in one matrix, the pivots, the permutation of rows."""
    return core.apply_all("lu", [x])


@operation
def cholesky(x, upper=False):
    """Returns: the triangle L with x = L L^H, or with `upper` L^H."""
    return core.apply("cholesky", [_squares(x, "cholesky")], {"lower": not upper})


@operation
def qr(x, mode="reduced"):
    """Returns: (q, r) with x = q r and the diagonal of r not negative; with mode 'r' only r."""
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"mode must be 'reduced', 'complete' or 'r', found {mode!r}")
    q, r = core.apply_all("qr", [_matrices(x, "qr")], {"full_matrices": mode == "complete"})
    return r if mode == "r" else (q, r)


@operation
def eigh(x):
    """Returns: (ascending eigenvalues, eigenvectors as columns) of a Hermitian matrix, of which the
    lower triangle is read.
    """
    return tuple(core.apply_all("eigh", [_squares(x, "eigh")]))


@operation
def eigvalsh(x):
    """Returns: the ascending eigenvalues of a Hermitian matrix."""
    return eigh(x)[0]


@operation
def eig(x):
    """Returns: (complex eigenvalues, by real then imaginary part; eigenvectors as columns)."""
    return tuple(core.apply_all("eig", [_squares(x, "eig")]))


@operation
def eigvals(x):
    """Returns: the complex eigenvalues, by real then imaginary part."""
    return eig(x)[0]


@operation
def svd(x, full_matrices=True, compute_uv=True):
    """Returns: (u, descending singular values s, vh) with x = u diag(s) vh, or s alone."""
    attrs = {"full_matrices": full_matrices and compute_uv, "compute_uv": compute_uv}
    found = core.apply_all("svd", [_matrices(x, "svd")], attrs)
    return (found[1], found[0], found[2]) if compute_uv else found[0]


@operation
def svdvals(x):
    """Returns: the descending singular values."""
    return svd(x, compute_uv=False)


def _check_sides(what, a, b):
    if not dims.same(b.shape[-2], a.shape[-1]):
        raise dims.unequal(
            b.shape[-2],
            a.shape[-1],
            f"{what}: the right-hand side {b.describe()} has another size than the matrix"
            f" {a.describe()}",
        )


@operation
def solve(a, b):
    """Returns: x with a x = b, for b of one right-hand side [m] or several [..., m, k]."""
    a, b = core.promote_inexact(core.as_array(a), core.as_array(b))
    a = _squares(a, "solve")
    is_vector = b.ndim == 1
    if is_vector:
        b = core.expand_dims(b, [1])
    _check_sides("solve", a, b)
    lead = core.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    b = core.broadcast_to(b, (*lead, *b.shape[-2:]))
    factors, _, order = _lu(a)
    factors = core.broadcast_to(factors, (*lead, *a.shape[-2:]))
    order = core.broadcast_to(order, (*lead, order.shape[-1]))
    rows = core.broadcast_to(core.expand_dims(order, [order.ndim]), b.shape)
    x = ordering.take_along_axis(b, rows, axis=-2)
    for lower in (True, False):
        attrs = {"left_side": True, "lower": lower, "unit_diagonal": lower}
        x = core.apply("triangular_solve", [factors, x], {**attrs, "transpose_a": "NO_TRANSPOSE"})
    return core.reshape(x, x.shape[:-1]) if is_vector else x


@operation
def solve_triangular(a, b, lower=False, trans=0):
    """Returns: x with a x = b, where one triangle of a is read.

    Args:
      a: [..., m, m].
      b: one right-hand side [m] or several [..., m, k].
      lower: which triangle of a.
      trans: 0 for a x = b, 1 for a^T x = b, 2 for a^H x = b.
    """
    a, b = core.promote_inexact(core.as_array(a), core.as_array(b))
    a = _squares(a, "solve_triangular")
    if trans not in (0, 1, 2):
        raise ValueError(f"trans must be 0, 1 or 2, found {trans!r} ({location.text()})")
    is_vector = b.ndim == 1
    if is_vector:
        b = core.expand_dims(b, [1])
    _check_sides("solve_triangular", a, b)
    lead = core.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    operands = [core.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, b)]
    attrs = {
        "left_side": True,
        "lower": bool(lower),
        "unit_diagonal": False,
        "transpose_a": ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")[trans],
    }
    x = core.apply("triangular_solve", operands, attrs)
    return core.reshape(x, x.shape[:-1]) if is_vector else x


@operation
def inv(x):
    """Returns: the inverse of each square matrix."""
    array = _squares(x, "inv")
    one = eye(array.shape[-1], dtype=dtypes.to_numpy(array.dtype_name))
    return solve(array, core.broadcast_to(core.as_array(one), array.shape))


def _signed_diagonal(array):
    """Returns: the diagonal of U, and +1 or -1 for the permutation, of x = P L U."""
    factors, pivots, _ = _lu(array)
    places = core.iota(pivots.shape, pivots.ndim - 1, pivots.dtype_name)
    swaps = reductions.sum(core.cast(core.compare("not_equal", pivots, places), "i32"), axis=-1)
    odd = core.elementwise("remainder", swaps, 2)
    sign = core.elementwise("subtract", 1, core.elementwise("multiply", odd, 2))
    return matrices.diagonal(factors, axis1=-2, axis2=-1), core.cast(sign, array.dtype_name)


@operation
def det(x):
    """Returns: the determinant of each square matrix."""
    from weir.autodiff import custom_jvp  # which is made of this

    function = custom_jvp(_det)
    function.defjvp(_det_jvp)
    return function(_squares(x, "det"))


def _det(array):
    diagonal, sign = _signed_diagonal(array)
    return core.elementwise("multiply", reductions.prod(diagonal, axis=-1), sign)


def _det_jvp(primals, tangents):
    """By the cofactors, which singular matrices have too."""
    (array,), (tangent,) = primals, tangents
    found = det(array)
    is_singular = reductions.any(core.compare("equal", found, 0))
    adjugate = branches.cond(is_singular, _adjugate, _adjugate_of_regular, array)
    along = core.elementwise("multiply", adjugate, shaping.swapaxes(tangent, -1, -2))
    return found, reductions.sum(along, axis=(-2, -1))


def _adjugate_of_regular(array):
    return det(array)[..., None, None] * inv(array)


def _adjugate(array):
    """The transposed matrix of cofactors, by that of the singular values."""
    u, s, vh = svd(array)
    axis = s.ndim - 1
    before, behind = (
        core.apply("cumprod", [s], {"axis": axis, "reverse": reverse, "exclusive": True})
        for reverse in (False, True)
    )
    others = core.cast(before * behind, array.dtype_name)
    sign = det(u) * det(vh)
    scaled = _adjoint(vh) * core.expand_dims(others, [others.ndim - 1])
    return sign[..., None, None] * products.matmul(scaled, _adjoint(u))


@operation
def slogdet(x):
    """Returns: (sign, logarithm of the absolute value) of each determinant."""
    diagonal, sign = _signed_diagonal(_squares(x, "slogdet"))
    size = elementwise.abs(diagonal)
    phase = elementwise.where(core.compare("equal", size, 0), diagonal, diagonal / size)
    total = core.elementwise("multiply", reductions.prod(phase, axis=-1), sign)
    return total, reductions.sum(elementwise.log(size), axis=-1)


@operation
def pinv(x, rcond=None):
    """Returns: the Moore-Penrose inverse; singular values below rcond times the largest count as 0
    (default: 10 max(m, n) eps, as jax.numpy has it).
    """
    array = _matrices(x, "pinv")
    u, s, vh = svd(array, full_matrices=False)
    if rcond is None:
        rcond = _rounding(array, s, 10)
    kept = _exceeding(s, rcond)
    inverse = elementwise.where(kept, 1 / elementwise.where(kept, s, 1), 0)
    scaled = _adjoint(u) * core.expand_dims(core.cast(inverse, array.dtype_name), [inverse.ndim])
    return products.matmul(_adjoint(vh), scaled)


@operation
def lstsq(a, b, rcond=None):
    """Solves a x = b in the sense of least squares; of several solutions the shortest.

    Args:
      a: [m, n].
      b: one right-hand side [m] or several [m, k].
      rcond: singular values below rcond times the largest count as 0 (default: max(m, n) eps).

    Returns: (x, the sums of squares that are left for each right-hand side, the rank of a as i32,
      its singular values).
    """
    a, b = core.promote_inexact(core.as_array(a), core.as_array(b))
    if a.ndim != 2 or b.ndim not in (1, 2):
        raise ValueError(
            f"lstsq needs a [m, n] and b [m] or [m, k], found {a.describe()} and {b.describe()}"
            f" ({location.text()})"
        )
    if not dims.same(b.shape[0], a.shape[0]):
        raise dims.unequal(
            b.shape[0],
            a.shape[0],
            f"lstsq needs a [m, n] and b [m] or [m, k], found {a.describe()} and {b.describe()}",
        )
    sides = core.expand_dims(b, [1]) if b.ndim == 1 else b
    u, s, vh = svd(a, full_matrices=False)
    kept = _exceeding(s, _rounding(a, s) if rcond is None else rcond)
    inverse = elementwise.where(kept, 1 / elementwise.where(kept, s, 1), 0)
    parts = products.matmul(_adjoint(u), sides)
    parts = parts * core.expand_dims(core.cast(inverse, a.dtype_name), [1])
    x = products.matmul(_adjoint(vh), parts)
    length = elementwise.abs(sides - products.matmul(a, x))
    left = reductions.sum(length * length, axis=0)
    rank = reductions.sum(core.cast(kept, "i32"))
    return (core.reshape(x, x.shape[:1]) if b.ndim == 1 else x), left, rank, s


@operation
def cond(x, p=None):
    """Returns: the condition of each matrix: its norm of order `p` (2 by default) times that of its
    inverse.
    """
    array = _matrices(x, "cond")
    if p is None or p in (2, -2):
        s = svd(array, compute_uv=False)
        return s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0]
    return norm(array, p, (-2, -1)) * norm(inv(array), p, (-2, -1))


@operation
def multi_dot(arrays):
    """Returns: the product of two matrices or more, in the order that costs least; the first and
    the last may be vectors.
    """
    return functools.reduce(products.matmul, _by_cost([core.as_array(x) for x in arrays]))


def _by_cost(arrays):
    """Returns: the arrays, of which the cheapest neighbours are multiplied until two are left."""
    while len(arrays) > 2:
        costs = [
            dims.example(math.prod(x.shape) * (y.shape[-1] if y.ndim > 1 else 1))
            for x, y in zip(arrays, arrays[1:])
        ]
        k = costs.index(min(costs))
        arrays[k : k + 2] = [products.matmul(arrays[k], arrays[k + 1])]
    return arrays


@operation
def matrix_rank(x, rtol=None):
    """Returns: i32, how many singular values exceed rtol times the largest (default: max(m, n)
    eps).
    """
    array = _matrices(x, "matrix_rank")
    s = svd(array, compute_uv=False)
    if rtol is None:
        rtol = _rounding(array, s)
    return reductions.sum(core.cast(_exceeding(s, rtol), "i32"), axis=-1)


@operation
def matrix_power(x, n):
    """Returns: the n-th power of each square matrix, for a Python integer n."""
    array = _squares(x, "matrix_power")
    if n < 0:
        array, n = inv(array), -n
    one = core.as_array(eye(array.shape[-1], dtype=dtypes.to_numpy(array.dtype_name)))
    result = core.broadcast_to(one, array.shape)
    while n > 0:
        if n % 2:
            result = products.matmul(result, array)
        n //= 2
        if n:
            array = products.matmul(array, array)
    return result


@operation
def norm(x, ord=None, axis=None, keepdims=False):  # pylint: disable=redefined-builtin
    """Returns: the length of vectors or the norm of matrices, as NumPy's.

    Args:
      x: numbers; integers become f32.
      ord: None: the square root of the sum of squares. For vectors a number p, inf, -inf or 0; for
        matrices "fro", "nuc", 1, -1, 2, -2, inf or -inf.
      axis: an integer for vectors, a pair for matrices; all axes by default, which are one or two
        where `ord` is given.
      keepdims: whether the axes stay with size 1.
    """
    (array,) = core.promote_inexact(core.as_array(x))
    size = elementwise.abs(array)
    axes = core.canonical_axes(axis, array.ndim)
    if ord is None or (ord == "fro" and len(axes) == 2):
        return elementwise.sqrt(reductions.sum(size * size, axes, keepdims=keepdims))
    if len(axes) == 1:
        return _vector_norm(size, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(
            f"norm of order {ord!r} goes over one or two axes, found {axes} ({location.text()})"
        )
    return _matrix_norm(array, size, ord, axes, keepdims)


def _vector_norm(size, order, axes, keepdims):
    if isinstance(order, str):
        raise ValueError(f"vectors have no norm {order!r} ({location.text()})")
    if order in (np.inf, -np.inf):
        return (reductions.max if order > 0 else reductions.min)(size, axes, keepdims)
    if order == 0:
        return core.cast(reductions.sum(size != 0, axes, keepdims=keepdims), size.dtype_name)
    return reductions.sum(size**order, axes, keepdims=keepdims) ** (1 / order)


def _matrix_norm(array, size, order, axes, keepdims):
    rows, columns = axes
    largest = reductions.min if order in (-1, -2, -np.inf) else reductions.max
    if order in (1, -1, np.inf, -np.inf):
        added, rest = (rows, columns) if order in (1, -1) else (columns, rows)
        out = largest(reductions.sum(size, added, keepdims=True), rest, True)
    elif order in (2, -2, "nuc"):
        moved = shaping.moveaxis(array, axes, (-2, -1))
        s = svd(moved, compute_uv=False)
        out = reductions.sum(s, -1) if order == "nuc" else largest(s, -1)
        out = core.expand_dims(out, sorted(axes))
    else:
        raise ValueError(f"matrices have no norm {order!r} ({location.text()})")
    if keepdims:
        return out
    return core.reshape(out, [e for i, e in enumerate(out.shape) if i not in axes])


from weir.numpy.tensors import (  # noqa: E402  made of the functions above
    cross,
    diagonal,
    expm,
    matmul,
    matrix_norm,
    matrix_transpose,
    outer,
    tensordot,
    tensorinv,
    tensorsolve,
    trace,
    vecdot,
    vector_norm,
)
