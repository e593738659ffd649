"""Variables that bodies read and update.

Origin: section 2.1, the loops, branches and calls with variables and the VariableTest of
TensorFlow's control_flow_ops_test.py.
"""

import numpy as np
import pytest
from conftest import assert_same_bits
from oracle import agree, assert_numbers, numbers

import weir
import weir.numpy as wnp


def value_of(xp, variable):
    """What a body reads: in the program, or for NumPy."""
    return variable.read() if xp is wnp else variable.value()


def test_while_with_a_variable():
    """Each trip reads it; the number of trips is the iteration's."""
    scale = weir.Variable(np.float32([2, -1, 0.5]), "scale")

    def body(xp, i, x):
        if xp is wnp:
            return weir.fori_loop(0, i, lambda t, row: row * scale.read() + t, x[i])
        row = x[i]
        for t in range(i):
            row = row * scale.value() + np.float32(t)
        return row

    agree(body, numbers(4, 3), n=4, of_largest=True)

    def bounded(xp, i, x):
        if xp is wnp:
            return weir.while_loop(
                lambda total: wnp.sum(total) < wnp.sum(scale.read()) + 9,
                lambda total: total + wnp.abs(scale.read()),
                wnp.abs(x[i]),
            )
        total = np.abs(x[i])
        while total.sum() < scale.value().sum() + 9:
            total = total + np.abs(scale.value())
        return total

    agree(bounded, numbers(4, 3), n=4, of_largest=True)
    scale.assign(1)
    agree(body, numbers(4, 3), n=4, of_largest=True)


@pytest.mark.parametrize("varies", [False, True])
def test_if_reads_a_variable(varies):
    one, other = weir.Variable(np.float32([3, 4])), weir.Variable(np.float32(-2), "other")

    def body(xp, i, x):
        holds = x[i, 0] > 0 if varies else x[0, 0] > 0
        if xp is wnp:
            return weir.cond(holds, lambda: x[i] + one.read(), lambda: x[i] * other.read())
        return x[i] + one.value() if holds else x[i] * other.value()

    agree(body, numbers(6, 2), n=6)


def test_call_that_captures_a_variable():
    """The values; what calls give back for gradients is another matter."""
    weights = weir.Variable(numbers(3, 3, seed=8), "weights")
    calls = weir.Variable(0, "calls")

    def layer(row):
        calls.assign_add(1)
        return wnp.tanh(weights.read() @ row)

    def network(row):
        return weir.jit(layer)(weir.jit(layer)(row))

    def body(xp, i, x):
        if xp is wnp:
            return weir.jit(network)(x[i])
        inner = np.tanh(weights.value() @ x[i])
        return np.tanh(weights.value() @ inner)

    agree(body, numbers(4, 3), n=4, of_largest=True)
    before = calls.value()
    weir.pfor(lambda i: network(wnp.array(numbers(4, 3))[i]), 4, strict=True)
    assert calls.value() == before + 8


@pytest.mark.parametrize(
    ("loop", "varies"),
    [
        (weir.for_loop, False),
        (weir.for_loop, True),
        (weir.pfor, True),
        (weir.pfor, False),
    ],
)
def test_variable_created_once(loop, varies):
    """The body makes it when it is traced for the first time, and every run goes on with it."""
    made = []

    def body(i):
        if not made:
            made.append(weir.Variable(32.0, "made"))
        made[0].assign_add(i if varies else 1)
        return made[0].read()

    for run in (1, 2):
        got = loop(body, 3)
        assert len(made) == 1 and made[0].value() == 32 + 3 * run
        # In a pfor an iteration reads what all of them added.
        assert got.shape == (3,) and got[-1] == 32 + 3 * run
        assert loop is weir.for_loop or (got == got[-1]).all()


@pytest.mark.parametrize("loop", [weir.pfor, weir.for_loop])
def test_variable_created_at_each_call(loop):
    """Each time that the body is traced its variable is another one, with its first value; it is
    one for all iterations, so that what it begins with cannot be theirs.
    """
    made = []

    def body(i):
        made.append(weir.Variable(5))
        made[-1].assign_add(i)
        return made[-1].read() * 0 + i

    for _ in range(2):
        assert_same_bits(loop(body, 3), np.int32([0, 1, 2]))
        assert made[-1].value() == 5 + 0 + 1 + 2
    assert len({id(variable) for variable in made}) == len(made) >= 2
    with pytest.raises(weir.TracingError, match=r"i64\[\] .*state.py:\d+"):
        loop(lambda i: weir.Variable(i).read(), 3)


def test_variable_shape():
    """It is known while tracing and does not vary, whatever the value is."""
    variable = weir.Variable(numbers(2, 5), "table")

    def body(row):
        assert variable.shape == variable.read().shape == (2, 5)
        return wnp.array(variable.shape), wnp.shape(variable.read())[1]

    got = weir.vmap(body, out_axes=None, strict=True)(numbers(3, 4))
    assert_same_bits(got, (np.int32([2, 5]), np.int32(5)))
    agree(lambda xp, i, x: x[i] + xp.array(variable.shape), numbers(3, 2))


def test_variable_as_mapped_input():
    """Its rows are the examples: of the value that the run finds."""
    table = weir.Variable(numbers(3, 4), "table")

    @weir.jit
    def function():
        return weir.vmap(lambda row: wnp.sum(row * row), strict=True)(table.read())

    for _ in range(2):
        assert_numbers(function(), (table.value() ** 2).sum(1), of_largest=True)
        table.assign(table.value() + 1)
    agree(lambda xp, i: value_of(xp, table)[i] * 2)
    with pytest.raises(TypeError, match="argument row.* found Variable"):
        weir.vmap(lambda row: row)(table)
