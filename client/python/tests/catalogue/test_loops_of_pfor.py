"""Number of iterations, chunks, mapping, reductions over iterations, checks, images.

Origin: section 2.1, the tests of TensorFlow's control_flow_ops_test.py for pfor itself.
"""

import functools

import numpy as np
import pytest
from conftest import assert_same_bits
from oracle import agree, assert_numbers, integers, numbers, positive, variants

import weir
import weir.numpy as wnp


# --- PForTest.


def test_fallback():
    x = numbers(3, 2, 4)

    def body(i):
        return wnp.top_k(wnp.array(x)[i], 2)

    assert not weir.explain(lambda: weir.pfor(body, 3)).fallbacks
    values, places = weir.pfor(body, 3, strict=True)
    assert_same_bits((values, places), weir.for_loop(body, 3))
    order = np.argsort(-x, axis=-1)[..., :2]
    assert_numbers(places, order)
    assert_numbers(values, np.take_along_axis(x, order, -1))


@pytest.mark.parametrize("chunk_size", [2, 3, 8, 10])
def test_parallel_iterations(chunk_size):
    x = numbers(8, 2, 3)

    def body(i):
        return wnp.array(x)[i] * i

    got = weir.pfor(body, 8, chunk_size=chunk_size, strict=True)
    assert_same_bits(got, weir.pfor(body, 8))
    assert_numbers(got, x * np.arange(8, dtype=np.float32)[:, None, None])


@pytest.mark.parametrize("chunk_size", [2, 3, 8, 10])
def test_parallel_iterations_preserves_static_shape(chunk_size):
    def function():
        drawn = weir.pfor(lambda i: weir.random.uniform((2, 3), seed=4), 8, chunk_size)
        assert drawn.shape == (8, 2, 3)
        return drawn

    assert_same_bits(
        weir.jit(function)(), weir.for_loop(lambda i: weir.random.uniform((2, 3), seed=4), 8)
    )


def test_parallel_iterations_zero():
    with pytest.raises(ValueError, match=r"chunk_size must be at least 1, found 0 \(.*\.py:\d+\)"):
        weir.pfor(lambda i: 1, 8, chunk_size=0)
    with pytest.raises(TypeError, match="chunk_size"):
        weir.for_loop(lambda i: 1, 8, chunk_size=0)


def test_parallel_iterations_one():
    x = numbers(8, 3)
    got = weir.vmap(lambda row: wnp.cumsum(row), chunk_size=1, strict=True)(x)
    assert_same_bits(got, weir.for_loop(lambda i: wnp.cumsum(wnp.array(x)[i]), 8))
    assert_numbers(got, x.cumsum(1), of_largest=True)


@pytest.mark.parametrize("chunk_size", [None, 1, 2, 3])
def test_parallel_iterations_with_dynamic_n(chunk_size):
    x = numbers(5, 3)

    @weir.jit
    def doubled(n):
        def body(i):
            return wnp.array(x)[i] * 2

        return weir.pfor(body, n, chunk_size, True, capacity=5), weir.for_loop(body, n, capacity=5)

    for n in range(6):
        got, want = doubled(np.int64(n))
        assert_same_bits(got, want)
        assert got.size == n
        np.testing.assert_array_equal(got.elements, np.where(np.arange(5)[:, None] < n, x * 2, 0))


@pytest.mark.parametrize("loop", [weir.pfor, weir.for_loop])
def test_no_iterations(loop):
    got = loop(lambda i: 1, 0)
    assert got.shape == (0,) and got.dtype == np.int32


@pytest.mark.parametrize("loop", [weir.pfor, weir.for_loop])
def test_no_iterations_of_integers(loop):
    got = loop(lambda i: wnp.ones((10, 3), "i32"), 0)
    assert got.shape == (0, 10, 3) and got.dtype == np.int32


def test_vectorized_map():
    x = numbers(10, 5, 3)
    got = weir.vmap(lambda row: wnp.mean(row, axis=0, keepdims=True), strict=True)(x)
    assert_numbers(got, x.mean(1, keepdims=True), of_largest=True)


