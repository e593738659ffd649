"""Where the user's code stands: the innermost frame outside of this package and of NumPy."""

import contextlib
import os
import sys
import threading

import numpy as np

# NumPy's functions hand traced arrays back to this package, through frames without a file.
_PASSED = (
    os.path.dirname(os.path.abspath(__file__)) + os.sep,
    os.path.dirname(os.path.abspath(np.__file__)) + os.sep,
    "<__array_function__",
    "<frozen",
)


_state = threading.local()


@contextlib.contextmanager
def fixed(place):
    """What is made inside stands at this (file, line): that of an operation that it comes of."""
    before = getattr(_state, "place", None)
    _state.place = place
    try:
        yield
    finally:
        _state.place = before


def frame_of_caller():
    """Returns: that frame; None if there is none."""
    frame = sys._getframe(1)  # pylint: disable=protected-access
    while frame is not None and frame.f_code.co_filename.startswith(_PASSED):
        frame = frame.f_back
    return frame


def of_caller():
    """Returns: (file, line) of that frame; ("", 0) if there is none."""
    place = getattr(_state, "place", None)
    if place is not None:
        return place
    frame = frame_of_caller()
    if frame is None:
        return "", 0
    return frame.f_code.co_filename, frame.f_lineno


def text():
    """Returns: `file:line` of that frame."""
    file, line = of_caller()
    return f"{file}:{line}"
