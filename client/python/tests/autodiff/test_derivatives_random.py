"""Random programs, with branches, loops and maps inside of one another: their derivatives in both
modes, and of their gradients, against differences.

A failing seed is printed; WEIR_DERIVATIVE_SEEDS=first:last runs others.
"""

import os

import numpy as np
import pytest
from differences import Checked

import weir
import weir.numpy as wnp

N = 3  # Every vector has this size.
FIRST, LAST = map(int, os.environ.get("WEIR_DERIVATIVE_SEEDS", "0:60").split(":"))


class Program:
    """A random function of a matrix and a vector, which draws the same steps in each call."""

    def __init__(self, seed):
        self._seed = seed

    def __call__(self, w, c):
        self._rng = np.random.default_rng(self._seed)
        self._w = w
        return self._block([c, c * wnp.sum(w)], depth=0, steps=4)[-2:]

    def _block(self, values, depth, steps):
        """Returns: vectors, each made of some before it."""
        values = list(values)
        for _ in range(steps):
            kinds = [self._plain] * 4
            if depth < 2:
                kinds += [self._branch, self._scan, self._loop, self._map, self._while]
            made = kinds[self._rng.integers(len(kinds))](values, depth)
            # Bounded, so that no program runs away.
            values.append(wnp.tanh(made))
        return values

    def _pick(self, values):
        return values[self._rng.integers(len(values))]

    def _plain(self, values, depth):
        a, b = self._pick(values), self._pick(values)
        w, shift = self._w, int(self._rng.integers(N))
        choices = [
            lambda: a * b,
            lambda: a - wnp.sin(b),
            lambda: w @ a,
            lambda: a / (2 + wnp.cos(b)),
            lambda: wnp.exp(a) * 0.3,
            lambda: wnp.sort(a) + b,
            lambda: wnp.maximum(a, b),
            lambda: wnp.cumsum(a) * b[shift],
            lambda: wnp.roll(a, shift) * wnp.max(b),
            lambda: wnp.zeros_like(a).at[shift].set(b[0]) + a,
            lambda: wnp.zeros_like(a).at[wnp.argsort(b)].add(a * b),
            lambda: wnp.where(a > b, a * a, b),
            lambda: wnp.outer(a, b)[:, shift] + wnp.mean(a),
            lambda: wnp.linalg.solve(w @ w.T + 3 * wnp.eye(N), a),
            lambda: wnp.concatenate([b[shift:], a[:shift]]),
            lambda: wnp.sqrt(a * a + 1) * wnp.prod(b),
            lambda: weir.lax.erf(a) + wnp.logsumexp(b),
            lambda: weir.stop_gradient(wnp.floor(a)) * b,
        ]
        return choices[self._rng.integers(len(choices))]()

    def _branch(self, values, depth):
        a, b = self._pick(values), self._pick(values)
        at = int(self._rng.integers(N))
        after = self._rng.integers(1 << 30)
        return weir.cond(
            a[at] > 0.1,
            lambda: self._inner(after, [*values, b], depth),
            lambda: self._inner(after + 1, [*values, a * b], depth),
        )

    def _inner(self, seed, values, depth):
        """One block by draws of its own, as bodies may be traced more than once."""
        outer, self._rng = self._rng, np.random.default_rng(seed)
        try:
            return self._block(values[-3:], depth + 1, steps=2)[-1]
        finally:
            self._rng = outer

    def _scan(self, values, depth):
        a, xs = self._pick(values), self._pick([self._w, wnp.outer(*values[-2:])])
        after, is_reverse = self._rng.integers(1 << 30), bool(self._rng.integers(2))

        def step(carry, x):
            made = self._inner(after, [carry, x, a], depth)
            return made, made * x

        last, ys = weir.scan(step, a, xs, reverse=is_reverse)
        return last + wnp.sum(ys, axis=0)

    def _loop(self, values, depth):
        a, b, after = self._pick(values), self._pick(values), self._rng.integers(1 << 30)
        trips = int(self._rng.integers(4))
        return weir.fori_loop(0, trips, lambda i, x: self._inner(after, [b * i, x], depth), a)

    def _while(self, values, depth):
        """Trips that only the run knows, of which nothing is differentiated."""
        a, b = self._pick(values), wnp.floor(self._pick(values)) * 0.3
        count = weir.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * b), (0, b))[1]
        return a * (count + 1)

    def _map(self, values, depth):
        a, rows = self._pick(values), self._pick([self._w, wnp.outer(*values[-2:])])
        after, reduces = self._rng.integers(1 << 30), bool(self._rng.integers(2))

        def one(row, element):
            made = self._inner(after, [row, a, row * element], depth)
            total = wnp.sum(made)
            return total * weir.psum(total * 0.1) if reduces else total

        return weir.vmap(one)(rows, a)


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_random_program(seed):
    rng = np.random.default_rng([seed, 1])
    w, c = rng.normal(size=(N, N)) * 0.7, rng.normal(size=N)
    program = Program(seed)
    checked = Checked(rng, program, [w, c])
    checked.check(rtol=1e-6)
    assert checked.compared
    if seed % 4 == 0:

        def gradient(w, c):
            total = weir.grad(lambda w, c: sum(wnp.sum(x) for x in program(w, c)), (0, 1))
            return total(w, c)

        Checked(rng, gradient, [w, c], step=1e-4).check()


@pytest.mark.parametrize("seed", range(FIRST, min(LAST, FIRST + 20)))
def test_mapped_gradients_have_the_numbers_of_a_loop(seed):
    rng = np.random.default_rng([seed, 2])
    w, rows = rng.normal(size=(N, N)) * 0.7, rng.normal(size=(5, N))
    program = Program(seed)

    def one(row):
        return weir.grad(lambda w, c: sum(wnp.sum(x) for x in program(w, c)), (0, 1))(w, row)

    @weir.jit
    def both(rows):
        return (
            weir.vmap(one, strict=True)(rows),
            weir.for_loop(lambda i: one(rows[i]), 5),
        )

    together, in_turn = both(rows)
    for a, b in zip(together, in_turn):
        np.testing.assert_array_equal(a, b)
