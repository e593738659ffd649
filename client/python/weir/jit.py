"""`weir.jit`: functions that are traced once for each set of input types."""

import functools
import inspect

import numpy as np

from weir import core, dtypes, location, program, shapes as open_shapes, trace as tracing, tree

# How many combinations of types of a call find their program at once.
_MOST_KNOWN = 4096


def jit(function=None, *, shapes=None, static_argnums=(), static_argnames=()):
    """Compiles a function of arrays into a program.

    The function is called once for each combination of element types, shapes and pytree structure
    of its arguments; later calls run the program that this made. Inside another traced function it
    is simply called.

    With `shapes` sizes of arguments stay open: one program, traced and compiled once, serves all
    of them. In the function they are `weir.Dim`s. A text has one entry for each axis: a symbol, an
    integer, `_` for the size that a call has (another one makes another program), or an expression
    of symbols such as `n+1` (1 or more) and `4*n` (a multiple of 4); `...` stands for the other
    axes, as they are. One symbol is one size, whichever arguments have it, and 0 or more.

    Args:
      function: takes and returns pytrees of arrays and numbers.
      shapes: a text for all arguments, such as "n, ..."; or a tuple with one entry for each
        argument, or a dictionary of entries by the names of arguments, whose entries are pytrees of
        texts; None for what has no open size.
      static_argnums, static_argnames: positions and names of arguments that are no arrays; they
        must be hashable, and each of their values makes a program of its own.

    Returns: a function that takes NumPy arrays and numbers and returns NumPy arrays. Its
    `lower(*args)` gives the program without running it.

    Raises (when called): TracingError where Python needs the numbers of an array;
    InconclusiveDimension where it needs the number of an open size; InvalidArgument for shapes and
    types that do not fit.
    """
    if function is None:
        return functools.partial(
            jit, shapes=shapes, static_argnums=static_argnums, static_argnames=static_argnames
        )
    opened = None if shapes is None else open_shapes.Shapes(function, shapes)
    return _Compiled(function, opened, static_argnums, static_argnames)


class _Compiled:
    """A function with the programs that it has been traced to."""

    def __init__(self, function, shapes, static_argnums, static_argnames):
        functools.update_wrapper(self, function)
        self._function = function
        self._shapes = shapes
        self._static_argnums = as_tuple(static_argnums)
        self._static_argnames = as_tuple(static_argnames)
        self._has_static = bool(self._static_argnums or self._static_argnames)
        self._programs = {}
        self._calls = {}

    def __call__(self, *args, **kwargs):
        if tracing.current() is not None:
            return self._function(*args, **kwargs)
        leaves = []
        key = None if self._has_static else _key_of_call(args, kwargs, leaves)
        known = self._calls.get(key)
        if known is not None:
            return known(leaves)
        traced, arrays = self._prepare(args, kwargs)
        if key is not None and _are_unchanged(leaves, arrays):
            if len(self._calls) >= _MOST_KNOWN:
                self._calls.clear()
            self._calls[key] = _KnownCall(traced, leaves)
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
        symbols = {}
        if self._shapes is not None:
            types, symbols = self._shapes.open(arguments, types)
        key = arguments.key(types)
        if key not in self._programs:
            self._programs[key] = program.trace_function(
                lambda *arrays: arguments.call(self._function, arrays),
                arguments.function_name,
                arguments.names,
                types,
                tuple(symbols),
            )
        traced = self._programs[key]
        arrays = [kind.to_numpy(leaf) for kind, leaf in zip(types, arguments.leaves)]
        return traced, arrays + [np.empty((size, 0), np.int8) for size in symbols.values()]


class _KnownCall:
    """The program for calls of one key."""

    def __init__(self, traced, leaves):
        self._traced = traced
        self._numbers = [
            (i, program.InputType.of(leaf))
            for i, leaf in enumerate(leaves)
            if type(leaf) is not np.ndarray
        ]

    def __call__(self, leaves):
        for i, kind in self._numbers:
            core.check_range(leaves[i], kind.dtype_name)
            leaves[i] = kind.to_numpy(leaves[i])
        return self._traced(leaves)


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
        self._naming = (function, args, kwargs, static, dynamic, keywords)

    @functools.cached_property
    def names(self):
        """One for each leaf; takes longer than the rest of a call."""
        return _input_names(*self._naming)

    def key(self, types):
        """Returns: what calls have in common that run one program."""
        return (
            self.structure,
            tuple(kind.key() for kind in types),
            tuple(self._fixed.items()),
            tuple(sorted(self._named.items())),
        )

    def parts(self, leaves):
        """Returns: ([(position, tree)], {keyword: tree}) with `leaves` in place of the leaves."""
        dynamic, keywords = tree.unflatten(self.structure, leaves)
        positions = [i for i in range(self._num_args) if i not in self._fixed]
        return list(zip(positions, dynamic)), keywords

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
        for i, leaf in enumerate(self.leaves):
            if core.is_scalar(leaf):
                core.check_range(leaf, dtypes.of_scalar(leaf))
            elif not (core.is_numpy(leaf) or isinstance(leaf, arrays)):
                raise self._no_array(leaf, self.names[i])
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


def _key_of_call(args, kwargs, leaves):
    """Appends the leaves of the arguments. Returns: what tells the programs of calls without
    static arguments apart; None where there is more than arrays and numbers, of NumPy or Python,
    None, and tuples, lists and dictionaries of them.
    """
    key = []
    for arg in args:
        if type(arg) is np.ndarray:
            leaves.append(arg)
            key.append((arg.dtype, arg.shape))
            continue
        found = _key_of(arg, leaves)
        if found is None:
            return None
        key.append(found)
    if kwargs:
        found = _key_of(kwargs, leaves)
        if found is None:
            return None
        key += ["keywords", found]
    return tuple(key)


def _key_of(part, leaves):
    """The same for a part of the arguments."""
    kind = type(part)
    if kind is np.ndarray:
        leaves.append(part)
        return part.dtype, part.shape
    if kind in core.SCALARS or isinstance(part, np.generic):
        leaves.append(part)
        return (kind,)
    if part is None:
        return (None,)
    if kind is tuple or kind is list:
        names, inner = (), part
    elif kind is dict:
        try:
            names = sorted(part)
        except TypeError:
            return None
        inner = [part[name] for name in names]
    else:
        return None
    key = [kind, *names]
    for each in inner:
        found = _key_of(each, leaves)
        if found is None:
            return None
        key.append(found)
    return tuple(key)


def _are_unchanged(leaves, inputs):
    """Whether the inputs of a program are the arrays among the leaves."""
    return len(leaves) == len(inputs) and all(
        x is leaf for x, leaf in zip(inputs, leaves) if type(leaf) is np.ndarray
    )


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
