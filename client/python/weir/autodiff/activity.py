"""Which values of a body change when others do: those that are computed from them, through floats.
"""

from weir.autodiff import replay
from weir.autodiff.rules import ZERO
from weir.recording import Scope


def spread(nodes, active):
    """Returns: the `active` values with all outputs of the nodes that depend on them."""
    active = set(active)
    for node in nodes:
        active |= of_node(node, active)
    return active


def of_node(node, active):
    """Returns: which outputs of a node depend on the active values."""
    if node.op in ZERO or active.isdisjoint(node.used()):
        return set()
    if isinstance(node, Scope):
        return {value for value in node.outputs if node.rule.spreads and replay.is_inexact(value)}
    found = _RULES.get(node.op, _all)(node, active)
    return {value for value in found if replay.is_inexact(value)}


def results_of(body, active, args=()):
    """Returns: for each result of a body whether it depends on active values, or on one of `args`.
    """
    reached = spread(body.nodes, {*active, *args})
    return [value in reached for value in body.results]


def carried(body, active, initial):
    """Returns: for each value that a loop carries whether it depends on active values, when its
    first one does or not; `body.args` are the index and the carry.
    """
    args = body.args[len(body.args) - len(initial) :]
    found = list(initial)
    while True:
        results = results_of(body, active, [a for a, is_it in zip(args, found) if is_it])
        grown = [
            before or (after and replay.is_inexact(arg))
            for before, after, arg in zip(found, results, args)
        ]
        if grown == found:
            return found
        found = grown


def _all(node, active):
    return node.outputs


def _branches(node, active):
    columns = zip(*(results_of(body, active) for body in node.bodies))
    return [value for value, column in zip(node.outputs, columns) if any(column)]


def _for(node, active):
    (body,) = node.bodies
    moving = carried(body, active, [value in active for value in node.inputs[1:]])
    args = [a for a, is_it in zip(body.args[1:], moving) if is_it]
    collected = results_of(body, active, args)[len(moving) :]
    return [value for value, is_it in zip(node.outputs, moving + collected) if is_it]


def _while(node, active):
    moving = carried(node.bodies[1], active, [value in active for value in node.inputs])
    return [value for value, is_it in zip(node.outputs, moving) if is_it]


def _pfor(node, active):
    results = results_of(node.bodies[0], active)
    return [value for value, is_it in zip(node.outputs, results) if is_it]


def _call(node, active):
    body = replay.function_of(node)
    args = [arg for arg, value in zip(body.args, node.inputs) if value in active]
    results = results_of(body, active, args)
    return [value for value, is_it in zip(node.outputs, results) if is_it]


_RULES = {
    "if": _branches,
    "case": _branches,
    "for": _for,
    "while": _while,
    "pfor": _pfor,
    "call": _call,
}
