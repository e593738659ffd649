"""pfor, for_loop and vmap: every body gives the same as one iteration after the other."""

import numpy as np
import pytest
from conftest import assert_same_bits, assert_tree_close

import weir
import weir.numpy as wnp

_RNG = np.random.default_rng(5)
# Large enough to be an input of programs, which a constant would not be: reductions of constants
# are folded.
TABLE = _RNG.normal(size=(20, 4)).astype(np.float32)
X = TABLE[:5]
W = _RNG.normal(size=(4, 3)).astype(np.float32)
SQUARES = _RNG.normal(size=(5, 4, 4)).astype(np.float32)
IMAGES = _RNG.normal(size=(5, 1, 2, 6, 6)).astype(np.float32)
KERNELS = _RNG.normal(size=(5, 3, 2, 3, 3)).astype(np.float32)


def row(i):
    return wnp.array(TABLE)[i]


BODIES = {
    "index": lambda i: i * 2 + 1,
    "row": row,
    "elementwise": lambda i: wnp.exp(row(i)) / (1 + abs(row(i))),
    "invariant": lambda i: wnp.sum(wnp.array(TABLE)),
    "constant": lambda i: 3.5,
    "pytree": lambda i: {"a": row(i), "b": (i, [row(i).sum()])},
    "reduction": lambda i: (row(i).sum(), row(i).max(), wnp.argmax(row(i)), row(i).std()),
    "cumulative": lambda i: wnp.cumsum(row(i)),
    "matmul": lambda i: row(i) @ wnp.array(W),
    "both vary": lambda i: wnp.array(SQUARES)[i] @ row(i),
    "outer": lambda i: wnp.outer(row(i), row(i)),
    "einsum": lambda i: wnp.einsum("ij,j,jk->ik", wnp.array(SQUARES)[i], row(i), wnp.array(W)),
    "sort": lambda i: (wnp.sort(row(i)), wnp.argsort(row(i)), wnp.top_k(row(i), 2)),
    "softmax": lambda i: weir.nn.softmax(row(i)),
    "layer norm": lambda i: weir.nn.layer_norm(row(i)),
    "convolution": lambda i: weir.nn.conv(
        wnp.array(IMAGES)[i], wnp.array(KERNELS)[0], padding="SAME"
    ),
    "convolution, both vary": lambda i: weir.nn.conv(wnp.array(IMAGES)[i], wnp.array(KERNELS)[i]),
    "pooling": lambda i: (
        weir.nn.max_pool(wnp.array(IMAGES)[i], 2),
        weir.nn.avg_pool(wnp.array(IMAGES)[i], 2),
    ),
    "gather": lambda i: wnp.array(TABLE)[wnp.array([4, 0]), i % 4],
    "gather by data": lambda i: wnp.take(row(i), wnp.argsort(row(i))),
    "update": lambda i: row(i).at[i % 4].set(9.0),
    "scatter add": lambda i: wnp.zeros(4).at[wnp.array([0, 1, 1])].add(row(i)[:3]),
    "movement": lambda i: (
        row(i)[::-1],
        wnp.roll(row(i), 1),
        wnp.pad(row(i), 1),
        wnp.tile(row(i), 2),
    ),
    "where": lambda i: wnp.where(row(i) > 0, row(i), i),
    "dynamic slice": lambda i: weir.lax.dynamic_slice_in_dim(wnp.array(TABLE), i, 2),
    "cond, shared": lambda i: weir.cond(
        wnp.array(TABLE)[0, 0] > 0, lambda: row(i) * 2, lambda: row(i) - 1
    ),
    "cond, own": lambda i: weir.cond(i > 1, lambda: row(i) * 2, lambda: row(i) - 1),
    "switch, own": lambda i: weir.switch(
        i % 3, [lambda: row(i), lambda: row(i) * i, lambda: wnp.ones(4)]
    ),
    "while, own": lambda i: weir.while_loop(lambda c: c < 10, lambda c: c * 2 + 1, i),
    "fori, own": lambda i: weir.fori_loop(0, i, lambda k, c: c + row(k), wnp.zeros(4)),
    "fori": lambda i: weir.fori_loop(0, 3, lambda k, c: c * 0.5 + k, row(i)),
    "scan": lambda i: weir.scan(lambda c, x: (c + x, c * x), row(i).sum(), row(i)),
    "random": lambda i: weir.random.normal((3,), seed=1) + row(i)[:3],
    "random in a loop": lambda i: weir.fori_loop(
        0, 3, lambda k, c: c + weir.random.uniform(seed=1), 0.0
    ),
    "nested": lambda i: weir.pfor(lambda j: row(i) * row(j).sum(), 3),
    "nested random": lambda i: weir.pfor(lambda j: weir.random.uniform(seed=2), 3),
    "loop inside": lambda i: weir.for_loop(lambda j: row(i)[j] * j, 4),
    "vmap inside": lambda i: weir.vmap(lambda x: x * row(i).sum())(wnp.array(TABLE)),
    "empty": lambda i: row(i)[2:2],
    "bool and integers": lambda i: (i > 1, i // 2, i % 3, -i),
}


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("name", BODIES)
def test_pfor_is_for_loop(name, n):
    assert_same_bits(weir.pfor(BODIES[name], n), weir.for_loop(BODIES[name], n))


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 5, 7])
@pytest.mark.parametrize(
    "name", ["elementwise", "pytree", "matmul", "random", "random in a loop", "nested", "update"]
)
def test_chunks_change_nothing(name, chunk_size):
    assert_same_bits(
        weir.pfor(BODIES[name], 5, chunk_size=chunk_size), weir.for_loop(BODIES[name], 5)
    )


