"""Values of several arrays that bodies make and return: sparse, ragged and optional ones.

Origin: section 2.1, the SparseTest, CompositeTensorTest and OptionalTest of TensorFlow's
control_flow_ops_test.py. There the shape of a sparse array is an output too, and that of the result
the largest one; here it is known while tracing.
"""

import numpy as np
from oracle import agree, numbers

import weir
import weir.numpy as wnp
from weir import List

N = 4

# --- SparseTest.


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


def test_sparse_dynamic_n():
    x = numbers(N)

    @weir.jit
    def made(n):
        def body(i):
            return weir.Sparse(places(i), wnp.array(x)[i][None], (N,))

        found = weir.pfor(body, n, strict=True, capacity=N)
        return found.map(lambda one: one.to_dense()).elements, found.size

    for n in range(N + 1):
        dense, size = made(np.int64(n))
        assert size == n
        np.testing.assert_array_equal(dense, np.diag(np.where(np.arange(N) < n, x, 0)))


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


# --- CompositeTensorTest.


def test_composite_of_uniform_rows():
    """Rows of equal length, of which each could have another: a list of lists."""

    def body(i, x):
        rows = List.of(List(x[i], wnp.full(2, 3, "i64")))
        longer = rows.set(1, rows.get(0).set(-1, x[0, 0, 0]))
        return rows.stack().elements, rows.get(-1).stack(), longer.get(1).stack(), rows.size

    def want(i, x):
        return x[i], x[i, 1], np.append(x[i, 0, :2], x[0, 0, 0]), np.int64(2)

    agree(lambda xp, i, x: body(i, x), numbers(3, 2, 3), want=want)
    x = numbers(3, 2, 3)
    made = weir.vmap(lambda rows: List.of(List(rows, wnp.array([3, 2]))), strict=True)(x)
    for lists, rows in zip(made.split(), x):
        assert [np.array(list(row)).tolist() for row in lists] == [
            rows[0].tolist(),
            rows[1, :2].tolist(),
        ]


# --- OptionalTest.


def test_optional_from_and_get_value():
    """Of three components, of which some iterations have none."""

    def body(xp, i, x):
        value = (x[i], x[0] * 2, xp.asarray(i))
        if xp is np:
            return (value, *(value if i % 2 == 0 else (x[0], x[0], np.asarray(-1))))
        given = weir.Optional.of(value)
        some = weir.cond(i % 2 == 0, lambda: given, lambda: weir.Optional.none(value))
        return (given.get(), *some.get_or((x[0], x[0], -1)))

    agree(body, numbers(3, 2))
