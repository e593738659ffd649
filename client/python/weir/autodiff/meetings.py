"""Derivatives of reductions over the iterations of a pfor.

What one iteration gives goes to all of them, so what it gets back comes of all: the derivative of
the sum of all results of the loop, as JAX has it for psum.
"""

from weir import collectives, core, errors, location, trace as tracing
from weir.autodiff.rules import RULES
from weir.indexing import take_row


def _reduced(call, x, kind):
    return core.apply("iteration_reduce", [x], {**call.attrs, "kind": kind})


def _share(call):
    """The share of an iteration in the greatest (or least) of them: those that are equal have
    equal ones.
    """
    (x,), (out,) = call.ins, call.outs
    is_it = core.cast(core.compare("equal", x, out), x.dtype_name)
    return is_it / _reduced(call, is_it, "sum")


def _iteration():
    frame = collectives.nearest(tracing.current())
    if frame is None or frame.index is None or frame.chunked:
        raise errors.NotDifferentiable(
            f"all_gather at {location.text()} has a derivative only where the pfor or vmap around"
            " it is the nearest loop"
        )
    return frame.index


class _IterationReduce:
    def jvp(self, call, tangents):
        if call.attrs["kind"] in ("max", "min"):
            return [_reduced(call, tangents[0] * _share(call), "sum")]
        return [call.again(tangents[0])]

    def vjp(self, call, cts):
        (ct,), kind = cts, call.attrs["kind"]
        if kind in ("max", "min"):
            return [_reduced(call, ct, "sum") * _share(call)]
        if kind == "gather":
            return [take_row(_reduced(call, ct, "sum"), _iteration())]
        return [call.again(ct)]


RULES["iteration_reduce"] = _IterationReduce()
