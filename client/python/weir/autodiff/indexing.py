"""Derivatives of gather and scatter."""

import numpy as np

from weir import core, dims
from weir import numpy as wnp
from weir.autodiff.rules import RULES, Linear, Pair, filled, plus, zeros_like

_NAMES = {
    "offset_dims": "update_window_dims",
    "collapsed_slice_dims": "inserted_window_dims",
    "operand_batching_dims": "input_batching_dims",
    "start_indices_batching_dims": "scatter_indices_batching_dims",
    "start_index_map": "scatter_dims_to_operand_dims",
    "index_vector_dim": "index_vector_dim",
}
_TO_GATHER = {theirs: ours for ours, theirs in _NAMES.items()}


def scatter_attrs(attrs, combiner):
    """Returns: attributes of the scatter whose updates lie as the slices of this gather."""
    return {theirs: attrs[ours] for ours, theirs in _NAMES.items()} | {"combiner": combiner}


def _gather_attrs(attrs, sizes):
    return {ours: attrs[theirs] for theirs, ours in _TO_GATHER.items()} | {"slice_sizes": sizes}


def _per_axis(indices, numbers, at):
    """Returns: one number for each component of the index vectors, i64, as broadcast to them."""
    if at == indices.ndim:
        return core.broadcast_to(core.scalar(numbers[0], "i64"), indices.shape)
    if dims.known(*numbers):
        line = core.constant(np.array(numbers, np.int64))
    else:
        line = core.concatenate(
            [core.reshape(core.scalar(number, "i64"), (1,)) for number in numbers], 0
        )
    return core.broadcast_in_dim(line, indices.shape, [at])


def _places(indices):
    """Returns: indices as i64; large ones of u64 stay far outside."""
    if indices.dtype_name == "u64":
        indices = core.elementwise("minimum", indices, core.scalar(2**62, "u64"))
    return core.cast(indices, "i64")


def clamped(x, indices, attrs):
    """Returns: the indices of a gather as it reads them, i64: slices lie inside."""
    axes = list(attrs["start_index_map"])
    indices = _places(indices)
    if not axes:
        return indices
    most = [dims.larger(x.shape[axis] - attrs["slice_sizes"][axis], 0) for axis in axes]
    at = attrs["index_vector_dim"]
    limits = _per_axis(indices, most, at)
    return core.apply("clamp", [core.full(indices.shape, 0, "i64"), indices, limits])


def _gather(call, ct):
    x, indices = call.ins
    attrs = scatter_attrs(call.attrs, "add")
    where = clamped(x, indices, call.attrs)
    return [core.apply("scatter", [zeros_like(x), where, ct], attrs), None]


class _Updates:
    """How the updates of a scatter lie on its operand."""

    def __init__(self, call):
        self._attrs = call.attrs
        self.indices = _places(call.ins[1])
        self._shape = call.ins[0].shape
        self._like = call.ins[2]
        dropped = (*call.attrs["inserted_window_dims"], *call.attrs["input_batching_dims"])
        window = [axis for axis in range(len(self._shape)) if axis not in dropped]
        sizes = [self._like.shape[i] for i in call.attrs["update_window_dims"]]
        self._sizes = [1] * len(self._shape)
        for axis, size in zip(window, sizes):
            self._sizes[axis] = size

    def _batch_axes(self):
        window = self._attrs["update_window_dims"]
        return [i for i in range(self._like.ndim) if i not in window]

    def taken(self, x):
        """Returns: the elements of `x` on which the updates lie, 0 where they lie outside."""
        mapped = list(self._attrs["scatter_dims_to_operand_dims"])
        if not mapped:
            return core.apply("gather", [x, self.indices], self._gather())
        at = self._attrs["index_vector_dim"]
        sizes = [self._sizes[axis] for axis in mapped]
        extents = [self._shape[axis] for axis in mapped]
        has_all = all(dims.at_most(1, extent) for extent in extents)
        if has_all and all(dims.same(size, 1) for size in sizes):
            last = _per_axis(self.indices, [extent - 1 for extent in extents], at)
            found = core.apply("gather", [x, self.indices], self._gather())
            return wnp.where(self._inside(last, at), found, 0)
        pads = [0] * x.ndim
        for axis, size in zip(mapped, sizes):
            pads[axis] = size
        attrs = {"low": pads, "high": pads, "interior": [0] * x.ndim}
        padded = core.apply("pad", [x, core.scalar(0, x.dtype_name)], attrs)
        shift = _per_axis(self.indices, sizes, at)
        return core.apply("gather", [padded, self.indices + shift], self._gather())

    def _gather(self):
        return _gather_attrs(self._attrs, tuple(self._sizes))

    def _inside(self, last, at):
        low = core.compare("greater_equal", self.indices, 0)
        inside = core.apply("and", [low, core.compare("less_equal", self.indices, last)])
        if at < self.indices.ndim:
            inside = core.apply("reduce_and", [inside], {"axes": [at]})
        return core.broadcast_in_dim(inside, self._like.shape, self._batch_axes())

    def are_distinct(self):
        """Whether no two of them can lie on one element."""
        if self._attrs.get("unique_indices"):
            return True
        at = self._attrs["index_vector_dim"]
        batching = self._attrs["scatter_indices_batching_dims"]
        counts = [n for i, n in enumerate(self.indices.shape) if i != at and i not in batching]
        return all(dims.same(n, 1) for n in counts)

    def scattered(self, onto, updates, combiner):
        """Returns: the scatter of other updates."""
        attrs = {**self._attrs, "combiner": combiner}
        return core.apply("scatter", [onto, self.indices, updates], attrs)


