"""Derivatives of reductions over windows.

Of elements that are equally the greatest (or least) of a window the first one counts.
"""

import numpy as np

from weir import core, dims
from weir import numpy as wnp
from weir.autodiff.products import dilated, require_known
from weir.autodiff.rules import RULES, Forward, Linear


def _sum_vjp(call, ct):
    (x,), attrs = call.ins, call.attrs
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    sizes, strides, base, dilations = (list(attrs[name]) for name in names)
    low, high = [], []
    for extent, size, stride, b, d, p, out in zip(
        x.shape, sizes, strides, base, dilations, attrs["padding_low"], ct.shape
    ):
        window = dilated(size, d)
        low.append(window - p - 1)
        if (size, stride, b, p) == (1, 1, 1, 0) and dims.same(extent, out):
            high.append(0)
            continue
        require_known(call.op, [extent, out])
        high.append(dilated(extent, b) + window - 1 - dilated(out, stride) - low[-1])
    back = {
        "kind": "sum",
        "window_dimensions": sizes,
        "window_strides": base,
        "base_dilations": strides,
        "window_dilations": dilations,
        "padding_low": low,
        "padding_high": high,
    }
    return [core.apply("reduce_window", [ct], back)]


class _Patches:
    """The windows of an operand, side by side."""

    def __init__(self, call):
        attrs = call.attrs
        self._shape = call.ins[0].shape
        self._out = call.outs[0].shape
        names = (
            "window_dimensions window_strides base_dilations window_dilations padding_low"
            " padding_high"
        ).split()
        columns = list(zip(*(attrs[name] for name in names)))
        # Axes of which each element is a window of its own stay as they are.
        self._moved = [i for i, column in enumerate(columns) if column != (1, 1, 1, 1, 0, 0)]
        self._kept = [i for i in range(len(columns)) if i not in self._moved]
        sizes = [self._shape[i] for i in self._moved] + [self._out[i] for i in self._moved]
        require_known(call.op, sizes)
        flat, inside = 0, True
        for axis in self._moved:
            places, fits = self._along(axis, columns[axis])
            flat = flat * self._shape[axis] + places
            inside = inside & fits
        outs = [self._out[axis] for axis in self._moved]
        count = int(np.prod([columns[axis][0] for axis in self._moved], dtype=int))
        places = int(np.prod(outs, dtype=int))
        # [windows, elements of one], the place of each in the joined axes, 0 for padding.
        self.places = np.broadcast_to(flat, (*outs, *self._sizes(columns))).reshape(places, count)
        self.inside = np.broadcast_to(inside, (*outs, *self._sizes(columns))).reshape(places, count)

    def _sizes(self, columns):
        return tuple(columns[axis][0] for axis in self._moved)

    def _along(self, axis, column):
        size, stride, base, dilation, low, _ = column
        starts = np.arange(self._out[axis]) * stride - low
        at = starts[:, None] + np.arange(size) * dilation
        fits = (at >= 0) & (at < dilated(self._shape[axis], base)) & (at % base == 0)
        k, count = self._moved.index(axis), len(self._moved)
        shape = [1] * (2 * count)
        shape[k], shape[count + k] = at.shape
        return np.where(fits, at // base, 0).reshape(shape), fits.reshape(shape)

    def joined(self, x):
        """Returns: `x` with the axes of the windows joined as the last one."""
        size = int(np.prod([self._shape[i] for i in self._moved], dtype=int))
        moved = core.transpose(x, self._kept + self._moved)
        return core.reshape(moved, (*(self._shape[i] for i in self._kept), size))

    def apart(self, x):
        """Returns: a result of each window as the op has it."""
        order = self._kept + self._moved
        shape = [self._out[i] for i in order]
        return core.transpose(core.reshape(x, shape), [order.index(i) for i in range(len(order))])

    def each(self, joined, padding):
        """Returns: [..., windows, elements of one], with `padding` for what lies outside."""
        taken = joined[..., self.places]
        return wnp.where(core.as_array(self.inside), taken, padding)


def _extreme(call, tangents):
    patches = _Patches(call)
    worst = -np.inf if call.attrs["kind"] == "max" else np.inf
    each = patches.each(patches.joined(call.ins[0]), worst)
    find = wnp.argmax if call.attrs["kind"] == "max" else wnp.argmin
    which = find(each, axis=-1)
    places = core.broadcast_to(core.as_array(patches.places), each.shape)
    chosen = wnp.take_along_axis(places, which[..., None], axis=-1)[..., 0]
    moved = wnp.take_along_axis(patches.joined(tangents[0]), chosen, axis=-1)
    # A window that is all padding has no element.
    none = core.as_array(~patches.inside.any(axis=1))
    return [patches.apart(wnp.where(none, 0, moved))]


def _product(call, tangents):
    patches = _Patches(call)
    each = patches.each(patches.joined(call.ins[0]), 1)
    moved = patches.each(patches.joined(tangents[0]), 0)
    before, behind = (
        core.apply("cumprod", [each], {"axis": each.ndim - 1, "reverse": r, "exclusive": True})
        for r in (False, True)
    )
    return [patches.apart(wnp.sum(moved * (before * behind), axis=-1))]


_OF_KIND = {
    "sum": Linear(_sum_vjp),
    "max": Forward(_extreme),
    "min": Forward(_extreme),
    "prod": Forward(_product),
}


class _ByKind:
    """The rule of the kind of a call."""

    def jvp(self, call, tangents):
        return _OF_KIND[call.attrs["kind"]].jvp(call, tangents)

    def vjp(self, call, cts):
        return _OF_KIND[call.attrs["kind"]].vjp(call, cts)


RULES["reduce_window"] = _ByKind()
