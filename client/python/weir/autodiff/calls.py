"""Derivatives of calls of `weir.function`s that do not call themselves: those of their bodies."""

from weir.autodiff import replay
from weir.autodiff.walking import STRUCTURED, Backward, inner, push


class _Call:
    """Of `call`: the callee runs in its place."""

    def forward(self, node, environment, tangents):
        body = replay.function_of(node)
        own = inner(environment, body, environment.all(node.inputs))
        pairs = zip(body.args, node.inputs)
        moved = {arg: tangents[value] for arg, value in pairs if value in tangents}
        results, moved = push(body, own, moved)
        environment.put(node.outputs, results)
        return {value: t for value, t in zip(node.outputs, moved) if t is not None}

    def backward(self, node, environment, active):
        body = replay.function_of(node)
        own = inner(environment, body, environment.all(node.inputs))
        args = {arg for arg, value in zip(body.args, node.inputs) if value in active}
        back = Backward(body, own, args)
        environment.put(node.outputs, back.results)

        def step(cts):
            found = back.pull(cts)
            pairs = zip(body.args, node.inputs)
            return [(value, found[arg]) for arg, value in pairs if arg in found]

        return step


STRUCTURED["call"] = _Call()
