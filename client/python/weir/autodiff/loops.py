"""Derivatives of loops.

Backward through a counted loop: the loop runs once more from the last trip to the first, and each
trip begins with what was carried into it, which the first run has kept, computes what it needs
again, and hands on the cotangents of the carry. A pfor stays a pfor.

What an iteration takes from around the loop gets the sum over all iterations; of what it takes by
gathering, only the elements that it took, and the sum is one scatter behind the loop.
"""

from weir import core, dims, errors, trace as tracing
from weir.autodiff import activity, replay
from weir.autodiff.indexing import clamped, scatter_attrs
from weir.autodiff.replay import Environment, Opened
from weir.autodiff.rules import filled, zeros_like
from weir.autodiff.walking import STRUCTURED, Backward, inner, push
from weir.indexing import take_row


def _index():
    index = core.scalar(0, "i64")
    index.is_index = True
    return index


def _own(args, flags):
    return [arg for arg, flag in zip(args, flags) if flag]


class _Takes:
    """The gathers of a body from an active array around it, by indices that depend on the trip."""

    def __init__(self, body, active):
        varying = _varying(body)
        self.nodes = [
            node
            for node in body.nodes
            if node.op == "gather" and node.inputs[0] in active and node.inputs[1] in varying
        ]
        self._body = body
        taken = {id(node) for node in self.nodes}
        others = [node for node in body.nodes if id(node) not in taken]
        used = {value for node in others for value in node.used()} | set(body.results)
        free = [value for value in body.free() if value in active]
        # Active values that the body uses otherwise too.
        self.whole = [value for value in free if value in used]
        self.in_order = [self._order_of(node) for node in self.nodes]

    def _order_of(self, node):
        """1 where trip i takes row i, -1 where it takes row n-1-i, else 0."""
        attrs, index = node.attrs, node.inputs[1]
        shape = replay.array_of(node.inputs[0]).shape
        is_row = (
            list(attrs["collapsed_slice_dims"]) == [0]
            and list(attrs["start_index_map"]) == [0]
            and not attrs["operand_batching_dims"]
            and attrs["index_vector_dim"] == 0
            and dims.same_shape(attrs["slice_sizes"][1:], shape[1:])
            and replay.array_of(index).shape == ()
        )
        if not is_row:
            return 0
        if index == self._body.args[0]:
            return 1
        for made in self._body.nodes:
            if index in made.outputs and made.op == "subtract":
                last = tracing.current().known.get(made.inputs[0])
                if made.inputs[1] == self._body.args[0] and last is not None:
                    return -1 if dims.same(_size(last) + 1, shape[0]) else 0
        return 0

    def collected(self, found, environment):
        """Returns: what each trip gives for the gathers: cotangents, and indices if needed."""
        arrays = []
        for node, order in zip(self.nodes, self.in_order):
            (output,) = environment.all(node.outputs)
            arrays.append(filled(found.get(node.outputs[0]), output))
            if not order:
                x, indices = environment.all(node.inputs)
                arrays.append(clamped(x, indices, node.attrs))
        return arrays

    def spread(self, stacked, environment, n, is_backward):
        """Returns: pairs of an array that was gathered from and what it gets."""
        stacked = iter(stacked)
        pairs = []
        for node, order in zip(self.nodes, self.in_order):
            x, _ = environment.all(node.inputs)
            rows = next(stacked)
            if order and dims.same(n, x.shape[0]):
                turned = (order == -1) != is_backward
                pairs.append((node.inputs[0], core.reverse(rows, [0]) if turned else rows))
                continue
            indices = self._places(node, order, n, is_backward) if order else next(stacked)
            attrs = _with_trips(node.attrs)
            placed = core.apply(
                "scatter", [zeros_like(x), indices, rows], scatter_attrs(attrs, "add")
            )
            pairs.append((node.inputs[0], placed))
        return pairs

    def _places(self, node, order, n, is_backward):
        places = core.iota((n,), 0, "i64")
        if is_backward:
            places = core.elementwise("subtract", n - 1, places)
        if order == -1:
            places = core.elementwise("subtract", _row_count(node) - 1, places)
        return core.reshape(places, (n, 1))


def _row_count(node):
    return replay.array_of(node.inputs[0]).shape[0]


def _size(number):
    return int(number) if dims.known(number) else number


