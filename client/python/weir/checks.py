"""Conditions that a run must meet."""

from weir import core, dtypes, location, trace as tracing
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