def _set_vjp(call, ct):
    x, _, updates = call.ins
    lie = _Updates(call)
    kept = lie.scattered(ct, zeros_like(updates), "set")
    if lie.are_distinct():
        return [kept, None, lie.taken(ct)]
    # Of several updates of one element the last one counts: which it is.
    count = updates.size
    numbers = core.reshape(core.iota((count,), 0, "i64") + 1, updates.shape)
    winners = lie.scattered(core.full(x.shape, 0, "i64"), numbers, "set")
    sums = core.full((count + 1,), 0, ct.dtype_name).at[core.reshape(winners, (x.size,))]
    sums = sums.add(core.reshape(ct, (x.size,)))
    return [kept, None, core.reshape(core.slice_axis(sums, 0, 1, count + 1), updates.shape)]


def _others(call):
    """Returns: (what each operand element is multiplied by, each update), made of products alone,
    so that their derivatives are right where factors are 0.
    """
    x, _, updates = call.ins
    lie = _Updates(call)
    of_update = lie.taken(x)
    if not lie.are_distinct():
        of_update = of_update * _products_of_others(lie, x, updates)
    return lie.scattered(core.full(x.shape, 1, x.dtype_name), updates, "mul"), of_update


def _products_of_others(lie, x, updates):
    """Returns: for each update the product of the others of its element: of those before it and of
    those behind, when they are sorted by element.
    """
    count = updates.size
    if dims.same(count, 0):
        return updates
    numbers = core.reshape(core.iota((x.size,), 0, "i64") + 1, x.shape)
    element = core.reshape(lie.taken(numbers), (count,))
    order = wnp.argsort(element)
    element = wnp.take(element, order)
    factors = wnp.take(core.reshape(updates, (count,)), order)
    before, behind = (_running_others(factors, element, reverse) for reverse in (False, True))
    places = wnp.argsort(order)
    return core.reshape(wnp.take(before * behind, places), updates.shape)


def _running_others(factors, element, reverse):
    """Returns: the products of the factors in front of each that are of its element."""
    from weir import lax_names  # which is made of much else

    def join(first, second):
        goes_on = core.compare("equal", first[0], second[0])
        return second[0], wnp.where(goes_on, first[1] * second[1], second[1])

    # A factor counts from the next place on, where that is of the same element.
    shift, first = (-1, -1) if reverse else (1, 0)
    shifted = wnp.roll(factors, shift)
    ours = wnp.roll(element, shift).at[first].set(-1)
    own = wnp.where(core.compare("equal", ours, element), shifted, 1)
    return lax_names.associative_scan(join, (element, own), reverse=reverse)[1]


def _mul_jvp(call, tangents):
    of_x, of_updates = _others(call)
    x, _, updates = call.ins
    moved = filled(tangents[2], updates) * of_updates
    spread = _Updates(call).scattered(zeros_like(x), moved, "add")
    return plus(filled(tangents[0], x) * of_x, spread)


def _mul_vjp(call, ct):
    of_x, of_updates = _others(call)
    return [ct * of_x, None, _Updates(call).taken(ct) * of_updates]


def _shares(call):
    """Returns: the share that each operand element, and each update, has in the result: those that
    are equal to it have equal ones.
    """
    x, _, updates = call.ins
    (out,) = call.outs
    lie = _Updates(call)
    own = core.cast(core.compare("equal", x, out), out.dtype_name)
    theirs = core.cast(core.compare("equal", updates, lie.taken(out)), out.dtype_name)
    count = lie.scattered(own, theirs, "add")
    return own / count, theirs, count


def _extreme_jvp(call, tangents):
    x, _, updates = call.ins
    own, theirs, count = _shares(call)
    moved = _Updates(call).scattered(zeros_like(x), filled(tangents[2], updates) * theirs, "add")
    return plus(filled(tangents[0], x) * own, moved / count)


def _extreme_vjp(call, ct):
    own, theirs, count = _shares(call)
    return [ct * own, None, _Updates(call).taken(ct / count) * theirs]


def _add_vjp(call, ct):
    return [ct, None, _Updates(call).taken(ct)]


def _move_jvp(call, tangents):
    x, indices, updates = call.ins
    return call.again(filled(tangents[0], x), indices, filled(tangents[2], updates))


_OF_COMBINER = {
    "set": (_move_jvp, _set_vjp),
    "add": (_move_jvp, _add_vjp),
    "mul": (_mul_jvp, _mul_vjp),
    "min": (_extreme_jvp, _extreme_vjp),
    "max": (_extreme_jvp, _extreme_vjp),
}


def _scatter_jvp(call, tangents):
    return [_OF_COMBINER[call.attrs["combiner"]][0](call, tangents)]


def _scatter_vjp(call, cts):
    return _OF_COMBINER[call.attrs["combiner"]][1](call, cts[0])


RULES["gather"] = Linear(_gather, 1)
RULES["scatter"] = Pair(_scatter_jvp, _scatter_vjp)
