"""`weir.vmap`: a function for one example becomes one for many."""

import functools
import inspect

import numpy as np

from weir import checks, core, location, loops, tree
from weir.eager import operation
from weir.indexing import take_row

_RANDOMNESS = ("different", "same", "error")


def vmap(
    function,
    in_axes=0,
    out_axes=0,
    axis_size=None,
    chunk_size=None,
    randomness="different",
    strict=False,
):
    """Maps a function over axes of its arguments.

    Args:
      function: from pytrees of arrays, for one example, to pytrees of arrays.
      in_axes: which axis of each argument counts the examples: an integer, None for an argument
        that all examples share, or a tuple with one entry for each argument, whose entries may be
        pytrees of such. Keyword arguments are mapped over their axis 0.
      out_axes: where the axis of the examples stands in the results: an integer, None for a result
        that is the same for all of them, or a pytree of such.
      axis_size: how many examples, a Python integer or a `weir.Dim`; needed where no argument is
        mapped.
      chunk_size: how many examples run at once; the results do not depend on it.
      randomness: "different": each example draws random numbers of its own; "same": all draw the
        same; "error": a draw raises.
      strict: whether an operation that can only run one example after the other is an error.

    Returns: the mapped function, for use inside and outside of traced functions.

    Raises (when called): ValueError where the mapped sizes differ, naming arguments and sizes, or
    where an argument has no such axis.
    """
    if randomness not in _RANDOMNESS:
        raise ValueError(
            f"randomness must be one of {', '.join(_RANDOMNESS)}, found {randomness!r}"
        )
    size = None if axis_size is None else loops.check_count("vmap", axis_size)
    chunk = loops.check_chunk(chunk_size)

    @operation
    @functools.wraps(function)
    def mapped(*args, **kwargs):
        arguments = _MappedArguments(function, in_axes, args, kwargs)
        count = arguments.count(size)
        stacked = loops.parallel(arguments.body(), count, chunk, strict, randomness)
        return _move_out(stacked, out_axes, count)

    return mapped


class _MappedArguments:
    """The leaves of a call with the axis over which each is mapped."""

    def __init__(self, function, in_axes, args, kwargs):
        if isinstance(in_axes, list):
            in_axes = tuple(in_axes)
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ValueError(
                f"vmap: in_axes has {len(in_axes)} entries and the call {len(args)} arguments"
                f" ({location.text()})"
            )
        self._function = function
        leaves, self._structure = tree.flatten((args, kwargs))
        axes = tree.broadcast_prefix(in_axes, args, "vmap: in_axes")
        axes += [0] * (len(leaves) - len(axes))
        self._names = _names(function, args, kwargs)
        self._axes = []
        self._leaves = []
        for leaf, axis, name in zip(leaves, axes, self._names):
            self._add(leaf, axis, name)

    def _add(self, leaf, axis, name):
        if axis is None:
            self._axes.append(None)
            self._leaves.append(leaf)
            return
        if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
            raise TypeError(
                f"vmap: in_axes must hold integers and None, found {axis!r} for argument {name}"
                f" ({location.text()})"
            )
        array = core.as_array(leaf, f"argument {name}, which vmap maps over axis {axis},")
        if not -array.ndim <= axis < array.ndim:
            raise ValueError(
                f"vmap: argument {name} of shape {array.shape} has no axis {axis} to map over; an"
                " argument that all examples share has None in in_axes"
                f" ({location.text()})"
            )
        axis %= array.ndim
        self._axes.append(axis)
        order = [axis] + [i for i in range(array.ndim) if i != axis]
        self._leaves.append(core.transpose(array, order))

    def count(self, axis_size):
        """Returns: the number of examples."""
        sizes = {}
        for leaf, axis, name in zip(self._leaves, self._axes, self._names):
            if axis is not None:
                sizes.setdefault(leaf.shape[0], []).append(f"{name} (axis {axis})")
        if axis_size is not None:
            sizes.setdefault(axis_size, []).append("axis_size")
        if len(sizes) > 1:
            texts = "; ".join(f"{size}: {', '.join(names)}" for size, names in sizes.items())
            raise ValueError(f"vmap: mapped sizes differ: {texts} ({location.text()})")
        if not sizes:
            raise ValueError(f"vmap: no argument is mapped; give axis_size ({location.text()})")
        return next(iter(sizes))

    def body(self):
        """Returns: the loop body, from the iteration to the function's result."""

        def run(index):
            rows = [
                leaf if axis is None else take_row(leaf, index)
                for leaf, axis in zip(self._leaves, self._axes)
            ]
            args, kwargs = tree.unflatten(self._structure, rows)
            return self._function(*args, **kwargs)

        return run


def _names(function, args, kwargs):
    try:
        parameters = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        parameters = []
    names = []
    for i, arg in enumerate(args):
        names += tree.paths(arg, parameters[i] if i < len(parameters) else f"argument {i}")
    for key in sorted(kwargs):
        names += tree.paths(kwargs[key], key)
    return names


def _move_out(stacked, out_axes, count):
    result = stacked.tree()
    axes = tree.broadcast_prefix(out_axes, result, "vmap: out_axes")
    moved = [
        _move_one(output, axis, varies, count)
        for output, axis, varies in zip(stacked.outputs, axes, stacked.varies)
    ]
    return tree.unflatten(stacked.structure, moved)


def _move_one(output, axis, varies, count):
    if axis is None:
        return _shared_result(output, varies, count)
    axis = core.canonical_axis(axis, output.ndim)
    order = list(range(1, output.ndim))
    order.insert(axis, 0)
    return core.transpose(output, order)


def _shared_result(output, varies, count):
    if varies:
        raise ValueError(
            f"vmap: a result with out_axes None differs between the examples: {output.describe()} "
            f"({location.text()})"
        )
    nothing = ValueError(
        f"vmap: without examples there is no result for out_axes None ({location.text()})"
    )
    checks.require_at_most(1, count, nothing)
    return core.reshape(core.slice_axis(output, 0, 0, 1), output.shape[1:])