def _varying(body):
    """Returns: the values of a body that depend on its arguments."""
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


# --- Counted loops.


class _For:
    """Of `for`: operands are the number of trips and the carry; arguments the index and the carry;
    results the next carry and what is collected.
    """

    def forward(self, node, environment, tangents):
        (body,) = node.bodies
        moving = activity.carried(body, set(tangents), [v in tangents for v in node.inputs[1:]])
        trips, *carry = environment.all(node.inputs)
        moved = [
            filled(tangents.get(value), x)
            for value, x, flag in zip(node.inputs[1:], carry, moving)
            if flag
        ]
        opened = Opened([_index(), *carry, *moved])
        args = opened.args[: len(body.args)]
        count = len(carry)
        with opened.inside():
            known = dict(tangents)
            known.update(zip(_own(body.args[1:], moving), opened.args[len(body.args) :]))
            results, changes = push(body, inner(environment, body, args), known)
            changes = [filled(t, x) if f else t for t, x, f in zip(changes, results, moving)] + (
                changes[count:]
            )
            ys = [t for t in changes[count:] if t is not None]
            opened.results = (
                results[:count] + _own(changes, moving) + results[count:] + ys
            )
        outputs = replay.structure("for", [trips, *carry, *moved], node.attrs, [opened])
        split = count + len(moved)
        behind = split + len(results) - count
        environment.put(node.outputs, outputs[:count] + outputs[split:behind])
        named = _own(node.outputs, moving)
        named += [v for v, t in zip(node.outputs[count:], changes[count:]) if t is not None]
        return dict(zip(named, outputs[count:split] + outputs[behind:]))

    def backward(self, node, environment, active):
        (body,) = node.bodies
        trips = self._trips(node)
        carry = environment.all(node.inputs[1:])
        moving = activity.carried(body, active, [v in active for v in node.inputs[1:]])
        needed = {value for each in body.nodes for value in each.used()} | set(body.results)
        kept = [arg in needed for arg in body.args[1:]]
        opened = Opened([_index(), *carry])
        with opened.inside():
            results = replay.run_body(body, inner(environment, body, opened.args))
            opened.results = results + _own(opened.args[1:], kept)
        attrs = {"extent": (trips,)} if len(opened.results) > len(carry) else {}
        operands = environment.all(node.inputs)
        outputs = replay.structure("for", operands, attrs, [opened])
        environment.put(node.outputs, outputs)
        saved = outputs[len(node.outputs) :]
        takes = _Takes(body, active)

        def step(cts):
            return self._back(node, environment, (trips, carry, moving, kept, saved, takes), cts)

        return step

    def _trips(self, node):
        trips = tracing.current().known.get(node.inputs[0])
        if trips is None:
            raise errors.NotDifferentiable(
                f"the loop at {replay.place_of(node)} has a number of trips that only the run"
                " knows, so what it carries cannot be kept for reverse mode; give fori_loop bounds"
                " that are Python integers, use weir.scan with a length, or forward mode (weir.jvp,"
                " weir.jacfwd)"
            )
        return max(_size(trips), 0) if dims.known(trips) else trips

    def _back(self, node, environment, kept_of_forward, cts):
        trips, carry, moving, kept, saved, takes = kept_of_forward
        (body,) = node.bodies
        count = len(carry)
        again = Environment(environment, again=True)
        last = [filled(ct, x) for ct, x, flag in zip(cts, carry, moving) if flag]
        sums = [zeros_like(x) for x in environment.all(takes.whole)]
        opened = Opened([_index(), *last, *sums])
        with opened.inside():
            back_index, *handed = opened.args
            index = core.elementwise("subtract", trips - 1, back_index)
            index.is_index = True
            rows = iter([take_row(x, index) for x in saved])
            # What is not needed may be anything.
            args = [next(rows) if flag else x for x, flag in zip(carry, kept)]
            own = inner(again, body, [index, *args])
            wanted = {*_own(body.args[1:], moving), *takes.whole}
            back = Backward(body, own, wanted, takes.nodes)
            given = iter(handed)
            inside = [next(given) if flag else None for flag in moving]
            inside += [None if ct is None else take_row(ct, index) for ct in cts[count:]]
            found = back.pull(inside)
            opened.results = [
                filled(found.get(arg), like)
                for arg, like in zip(_own(body.args[1:], moving), handed)
            ]
            opened.results += [
                total if found.get(value) is None else core.apply("add", [total, found[value]])
                for value, total in zip(takes.whole, given)
            ]
            opened.results += takes.collected(found, own)
        attrs = {"extent": (trips,)} if takes.nodes else {}
        operands = [environment[node.inputs[0]], *last, *sums]
        outputs = replay.structure("for", operands, attrs, [opened])
        pairs = zip(_own(node.inputs[1:], moving) + takes.whole, outputs)
        stacked = outputs[len(last) + len(sums) :]
        return [*pairs, *takes.spread(stacked, environment, trips, True)]


