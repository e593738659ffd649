"""Conditions that a run must meet."""

from weir import core, dims, dtypes, location, trace as tracing
from weir.eager import operation


@operation
def check(predicate, message):
    """Fails the run with `message` unless every element of `predicate` is true.

    Inside of loops the error also names the iterations, outermost first. It is not evaluated for
    iterations that are done, nor in branches that are not taken.

    Args:
      predicate: bool[...].
      message: what the error says.

    Raises: TypeError for a predicate that is not bool; where it runs, FailedPrecondition.
    """
    holds = core.as_array(predicate, "the predicate of check")
    if dtypes.name_of(holds.dtype) != "bool":
        raise TypeError(f"check needs a bool, found {holds.describe()} ({location.text()})")
    indices = [frame.index for frame in tracing.current().loops if frame.index is not None]
    operands = [holds, *(core.cast(index, "i64") for index in indices)]
    core.apply_all("check", operands, {"message": str(message)})


def require_at_most(a, b, error):
    """Sees to it that of two sizes a <= b: raises the error where that cannot be; where it depends
    on the run, that fails with the message of the error.
    """
    if dims.below(b, a):
        raise error
    if not dims.at_most(a, b):
        check(core.compare("less_equal", a, b), str(error))


def require_same(a, b, error):
    """Sees to it that two sizes are the same, likewise."""
    if dims.differ(a, b):
        raise error
    if not dims.same(a, b):
        check(core.compare("equal", a, b), str(error))
