"""What a program prints while it runs."""

import builtins

from weir import core, location, trace as tracing
from weir.eager import operation


@operation
def print(message, *values):
    """Prints a line: `message` with the values in place of each `{}`.

    Inside of loops each iteration that comes here prints its own line; iterations that are done and
    branches that are not taken print none. The lines appear when the run is over, on stdout and in
    the log of the job, in the order of the program run one iteration after the other: those of
    `weir.pfor` are those of `weir.for_loop`. Calls of one `weir.function` print together, at the
    place of its first call. A run shows the first 1000 lines, and the first 1000 numbers of an
    array.

    Args:
      message: the text.
      *values: arrays and numbers, as many as there are `{}`.

    Raises: ValueError where their numbers differ.
    """
    message = str(message)
    holes = message.count("{}")
    if holes != len(values):
        raise ValueError(
            f"print has {holes} {{}} in {message!r} and {len(values)} values ({location.text()})"
        )
    trace = tracing.current()
    trace.prints = True
    operands = [core.as_array(value, f"value {i} of print") for i, value in enumerate(values)]
    place = []
    for frame in trace.loops:
        if frame.index is None:
            frame.needs_index = True
            continue
        place.append(frame.number)
        operands.append(core.cast(frame.index, "i64"))
    place.append(trace.next_number())
    attrs = {"message": message, "place": builtins.tuple(place), "rows": 0}
    core.apply_all("print", operands, attrs)
