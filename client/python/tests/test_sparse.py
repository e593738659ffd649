"""Sparse arrays: what they hold, their products, and what they refuse."""

import numpy as np
import pytest
from conftest import assert_same_bits

import weir
import weir.numpy as wnp

_RNG = np.random.default_rng(5)
DENSE = np.where(_RNG.random((4, 6, 5)) < 0.3, _RNG.normal(size=(4, 6, 5)), 0).astype(np.float32)


@pytest.mark.parametrize("shape", [(6, 5), (5,), (2, 3, 5), (1, 1), (3, 0), ()])
def test_elements_come_back(shape):
    dense = np.resize(DENSE, shape) if shape else np.float32(3)
    stored = weir.Sparse.of(dense, 30)
    assert stored.shape == shape and stored.ndim == len(shape)
    assert_same_bits(stored.to_dense(), np.asarray(dense))
    assert_same_bits(stored.T.to_dense(), np.asarray(dense).T)
    assert (stored.values != 0).sum() == np.count_nonzero(dense)


@pytest.mark.parametrize("function", ["@ vector", "@ matrix", "vector @", "matrix @"])
def test_products(function):
    right, left = _RNG.normal(size=(5, 3)).astype("f"), _RNG.normal(size=(2, 6)).astype("f")

    def product(matrix):
        return {
            "@ vector": lambda: matrix @ right[:, 0],
            "@ matrix": lambda: matrix @ right,
            "vector @": lambda: left[0] @ matrix,
            "matrix @": lambda: left @ matrix,
        }[function]()

    got = weir.vmap(lambda dense: product(weir.Sparse.of(dense, 20)), strict=True)(DENSE)
    for i, dense in enumerate(DENSE):
        np.testing.assert_allclose(got[i], product(dense), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(product(weir.Sparse.of(DENSE[1], 20)), got[1])


def test_types_meet_in_products():
    stored = weir.Sparse.of(np.int32([[0, 2], [3, 0]]), 2)
    assert_same_bits(stored @ np.float32([0.5, 1]), np.float32([2, 1.5]))
    assert_same_bits(stored @ np.array([[1], [1]]), np.array([[2], [3]]))


def test_what_stands_outside_counts_for_nothing_and_equal_places_add_up():
    indices = np.array([[0, 0], [0, 0], [2, 1], [0, 3], [-1, 0], [0, -1], [3, 0]])
    stored = weir.Sparse(indices, np.arange(1.0, 8), (3, 3))
    want = np.zeros((3, 3))
    want[0, 0], want[2, 1] = 3, 3
    assert_same_bits(stored.to_dense(), want)
    assert_same_bits(stored @ np.ones(3), want.sum(1))
    assert_same_bits(np.ones(3) @ stored, want.sum(0))
    assert_same_bits(stored @ np.float64([np.inf, 0, 0]), np.array([np.inf, 0, 0]))


def test_loops_carry_them_and_functions_take_them():
    graph = weir.Sparse.of(np.float32([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), 5)

    @weir.jit
    def walked(graph, start):
        def walk(start, length):
            def step(t, state):
                return state[0], state[0].T @ state[1]

            return weir.fori_loop(0, length, step, (graph, start))[1]

        return weir.vmap(walk)(start, wnp.arange(3))

    got = walked(graph, np.eye(3, dtype=np.float32))
    assert got.argmax(1).tolist() == [0, 2, 1] and got.sum() == 3


def test_the_arrays_of_examples_are_joined():
    lists = weir.vmap(lambda dense: weir.Sparse.of(dense, 15))(DENSE)
    assert repr(lists) == "weir.Sparse(f32[6,5], 15 stored)"
    assert_same_bits(lists.stacked().to_dense(), DENSE)
    with pytest.raises(TypeError, match=r"of 4 examples \(.*test_sparse.py:\d+\); weir.vmap"):
        lists.to_dense()
    with pytest.raises(ValueError, match="one array already"):
        lists.stacked().stacked()


def test_what_they_refuse():
    with pytest.raises(weir.FailedPrecondition, match="in iteration .* not 0 than 3"):
        weir.vmap(lambda dense: weir.Sparse.of(dense, 3).values)(DENSE)
    with pytest.raises(TypeError, match=r"known while tracing, found i64\[\] made by pfor"):
        weir.pfor(lambda i: weir.Sparse.of(DENSE[0], i).values, 2)
    matrix = weir.Sparse.of(DENSE[0], 20)
    with pytest.raises(ValueError, match=r"\(6, 5\) has no product with f32\[6\].*test_sparse.py"):
        matrix @ np.ones(6, np.float32)
    with pytest.raises(ValueError, match=r"indices i64\[k,3\] and values \[k\], found i64\[20,2\]"):
        weir.Sparse(matrix.indices, matrix.values, (2, 3, 5)).to_dense()
    with pytest.raises(TypeError, match="must be integers, found f32"):
        weir.Sparse(matrix.indices.astype("f"), matrix.values, (6, 5)).to_dense()
