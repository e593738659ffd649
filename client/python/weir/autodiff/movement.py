"""Derivatives of ops that move elements: what goes where is turned round."""

from weir import core, dims
from weir.autodiff.rules import RULES, Linear, zero, zeros_like


def _reshape(call, ct):
    return [core.reshape(ct, call.ins[0].shape)]


def _transpose(call, ct):
    order = list(call.attrs["permutation"])
    return [core.transpose(ct, [order.index(i) for i in range(len(order))])]


def _broadcast(call, ct):
    (x,) = call.ins
    axes = list(call.attrs["axes"])
    repeated = [
        i
        for i in range(ct.ndim)
        if i not in axes
        or (dims.same(x.shape[axes.index(i)], 1) and not dims.same(ct.shape[i], 1))
    ]
    total = core.apply("reduce_sum", [ct], {"axes": repeated}) if repeated else ct
    # The axes that are left, in their order there.
    left = [axis for axis in sorted(axes) if axis not in repeated]
    own = [axis for axis in axes if axis not in repeated]
    total = core.transpose(total, [left.index(axis) for axis in own])
    return [core.reshape(total, x.shape)]


def _slice(call, ct):
    (x,) = call.ins
    start, limit, stride = (call.attrs[name] for name in ("start", "limit", "stride"))
    if not dims.known(*start, *limit, *x.shape):
        where = tuple(slice(*each) for each in zip(start, limit, stride))
        return [zeros_like(x).at[where].add(ct)]
    ends = [low + max(0, (n - 1) * s + 1) for low, n, s in zip(start, ct.shape, stride)]
    attrs = {
        "low": list(start),
        "high": [extent - end for extent, end in zip(x.shape, ends)],
        "interior": [s - 1 for s in stride],
    }
    return [core.apply("pad", [ct, core.scalar(0, ct.dtype_name)], attrs)]


def _dynamic_slice(call, ct):
    x, *starts = call.ins
    placed = core.apply("dynamic_update_slice", [zeros_like(x), ct, *starts])
    return [placed] + [None] * len(starts)


def _dynamic_update_slice(call, ct):
    _, update, *starts = call.ins
    kept = core.apply("dynamic_update_slice", [ct, zeros_like(update), *starts])
    moved = core.apply("dynamic_slice", [ct, *starts], {"sizes": tuple(update.shape)})
    return [kept, moved] + [None] * len(starts)


def _concatenate(call, ct):
    axis = call.attrs["axis"]
    found, start = [], 0
    for x in call.ins:
        end = start + x.shape[axis]
        found.append(core.reshape(core.slice_axis(ct, axis, start, end), x.shape))
        start = end
    return found


def _pad(call, ct):
    x, _ = call.ins
    low, high, interior = (list(call.attrs[name]) for name in ("low", "high", "interior"))
    back = {"low": [-n for n in low], "high": [-n for n in high], "interior": [0] * x.ndim}
    spread = core.apply("pad", [ct, core.scalar(0, ct.dtype_name)], back)
    own = core.slice_axes(spread, [0] * x.ndim, spread.shape, [n + 1 for n in interior])
    own = core.reshape(own, x.shape)
    everywhere = {"axes": list(range(x.ndim))}
    value = core.apply("reduce_sum", [ct], everywhere) - core.apply("reduce_sum", [own], everywhere)
    return [own, value]


def _reverse(call, ct):
    return [call.again(ct)]


RULES["reshape"] = Linear(_reshape)
RULES["transpose"] = Linear(_transpose)
RULES["broadcast_in_dim"] = Linear(_broadcast)
RULES["slice"] = Linear(_slice)
RULES["dynamic_slice"] = Linear(_dynamic_slice, 1)
RULES["dynamic_update_slice"] = Linear(_dynamic_update_slice, 2)
RULES["concatenate"] = Linear(_concatenate)
RULES["pad"] = Linear(_pad)
RULES["reverse"] = Linear(_reverse)
zero("constant iota get_dimension_size dimension_size", "it takes no floats")
