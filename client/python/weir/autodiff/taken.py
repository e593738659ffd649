"""What a loop takes from around it, of which the cotangents are made behind the loop.

An array around a loop gets the sum over all trips. Where a trip gathers from it, the rows that come
back are kept instead, and scattered once; where a trip multiplies with it, the two factors are, and
the sum is one product over the trips.
"""

from weir import core, dims, trace as tracing
from weir.autodiff import replay
from weir.autodiff.indexing import clamped, scatter_attrs
from weir.autodiff.products import operand_over_trips
from weir.autodiff.rules import Call, filled, zeros_like


class Taken:
    """Of one loop.

    Args:
      body: of the loop, whose first argument is the index.
      active: values whose cotangents are wanted.
      kinds: of what is looked for, from `Gather` and `Product`.

    Attributes:
      cuts: as `Backward` takes them.
      whole: active values around the loop that it uses otherwise, or too.
    """

    def __init__(self, body, active, kinds):
        varying = _varying(body)
        self._parts = [
            part for node in body.nodes for kind in kinds for part in kind.of(body, node, varying)
        ]
        self._parts = [part for part in self._parts if part.value in active]
        self.cuts = [(part.node, part.place) for part in self._parts]
        cut = {id(node): place for node, place in self.cuts}
        others = set(body.results)
        for node in body.nodes:
            if id(node) in cut:
                others.update(v for i, v in enumerate(node.inputs) if i != cut[id(node)])
            else:
                others.update(node.used())
        self.whole = [value for value in body.free() if value in active and value in others]

    def collected(self, found, environment):
        """Returns: what a trip gives, from the cotangents of one."""
        arrays = []
        for part in self._parts:
            (output,) = environment.all(part.node.outputs)
            arrays.append(filled(found.get(part.node.outputs[0]), output))
            arrays += part.collected(environment)
        return arrays

    def spread(self, stacked, environment, n, is_backward):
        """Returns: pairs of a value around the loop and what it gets.

        Args:
          stacked: what was collected, of all `n` trips.
          is_backward: whether the last one comes first.
        """
        stacked = iter(stacked)
        return [
            (part.value, part.spread(stacked, environment, n, is_backward))
            for part in self._parts
        ]


class Gather:
    """A gather from an array around the loop, by indices that depend on the trip."""

    place = 0

    @classmethod
    def of(cls, body, node, varying):
        """Returns: a list of it, if a node is one."""
        is_it = node.op == "gather" and node.inputs[0] not in varying and node.inputs[1] in varying
        return [cls(body, node)] if is_it else []

    def __init__(self, body, node):
        self.node = node
        self.value = node.inputs[0]
        self._body = body
        self._rows = replay.array_of(self.value).shape[0] if self._is_row() else None
        self._order = self._order_of() if self._is_row() else 0

    def _is_row(self):
        attrs = self.node.attrs
        shape = replay.array_of(self.value).shape
        return (
            list(attrs["collapsed_slice_dims"]) == [0]
            and list(attrs["start_index_map"]) == [0]
            and not attrs["operand_batching_dims"]
            and attrs["index_vector_dim"] == 0
            and dims.same_shape(attrs["slice_sizes"][1:], shape[1:])
            and replay.array_of(self.node.inputs[1]).shape == ()
        )

    def _order_of(self):
        """1 where trip i takes row i, -1 where it takes row n-1-i, else 0."""
        index, trip = self.node.inputs[1], self._body.args[0]
        if index == trip:
            return 1
        for made in self._body.nodes:
            if index in made.outputs and made.op == "subtract" and made.inputs[1] == trip:
                last = tracing.current().known.get(made.inputs[0])
                if last is not None and dims.same(size_of(last) + 1, self._rows):
                    return -1
        return 0

    def collected(self, environment):
        """Returns: the indices, unless they follow from the trip."""
        if self._order:
            return []
        x, indices = environment.all(self.node.inputs)
        return [clamped(x, indices, self.node.attrs)]

    def spread(self, stacked, environment, n, is_backward):
        """Returns: what the array gets."""
        x = environment[self.value]
        rows = next(stacked)
        if self._order and dims.same(n, self._rows):
            return core.reverse(rows, [0]) if (self._order == -1) != is_backward else rows
        indices = self._places(n, is_backward) if self._order else next(stacked)
        attrs = scatter_attrs(_with_trips(self.node.attrs), "add")
        return core.apply("scatter", [zeros_like(x), indices, rows], attrs)

    def _places(self, n, is_backward):
        places = core.iota((n,), 0, "i64")
        if is_backward:
            places = core.elementwise("subtract", n - 1, places)
        if self._order == -1:
            places = core.elementwise("subtract", self._rows - 1, places)
        return core.reshape(places, (n, 1))


class Product:
    """A product with an array around the loop, of what depends on the trip."""

    @classmethod
    def of(cls, body, node, varying):
        """Returns: a list of it, if a node is one."""
        if node.op != "dot_general":
            return []
        places = [i for i in (0, 1) if node.inputs[i] not in varying]
        return [cls(node, places[0])] if len(places) == 1 else []

    def __init__(self, node, place):
        self.node = node
        self.place = place
        self.value = node.inputs[place]

    def collected(self, environment):
        """Returns: the other factor."""
        return [environment[self.node.inputs[1 - self.place]]]

    def spread(self, stacked, environment, n, is_backward):
        """Returns: what the array gets."""
        ct, other = next(stacked), next(stacked)
        operands = [replay.array_of(value) for value in self.node.inputs]
        call = Call(self.node.op, self.node.attrs, operands, [], [])
        return operand_over_trips(call, self.place, ct, other)


def size_of(number):
    """Returns: a size that a constant holds."""
    return int(number) if dims.known(number) else number


def _varying(body):
    """The values of a body that depend on its arguments."""
    varying = set(body.args)
    for node in body.nodes:
        if not varying.isdisjoint(node.used()):
            varying.update(node.outputs)
    return varying


def _with_trips(attrs):
    """A gather by the indices of all trips, stacked in front of its results."""
    return {
        **attrs,
        "offset_dims": [i + 1 for i in attrs["offset_dims"]],
        "start_indices_batching_dims": [i + 1 for i in attrs["start_indices_batching_dims"]],
        "index_vector_dim": attrs["index_vector_dim"] + 1,
    }
