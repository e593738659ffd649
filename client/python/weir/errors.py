"""Exceptions of this package.

Every error is a `weir.Error`. What a coordinator or the C++ library reports has one subclass for
each status code; what is wrong with a traced function is a `TracingError` or one of Python's own
classes (TypeError, ValueError, IndexError).
"""

from weir import location

__all__ = (
    "Aborted AlreadyExists Cancelled DeadlineExceeded Error FailedPrecondition"
    " InconclusiveDimension Internal InvalidArgument NotDifferentiable NotFound OutOfRange"
    " ResourceExhausted TracingError Unavailable Unimplemented"
).split()


class Error(Exception):
    """Base class of what Weir reports."""


class InvalidArgument(Error, ValueError):
    """A program or its inputs do not fit: shapes, element types, attributes."""


class NotFound(Error, LookupError):
    """There is no job, file or program of this name."""


class AlreadyExists(Error):
    """The name is taken by something else."""


class FailedPrecondition(Error, RuntimeError):
    """The session or job is not in a state for this call."""


class OutOfRange(Error, IndexError):
    """A number lies outside what is allowed."""


class Unimplemented(Error, NotImplementedError):
    """A program uses what Weir has no rule for; the message names the node."""


class ResourceExhausted(Error, MemoryError):
    """Memory, or a limit of the coordinator."""


class Unavailable(Error, ConnectionError):
    """The coordinator or its workers cannot be reached."""


class DeadlineExceeded(Error, TimeoutError):
    """Time ran out."""


class Cancelled(Error):
    """The job was cancelled."""


class Aborted(Error):
    """The job was given up, for instance because a worker was lost."""


class Internal(Error):
    """A fault of Weir itself."""


class TracingError(Error, TypeError):
    """Python asked for the value of an array that exists only while a function is traced.

    The message names the array, where it was made, where it was used, and what to write in its
    place.
    """


class NotDifferentiable(TracingError):
    """A derivative is asked for that is not defined, or has no rule.

    The message names the operation, the line where it stands, and what to do.
    """


class InconclusiveDimension(TracingError):
    """Python asked for the number of a size that only the run knows, or for a comparison of sizes
    that depends on it.

    The message names the function that asked, the size, where that was, and what to write in its
    place.
    """

    def __init__(self, asked, instead):
        super().__init__(asked, instead)
        self._asked = asked
        self._instead = instead
        self._where = location.text()
        self._frame = id(location.frame_of_caller())
        self._function = None

    def blame(self, function):
        """Names a function of this package through which the error passes: the one that counts is
        what the user's code called.
        """
        if self._function is None or id(location.frame_of_caller()) == self._frame:
            name = function.__name__
            self._function = name if name.startswith("__") else name.lstrip("_")

    @property
    def function(self):
        """The name of the function of this package that asked, or None."""
        return self._function

    def __str__(self):
        by = f"{self._function}: " if self._function else ""
        by = "" if self._asked.startswith(by) else by
        return (
            f"{by}{self._asked} at {self._where} depends on the sizes of a run, which are symbols"
            f" while tracing; {self._instead}"
        )


_BY_CODE = {
    "INVALID_ARGUMENT": InvalidArgument,
    "NOT_FOUND": NotFound,
    "ALREADY_EXISTS": AlreadyExists,
    "FAILED_PRECONDITION": FailedPrecondition,
    "OUT_OF_RANGE": OutOfRange,
    "UNIMPLEMENTED": Unimplemented,
    "RESOURCE_EXHAUSTED": ResourceExhausted,
    "UNAVAILABLE": Unavailable,
    "DEADLINE_EXCEEDED": DeadlineExceeded,
    "CANCELLED": Cancelled,
    "ABORTED": Aborted,
    "INTERNAL": Internal,
}


def from_status(code, message):
    """Returns: the exception for a status code such as "INVALID_ARGUMENT"."""
    return _BY_CODE.get(code, Error)(message)
