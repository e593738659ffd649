"""Forward and backward through what was recorded.

`push` runs a body with its tangents beside it. `Backward` runs it, and keeps for each
operation what its cotangents need; `pull` then walks back. What has regions is in `STRUCTURED`:
branches, loops and calls, each with both ways.
"""

from weir import errors, location
from weir.autodiff import activity, replay
from weir.autodiff.replay import Environment
from weir.autodiff.rules import REFUSED, RULES, Call, plus
from weir.recording import Body, Node, Scope

# By op: modules with `forward(node, environment, tangents)`, which runs the node and gives the
# tangents of its outputs, by value; and `backward(node, environment, active)`, which runs it and
# gives a function from the cotangents of its outputs to pairs of other values and what they get.
STRUCTURED = {}


def rule_of(node):
    """Returns: the rule of an op. Raises: NotDifferentiable naming op and line if there is none."""
    found = RULES.get(node.op)
    if found is not None:
        return found
    why = REFUSED.get(node.op, "no rule is known for it")
    raise errors.NotDifferentiable(
        f"{node.op} at {replay.place_of(node)} has no derivative: {why}; use weir.stop_gradient on"
        " its operands, or weir.custom_vjp or weir.custom_jvp around it"
    )


def _call_of(node, environment, active):
    return Call(
        node.op,
        node.attrs,
        environment.all(node.inputs),
        environment.all(node.outputs),
        [value in active for value in node.inputs],
    )


# --- Forward mode.


def push(body, environment, tangents):
    """Runs the nodes of a body with tangents.

    Args:
      tangents: arrays by value, to which those of the results are added.

    Returns: (the results, their tangents, None for zero).
    """
    for node in body.nodes:
        push_node(node, environment, tangents)
    return environment.all(body.results), [tangents.get(value) for value in body.results]


def push_node(node, environment, tangents):
    """Runs one node; the tangents of its outputs are added to those that are known."""
    if not activity.of_node(node, set(tangents)):
        replay.run_node(node, environment)
        return
    with location.fixed(node.location):
        if isinstance(node, Scope):
            tangents.update(node.rule.forward(node, environment, tangents))
        elif node.op in STRUCTURED:
            tangents.update(STRUCTURED[node.op].forward(node, environment, tangents))
        else:
            replay.run_node(node, environment)
            tangents.update(push_plain(node, environment, tangents))


def push_plain(node, environment, tangents):
    """Returns: the tangents of the outputs of a node without regions that has run."""
    rule = rule_of(node)
    call = _call_of(node, environment, tangents)
    moved = rule.jvp(call, [tangents.get(value) for value in node.inputs])
    return {value: t for value, t in zip(node.outputs, moved) if t is not None}


# --- Reverse mode.


class Backward:
    """A body that has run, ready to be walked back.

    Args:
      body: what was recorded.
      environment: what stands for its arguments, and for what it takes from around it.
      active: values whose cotangents are wanted: arguments, and what it captures.
      cuts: pairs of a node without regions and the place of an operand: what the operand gets is
        left to the caller, for which `pull` gives the cotangent of the node's output too.

    Attributes:
      results: arrays.
    """

    def __init__(self, body, environment, active, cuts=()):
        self._body = body
        self._environment = environment
        self._cuts = {id(node): place for node, place in cuts}
        self.active = set(active)
        self._steps = []
        for node in body.nodes:
            self._run(node)
        self.results = environment.all(body.results)

    def _run(self, node):
        if node.op in ("for", "pfor"):
            node = self._without_invariants(node)
        reached = activity.of_node(node, self.active)
        if id(node) in self._cuts:
            reached = node.outputs
        if not reached:
            replay.run_node(node, self._environment)
            return
        with location.fixed(node.location):
            if isinstance(node, Scope):
                step = node.rule.backward(node, self._environment, self.active)
            elif node.op in STRUCTURED:
                step = STRUCTURED[node.op].backward(node, self._environment, self.active)
            else:
                step = self._plain(node)
        self.active.update(reached)
        self._steps.append((node, step))

    def _without_invariants(self, node):
        """Runs what a loop computes of active values around it alone, such as a transposed matrix,
        before the loop, so that the sum over its trips is taken behind it. Returns: the loop
        without that.
        """
        (body,) = node.bodies
        inside, rest = set(body.args), Body()
        rest.args, rest.results = body.args, body.results
        for each in body.nodes:
            is_plain = each.op in RULES and each.op != "iteration_reduce"
            is_wanted = is_plain and not self.active.isdisjoint(each.inputs)
            if is_wanted and inside.isdisjoint(each.used()):
                self._run(each)
            else:
                rest.nodes.append(each)
                inside.update(each.outputs)
        return Node(node.op, node.inputs, node.outputs, node.attrs, [rest], node.location)

    def _plain(self, node):
        rule = rule_of(node)
        replay.run_node(node, self._environment)
        call = _call_of(node, self._environment, self.active)
        if id(node) in self._cuts:
            call.active[self._cuts[id(node)]] = False

        if not any(call.active):
            return lambda cts: []

        def step(cts):
            found = zip(node.inputs, rule.vjp(call, cts), call.active)
            return [(value, ct) for value, ct, active in found if active and ct is not None]

        return step

    def pull(self, cts):
        """Walks back.

        Args:
          cts: the cotangent of each result, None for zero.

        Returns: a dictionary of the cotangents of active values; those that are missing are zero.
        """
        found = {}
        for value, ct in zip(self._body.results, cts):
            if ct is not None and value in self.active:
                found[value] = plus(found.get(value), ct)
        for node, step in reversed(self._steps):
            take = found.get if id(node) in self._cuts else found.pop
            outputs = [take(value, None) for value in node.outputs]
            if all(ct is None for ct in outputs):
                continue
            with location.fixed(node.location):
                for value, ct in step(outputs):
                    found[value] = plus(found.get(value), ct)
        return found


def inner(environment, body, arrays):
    """Returns: an environment for a body inside, in which `arrays` are its arguments."""
    made = Environment(environment)
    made.put(body.args, arrays)
    return made
