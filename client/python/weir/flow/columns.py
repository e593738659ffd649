"""Columns of records: their types, and the NumPy arrays that hold many of them."""

import re

import numpy as np

from weir import core, dtypes, errors, location

_TEXT = re.compile(r"([a-z0-9]+)(?:\[([0-9, ]*)\])?")


def parse_column(column):
    """Returns: (element type, shape of one record) of a column.

    Args:
      column: an element type as NumPy type, Python type or name ("i64"), for one number; a pair
        (element type, shape); or a text such as "f32[3]".

    Raises: InvalidArgument for anything else.
    """
    shape = ()
    if isinstance(column, (tuple, list)) and len(column) == 2:
        column, shape = column
    match = _TEXT.fullmatch(column) if isinstance(column, str) else None
    if match is not None and match[2] is not None:
        column, shape = match[1], [int(size) for size in match[2].split(",") if size.strip()]
    name = dtypes.name_of(column)
    if name == "bf16":
        raise errors.InvalidArgument(
            f"NumPy has no bf16, so no records of it can come in at {location.text()}; take f32 and"
            " convert it in a map"
        )
    return name, core.canonical_shape(shape)


def text(types):
    """Returns: the types of columns in text form, such as "(i64[], f32[3])"."""
    return f"({', '.join(map(column_text, types))})"


def column_text(column):
    """Returns: the type of one column in text form."""
    dtype, shape = column
    return f"{dtype}[{','.join(map(str, shape))}]"


def to_arrays(types, records, what):
    """Returns: a list of NumPy arrays of these types with an axis of records in front.

    Args:
      records: a tuple or list with one array for each column, or the array where there is but one.
      what: has these columns, for messages.

    Raises: InvalidArgument, naming the column, for numbers that its type cannot hold, and arrays of
    other shapes.
    """
    if len(types) == 1 and not (isinstance(records, tuple) and len(records) == 1):
        records = (records,)
    if not isinstance(records, (tuple, list)) or len(records) != len(types):
        found = f"{len(records)}" if isinstance(records, (tuple, list)) else type(records).__name__
        raise errors.InvalidArgument(
            f"{what} takes {len(types)} columns {text(types)}, found {found} ({location.text()})"
        )
    arrays = []
    for i, (column, array) in enumerate(zip(types, records)):
        arrays.append(_to_array(column, array, f"column {i} of {what}"))
    lengths = sorted({len(array) for array in arrays})
    if len(lengths) > 1:
        raise errors.InvalidArgument(
            f"the columns of {what} have {' and '.join(map(str, lengths))} records"
            f" ({location.text()})"
        )
    return arrays


def _to_array(column, values, what):
    dtype, shape = column
    given = np.asarray(values)
    if given.size == 0 and given.ndim == 1:
        given = given.reshape(0, *shape).astype(dtypes.to_numpy(dtype))
    wanted = dtypes.to_numpy(dtype)
    fits = given.dtype == wanted or np.can_cast(given.dtype, wanted, "same_kind")
    if given.dtype.kind in "iu" and wanted.kind in "iu" and given.dtype != wanted:
        bounds = np.iinfo(wanted)
        fits = given.size == 0 or (given.min() >= bounds.min and given.max() <= bounds.max)
    if not fits or given.ndim != len(shape) + 1 or given.shape[1:] != shape:
        raise errors.InvalidArgument(
            f"{what} is {column_text(column)} for each record, found an array"
            f" {given.dtype}[{','.join(map(str, given.shape))}] ({location.text()})"
        )
    return given.astype(wanted, copy=False)


def to_weights(weights, what):
    """Returns: an array i64[n], or None where every record is there once."""
    if weights is None:
        return None
    return _to_array(("i64", ()), weights, f"weights of {what}")


class Records(tuple):
    """Records of a flow: a tuple with one NumPy array for each column, whose first axis counts the
    records.

    Attributes:
      weights: i64[n], how many times each record is there; below zero where it takes one back.
    """

    def __new__(cls, columns, weights):
        records = super().__new__(cls, columns)
        records.weights = weights
        return records

    @property
    def rows(self):
        """How many records there are, each counted once whatever its weight."""
        return len(self.weights)

    def __repr__(self):
        return f"weir.flow.Records({tuple(self)!r}, weights={self.weights!r})"
