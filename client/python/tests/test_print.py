"""weir.print: what appears, and in which order."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp


def _printed(capsys, function, *args):
    capsys.readouterr()
    function(*args)
    return capsys.readouterr().out.splitlines()


def test_outside_of_loops(capsys):
    @weir.jit
    def function(x):
        weir.print("x = {}, twice {}", x, x * 2)
        weir.print("done")
        return x

    assert _printed(capsys, function, np.float32(1.5)) == ["x = 1.5, twice 3", "done"]


def test_outside_of_traced_functions(capsys):
    assert _printed(capsys, weir.print, "{} {}", np.arange(3), 7) == ["[0, 1, 2] 7"]


def _two_lines(i):
    weir.print("{} begins", i)
    square = i * i
    weir.print("{} ends at {}", i, square)
    return square


def test_iterations_print_in_order(capsys):
    want = [line for i in range(5) for line in (f"{i} begins", f"{i} ends at {i * i}")]
    for loop in (weir.for_loop, weir.pfor):
        assert _printed(capsys, loop, _two_lines, 5) == want
    for chunk in (1, 2, 3):
        chunked = lambda: weir.pfor(_two_lines, 5, chunk_size=chunk)
        assert _printed(capsys, chunked) == want
    with weir.connect(workers=3):
        assert _printed(capsys, weir.pfor, _two_lines, 5) == want


def _nested(i):
    weir.print("row {}", i)

    def inner(j):
        weir.print("  {},{}", i, j)
        return weir.cond(j == i, lambda: _said("same", j), lambda: j)

    out = weir.pfor(inner, 3)
    weir.print("sum {}", wnp.sum(out))
    return out


def _said(text, value):
    weir.print("  " + text)
    return value


def test_nested_loops_and_branches(capsys):
    want = []
    for i in range(3):
        want.append(f"row {i}")
        for j in range(3):
            want.append(f"  {i},{j}")
            want += ["  same"] * (i == j)
        want.append("sum 3")
    for loop in (weir.for_loop, weir.pfor):
        assert _printed(capsys, loop, _nested, 3) == want


def test_trips_of_loops_that_end_at_different_times(capsys):
    trips = np.array([2, 0, 3])

    def body(n):
        def test(k):
            weir.print("is {} below {}", k, n)
            return k < n

        def step(k):
            weir.print("trip {} of {}", k, n)
            return k + 1

        return weir.while_loop(test, step, 0)

    want = []
    for n in trips:
        for k in range(n):
            want += [f"is {k} below {n}", f"trip {k} of {n}"]
        want.append(f"is {n} below {n}")
    assert _printed(capsys, weir.vmap(body), trips) == want


def test_what_a_failed_run_printed(capsys):
    def body(i):
        weir.print("at {}", i)
        weir.check(i < 2, "small")
        return i

    capsys.readouterr()
    with pytest.raises(weir.FailedPrecondition):
        with weir.connect(workers=1):
            weir.pfor(body, 3)
    assert capsys.readouterr().out.splitlines()[:2] == ["at 0", "at 1"]


def test_long_outputs_are_cut(capsys):
    lines = _printed(capsys, weir.pfor, lambda i: (weir.print("{}", i), i)[1], 5000)
    assert lines[:1000] == [str(i) for i in range(1000)]
    assert lines[1000:] == ["... and 4000 more lines"]
    (line,) = _printed(capsys, weir.print, "{}", np.zeros(5000, np.int32))
    assert line.endswith("0, ...]") and line.count("0") == 1000


def test_types(capsys):
    values = np.array([True]), np.array([[1.25, -2]]), np.complex64(1 + 2j), np.uint8(3)
    (line,) = _printed(capsys, weir.print, "{} {} {} {}", *values)
    assert line.startswith("[true] [[1.25, -2]] ") and line.endswith(" 3")


def test_numbers_have_the_digits_that_they_need(capsys):
    values = [0.1, 1 / 3, 1e20, -0.0, 100000, np.inf, np.nan]
    (line,) = _printed(capsys, weir.print, "{}", np.array(values, np.float32))
    assert line == "[0.1, 0.33333334, 1e+20, -0, 100000, inf, nan]"
    (line,) = _printed(capsys, weir.print, "{}", np.array(values[:2]))
    assert line == "[0.1, 0.3333333333333333]"


def test_numbers_of_values_must_fit():
    with pytest.raises(ValueError, match=r"print has 1 \{\} in 'x \{\}' and 2 values"):
        weir.print("x {}", 1, 2)
