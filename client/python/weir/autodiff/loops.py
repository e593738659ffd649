"""Derivatives of loops.

Backward through a counted loop: the loop runs once more from the last trip to the first, and each
trip begins with what was carried into it, which the first run has kept, computes what it needs
again, and hands on the cotangents of the carry. A pfor stays a pfor.

What iterations take from around the loop gets the sum over all of them, see `taken.py`.
"""

from weir import core, dims, errors, trace as tracing
from weir.autodiff import activity, replay
from weir.autodiff.replay import Environment, Opened
from weir.autodiff.rules import filled, zeros_like
from weir.autodiff.taken import Gather, Product, Taken, size_of
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
        taken = Taken(body, active, (Gather, Product))

        def step(cts):
            return self._back(node, environment, (trips, carry, moving, kept, saved, taken), cts)

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
        return max(size_of(trips), 0) if dims.known(trips) else trips

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
