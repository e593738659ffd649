"""`weir.function`: functions that stay functions of the program, so that they may call themselves.

A function is traced once for each combination of types. A call that is met while its function is
being traced is recursive: what it returns is learned from the paths that do not recurse, and the
function is traced again until nothing new is learned. What a function captures of the regions
around it becomes a parameter that each call hands on.
"""

import functools

from weir import core, dims, dtypes, errors, location, program, trace as tracing, tree
from weir.array import Array
from weir.jit import Arguments, as_tuple, jit
from weir.random.keys import key_of_call

# One attempt more than a result has ways to bend, for each function of a set.
_MOST_ATTEMPTS = 20
_MOST_FRAMES = 50


def function(f=None, *, max_depth=None, results=None, static_argnums=(), static_argnames=()):
    """Makes a function one of the program, which may call itself, and others that call it.

    Recursion needs a path that ends, behind `weir.cond`, `weir.switch` or a loop. `vmap` and `pfor`
    around it run iterations together, whatever depth each is at.

    Args:
      f: takes and returns pytrees of arrays and numbers.
      max_depth: how many of its calls may wait for one another, 64 by default; memory for as many
        is taken. A run that goes deeper fails. Calls whose result is returned as it is do not wait.
      results: what the function returns, as a pytree of arrays and numbers of the types and shapes,
        or a function of the arguments that returns one. By default it is learned.
      static_argnums, static_argnames: as for `weir.jit`.

    Returns: the function, for use inside and outside of traced functions.

    Raises (when called): TracingError where every path calls the function again; TypeError for
    results whose types differ.
    """
    if f is None:
        return functools.partial(
            function,
            max_depth=max_depth,
            results=results,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
        )
    if max_depth is not None and core.known_integer(max_depth, "max_depth") < 1:
        raise ValueError(f"max_depth must be at least 1, found {max_depth} ({location.text()})")
    return _Function(f, max_depth, results, as_tuple(static_argnums), as_tuple(static_argnames))


