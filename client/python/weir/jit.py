"""`weir.jit`: functions that are traced once for each set of input types."""

import functools
import inspect
import operator

import numpy as np

from weir import core, dtypes, location, program, trace as tracing, tree


def jit(function=None, *, static_argnums=(), static_argnames=()):
    """Compiles a function of arrays into a program.

    The function is called once for each combination of element types, shapes and pytree structure
    of its arguments; later calls run the program that this made. Inside another traced function it
    is simply called.

    Args:
      function: takes and returns pytrees of arrays and numbers.
      static_argnums, static_argnames: positions and names of arguments that are no arrays; they
        must be hashable, and each of their values makes a program of its own.

    Returns: a function that takes NumPy arrays and numbers and returns NumPy arrays. Its
    `lower(*args)` gives the program without running it.

    Raises (when called): TracingError where Python needs the numbers of an array; InvalidArgument
    for shapes and types that do not fit.
    """
    if function is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames
        )
    return _Compiled(function, static_argnums, static_argnames)


class _Compiled:
    """A function with the programs that it has been traced to."""

    def __init__(self, function, static_argnums, static_argnames):
        functools.update_wrapper(self, function)
        self._function = function
        self._static_argnums = _as_tuple(static_argnums)
        self._static_argnames = _as_tuple(static_argnames)
        self._programs = {}
        self._programs_of_arrays = {}

    def __call__(self, *args, **kwargs):
        if tracing.current() is not None:
            return self._function(*args, **kwargs)
        types = None if kwargs else _types_of_arrays(args)
        known = self._programs_of_arrays.get(types)
        if known is not None:
            return known(args)
        traced, arrays = self._prepare(args, kwargs)
        if types and len(args) == len(arrays) and all(map(operator.is_, args, arrays)):
            self._programs_of_arrays[types] = traced
        return traced(arrays)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def lower(self, *args, **kwargs):
        """Returns: the traced program for arguments like these; its `text` is the program in text
        form.
        """
        return self._prepare(args, kwargs)[0]

    def run_with_report(self, *args, **kwargs):
        """Returns: (results, report of the run as a dictionary)."""
        traced, arrays = self._prepare(args, kwargs)
        results, report = traced.run(arrays)
        return results, report.to_dict()

    def _prepare(self, args, kwargs):
        static = self._static_positions(args)
        dynamic = [arg for i, arg in enumerate(args) if i not in static]
        fixed = {i: args[i] for i in static}
        named = {name: kwargs[name] for name in kwargs if name in self._static_argnames}
        keywords = {name: kwargs[name] for name in kwargs if name not in self._static_argnames}
        leaves, structure = tree.flatten((dynamic, keywords))
        names = self._input_names(args, static, dynamic, keywords)
        self._check_leaves(leaves, names)
        types = [program.InputType.of(leaf) for leaf in leaves]
        key = (
            structure,
            tuple(kind.key() for kind in types),
            tuple(fixed.items()),
            tuple(sorted(named.items())),
        )
        self._check_static(fixed, named)
        if key not in self._programs:
            call = self._caller(structure, len(args), fixed, named)
            self._programs[key] = program.trace_function(call, self._name(), names, types)
        return self._programs[key], [kind.to_numpy(leaf) for kind, leaf in zip(types, leaves)]

    def _check_static(self, fixed, named):
        for name, value in [*fixed.items(), *named.items()]:
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"static argument {name} of {self._name()} must be hashable, found {value!r}"
                    f" ({location.text()})"
                ) from None

    def _static_positions(self, args):
        return {i % len(args) for i in self._static_argnums if -len(args) <= i < len(args)}

    def _caller(self, structure, num_args, fixed, named):
        def call(*arrays):
            dynamic, keywords = tree.unflatten(structure, arrays)
            rest = iter(dynamic)
            args = [fixed[i] if i in fixed else next(rest) for i in range(num_args)]
            return self._function(*args, **keywords, **named)

        return call

    def _name(self):
        return getattr(self._function, "__name__", "function")

    def _input_names(self, args, static, dynamic, keywords):
        try:
            parameters = list(inspect.signature(self._function).bind(*args, **keywords).arguments)
        except (TypeError, ValueError):
            parameters = []
        positions = [i for i in range(len(args)) if i not in static]
        names = []
        for position, arg in zip(positions, dynamic):
            prefix = parameters[position] if position < len(parameters) else f"arg{position}"
            names.extend(tree.paths(arg, prefix))
        for name in sorted(keywords):
            names.extend(tree.paths(keywords[name], name))
        return _distinct(names)

    def _check_leaves(self, leaves, names):
        for leaf, name in zip(leaves, names):
            if core.is_scalar(leaf):
                core.check_range(leaf, dtypes.of_scalar(leaf))
                continue
            if core.is_numpy(leaf):
                continue
            if hasattr(leaf, "__array__"):
                instead = "numpy.asarray makes an array of it"
            else:
                instead = "name it in static_argnums or static_argnames if the program is to"
                instead += " depend on it"
            raise TypeError(
                f"argument {name} of {self._name()} is a {type(leaf).__name__}, which is neither an"
                f" array nor a number ({location.text()}); {instead}"
            )


def _types_of_arrays(args):
    """Returns: what tells programs of NumPy arrays and nothing else apart; otherwise None."""
    types = []
    for arg in args:
        if type(arg) is not np.ndarray:
            return None
        types.append((arg.dtype, arg.shape))
    return tuple(types)


def _as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _distinct(names):
    seen = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return out
