"""Where the user's code stands: the first frame outside this package."""

import os
import sys

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def is_internal(filename):
    """True for files of this package."""
    return filename.startswith(_PACKAGE)


def of_caller():
    """Returns: (file, line) of the innermost frame outside this package."""
    frame = sys._getframe(1)  # pylint: disable=protected-access
    while frame is not None and (
        is_internal(frame.f_code.co_filename) or frame.f_code.co_filename.startswith("<frozen")
    ):
        frame = frame.f_back
    if frame is None:
        return "", 0
    return frame.f_code.co_filename, frame.f_lineno


def text():
    """Returns: `file:line` of the innermost frame outside this package."""
    file, line = of_caller()
    return f"{file}:{line}"
