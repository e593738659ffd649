"""Reductions over segments: rows with equal numbers go together."""

from weir import core, dims, dtypes, location
from weir.array import Array
from weir.eager import operation
from weir.numpy import elementwise


def _segments(what, data, segment_ids, num_segments):
    """Returns: (data, numbers of segments, how many)."""
    rows, ids = core.as_array(data), core.as_array(segment_ids)
    if num_segments is None or isinstance(num_segments, Array):
        raise TypeError(
            f"{what} needs num_segments, a Python integer: it decides the shape of the result"
            f" ({location.text()})"
        )
    count = core.known_integer(num_segments, "num_segments")
    if count < 0:
        raise ValueError(f"{what} needs num_segments of at least 0, found {count}")
    message = (
        f"{what} takes integers with the leading axes of the data, found {ids.describe()} and"
        f" {rows.describe()}"
    )
    if ids.dtype_name not in dtypes.INTEGERS or ids.ndim > rows.ndim:
        raise ValueError(f"{message} ({location.text()})")
    for a, b in zip(ids.shape, rows.shape):
        if not dims.same(a, b):
            raise dims.unequal(a, b, message)
    # Negative numbers would count from the end.
    ids = core.cast(ids, "i64")
    return rows, elementwise.where(ids < 0, count, ids), count


def _reduced(what, data, segment_ids, num_segments, method, neutral):
    rows, ids, count = _segments(what, data, segment_ids, num_segments)
    is_bool = rows.dtype_name == "bool"
    if is_bool and method not in ("max", "min"):
        raise TypeError(f"{what} is not defined for bool; use .astype ({location.text()})")
    if is_bool:
        rows = core.cast(rows, "u8")
    first = int(neutral("bool")) if is_bool else neutral(rows.dtype_name)
    start = core.full((count, *rows.shape[ids.ndim :]), first, rows.dtype_name)
    out = getattr(start.at[ids], method)(rows)
    return core.cast(out, "bool") if is_bool else out


@operation
def segment_sum(data, segment_ids, num_segments=None):
    """Returns: the sums of the rows of each segment, [num_segments, ...].

    Args:
      data: T[n, ...].
      segment_ids: integers [n], the segment of each row; rows whose number is outside of 0 ..
        num_segments - 1 do not count.
      num_segments: how many segments there are, a Python integer.
    """
    return _reduced("segment_sum", data, segment_ids, num_segments, "add", lambda kind: 0)


@operation
def segment_prod(data, segment_ids, num_segments=None):
    """Returns: the products of the rows of each segment; arguments as of `segment_sum`."""
    return _reduced("segment_prod", data, segment_ids, num_segments, "multiply", lambda kind: 1)


@operation
def segment_max(data, segment_ids, num_segments=None):
    """Returns: the greatest rows of each segment, the least number of the type where there is none;
    arguments as of `segment_sum`.
    """
    return _reduced("segment_max", data, segment_ids, num_segments, "max", dtypes.least)


@operation
def segment_min(data, segment_ids, num_segments=None):
    """Returns: the smallest rows of each segment, the greatest number of the type where there is
    none; arguments as of `segment_sum`.
    """
    return _reduced("segment_min", data, segment_ids, num_segments, "min", dtypes.greatest)


@operation
def segment_mean(data, segment_ids, num_segments=None):
    """Returns: the means of the rows of each segment, NaN where there is none; arguments as of
    `segment_sum`.
    """
    (rows,) = core.promote_inexact(data)
    ids = core.as_array(segment_ids)
    total = segment_sum(rows, ids, num_segments)
    ones = core.full(ids.shape, 1, dtypes.real_of(rows.dtype_name))
    count = segment_sum(ones, ids, num_segments)
    return total / core.reshape(count, count.shape + (1,) * (total.ndim - 1))
