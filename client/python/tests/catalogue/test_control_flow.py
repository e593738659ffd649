"""Branches, loops, recurrent networks, calls and transforms inside of pfor.

Origin: section 2.1, the tests of TensorFlow's control_flow_ops_test.py for what a body may hold.
"""

import functools

import numpy as np
import pytest
from conftest import assert_same_bits
from oracle import agree, integers, numbers

import weir
import weir.numpy as wnp
from weir import nn

LENGTHS = np.int32([4, 0, 2])


def branch(xp, predicate, true, false):
    """`weir.cond`, or Python's own."""
    if xp is wnp:
        return weir.cond(predicate, true, false)
    return true() if predicate else false()


def repeat(xp, condition, step, state):
    """`weir.while_loop`, or Python's own."""
    if xp is wnp:
        return weir.while_loop(condition, step, state)
    while condition(state):
        state = step(state)
    return state


# --- WhileV1Test, WhileV2Test.


def test_while_outside_loop():
    def function(loop, x):
        x = weir.while_loop(lambda c: wnp.sum(c) < 100, lambda c: c * 2, x)
        return loop(lambda i: x + i, 3)

    x = integers(5, low=1, high=9)
    got = weir.jit(functools.partial(function, functools.partial(weir.pfor, strict=True)))(x)
    assert_same_bits(got, weir.jit(functools.partial(function, weir.for_loop))(x))
    while x.sum() < 100:
        x = x * 2
    np.testing.assert_array_equal(got, x + np.arange(3)[:, None])


def test_invariant_while():
    agree(lambda xp, i, n: repeat(xp, lambda c: c < n, lambda c: c + 1, 0), np.int32(4))


def test_invariant_while_with_control_dependency():
    def body(xp, i, n):
        if xp is wnp:
            weir.check(i < 3, "three iterations")
        return repeat(xp, lambda c: c < n, lambda c: c + 1, 0)

    agree(body, np.int32(4))


def test_while_with_stateful_ops():
    def body(i):
        def step(state):
            return state[0] + 1, state[1] + weir.random.uniform(seed=3)

        return weir.while_loop(lambda state: state[0] < 4, step, (0, 0.0))

    trips, got = weir.pfor(body, 3, strict=True)
    assert_same_bits((trips, got), weir.for_loop(body, 3))
    assert trips.tolist() == [4, 4, 4] and len(np.unique(got)) == 3 and (got > 0).all()


def test_while_unstacked_condition():
    def body(xp, i, x):
        def step(state):
            return state[0] + 1, state[1] + x[i]

        return repeat(xp, lambda state: state[0] < 4, step, (0, np.float32(0)))

    agree(body, numbers(3), of_largest=True)


def test_while_of_lengths():
    def body(xp, i, lengths, x):
        def step(state):
            return state[0] + 1, state[1] * x[i, state[0]]

        return repeat(xp, lambda state: state[0] < lengths[i], step, (0, np.float32(1)))

    agree(body, LENGTHS, numbers(3, 4))


def test_while_change_input_invariance():
    """The second value varies from the second trip on; the last passes through."""

    def body(xp, i, x):
        def step(state):
            trip, late, own, through = state
            return trip + 1, late + own, own + i, through

        start = (0, np.int64(10), i * 1, x)
        return repeat(xp, lambda state: state[0] < 4, step, start)

    agree(body, numbers(2))


def test_while_shape_invariants():
    x = numbers(3, 2)

    def body(i):
        row = wnp.array(x)[i]
        return weir.while_loop(lambda c: True, lambda c: wnp.concatenate([c, c]), row)

    with pytest.raises(TypeError, match=r"carry from f32\[2\] to f32\[4\].*flow.py:\d+"):
        weir.pfor(body, 3)


# --- NestedControlFlowTest.


X, Y = numbers(5, 5, 5), np.int32([4, -1, 2, -2, 2])


def _cond(inner):
    def outer(xp, x, y):
        return branch(xp, y > 0, lambda: inner(xp, x, y), lambda: x - 1)

    return outer


def _while(inner):
    def outer(xp, x, y):
        def step(state):
            return state[0] + 1, inner(xp, state[1], y)

        return repeat(xp, lambda state: state[0] < y, step, (0, x))[1]

    return outer


def _agree_nested(function):
    agree(lambda xp, i, x, y: function(xp, x[i], y[i]), X, Y, n=5)


def _half(xp, x, y):
    return x * np.float32(0.5) + 1


def test_cond_of_while():
    _agree_nested(_cond(_while(_half)))


def test_while_of_cond():
    _agree_nested(_while(_cond(_half)))


def test_while_of_while():
    _agree_nested(_while(_while(_half)))


def test_cond_of_cond():
    _agree_nested(_cond(_cond(_half)))


# --- StatelessIfTest, and the branches of VariableTest.


def test_if_variant_predicate():
    def body(xp, i, x):
        def true():
            return x[i], x[0], np.float32(1)

        def false():
            return x[0], x[i] * 2, np.float32(2)

        return branch(xp, x[i, 0] > 0, true, false)

    x = numbers(5, 3)
    assert 0 < (x[:, 0] > 0).sum() < 5
    agree(body, x, n=5)


