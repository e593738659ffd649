"""State that outlives a run: `weir.Variable`."""

import itertools
import threading
import weakref

import numpy as np

from weir import collectives, core, dtypes, errors, location, trace as tracing
from weir.eager import operation

_numbers = itertools.count()
_MODES = ("last", "mean", "sum", "ordered")


class Variable:
    """An array that functions may read and update while they run.

    A run takes the value that the variable has when it begins, and leaves the new one when it has
    succeeded; a run that fails changes nothing. Between runs the value stays on the cluster of
    their session; `value()` fetches it, and it comes back when the session is closed or a run of
    another session uses the variable. Inside of a pfor or vmap, what the iterations add
    (or the largest, the smallest, or what they assign with a mode) is combined over all of them: a
    read before it sees none of that, a read behind it, directly in the body, all of it. What is
    assigned in order (mode "ordered") has the sequential meaning everywhere. Runs that share a
    variable which one of them writes run one after the other, in the order in which they were
    asked for; they belong to one session at a time.

    Attributes:
      name: shown in programs and errors.
      shape, dtype: of the value; they never change.
    """

    def __init__(self, value, name=None):
        """Makes a variable.

        Args:
          value: the first value, an array or a number.
          name: by default variable0, variable1, ...
        """
        dtype_name, _ = core.type_of(value if core.is_scalar(value) else np.asarray(value))
        self._dtype_name = dtype_name
        self._value = np.array(value, dtype=dtypes.to_numpy(dtype_name))
        self._shape = self._value.shape
        self._dtype = self._value.dtype
        self.name = name or f"variable{next(_numbers)}"
        # Where the value is, if it is not here: a session and the id that its cluster knows.
        self._session = None
        self._id = None
        self._finalizer = None
        self._loss = None  # why it is nowhere
        self._moving = threading.RLock()

    @property
    def shape(self):
        """The sizes of the value, which never change."""
        return self._shape

    @property
    def dtype(self):
        """The NumPy element type of the value, which never changes."""
        return self._dtype

    def value(self):
        """Returns: the current value, a NumPy array of its own. Raises: TracingError inside of a
        function that is traced, where `read` gives the value that the run sees; Aborted if a worker
        was lost that held it, Unavailable if the cluster is gone: a new Variable takes its place.
        """
        if tracing.current() is not None:
            raise errors.TracingError(
                f"the value of variable {self.name} is not known while a function is traced"
                f" ({location.text()}); use read()"
            )
        with self._moving:
            if self._session is not None:
                return self._session._native.read_variable(self._id)
            return self._here().copy()

    def read(self):
        """Returns: the value at this place of the run, T[...]; outside of functions, now."""
        if tracing.current() is None:
            return self.value()
        name = self._note(writes=False)
        attrs = {"name": name, "dtype": self._dtype_name, "shape": self.shape}
        return core.apply("read_variable", [], attrs)

    def assign(self, value, mode=None):
        """Replaces the value.

        Args:
          value: T[...] of the variable.
          mode: in a pfor or vmap, what the assignments of its iterations make together. Each
            iteration counts with what it assigned last, in whatever branches and loops; one that
            assigned nothing does not count, and if none did the variable stays as it is. A pfor
            inside of another assigns once for each iteration around it.
            "last": the value of the highest iteration, as `for_loop` leaves it.
            "mean", "sum": over the iterations. Not in a `for_loop` that no pfor is around.
            "ordered": the sequential meaning: each iteration sees what those before it left. What
            touches the variable, or lies between, runs one iteration after the other: a fallback,
            which strict refuses.
            Elsewhere every mode just assigns.

        Raises: TracingError in a pfor or vmap without a mode, where it would be undefined which
          iteration's value counts; TypeError for the mean of integers, or the sum of bools.
        """
        if mode is not None and mode not in _MODES:
            raise ValueError(
                f"mode must be one of {', '.join(_MODES)}, found {mode!r} ({location.text()})"
            )
        exact = self._dtype_name == "bool" or self._dtype_name in dtypes.INTEGERS
        if (mode == "mean" and exact) or (mode == "sum" and self._dtype_name == "bool"):
            raise TypeError(
                f"variable {self.name} is {self._dtype_name}, which has no {mode}"
                f" ({location.text()})"
            )
        _assign(self, value, mode)

    def assign_add(self, value):
        """Adds to the value; in a pfor what all iterations add, in any order."""
        self._write("sum", value)

    def assign_sub(self, value):
        """Subtracts from the value; in a pfor for all iterations."""
        self._write("sum", value, negate=True)

    def assign_max(self, value):
        """Keeps the larger of each two elements; in a pfor the largest of all iterations."""
        self._write("max", value)

    def assign_min(self, value):
        """Keeps the smaller of each two elements; in a pfor the smallest of all iterations."""
        self._write("min", value)

    def __repr__(self):
        return f"weir.Variable({self.name}: {self._dtype_name}{list(self.shape)})"

    def _write(self, kind, value, negate=False):
        _write(self, kind, value, negate)

    def _operand(self, value):
        given = core.as_array(value, f"what variable {self.name} takes")
        cannot = f"cannot take {given.describe()} ({location.text()})"
        if dtypes.promote([core.type_of(value), (self._dtype_name, False)])[0] != self._dtype_name:
            raise TypeError(
                f"variable {self.name} is {self._dtype_name} and {cannot}; convert with .astype"
            )
        missing = len(self.shape) - given.ndim
        fits = missing >= 0 and all(
            extent in (1, wanted) for extent, wanted in zip(given.shape, self.shape[missing:])
        )
        if not fits:
            raise ValueError(f"variable {self.name} has shape {self.shape} and {cannot}")
        return core.broadcast_to(core.to_dtype(value, self._dtype_name), self.shape)

    def _note(self, writes):
        trace = tracing.current()
        if any(frame.chunked for frame in trace.loops):
            raise collectives.NeedsAllIterations
        return trace.note_variable(self, writes)

    def __reduce__(self):
        return Variable, (self.value(), self.name)

    def _here(self):
        if self._loss is not None:
            raise type(self._loss)(str(self._loss))
        return self._value

    def _place_on(self, session):
        """Returns: the id of this variable on the cluster of a session, where its value is now."""
        if self._session is session:
            return self._id
        with self._moving:
            if self._session is not session:
                self._bring_home()
                self._id = session._hold(self, self._here())
                self._finalizer = weakref.finalize(self, session._forgotten.append, self._id)
                self._finalizer.atexit = False
                self._value = None
                self._session = session
            return self._id

    def _bring_home(self):
        with self._moving:
            if self._session is None:
                return
            self._value = self._session._give_back(self, self._id)
            self._leave()

    def _lose(self, error):
        with self._moving:
            self._loss = error
            self._leave()

    def _leave(self):
        self._finalizer.detach()
        self._session = None


@operation
def _assign(variable, value, mode):
    operand = variable._operand(value)
    trace = tracing.current()
    in_pfor = any(frame.count is not None for frame in trace.loops)
    given = f"variable {variable.name} is assigned {core.as_array(value).describe()}"
    if mode is None and in_pfor:
        raise errors.TracingError(
            f"{given} in a pfor or vmap ({location.text()}): it is undefined which iteration's"
            " value counts; say it by a mode, use assign_add, assign_max or assign_min, or assign"
            " after the loop"
        )
    if mode in ("mean", "sum") and not in_pfor and collectives.nearest(trace) is not None:
        raise errors.TracingError(
            f"{given} with mode {mode} in a for_loop ({location.text()}), whose iterations run one"
            " after the other and never meet; use pfor"
        )
    attrs = {"name": variable._note(writes=True)}
    if mode is not None:
        attrs["mode"] = mode
    core.apply_all("assign_variable", [operand], attrs)


@operation
def _write(variable, kind, value, negate):
    operand = variable._operand(value)
    name = variable._note(writes=True)
    if negate:
        operand = core.elementwise("negate", operand)
    core.apply_all("update_variable", [operand], {"name": name, "kind": kind})
