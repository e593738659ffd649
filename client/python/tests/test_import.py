"""Importing the package."""

import subprocess
import sys


def test_a_numpy_of_another_layout_is_refused():
    script = "import numpy; numpy.__version__ = '2.1.0'; import weir"
    done = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "would misread arrays of NumPy 2.1.0: install 'numpy<2'" in done.stderr
