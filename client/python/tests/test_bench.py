"""The benchmark against other frameworks still runs, and its loops give the bits of its maps."""

import pathlib
import subprocess
import sys

_SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "tests" / "bench" / "pfor.py"


def test_rows_have_the_bits_of_their_loops():
    command = [sys.executable, _SCRIPT, "--check", "--quick", "--frameworks", "weir"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