def test_vectorized_map_static_shape():
    def clamped(x, bound):
        out = weir.vmap(lambda row: wnp.where(row > 0, row, bound))(x)
        assert out.shape == (2, 1)
        return out

    got = weir.jit(clamped)(np.float32([[-1], [2]]), np.float32([3]))
    np.testing.assert_array_equal(got, [[3], [2]])


def test_vectorized_map_of_unknown_shape():
    def clamped(x, bound):
        out = weir.vmap(lambda row: wnp.where(row > 0, row, bound))(x)
        assert str(out.shape) == "(n, m)"
        return out

    function = weir.jit(clamped, shapes=("n, m", "m"))
    for n, m in [(2, 1), (1, 3), (0, 2), (4, 2)]:
        x, bound = numbers(n, m), numbers(m)
        np.testing.assert_array_equal(function(x, bound), np.where(x > 0, x, bound))


def test_vectorized_map_of_unit_axes():
    one, three = np.float32([5]), np.float32([1, 2, 3])
    add = weir.vmap(lambda a, b: a + b, strict=True)
    np.testing.assert_array_equal(weir.vmap(lambda a: a + 1, strict=True)(one), [6])
    np.testing.assert_array_equal(add(one, one), [10])
    with pytest.raises(ValueError, match=r"1: a \(axis 0\); 3: b \(axis 0\).*\.py:\d+"):
        add(one, three)
    shared = weir.vmap(lambda a, b: a + b, in_axes=(None, 0), strict=True)
    np.testing.assert_array_equal(shared(one, three), [[6], [7], [8]])


def test_vectorized_map_of_outer_products():
    x = numbers(100, 8, 8)
    got = weir.vmap(lambda a: wnp.tensordot(a, a, 0), strict=True)(x)
    assert_numbers(got, x[:, :, :, None, None] * x[:, None, None])


def test_run_functions_eagerly():
    def function(x):
        return weir.pfor(lambda i: wnp.tanh(wnp.array(x)[i]) * i, 4)

    x = numbers(4, 3)
    assert_same_bits(function(x), weir.jit(function)(x))
    assert_numbers(function(x), np.tanh(x) * np.arange(4, dtype=np.float32)[:, None])


# --- IndexedSlicesTest.


def test_indexed_slices():
    def body(xp, i, rows):
        if xp is wnp:
            return wnp.zeros((6, 2)).at[wnp.stack([i, i + 2])].set(rows[i])
        dense = np.zeros((6, 2), np.float32)
        dense[[i, i + 2]] = rows[i]
        return dense

    agree(body, numbers(3, 2, 2))


def test_indexed_slices_components():
    agree(lambda xp, i, rows: (rows[i], xp.stack([i, i + 2]), xp.array([6, 2])), numbers(3, 2, 2))


# --- ReductionTest.


P, Q = numbers(5, 3), numbers(5, 3, seed=8)


def _reduced(reduce, chunk_size=None):
    """What `reduce(p + q)` gives in each of five iterations, beside a value of its own."""

    def body(p, q):
        total = p + q
        return reduce(total), total

    return weir.vmap(body, chunk_size=chunk_size, strict=True)(P, Q)


def _assert_shared(got, want):
    shared, own = got
    assert_numbers(own, P + Q)
    assert_numbers(shared, np.tile(want, (5,) + (1,) * np.ndim(want)), of_largest=True)


def test_reduce():
    spread = _reduced(lambda x: wnp.max(weir.all_gather(x), 0) - wnp.min(weir.all_gather(x), 0))
    _assert_shared(spread, np.ptp(P + Q, axis=0))


def test_reduce_concat():
    _assert_shared(_reduced(weir.all_gather), P + Q)


def test_reduce_mean():
    _assert_shared(_reduced(weir.pmean), (P + Q).mean(0))