class _Function:
    """A function that programs call."""

    def __init__(self, f, max_depth, results, static_argnums, static_argnames):
        functools.update_wrapper(self, f)
        self._f = f
        self._max_depth = max_depth
        self._results = results
        self._static = (static_argnums, static_argnames)
        self._compiled = jit(
            functools.wraps(f)(lambda *args, **kwargs: self(*args, **kwargs)),
            static_argnums=static_argnums,
            static_argnames=static_argnames,
        )

    def __call__(self, *args, **kwargs):
        trace = tracing.current()
        if trace is None:
            return self._compiled(*args, **kwargs)
        arguments = Arguments(self._f, args, kwargs, *self._static)
        arguments.check(Array)
        arrays = [core.as_array(leaf) for leaf in arguments.leaves]
        types = [program.InputType(x.dtype_name, x.shape, x.weak_type) for x in arrays]
        key = (self, *arguments.key(types))
        for frame in reversed(trace.frames):
            if frame.key == key:
                return self._recur(trace, frame, arrays)
        made = self._find(trace, key)
        if made is None:
            made = self._make(trace, key, arguments, arrays)
        return self._emit(trace, made, arrays)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def lower(self, *args, **kwargs):
        """Returns: the traced program for arguments like these, as `weir.jit` has it."""
        return self._compiled.lower(*args, **kwargs)

    def run_with_report(self, *args, **kwargs):
        """Returns: (results, report of the run as a dictionary)."""
        return self._compiled.run_with_report(*args, **kwargs)

    def _text(self):
        code = getattr(self._f, "__code__", None)
        where = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
        return f"{self._f.__name__}{where}"

    # --- Calls.

    def _recur(self, trace, frame, arrays):
        if any(loop.count is not None for loop in trace.loops[frame.first_loop :]):
            raise errors.TracingError(
                f"{self._text()} calls itself inside of its own pfor or vmap at {location.text()};"
                " use fori_loop, scan or while_loop there"
            )
        frame.met = True
        if frame.results is None:
            raise tracing.UnknownResults(frame)
        return self._emit(trace, frame, arrays)

    def _emit(self, trace, frame, arrays):
        extras = [key_of_call() if e is tracing.KEY else e for e in frame.extras]
        attrs = {"callee": frame.name}
        if self._max_depth is not None:
            attrs["max_depth"] = int(self._max_depth)
        outputs = core.apply_all("call", [*arrays, *extras], attrs)
        structure, types = frame.results
        for output, kind in zip(outputs, types):
            output.weak_type = kind.weak_type
        return tree.unflatten(structure, outputs)

    # --- Tracing.

    def _find(self, trace, key):
        """Returns: the function of this key that may be called here, or None."""
        for frame in trace.functions.get(key, []):
            reached = all(e is tracing.KEY or trace.reaches(e.region) for e in frame.extras)
            if reached and frame.loops in (None, _indices(trace)):
                return frame
        return None

    def _make(self, trace, key, arguments, arrays):
        if len(trace.frames) >= _MOST_FRAMES:
            raise errors.TracingError(
                f"calls of {self._text()} with ever other types are {_MOST_FRAMES} deep, the last"
                f" with {', '.join(x.type_text for x in arrays)} at {location.text()}: a recursive"
                " call must have the types of the first one; pad to one size"
            )
        done = {known: list(frames) for known, frames in trace.functions.items()}
        for _ in range(_MOST_ATTEMPTS):
            frame, settled = self._attempt(trace, key, arguments, arrays)
            if settled:
                trace.functions.setdefault(key, []).append(frame)
                return frame
            trace.forget(frame)
            _forget_others(trace, done)
        raise errors.TracingError(
            f"the types of what {self._text()} returns do not settle ({location.text()}); give them"
            " as results="
        )

    def _attempt(self, trace, key, arguments, arrays):
        """Returns: (the function, whether calls inside of it knew all there is to know)."""
        name = "".join(c if c.isalnum() and c.isascii() else "_" for c in self._f.__name__)
        with trace.in_function(key, name.strip("_") or "function") as frame:
            params = self._open(trace, frame, arguments, arrays)
            known = (list(frame.extras), frame.results)
            try:
                returned = arguments.call(self._f, params)
            except tracing.UnknownResults as unknown:
                if unknown.frame is not frame:
                    raise
                raise errors.TracingError(
                    f"every path through {self._text()} calls it again: recursion needs a case in"
                    " weir.cond, weir.switch or a loop that does not. If there is one, give what"
                    " the function returns as results="
                ) from None
            leaves, structure = tree.flatten(returned)
            leaves = [core.as_array(leaf, f"a result of {self._f.__name__}") for leaf in leaves]
            if frame.results is not None:
                leaves = self._fit(frame, leaves, structure)
            types = [program.InputType(x.dtype_name, x.shape, x.weak_type) for x in leaves]
            frame.results = (structure, types)
            trace.yield_(frame.body, [x.value for x in leaves])
            trace.builder.set_result_names(frame.body, [f"result{i}" for i in range(len(leaves))])
        trace.learned[key] = (list(frame.extras), frame.results)
        captured = {e.value for e in frame.extras if e is not tracing.KEY}
        frame.loops = _indices(trace) if captured & set(_indices(trace)) else None
        return frame, not frame.met or _same(known, trace.learned[key])

    def _open(self, trace, frame, arguments, arrays):
        """Makes the parameters, and what earlier attempts have learned. Returns: the arrays that
        the function takes.
        """
        params = []
        frame.symbols |= dims.given_by([size for x in arrays for size in x.shape])
        for x, name in zip(arrays, arguments.names):
            value = trace.add_argument(frame.body, x.dtype_name, x.shape, name)
            origin = (f"argument {name}", *location.of_caller())
            params.append(Array(trace, value, weak_type=x.weak_type, origin=origin))
        extras, frame.results = trace.learned.get(frame.key, ([], None))
        for extra in extras:
            if extra is not tracing.KEY and extra.region not in frame.around:
                continue  # of an earlier attempt at the function around
            dtype_name, shape = ("u64", ()) if extra is tracing.KEY else trace.type(extra.value)
            frame.extra(trace, extra, dtype_name, shape, "captured")
        if self._results is not None:
            example = self._results
            if callable(example):
                example = arguments.call(example, params)
            leaves, structure = tree.flatten(example)
            leaves = [core.as_array(leaf, "an example of a result") for leaf in leaves]
            types = [program.InputType(x.dtype_name, x.shape) for x in leaves]
            frame.results = (structure, types)
        if frame.results is not None:
            declared = [(kind.dtype_name, kind.shape) for kind in frame.results[1]]
            trace.builder.declare_results(frame.body, declared)
        return params

    def _fit(self, frame, leaves, structure):
        """Gives results the types that recursive calls were taken to have; weak ones bend."""
        wanted, types = frame.results
        if structure != wanted:
            raise TypeError(
                f"{self._text()} returns the structure {structure}, but {wanted} where it does not"
                " call itself, or by results="
            )
        return [self._fit_one(x, kind) for x, kind in zip(leaves, types)]

    def _fit_one(self, x, kind):
        met = dtypes.promote([(kind.dtype_name, kind.weak_type), (x.dtype_name, x.weak_type)])
        if dims.same_shape(x.shape, kind.shape):
            if kind.weak_type:
                return core.cast(x, *met)
            if met[0] == kind.dtype_name and (x.weak_type or x.dtype_name == kind.dtype_name):
                return core.cast(x, kind.dtype_name)
        extents = ",".join(str(extent) for extent in kind.shape)
        raise TypeError(
            f"{self._text()} returns {x.describe()}, but {kind.dtype_name}[{extents}] where it does"
            " not call itself, or by results="
        )


def _same(known, learned):
    """Whether two (extras, results) agree."""
    if known[1] is None or known[1][0] != learned[1][0]:
        return False
    types = [[kind.key() for kind in results[1]] for _, results in (known, learned)]
    # Both name the same values in the same order as far as the shorter one goes.
    return types[0] == types[1] and len(known[0]) == len(learned[0])


def _indices(trace):
    return tuple(loop.index.value for loop in trace.loops if loop.index is not None)


def _forget_others(trace, done):
    """Forgets the functions that are not in `done`."""
    for key, frames in trace.functions.items():
        for frame in frames:
            if frame not in done.get(key, []):
                trace.forget(frame)
    trace.functions = done
