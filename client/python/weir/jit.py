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
        self._static_argnums = as_tuple(static_argnums)
        self._static_argnames = as_tuple(static_argnames)
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
        """Returns: (results, report of the run, with a profile, as a dictionary)."""
        traced, arrays = self._prepare(args, kwargs)
        results, report = traced.run_with_report(arrays)
        return results, report.to_dict()

    def _prepare(self, args, kwargs):
        arguments = Arguments(
            self._function, args, kwargs, self._static_argnums, self._static_argnames
        )
        arguments.check()
        types = [program.InputType.of(leaf) for leaf in arguments.leaves]
        key = arguments.key(types)
        if key not in self._programs:
            self._programs[key] = program.trace_function(
                lambda *arrays: arguments.call(self._function, arrays),
                arguments.function_name,
                arguments.names,
                types,
            )
        traced = self._programs[key]
        return traced, [kind.to_numpy(leaf) for kind, leaf in zip(types, arguments.leaves)]


class Arguments:
    """The arguments of a call, apart by what a program takes and what it depends on.

    Attributes:
      function_name: of the function, for messages.
      leaves: arrays and numbers, which are inputs; `structure` is theirs and `names` are their
        paths.
    """

    def __init__(self, function, args, kwargs, static_argnums, static_argnames):
        self.function_name = getattr(function, "__name__", "function")
        static = {i % len(args) for i in static_argnums if -len(args) <= i < len(args)}
        dynamic = [arg for i, arg in enumerate(args) if i not in static]
        self._num_args = len(args)
        self._fixed = {i: args[i] for i in static}
        self._named = {name: kwargs[name] for name in kwargs if name in static_argnames}
        keywords = {name: kwargs[name] for name in kwargs if name not in static_argnames}
        self.leaves, self.structure = tree.flatten((dynamic, keywords))
        self.names = _input_names(function, args, kwargs, static, dynamic, keywords)

    def key(self, types):
        """Returns: what calls have in common that run one program."""
        return (
            self.structure,
            tuple(kind.key() for kind in types),
            tuple(self._fixed.items()),
            tuple(sorted(self._named.items())),
        )

    def call(self, function, arrays):
        """Calls a function with arrays in place of the leaves."""
        dynamic, keywords = tree.unflatten(self.structure, arrays)
        rest = iter(dynamic)
        args = [self._fixed[i] if i in self._fixed else next(rest) for i in range(self._num_args)]
        return function(*args, **keywords, **self._named)

    def check(self, *arrays):
        """Raises: TypeError for leaves that are no numbers, NumPy arrays or instances of `arrays`,
        and for fixed arguments without a hash; OverflowError for numbers out of range.
        """
        for leaf, name in zip(self.leaves, self.names):
            if core.is_scalar(leaf):
                core.check_range(leaf, dtypes.of_scalar(leaf))
            elif not (core.is_numpy(leaf) or isinstance(leaf, arrays)):
                raise self._no_array(leaf, name)
        for name, value in [*self._fixed.items(), *self._named.items()]:
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"static argument {name} of {self.function_name} must be hashable, found"
                    f" {value!r} ({location.text()})"
                ) from None

    def _no_array(self, leaf, name):
        if hasattr(leaf, "__array__"):
            instead = "numpy.asarray makes an array of it"
        else:
            instead = "name it in static_argnums or static_argnames if the program is to depend on"
            instead += " it"
        return TypeError(
            f"argument {name} of {self.function_name} is a {type(leaf).__name__}, which is neither"
            f" an array nor a number ({location.text()}); {instead}"
        )


def _types_of_arrays(args):
    """Returns: what tells programs of NumPy arrays and nothing else apart; otherwise None."""
    types = []
    for arg in args:
        if type(arg) is not np.ndarray:
            return None
        types.append((arg.dtype, arg.shape))
    return tuple(types)


def _input_names(function, args, kwargs, static, dynamic, keywords):
    try:
        parameters = list(inspect.signature(function).bind(*args, **kwargs).arguments)
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


def as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _distinct(names):
    seen = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return out
