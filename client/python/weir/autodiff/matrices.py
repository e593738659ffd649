"""Derivatives of factorizations and triangular systems.

Sources: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); Walter and Lehmann, "Algorithmic differentiation of linear algebra
functions" (2010). `cholesky` and `eigh` read one triangle; their derivatives are those for
Hermitian changes, half of which each triangle has, as in JAX. Where eigenvalues or singular values
meet, the vectors have no derivative and the result is not finite.
"""

from weir import core, dims, dtypes, errors, location
from weir import numpy as wnp
from weir.autodiff.rules import RULES, Pair, plus, rule


def _t(x):
    return core.transpose(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def _is_complex(x):
    return x.dtype_name in dtypes.COMPLEXES


def _conj(x):
    return core.apply("conjugate", [x]) if _is_complex(x) else x


def _h(x):
    return _conj(_t(x))


def _real(x):
    return core.apply("real", [x]) if _is_complex(x) else x


def _eye(n, like):
    return wnp.eye(n, dtype=dtypes.to_public(like.dtype_name))


def _diagonal(x):
    return wnp.diagonal(x, axis1=-2, axis2=-1)


def _row(x):
    return core.expand_dims(x, [x.ndim - 1])


def _column(x):
    return core.expand_dims(x, [x.ndim])


def _hermitian(x):
    return (x + _h(x)) * 0.5


def _solve(a, b, left_side, lower, transpose_a="NO_TRANSPOSE", unit_diagonal=False):
    attrs = {
        "left_side": left_side,
        "lower": lower,
        "unit_diagonal": unit_diagonal,
        "transpose_a": transpose_a,
    }
    return core.apply("triangular_solve", [a, b], attrs)


# --- Triangular systems.

_TURNED = {"NO_TRANSPOSE": "TRANSPOSE", "TRANSPOSE": "NO_TRANSPOSE"}


def _triangle(x, attrs):
    """What the op reads of a matrix."""
    off = 1 if attrs["unit_diagonal"] else 0
    return wnp.tril(x, -off) if attrs["lower"] else wnp.triu(x, off)


def _turn(x, transpose_a):
    """op(x) of the op."""
    return {"NO_TRANSPOSE": lambda y: y, "TRANSPOSE": _t, "ADJOINT": _h}[transpose_a](x)


def _triangular_solve_jvp(call, tangents):
    (a, _), (x,), attrs = call.ins, call.outs, call.attrs
    moved = tangents[1]
    if tangents[0] is not None:
        change = _turn(_triangle(tangents[0], attrs), attrs["transpose_a"])
        product = change @ x if attrs["left_side"] else x @ change
        moved = plus(moved, -product)
    return [call.again(a, moved)]


def _triangular_solve_vjp(call, cts):
    (a, _), (x,), attrs = call.ins, call.outs, call.attrs
    mode = attrs["transpose_a"]
    if mode == "ADJOINT":
        of_b = call.again(_conj(a), cts[0], transpose_a="NO_TRANSPOSE")
    else:
        of_b = call.again(a, cts[0], transpose_a=_TURNED[mode])
    of_a = None
    if call.active[0]:
        change = -(of_b @ _t(x) if attrs["left_side"] else _t(x) @ of_b)
        of_a = _triangle(_turn(change, mode), attrs)
    return [of_a, of_b if call.active[1] else None]


# --- Factorizations.


@rule("cholesky")
def _cholesky(call, tangents):
    (out,) = call.outs
    factor = out if call.attrs["lower"] else _h(out)
    inner = _solve(factor, _hermitian(tangents[0]), True, True)
    inner = _solve(factor, inner, False, True, "ADJOINT")
    half = wnp.tril(inner, -1) + _eye(inner.shape[-1], inner) * (inner * 0.5)
    moved = factor @ half
    return [moved if call.attrs["lower"] else _h(moved)]


def _padded_square(x, n, axis):
    """A triangle with ones on the diagonal of what is added."""
    missing = n - x.shape[axis]
    if dims.same(missing, 0):
        return x
    attrs = {"low": [0] * x.ndim, "high": [0] * x.ndim, "interior": [0] * x.ndim}
    attrs["high"][axis] = missing
    square = core.apply("pad", [x, core.scalar(0, x.dtype_name)], attrs)
    places = core.iota((n,), 0, "i64")
    ones = core.cast(core.compare("greater_equal", places, n - missing), x.dtype_name)
    return square + _eye(n, x) * ones


@rule("lu")
def _lu(call, tangents):
    (x,), (factors, _, order) = call.ins, call.outs
    m, n = x.shape[-2:]
    k = dims.smaller(m, n)
    rows = core.broadcast_to(core.expand_dims(order, [order.ndim]), x.shape)
    moved = wnp.take_along_axis(tangents[0], rows, axis=-2)
    lower = wnp.tril(core.slice_axis(factors, factors.ndim - 1, 0, k), -1)
    lower = _padded_square(lower, m, lower.ndim - 1) if m != k else lower
    # The diagonal of what is added is 1 already.
    places = core.iota((m,), 0, "i64")
    lower = lower + _eye(m, x) * core.cast(core.compare("less", places, k), x.dtype_name)
    upper = wnp.triu(core.slice_axis(factors, factors.ndim - 2, 0, k))
    upper = _padded_square(upper, n, upper.ndim - 2)
    inner = _solve(lower, moved, True, True, unit_diagonal=True)
    inner = _solve(upper, inner, False, False)
    return [lower @ wnp.tril(inner, -1) + wnp.triu(inner) @ upper, None, None]


@rule("qr")
def _qr(call, tangents):
    (x,), (q, r) = call.ins, call.outs
    m, n = x.shape[-2:]
    if call.attrs["full_matrices"] and not dims.at_most(m, n):
        raise errors.NotDifferentiable(
            f"qr at {location.text()} with all columns of q, which x [{m},{n}] does not determine,"
            " has no derivative; use mode='reduced'"
        )
    if dims.at_most(n, m):
        return list(_thin_qr(q, r, tangents[0]))
    axis = x.ndim - 1
    dq, first = _thin_qr(
        q, core.slice_axis(r, axis, 0, m), core.slice_axis(tangents[0], axis, 0, m)
    )
    rest = core.slice_axis(x, axis, m, n)
    moved = core.slice_axis(tangents[0], axis, m, n)
    return [dq, core.concatenate([first, _h(dq) @ rest + _h(q) @ moved], axis)]


def _thin_qr(q, r, tangent):
    scaled = _solve(r, tangent, False, False)
    inner = _h(q) @ scaled
    below = wnp.tril(inner, -1)
    turn = below - _h(below)
    if _is_complex(inner):
        imaginary = inner - core.cast(_real(inner), inner.dtype_name)
        turn = turn + _eye(inner.shape[-1], inner) * imaginary
    return q @ (turn - inner) + scaled, (inner - turn) @ r


def _inverse_gaps(values):
    """1 / (b - a) for the values a of the row and b of the column, 0 on the diagonal."""
    gaps = _row(values) - _column(values)
    eye = _eye(values.shape[-1], values)
    return (1 - eye) / (gaps + eye)


def _phases(vectors, change):
    """How fast the phase of each column turns, for the largest entries to stay real: i theta."""
    if dims.same(vectors.size, 0):
        return core.full((*vectors.shape[:-2], 1, vectors.shape[-1]), 0, vectors.dtype_name)
    which = wnp.argmax(wnp.abs(vectors), axis=-2)
    which = core.expand_dims(which, [which.ndim - 1])
    entry = wnp.take_along_axis(vectors, which, axis=-2)
    moved = wnp.take_along_axis(change, which, axis=-2)
    theta = core.apply("imag", [moved]) / core.apply("real", [entry])
    return core.apply("complex", [core.full(theta.shape, 0, theta.dtype_name), theta])


@rule("eigh")
def _eigh(call, tangents):
    values, vectors = call.outs
    inner = _h(vectors) @ _hermitian(tangents[0]) @ vectors
    gaps = core.cast(_inverse_gaps(values), inner.dtype_name)
    change = vectors @ (gaps * inner)
    if _is_complex(change):
        change = change - vectors * _phases(vectors, change)
    return [_real(_diagonal(inner)), change]


@rule("eig")
def _eig(call, tangents):
    values, vectors = call.outs
    moved = core.cast(tangents[0], values.dtype_name)
    inner = wnp.linalg.solve(vectors, moved @ vectors)
    change = vectors @ (_inverse_gaps(values) * inner)
    lengths = core.apply(
        "reduce_sum", [_real(_conj(vectors) * change)], {"axes": [vectors.ndim - 2]}
    )
    change = change - vectors * core.cast(_row(lengths), vectors.dtype_name)
    change = change - vectors * _phases(vectors, change)
    return [_diagonal(inner), change]


@rule("svd")
def _svd(call, tangents):
    (x,), attrs = call.ins, call.attrs
    m, n = x.shape[-2:]
    if attrs["compute_uv"] and attrs["full_matrices"] and not dims.same(m, n):
        raise errors.NotDifferentiable(
            f"svd at {location.text()} with all columns of u and v, which x [{m},{n}] does not"
            " determine, has no derivative; use full_matrices=False"
        )
    thin = {"full_matrices": False, "compute_uv": True}
    s, u, vh = call.outs if attrs["compute_uv"] else core.apply_all("svd", [x], thin)
    v = _h(vh)
    change = tangents[0]
    inner = _h(u) @ change @ v
    ds = _real(_diagonal(inner))
    if not attrs["compute_uv"]:
        return [ds]
    return [ds, *_singular_vectors(s, u, v, change, inner)]


def _singular_vectors(s, u, v, change, inner):
    m, n = u.shape[-2], v.shape[-2]
    eye = _eye(s.shape[-1], s)
    products = (_row(s) + _column(s)) * (_row(s) - _column(s))
    gaps = core.cast((1 - eye) / (products + eye), inner.dtype_name)
    by_column = inner * core.cast(_row(s), inner.dtype_name)
    by_row = inner * core.cast(_column(s), inner.dtype_name)
    turn = (inner - _h(inner)) * core.cast(0.5 * eye / _row(s), inner.dtype_name)
    du = u @ (gaps * (by_column + _h(by_column)) + turn)
    dv = v @ (gaps * (by_row + _h(by_row)))
    scale = core.cast(_row(s), inner.dtype_name)
    if not dims.at_most(m, n):
        along = change @ v
        du = du + (along - u @ (_h(u) @ along)) / scale
    if not dims.at_most(n, m):
        along = _h(change) @ u
        dv = dv + (along - v @ (_h(v) @ along)) / scale
    if _is_complex(inner):
        phases = _phases(u, du)
        du, dv = du - u * phases, dv - v * phases
    return du, _h(dv)


RULES["triangular_solve"] = Pair(_triangular_solve_jvp, _triangular_solve_vjp)
