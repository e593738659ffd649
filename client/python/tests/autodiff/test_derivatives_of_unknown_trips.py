"""Reverse mode through loops whose number of trips only the run knows."""

import numpy as np
import pytest
from conftest import assert_tree_close
from differences import Checked

import weir
import weir.numpy as wnp

W = np.array([[0.5, -0.3], [0.2, 0.4]])
C = np.array([0.3, -0.7])


def until(w, c, n):
    def step(state):
        count, x = state
        return count + 1, wnp.tanh(w @ x) * 1.5 + 0.1 * count

    return weir.while_loop(lambda state: state[0] < n, step, (0, c))[1]


def counted(w, c, n):
    return weir.fori_loop(0, n, lambda i, x: wnp.tanh(w @ x) * 1.5 + 0.1 * i, c)


def until_small(w, c):
    """Newton's method for the square root, until a step is small; ends by what it carries."""
    a = wnp.sum(w * w) + c[0]

    def step(state):
        x, _ = state
        new = 0.5 * (x + a / x)
        return new, wnp.abs(new - x)

    return weir.while_loop(lambda state: state[1] > 1e-9, step, (c[0] + 3.0, 1.0))[0]


def nested(w, c):
    def outer(state):
        n, x = state
        return n + 1, until(w, x, n) + x

    return weir.while_loop(lambda state: state[0] < 4, outer, (0, c))[1]


def in_a_scan(w, c):
    def step(x, n):
        x = until(w, x, n)
        return x, wnp.sum(x) * c

    return weir.scan(step, c, np.array([2, 0, 3]))


def branches_inside(w, c):
    def step(state):
        n, x = state
        x = weir.cond(n % 2 == 0, lambda: wnp.sin(w @ x), lambda: x * c)
        return n + 1, x

    return weir.while_loop(lambda state: state[0] < 5, step, (0, c))[1]


def of_iterations(w, c):
    return weir.vmap(lambda n: until(w, c, n))(np.array([3, 0, 1, 9]))


def lists_inside(w, c):
    def step(state):
        i, found = state
        return i + 1, found.push(wnp.sin(w @ c) * i)

    state = (0, weir.List.empty(8, C))
    return wnp.sum(weir.while_loop(lambda state: state[0] < 3, step, state)[1].stack(), axis=0)


FUNCTIONS = [
    lambda w, c: until(w, c, 11),
    until_small,
    nested,
    in_a_scan,
    branches_inside,
    of_iterations,
    lists_inside,
]
NAMES = ["until", *(f.__name__ for f in FUNCTIONS[1:])]


@pytest.mark.parametrize("function", FUNCTIONS, ids=NAMES)
def test_both_modes(rng, function):
    checked = Checked(rng, function, [W, C])
    checked.check()
    assert checked.compared


@weir.jit
def both(n):
    """The gradients of the loop in which the run counts, of both kinds."""

    def slopes(function):
        return weir.grad(lambda w, c: wnp.sum(function(w, c, n) ** 2), (0, 1))(W, C)

    return slopes(until), slopes(counted)


# About the powers of the spread of checkpoints, and beyond what a list of all trips would hold.
@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 63, 64, 65, 72, 73, 513, 700])
def test_any_number_of_trips(n):
    want = weir.grad(lambda w, c: wnp.sum(counted(w, c, n) ** 2), (0, 1))(W, C)
    for found in both(n):
        assert_tree_close(found, want, tol=1e-12)


def test_each_trip_has_its_own_carry():
    """The gradient by the row that a trip takes, which is what was carried into it."""
    rows = np.arange(1.0, 601.0)

    def total(rows, n):
        def step(state):
            i, sums = state
            return i + 1, sums + rows[i] * i

        return weir.while_loop(lambda state: state[0] < n, step, (0, 0.0))[1]

    found = weir.jit(lambda rows, n: weir.grad(total)(rows, n))(rows, 600)
    np.testing.assert_array_equal(found, np.arange(600.0))


def test_examples_with_their_own_numbers_of_trips():
    ns = np.array([5, 0, 1, 66, 9, 8])

    def slope(n):
        return weir.grad(lambda c: wnp.sum(until(W, c, n) ** 2))(C)

    each = weir.jit(lambda ns: weir.vmap(slope)(ns))(ns)
    in_turn = weir.jit(lambda ns: weir.for_loop(lambda i: slope(ns[i]), len(ns)))(ns)
    np.testing.assert_array_equal(each, in_turn)
    want = [weir.grad(lambda c, n=n: wnp.sum(counted(W, c, n) ** 2))(C) for n in ns.tolist()]
    np.testing.assert_allclose(each, want, rtol=1e-10, atol=1e-14)


def test_second_derivatives():
    def loss(loop):
        return lambda c, n: wnp.sum(loop(W, c, n) ** 2)

    found = weir.jit(lambda n: weir.hessian(loss(until))(C, n))(10)
    assert_tree_close(found, weir.hessian(loss(counted))(C, 10), tol=1e-10)
    twice = weir.jit(lambda n: weir.jacrev(weir.grad(loss(until)))(C, n))(4)
    assert_tree_close(twice, weir.hessian(loss(counted))(C, 4), tol=1e-10)


def test_effects_happen_once(capfd):
    def f(x, n):
        def step(i, y):
            weir.print("trip {}", i)
            return y * x

        return weir.fori_loop(0, n, step, x)

    assert weir.jit(lambda x, n: weir.grad(f)(x, n))(2.0, 3) == 32
    assert capfd.readouterr().out.count("trip") == 3
