"""Branches and loops that carry values."""

import numpy as np
import pytest
from conftest import assert_same_bits, assert_tree_close

import weir
import weir.numpy as wnp

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("p", [True, False, np.bool_(True), 0, 2.5])
def test_cond(p):
    want = (X + 1, {"a": 1}) if p else (X * 2, {"a": 2})
    got = weir.cond(p, lambda x: (x + 1, {"a": 1}), lambda x: (x * 2, {"a": 2}), X)
    assert_tree_close(got, want)
    traced = weir.jit(
        lambda p, x: weir.cond(p, lambda x: (x + 1, {"a": 1}), lambda x: (x * 2, {"a": 2}), x)
    )
    assert_tree_close(traced(p, X), want)


@pytest.mark.parametrize("index, taken", [(-3, 0), (0, 0), (1, 1), (2, 2), (9, 2)])
def test_switch(index, taken):
    branches = [lambda x, k=k: x * 10 + k for k in range(3)]
    assert_tree_close(weir.switch(index, branches, X), X * 10 + taken)
    assert_tree_close(
        weir.jit(lambda i: weir.switch(i, branches, X))(np.int32(index)), X * 10 + taken
    )


def test_branches_must_agree():
    with pytest.raises(TypeError, match="different structures"):
        weir.cond(True, lambda: 1, lambda: (1, 2))
    with pytest.raises(TypeError, match="different shapes"):
        weir.cond(True, lambda: wnp.ones(2), lambda: wnp.ones(3))
    with pytest.raises(TypeError, match="different element types"):
        weir.cond(True, lambda: wnp.ones(2), lambda: wnp.ones(2, "i32"))
    with pytest.raises(TypeError, match="weir.numpy.where"):
        weir.cond(X > 0, lambda: 1, lambda: 2)


def test_a_number_bends_to_the_other_branch():
    got = weir.cond(False, lambda: wnp.ones((), "f64"), lambda: 2)
    assert got == 2 and got.dtype == np.float64


def test_while_loop():
    def run(limit):
        return weir.while_loop(
            lambda c: c["i"] < limit, lambda c: {"i": c["i"] + 1, "v": c["v"] * 2}, start
        )

    start = {"i": 0, "v": 1.0}
    assert_tree_close(run(5), {"i": 5, "v": 32.0})
    assert_tree_close(weir.jit(run)(np.int32(0)), {"i": 0, "v": 1.0})


def test_types_of_a_carry():
    got = weir.while_loop(lambda c: c < 3, lambda c: c + np.float64(0.5), 0)
    assert got == 3 and got.dtype == np.float64
    with pytest.raises(TypeError, match=r"changes carry from f32\[\] to f32\[2\]"):
        weir.while_loop(lambda c: True, lambda c: wnp.stack([c, c]), np.float32(1))
    with pytest.raises(TypeError, match=r"changes carry\['v'\] from i32\[\] to f32\[\]"):
        weir.fori_loop(0, 3, lambda i, c: {"v": c["v"] * 0.5}, {"v": np.int32(1)})
    with pytest.raises(TypeError, match="structure"):
        weir.fori_loop(0, 3, lambda i, c: (c, c), 1)
    with pytest.raises(TypeError, match="must be a scalar"):
        weir.while_loop(lambda c: c > 0, lambda c: c, X)


@pytest.mark.parametrize("lower, upper", [(0, 5), (2, 5), (5, 2), (-2, 2), (0, 0)])
def test_fori_loop(lower, upper):
    want = sum(range(lower, upper))
    assert weir.fori_loop(lower, upper, lambda i, c: c + i, 0) == want
    assert weir.jit(lambda a, b: weir.fori_loop(a, b, lambda i, c: c + i, 0))(lower, upper) == want


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_scan(n, reverse):
    carry, seen = np.zeros(3, np.float32), []
    for i in range(n)[::-1] if reverse else range(n):
        seen.append(carry)
        carry = carry * 2 + X[i]
    seen = np.array(seen[::-1] if reverse else seen, np.float32).reshape(n, 3)
    got = weir.scan(
        lambda c, x: (c * 2 + x["x"], c), np.zeros(3, np.float32), {"x": X[:n]}, reverse=reverse
    )
    assert_tree_close(got, (carry, seen))


def test_scan_without_rows():
    assert_tree_close(weir.scan(lambda c, _: (c + 1, None), 0, length=4), (4, None))
    with pytest.raises(ValueError, match="length must be given"):
        weir.scan(lambda c, _: (c, c), 0)
    with pytest.raises(ValueError, match=r"2: xs\['a'\]; 3: xs\['b'\]"):
        weir.scan(lambda c, x: (c, c), 0, {"a": X, "b": X.T})
    with pytest.raises(TypeError, match="pair"):
        weir.scan(lambda c, x: c, 0, X)


def test_random_numbers_differ_from_trip_to_trip():
    def draw(total):
        return total.at[total.argmin()].set(weir.random.uniform(seed=1))

    counted = weir.fori_loop(0, 4, lambda i, t: draw(t), np.zeros(4, np.float32))
    assert len(np.unique(counted)) == 4 and (counted > 0).all()

    def step(carry):
        return carry[0] + 1, draw(carry[1])

    waited = weir.while_loop(lambda c: c[0] < 4, step, (0, np.zeros(4, np.float32)))
    assert_same_bits(waited[1], counted)
