"""Products of weir.numpy against NumPy."""

import numpy as np
import pytest
from conftest import assert_tree_close

import weir
import weir.numpy as wnp

_RNG = np.random.default_rng(3)


def _array(*shape):
    return _RNG.normal(size=shape).astype(np.float32)


A, M, V = _array(4, 5), _array(5, 5), _array(5)
T, U = _array(2, 4, 5), _array(3, 1, 5, 2)
K = _RNG.integers(-9, 9, size=(4, 5)).astype(np.int32)

CALLS = [
    ("matmul", (A, M)),
    ("matmul", (A, V)),
    ("matmul", (V, M)),
    ("matmul", (V, V)),
    ("matmul", (T, M)),
    ("matmul", (T, U)),
    ("matmul", (K, K.T)),
    ("dot", (A, M)),
    ("dot", (V, V)),
    ("dot", (T, U)),
    ("dot", (2.0, V)),
    ("inner", (A, M)),
    ("outer", (V, V)),
    ("vdot", (A, A)),
    ("tensordot", (A, M, 1)),
    ("tensordot", (T, T, 3)),
    ("tensordot", (T, A, ([1, 2], [0, 1]))),
    ("kron", (A, M)),
    ("kron", (V, V)),
    ("cross", (T[..., :3], T[..., 1:4])),
]

SUBSCRIPTS = [
    ("ij,jk->ik", (A, M)),
    ("ij,kj", (A, M)),
    ("ij,jk,kl->il", (A, M, M)),
    ("ii->i", (M,)),
    ("ii", (M,)),
    ("ij->ji", (A,)),
    ("ij->", (A,)),
    ("i,j->ij", (V, V)),
    ("bij,bij->b", (T, T)),
    ("bij,jk->bik", (T, M)),
    ("...ij,...kj->...ik", (T, T)),
    ("...i,i", (T, V)),
    ("ij,i->ij", (A, A[:, 0])),
    ("aij,cij,ij->ac", (T, T, A)),
    ("ab, bc -> ca", (A, M)),
    ("i,i,i->i", (V, V, V)),
]


@pytest.mark.parametrize(
    "name, args", CALLS, ids=[f"{i}-{name}" for i, (name, _) in enumerate(CALLS)]
)
def test_products(name, args):
    assert_tree_close(getattr(wnp, name)(*args), getattr(np, name)(*args), tol=1e-4)


@pytest.mark.parametrize("subscripts, args", SUBSCRIPTS, ids=[text for text, _ in SUBSCRIPTS])
def test_einsum(subscripts, args):
    assert_tree_close(wnp.einsum(subscripts, *args), np.einsum(subscripts, *args), tol=1e-4)


def test_einsum_of_one_product_is_one_node():
    text = weir.jit(lambda x, y: wnp.einsum("bij,bjk->bik", x, y)).lower(T, _array(2, 5, 3)).text
    assert text.count("dot_general") == 1 and "multiply" not in text


def test_sizes_that_differ_are_named():
    with pytest.raises(ValueError, match=r"axis 1 of f32\[4,5\].*axis 0 of f32\[4,5\]"):
        wnp.matmul(A, A)
    with pytest.raises(ValueError, match="does not fit"):
        wnp.einsum("ijk->i", A)
