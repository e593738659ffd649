"""Reductions over the iterations of a loop."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp


@pytest.mark.parametrize("chunk_size", [None, 1, 2])
@pytest.mark.parametrize(
    "reduce, expected",
    [
        (weir.psum, lambda x: x.sum(0)),
        (weir.pmax, lambda x: x.max(0)),
        (weir.pmin, lambda x: x.min(0)),
        (weir.pmean, lambda x: x.mean(0)),
    ],
)
def test_every_iteration_gets_the_result(reduce, expected, chunk_size):
    x = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)

    def body(row):
        return row - reduce(row * 2)

    got = weir.vmap(body, chunk_size=chunk_size, strict=True)(x)
    np.testing.assert_allclose(got, x - expected(2 * x), rtol=1e-6, atol=1e-6)


def test_all_gather():
    got = weir.pfor(lambda i: weir.all_gather(i * i), 4, strict=True)
    np.testing.assert_array_equal(got, np.tile([0, 1, 4, 9], (4, 1)))


def test_a_second_reduction_sees_the_first():
    x = np.arange(6, dtype=np.float64)

    def normalized(value):
        centred = value - weir.pmean(value)
        return centred / wnp.sqrt(weir.pmean(centred * centred))

    np.testing.assert_allclose(weir.vmap(normalized)(x), (x - x.mean()) / x.std(), rtol=1e-12)


def test_the_innermost_loop_counts():
    def body(i):
        return weir.pfor(lambda j: weir.psum(i * 10 + j), 3)

    np.testing.assert_array_equal(weir.pfor(body, 2), [[3, 3, 3], [33, 33, 33]])


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_any_number_of_iterations(n):
    np.testing.assert_array_equal(weir.pfor(lambda i: weir.psum(i), n), [n * (n - 1) // 2] * n)


def test_loops_that_run_in_order_refuse():
    with pytest.raises(weir.TracingError, match="psum at .*test_collectives.py:[0-9]+"):
        weir.for_loop(lambda i: weir.psum(i), 3)
    with pytest.raises(weir.TracingError, match="there is none around it"):
        weir.jit(lambda x: weir.psum(x))(np.ones(3))


def test_branches_refuse():
    def body(i):
        return weir.cond(i > 1, lambda: weir.psum(i), lambda: i)

    with pytest.raises(weir.InvalidArgument, match="directly in the body of a pfor"):
        weir.pfor(body, 3)


def test_what_all_iterations_share_counts_once_for_each():
    np.testing.assert_array_equal(weir.pfor(lambda i: weir.psum(1.5), 3), [4.5, 4.5, 4.5])
    np.testing.assert_array_equal(weir.pfor(lambda i: weir.all_gather(7), 2), [[7, 7], [7, 7]])
