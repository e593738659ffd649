"""From tangents to cotangents: a function that is linear in its tangents, walked back."""

from weir.autodiff import replay
from weir.autodiff.replay import Environment
from weir.autodiff.rules import zeros_like
from weir.autodiff.walking import Backward


def transposed(linear, call, cts):
    """Returns: the cotangents of the operands of a call.

    Args:
      linear: from the tangents of the operands (None for zero) to those of the results.
      cts: of the results.
    """
    places = [i for i, active in enumerate(call.active) if active]

    def tangents_of(arrays):
        tangents = [None] * len(call.ins)
        for i, array in zip(places, arrays):
            tangents[i] = array
        return tangents

    found = of_linear(
        lambda *arrays: linear(tangents_of(arrays)), [call.ins[i] for i in places], cts
    )
    return tangents_of(found)


def of_linear(linear, likes, cts):
    """Returns: the cotangents of the arguments of a linear function, arrays of the types of
    `likes`; None for those that are zero.
    """
    trace_body, moved, args = replay.record(linear, likes)
    kept = [(t, ct) for t, ct in zip(moved, cts) if t is not None and ct is not None]
    trace_body.results = [t.value for t, _ in kept]
    environment = Environment()
    environment.put(trace_body.args, [zeros_like(x) for x in args])
    back = Backward(trace_body, environment, set(trace_body.args))
    found = back.pull([ct for _, ct in kept])
    return [found.get(value) for value in trace_body.args]
