"""Derivatives of reductions over windows.

Of elements that are equally the greatest (or least) of a window the first one counts.
"""

import numpy as np

from weir import core, dims
from weir import numpy as wnp
from weir.autodiff.products import dilated, require_known
from weir.autodiff.rules import RULES, Forward, Linear, Pair, zeros_like


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
        shape = (*outs, *(columns[axis][0] for axis in self._moved))
        # [elements of one, windows], the place of each in the joined axes, 0 for padding.
        self.places = np.broadcast_to(flat, shape).reshape(places, count).T
        self.inside = np.broadcast_to(inside, shape).reshape(places, count).T

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

    def results(self, x):
        """Returns: results of the op with the windows as the last axis."""
        moved = core.transpose(x, self._kept + self._moved)
        return core.reshape(moved, (*(self._shape[i] for i in self._kept), self.places.shape[1]))

    def apart(self, x):
        """Returns: a result of each window as the op has it."""
        order = self._kept + self._moved
        shape = [self._out[i] for i in order]
        return core.transpose(core.reshape(x, shape), [order.index(i) for i in range(len(order))])

    def back(self, x):
        """Returns: [..., elements] with the axes that are joined apart, as the operand has them."""
        order = self._kept + self._moved
        moved = core.reshape(x, [self._shape[i] for i in order])
        return core.transpose(moved, [order.index(i) for i in range(len(order))])

    def of_elements(self):
        """Returns: (int [most, elements], the windows in which each element lies; bool, whether
        there are as many).
        """
        size = int(np.prod([self._shape[i] for i in self._moved], dtype=int))
        windows = np.broadcast_to(np.arange(self.places.shape[1]), self.places.shape)
        elements, windows = self.places[self.inside], windows[self.inside]
        order = np.argsort(elements, kind="stable")
        elements, windows = elements[order], windows[order]
        starts = np.searchsorted(elements, np.arange(size))
        number = np.arange(len(elements)) - starts[elements]
        most = int(number.max(initial=0)) + 1
        table, has = np.zeros((most, size), np.int64), np.zeros((most, size), bool)
        table[number, elements], has[number, elements] = windows, True
        return table, has

    def each(self, joined, padding):
        """Returns: [..., elements of one, windows], with `padding` for what lies outside."""
        taken = joined[..., self.places]
        return wnp.where(core.as_array(self.inside), taken, padding)


def _first(call, patches):
    """Returns: for each window the place of its first extreme element, in the joined axes; their
    size where a window is all padding.
    """
    x = patches.joined(call.ins[0])
    out = patches.results(call.outs[0])
    # Elements of a window have ascending places.
    places = core.as_array(np.where(patches.inside, patches.places, x.shape[-1]))
    is_it = core.compare("equal", x[..., patches.places], core.expand_dims(out, [out.ndim - 1]))
    return wnp.min(wnp.where(is_it, places, x.shape[-1]), axis=-2)


class _Tiles:
    """Windows that lie side by side, each element in one of them: a window is axes of its own, and
    nothing has to be looked up.
    """

    def __init__(self, call):
        self._x, self._out = call.ins[0], call.outs[0]
        sizes = call.attrs["window_dimensions"]
        self._shape, self._at, self._inner = [], [], []
        for extent, size in zip(self._out.shape, sizes):
            self._at.append(len(self._shape))
            self._shape.append(extent)
            if size != 1:
                self._inner.append(len(self._shape))
                self._shape.append(size)
        sizes = [self._shape[i] for i in self._inner]
        count = int(np.prod(sizes, dtype=int))
        numbers = core.constant(np.arange(count, dtype=np.int32).reshape(sizes))
        places = core.broadcast_in_dim(numbers, self._shape, self._inner)
        is_it = core.compare("equal", self.apart(self._x), self.spread(self._out))
        first = wnp.min(wnp.where(is_it, places, count), axis=tuple(self._inner))
        # Where an element is the first extreme one of its window.
        self.is_first = core.compare("equal", places, self.spread(first))

    @staticmethod
    def fit(call):
        """Whether the windows lie so."""
        attrs = call.attrs
        names = ("base_dilations", "window_dilations", "padding_low", "padding_high")
        plain = all(column == (1, 1, 0, 0) for column in zip(*(attrs[name] for name in names)))
        sizes = attrs["window_dimensions"]
        return (
            plain
            and tuple(sizes) == tuple(attrs["window_strides"])
            and any(size != 1 for size in sizes)
            and dims.same_shape(
                [n * size for n, size in zip(call.outs[0].shape, sizes)], call.ins[0].shape
            )
        )

    def apart(self, x):
        """Returns: of the operand's shape, windows apart."""
        return core.reshape(x, self._shape)

    def joined(self, x):
        """Returns: the other way."""
        return core.reshape(x, self._x.shape)

    def spread(self, x):
        """Returns: of the result's shape, each for all elements of its window."""
        return core.broadcast_in_dim(x, self._shape, self._at)

    def summed(self, x):
        """Returns: the sums over windows."""
        return wnp.sum(x, axis=tuple(self._inner))


def _has_none(call):
    return 0 in (*call.ins[0].shape, *call.outs[0].shape)


def _extreme_jvp(call, tangents):
    if _has_none(call):
        return [zeros_like(call.outs[0])]
    if _Tiles.fit(call):
        tiles = _Tiles(call)
        return [tiles.summed(wnp.where(tiles.is_first, tiles.apart(tangents[0]), 0))]
    patches = _Patches(call)
    first = _first(call, patches)
    moved = patches.joined(tangents[0])
    size = moved.shape[-1]
    taken = wnp.take_along_axis(moved, wnp.minimum(first, size - 1), axis=-1)
    return [patches.apart(wnp.where(core.compare("less", first, size), taken, 0))]


def _extreme_vjp(call, cts):
    """Each element asks the windows in which it lies."""
    if _has_none(call):
        return [zeros_like(call.ins[0])]
    if _Tiles.fit(call):
        tiles = _Tiles(call)
        return [tiles.joined(wnp.where(tiles.is_first, tiles.spread(cts[0]), 0))]
    patches = _Patches(call)
    windows, has = patches.of_elements()
    first = _first(call, patches)[..., windows]
    is_it = core.compare("equal", first, core.iota(first.shape, first.ndim - 1, "i64"))
    found = wnp.where(is_it & core.as_array(has), patches.results(cts[0])[..., windows], 0)
    return [patches.back(wnp.sum(found, axis=-2))]


def _product(call, tangents):
    patches = _Patches(call)
    each = patches.each(patches.joined(call.ins[0]), 1)
    moved = patches.each(patches.joined(tangents[0]), 0)
    before, behind = (
        core.apply("cumprod", [each], {"axis": each.ndim - 2, "reverse": r, "exclusive": True})
        for r in (False, True)
    )
    return [patches.apart(wnp.sum(moved * (before * behind), axis=-2))]


_OF_KIND = {
    "sum": Linear(_sum_vjp),
    "max": Pair(_extreme_jvp, _extreme_vjp),
    "min": Pair(_extreme_jvp, _extreme_vjp),
    "prod": Forward(_product),
}


class _ByKind:
    """The rule of the kind of a call."""

    def jvp(self, call, tangents):
        return _OF_KIND[call.attrs["kind"]].jvp(call, tangents)

    def vjp(self, call, cts):
        return _OF_KIND[call.attrs["kind"]].vjp(call, cts)


RULES["reduce_window"] = _ByKind()