@pytest.mark.parametrize("outer", [weir.pfor, weir.for_loop])
@pytest.mark.parametrize("inner", [weir.pfor, weir.for_loop])
@pytest.mark.parametrize("n, m", [(0, 3), (2, 0), (1, 1), (2, 3)])
def test_nesting(outer, inner, n, m):
    def body(i):
        return inner(lambda j: row(i)[j % 4] * 10 + i + j, m)

    want = [
        [X[i][j % 4] * np.float32(10) + np.float32(i) + np.float32(j) for j in range(m)]
        for i in range(n)
    ]
    assert_tree_close(outer(body, n), np.array(want, np.float32).reshape(n, m))


@pytest.mark.parametrize("name", ["matmul", "cond, own", "while, own", "fori, own"])
def test_strict_refuses_what_falls_back(name):
    if weir.explain(lambda: weir.pfor(BODIES[name], 5)).fallbacks:
        with pytest.raises(weir.InvalidArgument, match="strict"):
            weir.pfor(BODIES[name], 5, strict=True)
    else:
        assert_same_bits(weir.pfor(BODIES[name], 5, strict=True), weir.for_loop(BODIES[name], 5))


def test_the_number_of_iterations():
    with pytest.raises(ValueError, match="-1 iterations"):
        weir.pfor(lambda i: i, -1)
    with pytest.raises(ValueError, match="chunk_size must be at least 1"):
        weir.pfor(lambda i: i, 3, chunk_size=0)
    with pytest.raises(TypeError, match="weir.fori_loop"):
        weir.jit(lambda n: weir.pfor(lambda i: i, n))(3)


def test_values_cannot_leave_a_body():
    left = []

    def body(i):
        left.append(i * 2)
        return i

    with pytest.raises(weir.TracingError, match="return it from the body"):
        weir.jit(lambda: (weir.pfor(body, 3), left[0] + 1))()


def test_a_constant_that_is_cut_into_rows():
    assert_tree_close(
        weir.jit(lambda: weir.vmap(lambda k: k * 2)(wnp.arange(4)))(),
        np.arange(4, dtype=np.int32) * 2,
    )


# --- vmap.


def test_axes():
    y = np.arange(5, dtype=np.float32)
    vmap = weir.vmap
    assert_tree_close(vmap(lambda a: a.sum())(X), X.sum(1))
    assert_tree_close(vmap(lambda a: a.sum(), in_axes=1)(X), X.sum(0))
    assert_tree_close(vmap(lambda a, b: a * b, in_axes=(1, None), out_axes=1)(X, y), X * y[:, None])
    assert_tree_close(vmap(lambda a: a * 2, out_axes=-1)(X), (X * 2).T)
    tree = {"x": X, "y": (y, 3.0)}
    axes = ({"x": 0, "y": (0, None)},)
    assert_tree_close(
        vmap(lambda t: t["x"] * t["y"][0] * t["y"][1], axes)(tree), X * y[:, None] * 3
    )
    assert_tree_close(vmap(lambda a, *, b: a + b)(X, b=y), X + y[:, None])
    assert_tree_close(vmap(lambda: wnp.ones(2), axis_size=3)(), np.ones((3, 2), np.float32))


def test_results_that_are_shared():
    got = weir.vmap(lambda a, b: (a + b, b * 2), in_axes=(0, None), out_axes=(0, None))(X, X[0])
    assert_tree_close(got, (X + X[0], X[0] * 2))
    with pytest.raises(ValueError, match="differs between the examples"):
        weir.vmap(lambda a: a, out_axes=None)(X)


def test_nested_vmap():
    pairs = weir.vmap(weir.vmap(wnp.dot, in_axes=(None, 0)), in_axes=(0, None))
    assert_tree_close(pairs(X, X), X @ X.T)


def test_sizes_that_differ_are_named():
    with pytest.raises(ValueError, match=r"5: a \(axis 0\); 4: b \(axis 0\)"):
        weir.vmap(lambda a, b: a + b)(X, X[:4])
    with pytest.raises(ValueError, match=r"4: a \(axis 1\); 3: axis_size"):
        weir.vmap(lambda a: a, in_axes=1, axis_size=3)(X)
    with pytest.raises(ValueError, match="argument a of shape .* has no axis 2"):
        weir.vmap(lambda a: a, in_axes=2)(X)
    with pytest.raises(ValueError, match="give axis_size"):
        weir.vmap(lambda a: a, in_axes=None)(X)
    with pytest.raises(ValueError, match="in_axes has 3 entries and the call 1 arguments"):
        weir.vmap(lambda a: a, in_axes=(0, 0, 0))(X)


def test_randomness():
    def draw(a):
        return weir.random.normal((2,), seed=3)

    different = weir.vmap(draw)(X)
    assert_same_bits(different, weir.for_loop(lambda i: draw(i), 5))
    assert len(np.unique(different)) == 10
    same = weir.vmap(draw, randomness="same")(X)
    assert_same_bits(same, np.tile(weir.random.normal((2,), seed=3), (5, 1)))
    with pytest.raises(weir.TracingError, match="randomness='error'"):
        weir.vmap(draw, randomness="error")(X)
    with pytest.raises(ValueError, match="randomness must be one of"):
        weir.vmap(draw, randomness="other")