def test_reduce_sum():
    _assert_shared(_reduced(weir.psum), (P + Q).sum(0))


@pytest.mark.parametrize("chunk_size", [None, 2])
def test_reduction_with_dynamic_n(chunk_size):
    """Of n iterations the bits that a loop over n, known while tracing, gives."""

    def body(i):
        total = wnp.array(P)[i] + wnp.array(Q)[i]
        return [reduce(total) for reduce in (weir.psum, weir.pmean, weir.pmax, weir.pmin)]

    reduced = weir.jit(lambda n: weir.pfor(body, n, chunk_size, True, capacity=5).elements)
    for n in range(6):
        got = weir.tree.map(lambda leaf, n=n: leaf[:n], reduced(np.int64(n)))
        assert_same_bits(got, weir.pfor(body, n))


def test_reduce_class():
    class Body:
        def __call__(self, i):
            return weir.psum(i) * self.factor

        factor = 2

    np.testing.assert_array_equal(weir.pfor(Body(), 5, strict=True), [20] * 5)


def test_reduce_functools_partial():
    body = functools.partial(lambda factor, i: weir.psum(i) * factor, 2)
    np.testing.assert_array_equal(weir.pfor(body, 5, strict=True), [20] * 5)


def test_parallel_iterations_with_reduction():
    _assert_shared(_reduced(weir.psum, chunk_size=2), (P + Q).sum(0))


# --- BitwiseTest.


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint16, np.int64, np.bool_])
def test_bitwise_unary(dtype):
    agree(lambda xp, i, x: xp.invert(x[i]), integers(7, 3, 5, dtype=dtype))


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
@pytest.mark.parametrize("vary", variants(None, None))
def test_bitwise_binary(name, vary):
    def body(xp, i, x, y):
        return getattr(xp, name)(*variants(x, y)[vary](i))

    agree(body, integers(7, 3, 5), integers(7, 3, 5, seed=8))


@pytest.mark.parametrize("name", ["left_shift", "right_shift"])
@pytest.mark.parametrize("vary", variants(None, None))
def test_bitwise_shift(name, vary):
    def body(xp, i, x, y):
        return getattr(xp, name)(*variants(x, y)[vary](i))

    agree(body, integers(7, 3, 5, low=0), integers(7, 3, 5, low=0, high=8, seed=8))


# --- ImageTest.


IMAGES = positive(3, 2, 4, 4, 3)


def _to_hsv(xp, rgb):
    high, low = rgb.max(-1), rgb.min(-1)
    spread = high - low
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    sector = xp.where(
        high == r,
        (g - b) / spread,
        xp.where(high == g, (b - r) / spread + 2, (r - g) / spread + 4),
    )
    return xp.mod(sector / 6, 1), spread / high, high


def _to_rgb(xp, hue, saturation, value):
    def channel(first):
        place = xp.mod(first + hue * 6, 6)
        return value - value * saturation * xp.clip(xp.minimum(place, 4 - place), 0, 1)

    return xp.stack([channel(5), channel(3), channel(1)], axis=-1)


def test_adjust_contrast():
    def body(xp, i, images):
        image = images[i]
        mean = xp.mean(image, axis=(-3, -2), keepdims=True)
        return (image - mean) * np.float32(2) + mean

    agree(body, IMAGES, of_largest=True)


def test_adjust_hue():
    def body(xp, i, images):
        hue, saturation, value = _to_hsv(xp, images[i])
        return _to_rgb(xp, xp.mod(hue + np.float32(0.25), 1), saturation, value)

    agree(body, IMAGES, of_largest=True)


def test_adjust_saturation():
    def body(xp, i, images):
        hue, saturation, value = _to_hsv(xp, images[i])
        return _to_rgb(xp, hue, xp.clip(saturation * np.float32(0.5), 0, 1), value)

    agree(body, IMAGES, of_largest=True)


# --- LoggingTest.