class _While:
    """Of `while`: forward mode only, as the number of trips is not known."""

    def forward(self, node, environment, tangents):
        test, body = node.bodies
        moving = activity.carried(body, set(tangents), [v in tangents for v in node.inputs])
        carry = environment.all(node.inputs)
        moved = [
            filled(tangents.get(value), x)
            for value, x, flag in zip(node.inputs, carry, moving)
            if flag
        ]
        opened = Opened([*carry, *moved])
        with opened.inside():
            known = dict(tangents)
            known.update(zip(_own(body.args, moving), opened.args[len(carry) :]))
            args = opened.args[: len(carry)]
            results, changes = push(body, inner(environment, body, args), known)
            pairs = zip(changes, results, moving)
            opened.results = results + [filled(t, x) for t, x, flag in pairs if flag]
        tested = Opened([*carry, *moved])
        with tested.inside():
            args = tested.args[: len(carry)]
            tested.results = replay.run_body(test, inner(environment, test, args))
        outputs = replay.structure("while", [*carry, *moved], node.attrs, [tested, opened])
        environment.put(node.outputs, outputs)
        return dict(zip(_own(node.outputs, moving), outputs[len(carry) :]))

    def backward(self, node, environment, active):
        raise errors.NotDifferentiable(
            f"the while_loop at {replay.place_of(node)} has no derivative in reverse mode (grad,"
            " vjp, jacrev), for which the number of its trips, and with it what is to be kept, must"
            " be known; use weir.scan or weir.fori_loop with Python integers as bounds, or forward"
            " mode (weir.jvp, weir.jacfwd)"
        )


# --- Loops over iterations that do not depend on one another.


class _Pfor:
    """Of `pfor`: the argument is the iteration, operands are none or their number."""

    def forward(self, node, environment, tangents):
        (body,) = node.bodies
        opened, args = self._open()
        with opened.inside(), self._loop(node, args[0]):
            results, moved = push(body, inner(environment, body, args), dict(tangents))
            opened.results = results + [t for t in moved if t is not None]
        outputs = replay.structure("pfor", environment.all(node.inputs), node.attrs, [opened])
        environment.put(node.outputs, outputs)
        named = [value for value, t in zip(node.outputs, moved) if t is not None]
        return dict(zip(named, outputs[len(node.outputs) :]))

    def backward(self, node, environment, active):
        (body,) = node.bodies
        replay.run_node(node, environment)
        takes = _Takes(body, active)

        def step(cts):
            opened, (index,) = self._open()
            again = Environment(environment, again=True)
            with opened.inside(), self._loop(node, index):
                own = inner(again, body, [index])
                back = Backward(body, own, takes.whole, takes.nodes)
                found = back.pull([None if ct is None else take_row(ct, index) for ct in cts])
                whole = [value for value in takes.whole if value in found]
                opened.results = [found[value] for value in whole]
                opened.results += takes.collected(found, own)
            outputs = replay.structure("pfor", environment.all(node.inputs), node.attrs, [opened])
            sums = [core.apply("reduce_sum", [x], {"axes": [0]}) for x in outputs[: len(whole)]]
            (count,) = node.attrs["extent"]
            stacked = outputs[len(whole) :]
            return [*zip(whole, sums), *takes.spread(stacked, environment, count, False)]

        return step

    @staticmethod
    def _open():
        opened = Opened([_index()])
        opened.args[0].is_index = True
        return opened, opened.args

    @staticmethod
    def _loop(node, index):
        return tracing.current().in_loop(index, "different", node.attrs["extent"][0])


STRUCTURED["for"] = _For()
STRUCTURED["while"] = _While()
STRUCTURED["pfor"] = _Pfor()
