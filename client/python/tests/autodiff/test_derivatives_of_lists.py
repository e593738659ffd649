"""Derivatives through lists, masks, optional and sparse values, and loops of a length that only the
run knows.
"""

import numpy as np
import pytest
from differences import Checked

import weir
import weir.numpy as wnp

W = np.array([[0.5, -0.3], [0.2, 0.4]])
C = np.array([0.3, -0.7])


def pfor_of_some(w, c):
    count = wnp.sum(w > 0)
    return weir.pfor(lambda i: wnp.sin(w[0] * c * i), count, capacity=4).stack()


def chosen_rows(w, c):
    return w[wnp.array([True, False]) | (c > 5)].stack() * c


def mean_of_chosen(w, c):
    x = w.reshape(-1)
    return x[x > 0].map(lambda v: v * v).mean() * c


def set_by_a_mask(w, c):
    return w.at[w > 0].set(c[0]) * w


def optional(w, c):
    some = weir.Optional.of(w[0], c[0] > 0).get_or(c)
    none = weir.Optional.of(w[1], c[1] > 0).get_or(c)
    return some * none


def sparse(w, c):
    return weir.Sparse.of(w, 4) @ c


def pushed_and_popped(w, c):
    found = weir.List.empty(4, c).push(w @ c).push(c).push(c * c)
    found, last = found.pop()
    return last * found[0] + found[-1]


def set_and_scattered(w, c):
    found = weir.List.of(w).set(1, c)
    return found.gather(np.array([1, 0, 1])) * 2.0


FUNCTIONS = [
    pfor_of_some,
    chosen_rows,
    mean_of_chosen,
    set_by_a_mask,
    optional,
    sparse,
    pushed_and_popped,
    set_and_scattered,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_both_modes(rng, function):
    checked = Checked(rng, function, [W, C])
    checked.check()
    assert checked.compared


def test_a_loop_of_unknown_length_has_both_modes():
    def f(w):
        count = wnp.sum(w > 0)
        return weir.for_loop(lambda i: wnp.sin(w * i), count, capacity=4).stack()

    slope = weir.jit(lambda w: weir.jvp(f, (w,), (wnp.ones_like(w),))[1])(W)
    want = [np.cos(W * i) * i if i < 3 else 0 * W for i in range(4)]
    np.testing.assert_allclose(slope, want)
    by_rows = weir.jit(weir.jacrev(f))(W)
    np.testing.assert_allclose(np.sum(by_rows, axis=(-2, -1)), want, atol=1e-12)
