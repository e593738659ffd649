"""Derivatives of branches: those of the branch that runs, which computes what it needs again.

So nothing is kept of a branch, and nothing computed for one that does not run.
"""

from weir.autodiff import activity, replay
from weir.autodiff.replay import Environment, Opened
from weir.autodiff.rules import filled
from weir.autodiff.walking import STRUCTURED, Backward, inner, push


class _Branches:
    """Of `if` and `case`."""

    def forward(self, node, environment, tangents):
        moving = activity.of_node(node, set(tangents))
        wanted = [i for i, value in enumerate(node.outputs) if value in moving]
        regions = []
        for body in node.bodies:
            opened = Opened([])
            with opened.inside():
                results, moved = push(body, Environment(environment), dict(tangents))
                opened.results = results + [filled(moved[i], results[i]) for i in wanted]
            regions.append(opened)
        outputs = replay.structure(node.op, environment.all(node.inputs), node.attrs, regions)
        environment.put(node.outputs, outputs)
        return dict(zip([node.outputs[i] for i in wanted], outputs[len(node.outputs) :]))

    def backward(self, node, environment, active):
        replay.run_node(node, environment)
        captured = [value for value in node.used() if value in active]

        def step(cts):
            again = Environment(environment, again=True)
            regions = []
            for body in node.bodies:
                opened = Opened([])
                with opened.inside():
                    back = Backward(body, inner(again, body, []), captured)
                    found = back.pull(cts)
                    likes = environment.all(captured)
                    opened.results = [
                        filled(found.get(value), x) for value, x in zip(captured, likes)
                    ]
                regions.append(opened)
            outputs = replay.structure(node.op, environment.all(node.inputs), node.attrs, regions)
            return list(zip(captured, outputs))

        return step


STRUCTURED["if"] = STRUCTURED["case"] = _Branches()
