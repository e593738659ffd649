"""The form in which JAX calls ops: attributes by position, operands in a list, some left out."""

from weir import core

# What a call need not name, by op.
_DEFAULTS = {
    "argmax": {"dtype": "i32"},
    "argmin": {"dtype": "i32"},
    "cummax": {"axis": 0, "reverse": False, "exclusive": False},
    "cummin": {"axis": 0, "reverse": False, "exclusive": False},
    "cumprod": {"axis": 0, "reverse": False, "exclusive": False},
    "cumsum": {"axis": 0, "reverse": False, "exclusive": False},
    "sort": {"axis": -1, "descending": False, "is_stable": True},
}
# The first operand that is a start, by op: these are i64 whatever they are given as.
_STARTS = {"dynamic_slice": 1, "dynamic_update_slice": 2}


def taken_apart(row, operands, attrs):
    """Returns: (operands, attributes) of a call.

    Behind the operands, which may stand in a list where an op takes any number of them, attributes
    follow in the order of the op table.
    """
    operands, rest = list(operands), []
    if row["max_inputs"] is None:
        places = [i for i, x in enumerate(operands) if isinstance(x, (list, tuple))]
        if not places and row["name"] == "sort" and type(operands[-1]) is int:
            operands, rest = operands[:-1], operands[-1:]
        if places:
            first = places[0]
            rest = operands[first + 1 :]
            operands = operands[:first] + list(operands[first])
    else:
        operands, rest = operands[: row["max_inputs"]], operands[row["max_inputs"] :]
    names = [name for name, *_ in row["attrs"]]
    if len(rest) > len(names):
        raise TypeError(
            f"{row['name']} takes at most {row['max_inputs']} operands and {len(names)} attributes"
            f" by position, found {len(operands) + len(rest)}"
        )
    named = dict(zip(names, rest))
    for name in named:
        if name in attrs:
            raise TypeError(f"{row['name']} got the attribute '{name}' twice")
    starts = _STARTS.get(row["name"], len(operands))
    operands[starts:] = [core.to_dtype(x, "i64") for x in operands[starts:]]
    return operands, _DEFAULTS.get(row["name"], {}) | named | attrs


def with_axes_from_the_front(row, attrs, arrays):
    """Returns: the attributes, in which negative axes are counted from the end of operand 0."""
    if not arrays or row["name"] == "broadcast_in_dim":
        return attrs
    ndim = arrays[0].ndim
    found = dict(attrs)
    axis, axes = found.get("axis"), found.get("axes")
    if isinstance(axis, int) and axis < 0:
        found["axis"] = core.canonical_axis(axis, ndim)
    if isinstance(axes, (list, tuple)) and any(isinstance(a, int) and a < 0 for a in axes):
        found["axes"] = list(core.canonical_axes(axes, ndim))
    if row["name"] == "slice" and "stride" not in found:
        found["stride"] = [1] * ndim
    return found
