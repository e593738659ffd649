"""What numpy.linalg has beside factorizations: products, norms and parts of arrays of many axes,
and the exponential of matrices.
"""

import math

import numpy as np

from weir import carried, core, dims, location
from weir.eager import operation
from weir.numpy import creation, elementwise, linalg, matrices, products, reductions, shaping

matmul, tensordot, vecdot = products.matmul, products.tensordot, products.vecdot
cross, matrix_transpose = matrices.cross, shaping.matrix_transpose


@operation
def diagonal(x, offset=0):
    """Returns: diagonal `offset` of the last two axes, as last axis."""
    return matrices.diagonal(x, offset, -2, -1)


@operation
def trace(x, offset=0, dtype=None):
    """Returns: the sums of diagonal `offset` of the last two axes."""
    return reductions.sum(diagonal(x, offset), -1, dtype)


@operation
def outer(x, y):
    """Returns: the products of each element of the vector x with each of the vector y."""
    a, b = core.promote(x, y)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(
            f"linalg.outer takes vectors, found {a.describe()} and {b.describe()}"
            f" ({location.text()}); weir.numpy.outer makes arrays flat"
        )
    return products.outer(a, b)


@operation
def matrix_norm(x, ord="fro", keepdims=False):  # pylint: disable=redefined-builtin
    """Returns: the norm of matrices, the last two axes of x; `ord` as of `norm`."""
    return linalg.norm(linalg._matrices(x, "matrix_norm"), ord, (-2, -1), keepdims)


@operation
def vector_norm(x, axis=None, ord=2, keepdims=False):  # pylint: disable=redefined-builtin
    """Returns: the length of vectors, of x made flat by default.

    Args:
      x: numbers; integers become f32.
      axis: one axis or several, which count as one; None: all.
      ord: a number p, inf, -inf or 0.
      keepdims: whether the axes stay with size 1.
    """
    array, at, kept = core.join_axes(core.promote_inexact(x)[0], axis)
    out = linalg.norm(array, None if ord == 2 else ord, at)
    return core.reshape(out, kept) if keepdims else out


@operation
def tensorsolve(a, b, axes=None):
    """Returns: x with tensordot(a, x, x.ndim) = b.

    Args:
      a: an array whose first axes are those of b and whose other axes are those of x; as many
        elements in both.
      b: an array.
      axes: axes of a that are moved behind all others first.
    """
    table, side = core.promote_inexact(a, b)
    if axes is not None:
        moved = core.canonical_axes(axes, table.ndim)
        order = [i for i in range(table.ndim) if i not in moved] + list(moved)
        table = core.transpose(table, order)
    rest = table.shape[side.ndim :]
    for count in (math.prod(rest), math.prod(table.shape[: side.ndim])):
        if not dims.same(count, side.size):
            raise dims.unequal(
                count,
                side.size,
                f"tensorsolve: {table.describe()} is no square matrix over the axes of"
                f" {side.describe()}",
            )
    square = core.reshape(table, (side.size, side.size))
    return core.reshape(linalg.solve(square, shaping.ravel(side)), rest)


@operation
def tensorinv(x, ind=2):
    """Returns: the inverse of tensordot(x, ., ind): its first axes are those of x behind the first
    `ind`, of which there are as many elements.
    """
    array = core.as_array(x)
    message = (
        f"tensorinv: the first {ind} axes of {array.describe()} hold other numbers of elements than"
        " the rest"
    )
    if not 0 < ind <= array.ndim:
        raise ValueError(f"{message} ({location.text()})")
    size, rest = math.prod(array.shape[:ind]), math.prod(array.shape[ind:])
    if not dims.same(size, rest):
        raise dims.unequal(size, rest, message)
    found = linalg.inv(core.reshape(array, (size, size)))
    return core.reshape(found, array.shape[ind:] + array.shape[:ind])


# Up to these norms the Pade approximants of these degrees have no error in f32 and f64 (Higham,
# The Scaling and Squaring Method for the Matrix Exponential Revisited, 2005).
_PADE = {"f32": (7, 3.925724783138660), "f64": (13, 5.371920351148152)}


def _pade_numbers(degree):
    """Returns: the coefficients of the numerator, from the power 0 on."""
    count = math.factorial
    parts = [count(degree - k) * count(k) for k in range(degree + 1)]
    whole = [count(2 * degree - k) * count(degree) // part for k, part in enumerate(parts)]
    return [number / whole[0] for number in whole]


@operation
def expm(x):
    """Returns: the exponential of each square matrix, by scaling and squaring; NaN or infinity
    where it overflows.
    """
    from weir.autodiff import custom_vjp  # which is made of this

    function = custom_vjp(_expm)
    function.defvjp(
        lambda array: (expm(array), array),
        lambda array, ct: (_expm_change(shaping.swapaxes(array, -1, -2), ct),),
    )
    function.defjvp(lambda primals, tangents: (expm(*primals), _expm_change(*primals, *tangents)))
    return function(linalg._squares(x, "expm"))


def _expm_change(array, change):
    """How the exponential changes: a block of that of [[array, change], [0, array]] (Higham,
    "Functions of Matrices", 3.16).
    """
    size = array.shape[-1]
    upper = core.concatenate([array, change], array.ndim - 1)
    lower = core.concatenate([core.full(array.shape, 0, array.dtype_name), array], array.ndim - 1)
    whole = expm(core.concatenate([upper, lower], array.ndim - 2))
    right = core.slice_axis(whole, array.ndim - 1, size, size * 2)
    return core.reshape(core.slice_axis(right, array.ndim - 2, 0, size), array.shape)


def _expm(array):
    name = {"c64": "f32", "c128": "f64", "f64": "f64"}.get(array.dtype_name, "f32")
    degree, bound = _PADE[name]
    length = reductions.max(reductions.sum(elementwise.abs(array), -2), -1, initial=0)
    halvings = elementwise.ceil(elementwise.log2(elementwise.maximum(length / bound, 1)))
    # Matrices that are not finite have no number of halvings.
    halvings = elementwise.where(elementwise.isfinite(length), halvings, 0)
    scale = core.cast(elementwise.exp2(-halvings), array.dtype_name)
    start = _pade(array * scale[..., None, None], degree)

    def square(step, result):
        squared = products.matmul(result, result)
        again = elementwise.astype(step, name) < halvings
        return elementwise.where(again[..., None, None], squared, result)

    most = core.cast(reductions.max(halvings, initial=0), "i64")
    return carried.fori_loop(0, most, square, start)


def _pade(array, degree):
    numbers = _pade_numbers(degree)
    one = core.as_array(creation.eye(array.shape[-1], dtype=np.float64))
    one = core.broadcast_to(core.cast(one, array.dtype_name), array.shape)
    square = products.matmul(array, array)
    even = odd = core.full(array.shape, 0, array.dtype_name)
    for k in range(degree - degree % 2, -1, -2):
        even = products.matmul(even, square) + one * numbers[k]
    for k in range(degree - (degree + 1) % 2, 0, -2):
        odd = products.matmul(odd, square) + one * numbers[k]
    odd = products.matmul(array, odd)
    return linalg.solve(even - odd, even + odd)