@pytest.mark.parametrize("loop", [weir.pfor, weir.for_loop])
def test_assert(loop):
    def body(i):
        weir.check(i < 5, "at most five")
        return i

    np.testing.assert_array_equal(loop(body, 5), np.arange(5))
    with pytest.raises(weir.FailedPrecondition, match=r"\.py:\d+.* iteration 5: at most five"):
        loop(body, 6)


# --- TensorTest: updates at varying places.


def _updated(at, rows):
    """A body that sets `rows[i]` at `at(xp, i)` in zeros of 4 x 5."""

    def body(xp, i):
        where = at(xp, i)
        if xp is wnp:
            return wnp.zeros((4, 5)).at[where].set(wnp.array(rows)[i])
        table = np.zeros((4, 5), np.float32)
        table[where] = rows[i]
        return table

    return body


def test_scatter_nd_update_single_elements():
    agree(_updated(lambda xp, i: (xp.stack([i, i + 1]), xp.stack([i, i])), numbers(3, 2)))


def test_scatter_nd_update_row_slices():
    agree(_updated(lambda xp, i: xp.stack([i, i + 1]), numbers(3, 2, 5)))


def test_scatter_nd_update_multi_dimensional_index():
    def at(xp, i):
        return xp.stack([xp.stack([i]), xp.stack([i + 1])]), xp.array([[0, 2, 4]])

    agree(_updated(at, numbers(3, 2, 3)))


def test_scatter_nd_update_of_unknown_shapes():
    def updated(rows, at, table):
        def body(i):
            return (wnp.array(table) * i).at[at[i]].set(rows[i])

        return weir.pfor(body, rows.shape[0], strict=True)

    function = weir.jit(updated, shapes=("n, k, m", "n, k", "t, m"))
    for n, k, m, t in [(3, 2, 5, 4), (1, 1, 1, 2), (0, 2, 3, 4), (2, 0, 2, 1)]:
        rows, table = numbers(n, k, m), numbers(t, m)
        at = (np.arange(n)[:, None] + np.arange(k)) % t
        want = np.stack([table * np.float32(i) for i in range(n)]) if n else numbers(0, t, m)
        for i in range(n):
            want[i, at[i]] = rows[i]
        np.testing.assert_array_equal(function(rows, at, table), want)


def test_scatter_nd_update_folded():
    def at(xp, i):
        places = xp.stack([xp.arange(5) + i * 5, xp.arange(5)[::-1] + (i + 1) * 5])
        return places // 5, places % 5

    agree(_updated(at, numbers(3, 2, 5)))


# --- CompositeTensorTest: composites are pytrees.


def _composite(i):
    return {"values": wnp.arange(3) * i, "parts": (i, [wnp.ones((2, 2)) * i])}


def _assert_composite(got):
    i = np.arange(5)
    np.testing.assert_array_equal(got["values"], i[:, None] * np.arange(3))
    np.testing.assert_array_equal(got["parts"][0], i)
    np.testing.assert_array_equal(got["parts"][1][0], np.ones((5, 2, 2)) * i[:, None, None])


def test_composite_create_inside_loop():
    _assert_composite(weir.pfor(_composite, 5, strict=True))


def test_composite_create_inside_loop_with_parallel_iterations():
    _assert_composite(weir.pfor(_composite, 5, chunk_size=2, strict=True))


def test_composite_of_different_ranks():
    got = weir.pfor(lambda i: (i, wnp.full((2,), i), wnp.full((2, 3), i)), 4, strict=True)
    assert [leaf.shape for leaf in got] == [(4,), (4, 2), (4, 2, 3)]
    np.testing.assert_array_equal(got[2][:, 1, 2], np.arange(4))


def test_composite_map():
    composite = {"a": numbers(4, 2), "b": (integers(4),)}
    got = weir.vmap(lambda c: {"b": c["b"][0] + 1, "a": c["a"].sum()}, strict=True)(composite)
    np.testing.assert_array_equal(got["b"], composite["b"][0] + 1)
    assert_numbers(got["a"], composite["a"].sum(1), of_largest=True)
