"""Derivatives of reductions and running ones.

Elements that are equally the greatest (or least) of a reduction have equal shares, as in JAX; of a
running one the first of them counts.
"""

from weir import core, dims
from weir import numpy as wnp
from weir.autodiff.rules import RULES, Linear, rule, zero


def _spread(reduced, like, axes):
    """A reduction, for each element of what was reduced."""
    kept = [i for i in range(like.ndim) if i not in axes]
    return core.broadcast_in_dim(reduced, like.shape, kept)


def _sum(call, ct):
    (x,) = call.ins
    return [_spread(ct, x, call.attrs["axes"])]


@rule("reduce_max", "reduce_min")
def _extreme(call, tangents):
    (x,), (out,) = call.ins, call.outs
    axes = {"axes": list(call.attrs["axes"])}
    is_it = core.cast(core.compare("equal", x, _spread(out, x, axes["axes"])), x.dtype_name)
    count = core.apply("reduce_sum", [is_it], axes)
    return [core.apply("reduce_sum", [tangents[0] * is_it], axes) / count]


@rule("reduce_prod")
def _product(call, tangents):
    (x,), axes = call.ins, list(call.attrs["axes"])
    if not axes:
        return [tangents[0]]
    line, axis, _ = core.join_axes(x, axes)
    moved, _, _ = core.join_axes(tangents[0], axes)
    before, behind = (
        core.apply("cumprod", [line], {"axis": axis, "reverse": reverse, "exclusive": True})
        for reverse in (False, True)
    )
    return [core.apply("reduce_sum", [moved * (before * behind)], {"axes": [axis]})]


def _cumsum(call, ct):
    return [call.again(ct, reverse=not call.attrs["reverse"])]


@rule("cumprod")
def _cumprod(call, tangents):
    (x,), axis = call.ins, call.attrs["axis"]
    is_reverse, exclusive = call.attrs["reverse"], call.attrs["exclusive"]
    before = call.again(x, exclusive=True)
    out = _recurrence(x, before * tangents[0], axis, is_reverse)
    return [_shifted(out, axis, is_reverse) if exclusive else out]


def _recurrence(a, b, axis, is_reverse):
    """Returns: y with y[i] = a[i] y[i-1] + b[i] along an axis."""
    from weir import carried, lax_names  # which are made of much else

    if dims.known(a.shape[axis]):

        def join(first, second):
            return first[0] * second[0], second[0] * first[1] + second[1]

        return lax_names.associative_scan(join, (a, b), reverse=is_reverse, axis=axis)[1]

    def step(y, row):
        y = row[0] * y + row[1]
        return y, y

    order = [axis, *(i for i in range(a.ndim) if i != axis)]
    rows = tuple(core.transpose(x, order) for x in (a, b))
    first = core.full(rows[0].shape[1:], 0, a.dtype_name)
    _, ys = carried.scan(step, first, rows, reverse=is_reverse)
    return core.transpose(ys, [order.index(i) for i in range(a.ndim)])


def _shifted(x, axis, is_reverse):
    """Each element one place on, and 0 for the first."""
    low, high = [0] * x.ndim, [0] * x.ndim
    low[axis], high[axis] = (-1, 1) if is_reverse else (1, -1)
    attrs = {"low": low, "high": high, "interior": [0] * x.ndim}
    if dims.same(x.shape[axis], 0):
        return x
    return core.reshape(core.apply("pad", [x, core.scalar(0, x.dtype_name)], attrs), x.shape)


@rule("cummax", "cummin")
def _running_extreme(call, tangents):
    (x,), axis = call.ins, call.attrs["axis"]
    is_reverse = call.attrs["reverse"]
    before = call.again(x, exclusive=True)
    is_new = core.compare("greater" if call.op == "cummax" else "less", x, before)
    places = core.iota(x.shape, axis, "i64")
    if is_reverse:
        places = core.elementwise("subtract", x.shape[axis] - 1, places)
    found = core.apply(
        "cummax",
        [wnp.where(is_new, places, 0)],
        {"axis": axis, "reverse": is_reverse, "exclusive": False},
    )
    if is_reverse:
        found = core.elementwise("subtract", x.shape[axis] - 1, found)
    out = wnp.take_along_axis(tangents[0], found, axis=axis)
    return [_shifted(out, axis, is_reverse) if call.attrs["exclusive"] else out]


RULES["reduce_sum"] = Linear(_sum)
RULES["cumsum"] = Linear(_cumsum)
zero("reduce_and reduce_or argmax argmin", "its results are no floats")
