"""Elements that a mask chooses, put one behind the other: what all operations do whose result has a
size that only the run knows.
"""

from weir import core, dims
from weir.lists import List


def places(mask):
    """Returns: the places where a bool vector holds, in order: a `List` with room for all."""
    count = mask.shape[0]
    chosen = core.cast(mask, "i64")
    line = core.iota((count,), 0, "i64")
    before = core.apply("cumsum", [chosen], {"axis": 0, "reverse": False, "exclusive": True})
    # What is not chosen goes behind the end, where updates are dropped.
    target = core.apply("select", [mask, before, core.full((count,), count, "i64")])
    target.is_index = True
    found = core.full((count,), 0, "i64").at[target].set(line)
    found.is_index = True
    return List(found, core.reduce("reduce_sum", chosen, [0], False))


def take(rows, chosen):
    """Returns: the rows of an array at the places of a `List`, zeros behind."""
    return cleared(rows[chosen.elements], chosen.size)


def cleared(rows, size):
    """Returns: the rows with zeros from `size` on."""
    return filled(rows, size, core.full(rows.shape, 0, rows.dtype_name))


def filled(rows, size, fill):
    """Returns: the rows with those of `fill` from `size` on."""
    line = core.iota(rows.shape[:1], 0, "i64")
    live = core.broadcast_in_dim(core.compare("less", line, size), rows.shape, [0])
    return core.apply("select", [live, rows, fill], weak_type=rows.weak_type)


def fixed(rows, size, length, fill_value):
    """Returns: the first `length` rows of a list, with `fill_value` from its size on."""
    capacity = rows.shape[0]
    if not dims.at_most(length, capacity):
        more = dims.larger(length - capacity, 0)
        more = core.full((more, *rows.shape[1:]), 0, rows.dtype_name)
        rows = core.concatenate([rows, more], 0)
    rows = core.slice_axis(rows, 0, 0, length)
    fill = core.broadcast_to(core.to_dtype(fill_value, rows.dtype_name), rows.shape)
    return filled(rows, size, fill)
