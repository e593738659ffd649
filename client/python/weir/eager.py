"""Operations outside of traced functions: each call is a small program that runs at once."""

import functools

from weir import core, errors, program, trace as tracing, tree


def operation(function):
    """Makes a function over traced arrays one that also takes NumPy arrays outside of a trace.

    There the NumPy arrays among the arguments (also inside tuples, lists and dictionaries) are the
    inputs of a program, everything else is fixed, and the results are NumPy arrays.
    """

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            if tracing.current() is not None:
                return function(*args, **kwargs)
            return run_once(function, args, kwargs)
        except errors.InconclusiveDimension as error:
            error.blame(function)
            raise

    return call


def run_once(function, args, kwargs):
    """Traces `function` for these arguments and runs it. Returns: a tree of NumPy arrays."""
    leaves, structure = tree.flatten((args, kwargs))
    positions = [i for i, leaf in enumerate(leaves) if core.is_numpy(leaf)]

    def with_arrays(*arrays):
        filled = list(leaves)
        for position, array in zip(positions, arrays):
            filled[position] = array
        call_args, call_kwargs = tree.unflatten(structure, filled)
        return function(*call_args, **call_kwargs)

    types = [program.InputType.of(leaves[i]) for i in positions]
    names = [f"x{i}" for i in range(len(positions))]
    name = getattr(function, "__name__", "function")
    traced = program.trace_function(with_arrays, name, names, types)
    arrays = [kind.to_numpy(leaves[i]) for kind, i in zip(types, positions)]
    return traced(arrays)