def test_if_invariant_predicate():
    for sign in (1, -1):
        agree(
            lambda xp, i, x: branch(
                xp, x[0, 0] * sign > 0, lambda: (x[i], x[0]), lambda: (x[0] * 2, x[i] - 1)
            ),
            numbers(5, 3),
            n=5,
        )


def test_if_empty_branch():
    def body(i):
        def never():
            weir.check(i < 0, "a branch that nobody takes")
            return -i

        return weir.cond(i >= 0, lambda: i * 2, never)

    got = weir.pfor(body, 5, strict=True)
    assert_same_bits(got, weir.for_loop(body, 5))
    np.testing.assert_array_equal(got, np.arange(5) * 2)


def _case(xp, index, x):
    branches = [lambda: x + 1, lambda: x * 2, lambda: x - 3]
    return weir.switch(index, branches) if xp is wnp else branches[index]()


def test_case_variant_index():
    places = np.int32([0, 1, 2, 2, 1, 0, 1, 1, 0, 2])
    agree(lambda xp, i, x, at: _case(xp, at[i], x[i]), numbers(10, 3), places, n=10)


@pytest.mark.parametrize("index", [0, 1, 2])
def test_case_invariant_index(index):
    agree(lambda xp, i, x, at: _case(xp, at, x[i]), numbers(10, 3), np.int32(index), n=10)


# --- RNNTest: three sequences of random lengths.


RNN = (numbers(3, 7, 4), np.int32([7, 0, 3]), numbers(4, 20) / 2, numbers(5, 20, seed=8) / 2)


def _sequence(cell, state, xs, length):
    """Runs a cell over the first `length` rows. Returns: (last state, the outputs, else zeros)."""

    def step(state, row):
        trip, carry = state
        new, out = cell(carry, row)
        running = trip < length
        kept = weir.tree.map(lambda a, b: wnp.where(running, a, b), new, carry)
        return (trip + 1, kept), wnp.where(running, out, wnp.zeros_like(out))

    (_, last), outputs = weir.scan(step, (0, state), xs)
    return last, outputs


def _numpy_sequence(cell, state, xs, length):
    outputs = np.zeros((len(xs), 5), np.float32)
    for t in range(length):
        state, outputs[t] = cell(state, xs[t])
    return state, outputs


def test_dynamic_rnn():
    def body(xp, i, xs, lengths, w, u):
        def cell(h, x):
            h = np.tanh(x @ w[:, :5] + h @ u[:, :5])
            return h, h

        def traced(h, x):
            return nn.rnn_cell(h, x, w[:, :5], u[:, :5])

        if xp is wnp:
            return _sequence(traced, wnp.zeros(5), xs[i], lengths[i])
        return _numpy_sequence(cell, np.zeros(5, np.float32), xs[i], lengths[i])

    agree(body, *RNN, of_largest=True)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_dynamic_lstm():
    def body(xp, i, xs, lengths, w, u):
        def cell(state, x):
            h, c = state
            j, f, g, o = np.split(x @ w + h @ u, 4)
            c = _sigmoid(f) * c + _sigmoid(j) * np.tanh(g)
            h = _sigmoid(o) * np.tanh(c)
            return (h, c), h

        if xp is wnp:
            start = (wnp.zeros(5), wnp.zeros(5))
            return _sequence(lambda s, x: nn.lstm_cell(s, x, w, u), start, xs[i], lengths[i])
        return _numpy_sequence(cell, (np.zeros(5, np.float32),) * 2, xs[i], lengths[i])

    agree(body, *RNN, of_largest=True)


# --- PartitionedCallTest.


def _called(function, xp):
    return weir.jit(function) if xp is wnp else function


def test_call():
    agree(lambda xp, i, x: _called(lambda a, b: a * b + b, xp)(x[i], x[0]), numbers(3, 4))


def test_nested_calls():
    def body(xp, i, x):
        inner = _called(lambda a, b: a * b, xp)
        outer = _called(lambda a, b: inner(a, b) + inner(b, b), xp)
        return outer(x[i], x[0])

    agree(body, numbers(3, 4), of_largest=True)


def test_call_with_a_python_range():
    def body(xp, i, x):
        def total(row):
            out = row
            for k in range(1, 4):
                out = out + x[i] * k
            return out

        return _called(total, xp)(x[0])

    agree(body, numbers(3, 4), of_largest=True)


def test_nested_definition_of_calls():
    def body(xp, i, x):
        def outer(a):
            return _called(lambda b: b * a + x[i], xp)(a + 1)

        return _called(outer, xp)(x[i])

    agree(body, numbers(3, 4), of_largest=True)


# --- SpectralTest.


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", ["fftn", "ifftn"])
def test_fft(name, rank, dtype):
    def body(xp, i, x):
        return getattr(xp.fft, name)(x[i], axes=tuple(range(-rank, 0)))

    agree(body, numbers(3, 3, 2, 4, 8, dtype=dtype), of_largest=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rfft(dtype):
    agree(lambda xp, i, x: xp.fft.rfft(x[i]), numbers(3, 2, 8, dtype=dtype), of_largest=True)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("size", [8, 9])
def test_irfft(size, dtype):
    x = numbers(3, 2, 5, dtype=dtype)
    agree(lambda xp, i, x: xp.fft.irfft(x[i], size), x, of_largest=True)
