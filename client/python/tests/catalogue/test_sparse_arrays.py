"""Sparse arrays that bodies return.

Origin: section 2.1, the SparseTest of TensorFlow's control_flow_ops_test.py. There the shape is an
output too, and that of the result the largest one; here it is known while tracing.
"""

import numpy as np
from oracle import agree, numbers

import weir
import weir.numpy as wnp

N = 4


def check(made, dense):
    """`made(i, x)` gives a sparse array, and all of them together are `dense(i, x)`."""
    x = numbers(N)

    def body(xp, i, x):
        one = made(i, x)
        return one.indices, one.values, one.to_dense()

    agree(body, x, n=N, want=False)
    agree(lambda xp, i, x: made(i, x).to_dense(), x, n=N, want=lambda i, x: dense(i, x))
    for n in (0, 1, N):
        together = weir.jit(lambda x, n=n: weir.pfor(lambda i: made(i, x), n, strict=True))(x)
        assert isinstance(together, weir.Sparse) and together.indices.shape[0] == n
        want = [dense(i, x) for i in range(n)]
        np.testing.assert_array_equal(
            together.stacked().to_dense(), np.reshape(want, (n, *together.shape))
        )


def places(*numbers):
    """Returns: i64[k, 1] of Python and traced integers."""
    return wnp.stack([wnp.asarray(k).astype("i64") for k in numbers])[:, None]


def test_sparse_nothing_stacked():
    def made(i, x):
        return weir.Sparse(places(0, 1, 2), wnp.array([4, 5, 6]), (5,))

    check(made, lambda i, x: np.int32([4, 5, 6, 0, 0]))


def test_sparse_all_stacked():
    def made(i, x):
        return weir.Sparse(places(i), x[i][None], (N,))

    check(made, lambda i, x: np.where(np.arange(N) == i, x[i], np.float32(0)))


def test_sparse_indices_stacked():
    def made(i, x):
        return weir.Sparse(places(i, 0), wnp.array([1, 2]), (N,))

    def dense(i, x):
        out = np.zeros(N, np.int32)
        out[i] += 1
        out[0] += 2
        return out

    check(made, dense)


def test_sparse_values_stacked():
    def made(i, x):
        return weir.Sparse(places(1), wnp.stack([x[i] * 2]), (3,))

    check(made, lambda i, x: np.float32([0, x[i] * 2, 0]))


def test_sparse_of_two_axes():
    """What an iteration stores outside of the shape counts for nothing."""

    def made(i, x):
        at = wnp.stack([wnp.stack([i, i - 1]), wnp.stack([1, i])])
        return weir.Sparse(at, wnp.stack([x[i], x[0]]), (3, 3))

    def dense(i, x):
        out = np.zeros((3, 3), np.float32)
        if 1 <= i < 3:
            out[i, i - 1] = x[i]
        if i < 3:
            out[1, i] += x[0]
        return out

    check(made, dense)
