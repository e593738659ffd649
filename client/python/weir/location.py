"""Where the user's code stands: the innermost frame outside of this package and of NumPy."""

import os
import sys

import numpy as np

# NumPy's functions hand traced arrays back to this package, through frames without a file.
_PASSED = (
    os.path.dirname(os.path.abspath(__file__)) + os.sep,
    os.path.dirname(os.path.abspath(np.__file__)) + os.sep,
    "<__array_function__",
    "<frozen",
)


def frame_of_caller():
    """Returns: that frame; None if there is none."""
    frame = sys._getframe(1)  # pylint: disable=protected-access
    while frame is not None and frame.f_code.co_filename.startswith(_PASSED):
        frame = frame.f_back
    return frame


def of_caller():
    """Returns: (file, line) of that frame; ("", 0) if there is none."""
    frame = frame_of_caller()
    if frame is None:
        return "", 0
    return frame.f_code.co_filename, frame.f_lineno


def text():
    """Returns: `file:line` of that frame."""
    file, line = of_caller()
    return f"{file}:{line}"
