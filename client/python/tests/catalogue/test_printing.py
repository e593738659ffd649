"""Bodies that print.

Origin: section 2.1, the Print and PrintV2 tests of TensorFlow's control_flow_ops_test.py.
"""

import numpy as np
from oracle import agree, numbers

import weir
import weir.numpy as wnp


def test_print(capsys):
    """Each iteration prints its row."""

    def body(xp, i, x):
        if xp is wnp:
            weir.print("row {}: {}", i, x[i])
        return x[i] + 1

    table = np.arange(6, dtype=np.int32).reshape(3, 2)
    agree(body, table)
    capsys.readouterr()
    weir.pfor(lambda i: body(wnp, i, wnp.array(table)), 3)
    assert capsys.readouterr().out == "row 0: [0, 1]\nrow 1: [2, 3]\nrow 2: [4, 5]\n"


def test_print_v2(capsys):
    """Several values a line, of a run with values that no iteration changes."""

    def body(xp, i, x, scale):
        y = x[i] * scale
        if xp is wnp:
            weir.print("{} times {} is {}", x[i], scale, y)
        return y

    agree(body, numbers(3), np.float32(3))
    capsys.readouterr()
    table = np.float32([1, 2.5, -4])
    weir.pfor(lambda i: body(wnp, i, wnp.array(table), np.float32(2)), 3)
    want = ["1 times 2 is 2", "2.5 times 2 is 5", "-4 times 2 is -8"]
    assert capsys.readouterr().out.splitlines() == want
