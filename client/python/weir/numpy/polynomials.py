"""Polynomials as vectors of coefficients, the highest power first."""

import numpy as np

from weir import checks, core, dims, dtypes, location
from weir.array import Array
from weir.eager import operation
from weir.numpy import creation, elementwise, linalg, matrices, reductions, shaping, signals


def _coefficients(what, *polynomials):
    arrays = core.promote(*(core.as_array(creation.array(p)) for p in polynomials))
    arrays = [core.reshape(x, (1,)) if x.ndim == 0 else x for x in arrays]
    for x in arrays:
        wrong = ValueError(
            f"{what} takes vectors of coefficients, found {x.describe()} ({location.text()})"
        )
        if x.ndim != 1:
            raise wrong
        checks.require_at_most(1, x.size, wrong)
    return arrays


def _filled(array, count):
    """Returns: the coefficients with zeros in front."""
    return shaping.pad(array, (count - array.size, 0))


def _powers(array):
    """Returns: the numbers from the size of a vector down to 1."""
    return core.cast(core.reverse(core.iota(array.shape, 0, "i64") + 1, [0]), array.dtype_name)


@operation
def polyadd(x, y):
    """Returns: the coefficients of the sum of two polynomials."""
    a, b = _coefficients("polyadd", x, y)
    count = dims.larger(a.size, b.size)
    return _filled(a, count) + _filled(b, count)


@operation
def polysub(x, y):
    """Returns: the coefficients of the difference of two polynomials."""
    a, b = _coefficients("polysub", x, y)
    count = dims.larger(a.size, b.size)
    return _filled(a, count) - _filled(b, count)


@operation
def polymul(x, y):
    """Returns: the coefficients of the product of two polynomials, n + m - 1 of them; zeros in
    front stay.
    """
    a, b = _coefficients("polymul", x, y)
    return signals.convolve(a, b)


@operation
def polydiv(x, y):
    """Returns: (the quotient of two polynomials, the rest), both as floats. The first coefficient
    of y must not be 0. The rest has one coefficient less than y; zeros in front stay.
    """
    a, b = core.promote_inexact(*_coefficients("polydiv", x, y))
    rest, found = a, []
    count = core.known_integer(a.size - b.size + 1, "the size of the quotient")
    for _ in range(count):
        factor = rest[0] / b[0]
        found.append(core.reshape(factor, (1,)))
        behind = shaping.pad(b[1:] * factor, (0, rest.size - b.size))
        rest = rest[1:] - behind
    if not found:
        return core.full((1,), 0, a.dtype_name), rest
    return core.concatenate(found, 0), _filled(rest, dims.larger(rest.size, 1))


@operation
def polyder(p, m=1):
    """Returns: the coefficients of the m-th derivative."""
    (array,) = _coefficients("polyder", p)
    if m < 0:
        raise ValueError(f"polyder takes an order of at least 0, found {m} ({location.text()})")
    for _ in range(m):
        array = array[:-1]
        array = array * _powers(array)
    return array


@operation
def polyint(p, m=1, k=None):
    """Returns: the coefficients of the m-th integral, as floats.

    Args:
      p: the coefficients.
      m: how often.
      k: the constants of integration, of the first integral first, or one for all; 0 by default.
    """
    (array,) = core.promote_inexact(*_coefficients("polyint", p))
    if m < 0:
        raise ValueError(f"polyint takes an order of at least 0, found {m} ({location.text()})")
    (constants,) = _coefficients("polyint", 0 if k is None else k)
    if constants.size not in (1, m) and m:
        raise ValueError(
            f"polyint of order {m} takes {m} constants, found {constants.size} ({location.text()})"
        )
    for i in range(m):
        added = core.reshape(constants[i if constants.size > 1 else 0], (1,))
        added = core.to_dtype(added, array.dtype_name)
        array = core.concatenate([array / _powers(array), added], 0)
    return array


@operation
def poly(x):
    """Returns: the coefficients of the polynomial whose zeros are the elements of the vector x, or
    the eigenvalues of the square matrix x (complex then).
    """
    (array,) = core.promote_inexact(creation.array(x))
    message = f"poly takes a vector or a square matrix, found {array.describe()}"
    if array.ndim == 2:
        if not dims.same(*array.shape):
            raise dims.unequal(*array.shape, message)
        array = linalg.eigvals(array)
    if array.ndim != 1:
        raise ValueError(f"{message} ({location.text()})")
    out = core.full((1,), 1, array.dtype_name)
    for i in range(core.known_integer(array.size, "the number of zeros")):
        out = shaping.pad(out, (0, 1)) - shaping.pad(out * array[i], (1, 0))
    return out


