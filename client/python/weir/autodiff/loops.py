"""Derivatives of loops.

Backward through a counted loop: the loop runs once more from the last trip to the first, and each
trip begins with what was carried into it, which the first run has kept, computes what it needs
again, and hands on the cotangents of the carry. Where only the run knows how many trips there are,
fewer of them are kept. A pfor stays a pfor.

What iterations take from around the loop gets the sum over all of them, see `taken.py`.
"""

from weir import core, dims, trace as tracing
from weir.autodiff import activity, replay
from weir.autodiff.replay import Environment, Opened
from weir.autodiff.rules import filled, plus, zeros_like
from weir.autodiff.taken import Gather, Product, Taken, size_of
from weir.autodiff.unknown_trips import walk_back
from weir.autodiff.walking import STRUCTURED, Backward, inner, push
from weir.indexing import take_row


def _index():
    index = core.scalar(0, "i64")
    index.is_index = True
    return index


def _own(args, flags):
    return [arg for arg, flag in zip(args, flags) if flag]


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
        trips = tracing.current().known.get(node.inputs[0])
        if trips is None:
            return _of_unknown_trips(node, environment, active)
        trips = max(size_of(trips), 0) if dims.known(trips) else trips
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
        taken = Taken(body, active, (Gather, Product))

        def step(cts):
            return self._back(node, environment, (trips, carry, moving, kept, saved, taken), cts)

        return step

    def _back(self, node, environment, kept_of_forward, cts):
        trips, carry, moving, kept, saved, taken = kept_of_forward
        (body,) = node.bodies
        count = len(carry)
        again = Environment(environment, again=True)
        last = [filled(ct, x) for ct, x, flag in zip(cts, carry, moving) if flag]
        sums = [zeros_like(x) for x in environment.all(taken.whole)]
        opened = Opened([_index(), *last, *sums])
        with opened.inside():
            back_index, *handed = opened.args
            index = core.elementwise("subtract", trips - 1, back_index)
            index.is_index = True
            rows = iter([take_row(x, index) for x in saved])
            # What is not needed may be anything.
            args = [next(rows) if flag else x for x, flag in zip(carry, kept)]
            own = inner(again, body, [index, *args])
            wanted = {*_own(body.args[1:], moving), *taken.whole}
            back = Backward(body, own, wanted, taken.cuts)
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
                for value, total in zip(taken.whole, given)
            ]
            opened.results += taken.collected(found, own)
        attrs = {"extent": (trips,)} if taken.cuts else {}
        operands = [environment[node.inputs[0]], *last, *sums]
        outputs = replay.structure("for", operands, attrs, [opened])
        pairs = zip(_own(node.inputs[1:], moving) + taken.whole, outputs)
        stacked = outputs[len(last) + len(sums) :]
        return [*pairs, *taken.spread(stacked, environment, trips, True)]


class _While:
    """Of `while`: operands and results are the carry; bodies the test and the step."""

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
        test, body = node.bodies
        carried = [core.scalar(0, "i64"), *environment.all(node.inputs)]
        opened = Opened(carried)
        with opened.inside():
            trip, *args = opened.args
            results = replay.run_body(body, inner(environment, body, args))
            opened.results = [core.elementwise("add", trip, 1), *results]
        tested = Opened(carried)
        with tested.inside():
            args = tested.args[1:]
            tested.results = replay.run_body(test, inner(environment, test, args))
        trips, *outputs = replay.structure("while", carried, node.attrs, [tested, opened])
        carry = environment.all(node.inputs)
        environment.put(node.outputs, outputs)
        walk = _Walk(body, node.inputs, environment, active, lambda trip: [])
        return lambda cts: walk.back(trips, carry, cts)


class _Walk:
    """Backward through a loop whose trips only the run knows, see `unknown_trips.py`.

    Args:
      inputs: values, what is carried into the first trip.
      leading: from the trip to arguments of the body in front of what is carried.
    """

    def __init__(self, body, inputs, environment, active, leading):
        self._body = body
        self._inputs = inputs
        self._environment = environment
        self._leading = leading
        self._moving = activity.carried(body, active, [v in active for v in inputs])
        self._whole = [value for value in body.free() if value in active]

    def back(self, trips, carry, cts):
        """Returns: pairs of values and what they get, from the cotangents of what is carried out of
        `trips` trips, into whose first one comes `carry`.
        """
        again = Environment(self._environment, again=True)
        last = [filled(ct, x) for ct, x, flag in zip(cts, carry, self._moving) if flag]
        sums = [zeros_like(x) for x in self._environment.all(self._whole)]

        def step(trip, arrays):
            args = [*self._leading(trip), *arrays]
            return replay.run_body(self._body, inner(again, self._body, args))

        def back(trip, arrays, state):
            own = inner(again, self._body, [*self._leading(trip), *arrays])
            return self._one_back(own, state)

        gotten = walk_back(trips, carry, step, back, [*last, *sums])
        return [*zip(_own(self._inputs, self._moving) + self._whole, gotten)]

    def _one_back(self, own, state):
        args = _own(self._body.args[-len(self._moving) :], self._moving)
        back = Backward(self._body, own, {*args, *self._whole})
        given = iter(state)
        found = back.pull([next(given) if flag else None for flag in self._moving])
        handed = [filled(found.get(arg), like) for arg, like in zip(args, state)]
        return handed + [plus(found.get(value), total) for value, total in zip(self._whole, given)]


def _of_unknown_trips(node, environment, active):
    """Backward through such a `for`."""
    (body,) = node.bodies
    trips, *carry = environment.all(node.inputs)
    replay.run_node(node, environment)

    def leading(trip):
        trip.is_index = True
        return [trip]

    walk = _Walk(body, node.inputs[1:], environment, active, leading)
    some = core.elementwise("maximum", trips, 0)
    return lambda cts: walk.back(some, carry, cts)


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
        taken = Taken(body, active, (Gather,))

        def step(cts):
            opened, (index,) = self._open()
            again = Environment(environment, again=True)
            with opened.inside(), self._loop(node, index):
                own = inner(again, body, [index])
                back = Backward(body, own, taken.whole, taken.cuts)
                found = back.pull([None if ct is None else take_row(ct, index) for ct in cts])
                whole = [value for value in taken.whole if value in found]
                opened.results = [found[value] for value in whole]
                opened.results += taken.collected(found, own)
            outputs = replay.structure("pfor", environment.all(node.inputs), node.attrs, [opened])
            sums = [core.apply("reduce_sum", [x], {"axes": [0]}) for x in outputs[: len(whole)]]
            (count,) = node.attrs["extent"]
            stacked = outputs[len(whole) :]
            return [*zip(whole, sums), *taken.spread(stacked, environment, count, False)]

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
