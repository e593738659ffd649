"""Functions of a flow: traced once, for the columns of one record or, for `collect`, of all."""

import inspect
import sys

from weir import core, dims, errors, location, lists, trace as tracing, tree
from weir.array import Array
from weir.flow import columns
from weir.names import Names


class TracedFunction:
    """A function that has been traced.

    Attributes:
      name: in the flow.
      builder: the native program that holds it and what it calls.
      names: `Names` that are taken by it, around which are those that were taken before.
      results: (element type, shape) of each result.
    """

    def __init__(self, name, builder, names, results):
        self.name = name
        self.builder = builder
        self.names = names
        self.results = results


def trace_function(function, kind, types, taken, *, results=None, call=None, rows=None):
    """Traces a function.

    Args:
      kind: of the vertex, for messages and as a name for functions without one.
      types: the columns that it is given.
      taken: `Names` of functions of the flow.
      results: makes the results, a list, of what the function returned; by default its leaves.
      call: calls the function with the arrays of all columns; by default with one argument each.
      rows: a size that is put in front of each shape, or None.

    Returns: a `TracedFunction`.

    Raises: TypeError for a function that takes another number of arguments.
    """
    name = _identifier(getattr(function, "__name__", "")) or kind
    names = Names(around=taken)
    entry = names.free(name)
    trace = tracing.Trace(entry, names, inline_elements=sys.maxsize)
    with tracing.activated(trace):
        arrays = []
        for argument, (dtype, shape) in zip(_argument_names(function, len(types)), types):
            shape = shape if rows is None else (rows, *shape)
            value = trace.add_argument(trace.main, dtype, shape, argument)
            origin = (f"column {argument}", *location.of_caller())
            arrays.append(Array(trace, value, origin=origin))
        if call is None:
            _check_arguments(function, kind, types)
            returned = function(*arrays)
        else:
            returned = call(arrays)
        made = tree.leaves(returned) if results is None else results(returned)
        values = [core.as_array(leaf, f"what the function of {kind} returns") for leaf in made]
        trace.yield_(trace.main, [value.value for value in values])
        trace.builder.set_result_names(trace.main, [f"result{i}" for i in range(len(values))])
    if trace.variables:
        raise errors.InvalidArgument(
            f"the function of {kind} uses the variable '{sorted(trace.variables)[0]}'"
            f" ({location.text()}); functions of a flow have no state, so keep it in a vertex, such"
            " as variable or reduce_by_key"
        )
    types = tuple((value.dtype_name, value.shape) for value in values)
    return TracedFunction(entry, trace.builder, names, types)


def batch_size():
    """Returns: the size that stands for the number of records of a time."""
    return dims.Dim._parse("n")


def children(returned):
    """Returns: the results of a function of `flat_map`: how many records, and their columns."""
    if isinstance(returned, lists.List):
        return [core.to_dtype(returned.size, "i64"), *tree.leaves(returned.elements)]
    leaves = [core.as_array(leaf, "what the function of flat_map returns") for leaf in
              tree.leaves(returned)]
    extents = {leaf.shape[:1] for leaf in leaves}
    if len(extents) != 1 or extents == {()}:
        found = ", ".join(leaf.type_text for leaf in leaves) or "nothing"
        raise errors.InvalidArgument(
            "the function of flat_map returns a weir.List of records, or arrays with equal leading"
            f" axes, whose rows are records; found {found} ({location.text()})"
        )
    return [core.scalar(leaves[0].shape[0], "i64"), *leaves]


def of_groups(function, *counts):
    """Returns: what calls a function with the columns of several records, so many of each: with an
    array for each record, or a tuple where it has more columns than one; nothing where it has none.
    """

    def call(arrays):
        arguments, first = [], 0
        for count in filter(None, counts):
            group = arrays[first : first + count]
            arguments.append(group[0] if count == 1 else tuple(group))
            first += count
        return function(*arguments)

    return call


def taken_of(function, keys):
    """Returns: the columns of a key that a function takes: all, or none if it has no parameter."""
    signature = _parameters(function)
    return () if signature is not None and not signature.parameters else tuple(keys)


def _identifier(name):
    kept = "".join(c if c.isalnum() and c.isascii() else "_" for c in name).strip("_")
    return "" if kept == "lambda" else kept


def _parameters(function):
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _argument_names(function, count):
    signature = _parameters(function)
    names = [] if signature is None else list(signature.parameters)
    return names if len(names) == count else [f"column{i}" for i in range(count)]


def _check_arguments(function, kind, types):
    signature = _parameters(function)
    if signature is None:
        return
    try:
        signature.bind(*types)
    except TypeError:
        raise TypeError(
            f"the function of {kind} takes {signature} and is given the columns"
            f" {columns.text(types)} of a record ({location.text()})"
        ) from None