def roots(p, strip_zeros=True):
    """The zeros of a polynomial: the eigenvalues of its companion matrix.

    Args:
      p: the coefficients.
      strip_zeros: whether zeros at both ends of p are taken off, which only works where they are
        known. Without, the first coefficient must not be 0.

    Returns: complex numbers, as many as the degree.

    Raises: TypeError for traced coefficients with strip_zeros.
    """
    if not strip_zeros:
        return _roots(p, 0)
    if isinstance(p, Array) or any(isinstance(x, Array) for x in np.atleast_1d(p)):
        raise TypeError(
            "roots of traced coefficients has a known shape only with strip_zeros=False"
            f" ({location.text()})"
        )
    known = np.atleast_1d(creation._known(p, None))
    kept = np.flatnonzero(known)
    if not kept.size:
        return _roots(known[:1], 0)
    return _roots(known[kept[0] : kept[-1] + 1], known.size - 1 - int(kept[-1]))


@operation
def _roots(p, zeros):
    (array,) = core.promote_inexact(*_coefficients("roots", p))
    complex_name = {"f64": "c128", "c128": "c128"}.get(array.dtype_name, "c64")
    if array.dtype_name in ("f16", "bf16"):
        array = core.cast(array, "f32")
    degree = dims.larger(array.size - 1, 0)
    below = creation.eye(
        dims.larger(degree - 1, 0), degree, dtype=dtypes.to_numpy(array.dtype_name)
    )
    first = core.reshape(-array[1:] / array[0], (1, degree))
    companion = core.concatenate([first, core.as_array(below)], 0)
    # Of the degree 0 the first row is one too many.
    found = linalg.eigvals(core.slice_axis(companion, 0, 0, degree))
    return core.concatenate(
        [core.cast(found, complex_name), core.full((zeros,), 0, complex_name)], 0
    )


@operation
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The polynomial of a degree that comes nearest to points, in the sense of least squares.

    Args:
      x, y: T[n], and T[n] or T[n, k] for k polynomials.
      deg: the degree, known while tracing.
      rcond: singular values below rcond times the largest count as 0; n eps by default.
      full: whether to return (coefficients, residuals, rank, singular values, rcond).
      w: T[n], weights of the distances, or None.
      cov: True or "unscaled": also return the covariances of the coefficients; these are scaled by
        the sum of squares per degree of freedom unless unscaled.

    Returns: the coefficients, T[deg + 1] or T[deg + 1, k].
    """
    places, values = core.promote_inexact(x, y)
    order = core.known_integer(deg, "the degree of polyfit") + 1
    wrong = ValueError(
        f"polyfit takes x [n], y [n] or [n, k] and a degree of at least 0, found"
        f" {places.describe()}, {values.describe()} and {deg} ({location.text()})"
    )
    if order < 1 or places.ndim != 1 or values.ndim not in (1, 2):
        raise wrong
    checks.require_at_most(1, places.size, wrong)
    if not dims.same(values.shape[0], places.shape[0]):
        raise dims.unequal(
            values.shape[0],
            places.shape[0],
            f"polyfit needs a y for each x, found {places.describe()} and {values.describe()}",
        )
    if rcond is None:
        epsilon = float(np.finfo(dtypes.to_numpy(places.dtype_name)).eps)
        rcond = core.scalar(places.size, dtypes.real_of(places.dtype_name)) * epsilon
    table, sides = matrices.vander(places, order), values
    if w is not None:
        weights = core.to_dtype(w, places.dtype_name)
        table = table * weights[:, None]
        sides = sides * (weights if sides.ndim == 1 else weights[:, None])
    scale = elementwise.sqrt(reductions.sum(table * table, 0))
    found, left, rank, singular = linalg.lstsq(table / scale, sides, rcond)
    turned = scale if found.ndim == 1 else scale[:, None]
    found = found / turned
    if full:
        return found, left, rank, singular, core.to_dtype(rcond, dtypes.real_of(places.dtype_name))
    if not cov:
        return found
    inverse = linalg.inv(shaping.transpose(table / scale) @ (table / scale))
    inverse = inverse / (scale[:, None] * scale[None, :])
    if cov == "unscaled":
        factor = 1.0
    else:
        few = ValueError(
            f"polyfit with cov=True needs more than {order} points, found {places.size}"
            f" ({location.text()})"
        )
        checks.require_at_most(order + 1, places.size, few)
        factor = reductions.sum(left) if found.ndim == 1 else left
        factor = factor / (places.size - order)
    return found, inverse * factor if found.ndim == 1 else inverse[:, :, None] * factor
