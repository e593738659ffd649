"""How operations are differentiated: the kinds of rules, and the table of them by op.

A rule answers two questions about one call of an op. `jvp`: how do its results change when its
operands change by tangents? `vjp`: what does each operand contribute to what the results contribute
to, given as cotangents? None stands for zero in both. Complex numbers have JAX's convention: of f
from x + iy the cotangent is df/dx - i df/dy, so `vjp` is the transpose of `jvp` without conjugates.
"""

from weir import core

# By op. Every op of the registry has an entry in one of these.
RULES = {}
# Results that do not change when operands change a little, or that have no derivatives, by op: why.
ZERO = {}
# Ops that cannot be differentiated, by op: why, and what to do instead.
REFUSED = {}


class Call:
    """One call of an op.

    Attributes:
      op, attrs: of the node.
      ins, outs: operands and results.
      active: for each operand, whether its derivative is wanted.
    """

    __slots__ = ("op", "attrs", "ins", "outs", "active")

    def __init__(self, op, attrs, ins, outs, active):
        self.op = op
        self.attrs = attrs
        self.ins = ins
        self.outs = outs
        self.active = active

    def again(self, *operands, **attrs):
        """Returns: the first result of the same op on other operands."""
        return core.apply_all(self.op, list(operands), {**self.attrs, **attrs})[0]


def zeros_like(x):
    """Returns: zeros of the type of an array."""
    return core.full(x.shape, 0, x.dtype_name)


def filled(x, like):
    """Returns: `x`, or the zeros for which None stands."""
    return zeros_like(like) if x is None else x


def plus(a, b):
    """Returns: the sum of two of them, either of which may be None."""
    if a is None or b is None:
        return b if a is None else a
    return core.apply("add", [a, b])


class Elementwise:
    """Each result element depends on one element of each operand.

    `partials` has for each operand a function of (g, result, *operands) that gives g times the
    partial derivative, or None where that is zero.
    """

    def __init__(self, partials):
        self._partials = partials

    def jvp(self, call, tangents):
        total = None
        for partial, tangent in zip(self._partials, tangents):
            if partial is not None and tangent is not None:
                total = plus(total, partial(tangent, call.outs[0], *call.ins))
        return [total]

    def vjp(self, call, cts):
        return [
            partial(cts[0], call.outs[0], *call.ins) if partial is not None and active else None
            for partial, active in zip(self._partials, call.active)
        ]


class Linear:
    """The op is linear in its first `count` operands together (all of them by default): tangents go
    through the op itself, beside the operands behind.

    `transpose(call, ct)` gives a list of the cotangents of the operands.
    """

    def __init__(self, transpose, count=None):
        self._transpose = transpose
        self._count = count

    def jvp(self, call, tangents):
        count = len(call.ins) if self._count is None else self._count
        moved = [filled(t, x) for t, x in zip(tangents[:count], call.ins)]
        return [call.again(*moved, *call.ins[count:])]

    def vjp(self, call, cts):
        return self._transpose(call, cts[0])


class Bilinear:
    """The op is linear in each of two operands; `transposes` has for each a function of (call, ct)
    that gives its cotangent.
    """

    def __init__(self, *transposes):
        self._transposes = transposes

    def jvp(self, call, tangents):
        total = None
        for i, tangent in enumerate(tangents[: len(self._transposes)]):
            if tangent is not None:
                operands = list(call.ins)
                operands[i] = tangent
                total = plus(total, call.again(*operands))
        return [total]

    def vjp(self, call, cts):
        found = [
            transpose(call, cts[0]) if active else None
            for transpose, active in zip(self._transposes, call.active)
        ]
        return found + [None] * (len(call.ins) - len(found))


class Pair:
    """Both directions, written down: `jvp(call, tangents)` and `vjp(call, cts)` give lists."""

    def __init__(self, jvp, vjp):
        self.jvp = jvp
        self.vjp = vjp


class Forward:
    """Only the tangents are written down, by operations that are linear in them; cotangents come of
    transposing those.
    """

    def __init__(self, jvp):
        self.jvp = jvp

    def vjp(self, call, cts):
        from weir.autodiff import transposing  # which is made of rules

        return transposing.transposed(lambda tangents: self.jvp(call, tangents), call, cts)


def rule(*ops):
    """Enters a function of (call, tangents) that gives those of the results, as a `Forward`."""

    def enter(jvp):
        for op in ops:
            RULES[op] = Forward(jvp)
        return jvp

    return enter


def zero(ops, why):
    """Enters ops whose results have no derivatives."""
    ZERO.update(dict.fromkeys(ops.split(), why))


def refused(ops, why):
    """Enters ops that cannot be differentiated."""
    REFUSED.update(dict.fromkeys(ops.split(), why))
