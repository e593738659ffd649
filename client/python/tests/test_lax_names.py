"""What weir.lax and weir have under JAX's names: calls in JAX's form, functions that are no op,
segments.
"""

import numpy as np
import pytest
from conftest import assert_same_bits, assert_tree_close

import weir
from weir import lax, nn

_RNG = np.random.default_rng(12)
X = _RNG.normal(size=(4, 6)).astype(np.float32)
Y = _RNG.normal(size=(4, 6)).astype(np.float32)
K = _RNG.integers(-9, 9, size=(4, 6)).astype(np.int32)
IMAGE = _RNG.normal(size=(2, 4, 5, 6)).astype(np.float32)
KERNEL = _RNG.normal(size=(3, 4, 2, 3)).astype(np.float32)

PAIRS = [
    (lambda x: lax.neg(x), lambda x: -x),
    (lambda x: lax.sub(lax.mul(x, 2), lax.div(x, 4)), lambda x: x * 2 - x / 4),
    (lambda x: lax.max(lax.min(x, 1), -1), lambda x: np.clip(x, -1, 1)),
    (lambda x: lax.lt(x, 0), lambda x: x < 0),
    (lambda x: lax.convert_element_type(x, np.int32), lambda x: x.astype(np.int32)),
    (lambda x: lax.bitcast_convert_type(x, np.int32), lambda x: x.view(np.int32)),
    (lambda x: lax.concatenate([x, x], 0), lambda x: np.concatenate([x, x])),
    (lambda x: lax.reshape(x, (3, 2)), lambda x: x.reshape(3, 2)),
    (lambda x: lax.slice(x, (1,), (5,)), lambda x: x[1:5]),
    (lambda x: lax.slice(x, (1,), (6,), (2,)), lambda x: x[1:6:2]),
    (lambda x: lax.broadcast_in_dim(x, (6, 2), (0,)), lambda x: np.repeat(x[:, None], 2, 1)),
    (lambda x: lax.rev(x, (0,)), lambda x: x[::-1]),
    (lambda x: lax.sort(x), np.sort),
    (lambda x: lax.cumsum(x), lambda x: np.cumsum(x)),
    (lambda x: lax.cumsum(x, -1, reverse=True), lambda x: np.cumsum(x[::-1])[::-1]),
    (lambda x: lax.argmax(x, -1), lambda x: np.int32(np.argmax(x))),
    (lambda x: lax.argmin(x, 0, np.int64), lambda x: np.argmin(x)),
    (lambda x: lax.reduce_max(x, (-1,)), np.max),
    (lambda x: lax.dynamic_slice(x, (2,), (3,)), lambda x: x[2:5]),
    (lambda x: lax.dynamic_slice(x, (np.int32(9),), (3,)), lambda x: x[3:]),
    (
        lambda x: lax.dynamic_update_slice(x, lax.neg(x[:2]), (1,)),
        lambda x: np.concatenate([x[:1], -x[:2], x[3:]]),
    ),
    (lambda x: lax.round(x * 2.5), lambda x: np.trunc(x * 2.5 + np.copysign(0.5, x))),
    (lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), np.rint),
    (lambda x: lax.integer_pow(x, 2), lambda x: x * x),
    (lambda x: lax.select_n(x > 0, x, -x), lambda x: np.where(x > 0, -x, x)),
    (lambda x: lax.select_n(lax.full((6,), 5, np.int32), x, -x, x * 2), lambda x: x * 2),
    (lambda x: lax.stop_gradient({"a": x}), lambda x: {"a": x}),
    (lambda x: lax.full((2,), 3.0) + lax.full_like(x, 1)[:2], lambda x: np.float32([4, 4])),
    (
        lambda x: lax.broadcasted_iota(np.int32, (2, 3), 1),
        lambda x: np.tile(np.arange(3, dtype=np.int32), (2, 1)),
    ),
    (lambda x: lax.broadcast(x, (2,)), lambda x: np.stack([x, x])),
    (lambda x: lax.squeeze(lax.expand_dims(x, (0, 2)), (0,)), lambda x: x[:, None]),
    (lambda x: lax.collapse(x.reshape(1, 2, 3), 1), lambda x: x.reshape(1, 6)),
    (lambda x: tuple(lax.split(x, (1, 0, 5))), lambda x: (x[:1], x[1:1], x[1:])),
    (lambda x: lax.slice_in_dim(x, 1, -1, 2), lambda x: x[1:-1:2]),
    (lambda x: lax.index_in_dim(x, -1), lambda x: x[-1:]),
    (lambda x: lax.index_in_dim(x, 2, keepdims=False), lambda x: x[2]),
    (
        lambda x: lax.dynamic_update_slice_in_dim(x, x[:2], np.int32(3), 0),
        lambda x: np.concatenate([x[:3], x[:2], x[5:]]),
    ),
    (
        lambda x: lax.dynamic_update_index_in_dim(x, np.float32(7), -1, 0),
        lambda x: np.append(x[:-1], np.float32(7)),
    ),
    (lambda x: lax.sort_key_val(x, -x), lambda x: (np.sort(x), -np.sort(x))),
    (lambda x: lax.unstack(lax.stack([x, x]))[1], lambda x: x),
    (lambda x: lax.associative_scan(lambda a, b: a + b, x[:0]), lambda x: x[:0]),
]


@pytest.mark.parametrize("own, numpy", PAIRS, ids=[str(i) for i in range(len(PAIRS))])
def test_as_numpy(own, numpy):
    x = X[0]
    if numpy is np.rint or "round" in own.__code__.co_names:
        x = np.float32([0.5, 1.5, -0.5, -2.5, 0.3, 0])
    want = weir.tree.map(np.asarray, numpy(x))
    got = weir.jit(own)(x)
    if "cumsum" in own.__code__.co_names:
        assert_tree_close(got, want)
    else:
        assert_same_bits(got, want)
    rows = weir.vmap(own, strict=True)(np.stack([x, x[::-1]]))
    assert_same_bits(weir.tree.map(lambda leaf: leaf[0], rows), got)


def test_a_call_names_an_attribute_once():
    with pytest.raises(TypeError, match="got the attribute 'shape' twice"):
        lax.reshape(X, (24,), shape=(24,))
    with pytest.raises(TypeError, match="at most 1 operands and 1 attributes by position, found 3"):
        lax.reshape(X, (24,), 1)
    assert_same_bits(lax.sort(X, 0), np.sort(X, 0))
    assert_same_bits(lax.concatenate(X, Y, axis=0), np.concatenate([X, Y]))


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 20])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(count, reverse):
    rows = _RNG.integers(-3, 4, size=(2, count, 2, 2))

    def apart(a, b):
        # Of affine maps; the order counts.
        return {"m": weir.numpy.matmul(b["m"], a["m"]), "v": b["v"] * 2 + a["v"]}

    elems = {"m": rows, "v": rows[..., 0]}
    got = lax.associative_scan(apart, elems, reverse, axis=1)
    order = range(count)[::-1] if reverse else range(count)
    total = None
    for i in order:
        here = {"m": rows[:, i], "v": rows[:, i, :, 0]}
        if total is None:
            total = here
        else:
            total = {"m": here["m"] @ total["m"], "v": total["v"]}
        np.testing.assert_array_equal(got["m"][:, i], total["m"])
    sums = weir.vmap(lambda x: lax.associative_scan(lambda a, b: a + b, x, reverse), strict=True)
    want = np.flip(np.cumsum(np.flip(rows, 1), 1), 1) if reverse else np.cumsum(rows, 1)
    assert_same_bits(sums(rows), want)


def test_associative_scan_takes_few_steps():
    def function(x):
        return lax.associative_scan(lambda a, b: a * b, x)

    explanation = weir.explain(weir.jit(function), np.ones(1024))
    assert explanation.counters["elements"]["multiply"] <= 2 * 1024
    with pytest.raises(TypeError, match=r"must return f32\[2,6\] for such, found f32\[1,6\]"):
        lax.associative_scan(lambda a, b: a[:1], X)
    with pytest.raises(ValueError, match="equal sizes along axis 0"):
        lax.associative_scan(lambda a, b: a, (X, X[:2]))


def test_reduce_by_any_function():
    got = lax.reduce(X, np.float32(0), lambda a, b: weir.cond(a > b, lambda: a, lambda: b), (1,))
    assert_same_bits(got, np.maximum(X.max(1), 0))
    pair = (X, K)

    def first(a, b):
        keep = a[0] >= b[0]
        return tuple(weir.numpy.where(keep, x, y) for x, y in zip(a, b))

    values, numbers = lax.reduce(pair, (np.float32(-np.inf), np.int32(0)), first, (0, -1))
    assert values == X.max() and numbers == K.ravel()[X.argmax()]
    assert_same_bits(lax.reduce(K[:, :0], np.int32(5), lambda a, b: a + b, (1,)), np.int32([5] * 4))
    got = weir.vmap(lambda k: lax.reduce_xor(k, (0,)), strict=True)(K)
    assert_same_bits(got, np.bitwise_xor.reduce(K, 1))


def test_map_runs_one_after_the_other():
    def function(row):
        return {"sum": row.sum(), "first": row[0]}

    want = {"sum": X.sum(1), "first": X[:, 0]}
    for batch in (None, 1, 3):
        assert_tree_close(lax.map(function, X, batch_size=batch), want)
    with pytest.raises(ValueError, match="map needs arrays with equal leading sizes"):
        lax.map(function, (X, X[:2]))


def test_cumlogsumexp():
    wide = X.astype(np.float64)
    for axis in (0, 1):
        want = np.log(np.cumsum(np.exp(wide), axis))
        assert_tree_close(lax.cumlogsumexp(X, axis), want)
        want = np.flip(np.log(np.cumsum(np.exp(np.flip(wide, axis)), axis)), axis)
        assert_tree_close(lax.cumlogsumexp(X, axis, reverse=True), want)
    assert lax.cumlogsumexp(np.float32([-np.inf, 1000, 1000])).tolist()[:2] == [-np.inf, 1000]


def test_products():
    assert_tree_close(lax.dot(X, Y.T), X @ Y.T)
    got = lax.dot(X, Y, (((1,), (1,)), ((0,), (0,))))
    assert_tree_close(got, (X * Y).sum(1))
    assert_tree_close(lax.batch_matmul(IMAGE, IMAGE.swapaxes(2, 3)), IMAGE @ IMAGE.swapaxes(2, 3))
    with pytest.raises(TypeError, match="dot takes vectors and matrices"):
        lax.dot(IMAGE, X)


@pytest.mark.parametrize(
    "names",
    [None, ("NCHW", "OIHW", "NCHW"), ("NHWC", "HWIO", "NHWC"), ("CHNW", "IWHO", "WNCH")],
)
@pytest.mark.parametrize("padding", ["SAME", "VALID", ((1, 2), (0, 1))])
def test_convolution_with_axes_in_any_order(names, padding):
    want = nn.conv(IMAGE, KERNEL, strides=(1, 2), padding=padding, dilation=(2, 1))
    texts = names or ("NCHW", "OIHW", "NCHW")
    lhs = IMAGE.transpose(["NCHW".index(c) for c in texts[0]])
    rhs = KERNEL.transpose(["OIHW".index(c) for c in texts[1]])
    got = lax.conv_general_dilated(
        lhs, rhs, (1, 2), padding, rhs_dilation=(2, 1), dimension_numbers=names
    )
    assert_tree_close(got, want.transpose(["NCHW".index(c) for c in texts[2]]), tol=1e-5)


def test_convolutions_in_short():
    want = nn.conv(IMAGE, KERNEL, padding="SAME")
    assert_same_bits(lax.conv(IMAGE, KERNEL, (1, 1), "SAME"), want)
    got = lax.conv_with_general_padding(IMAGE, KERNEL, (1, 1), ((0, 0), (1, 1)), (2, 1), None)
    want = nn.conv(IMAGE, KERNEL, padding=((0, 0), (1, 1)), input_dilation=(2, 1))
    assert_same_bits(got, want)
    with pytest.raises(ValueError, match="dimension_numbers are three texts"):
        names = ("NCHW", "OIHX", "NCHW")
        lax.conv_general_dilated(IMAGE, KERNEL, (1, 1), "SAME", dimension_numbers=names)


def test_scatters():
    dims = {
        "update_window_dims": [1],
        "inserted_window_dims": [0],
        "scatter_dims_to_operand_dims": [0],
    }
    places, rows = np.array([[1], [1], [9]]), Y[:3]
    for name, ufunc in (("add", np.add), ("mul", np.multiply), ("min", np.minimum)):
        want = X.copy()
        ufunc.at(want, places[:2, 0], rows[:2])
        assert_same_bits(getattr(lax, f"scatter_{name}")(X, places, rows, **dims), want)
    assert lax.scatter_max.__doc__.startswith("Returns: x with `updates` combined into it by max")


# Figures of jax.lax.reduce_precision.
PRECISE = np.float32([1.1, -2.7, 1e-3, 65519.9, 65520, 6e-5, -0.0, np.inf, np.nan, 1e-40, 3.3e38])
ROUNDED = {
    (5, 10): [1.099609375, -2.69921875, 0.0010004043579101562, 65504, np.inf, 0, -0.0],
    (8, 7): [1.1015625, -2.703125, 0.00099945068359375, 65536, 65536, 6.008148193359375e-05, -0.0],
    (4, 3): [1.125, -2.75, 0, np.inf, np.inf, 0, -0.0],
}


@pytest.mark.parametrize("bits", ROUNDED)
def test_reduce_precision(bits):
    got = lax.reduce_precision(PRECISE, *bits)
    assert_same_bits(got[:7], np.float32(ROUNDED[bits]))
    assert np.signbit(got[6]) and got[7] == np.inf and np.isnan(got[8])
    assert_same_bits(lax.reduce_precision(PRECISE, 8, 23), PRECISE)
    halves = PRECISE[:4].astype(np.float16).astype(np.float64)
    assert_same_bits(lax.reduce_precision(PRECISE[:4].astype(np.float64), 5, 10), halves)


def test_the_number_of_an_iteration():
    got = weir.vmap(lambda x: lax.axis_index() + lax.axis_index(), strict=True)(X)
    assert_same_bits(got, np.int32([0, 2, 4, 6]))
    got = weir.pfor(lambda i: weir.pfor(lambda j: lax.axis_index() * 10, 2, strict=True), 3)
    assert_same_bits(got, np.int32([[0, 10]] * 3))
    got = weir.vmap(lambda x: lax.axis_index(), chunk_size=3)(X)
    assert_same_bits(got, np.int32([0, 1, 2, 3]))
    with pytest.raises(weir.TracingError, match="needs a pfor or vmap around it"):
        weir.jit(lambda x: x + lax.axis_index())(X)
    assert lax.psum is weir.psum


# --- Segments.


def test_segments():
    ids = np.int32([2, 0, 2, -1, 4, 7])
    data = np.concatenate([X, Y])[:6]
    kinds = {
        "sum": (np.add, 0.0),
        "prod": (np.multiply, 1.0),
        "max": (np.maximum, -np.inf),
        "min": (np.minimum, np.inf),
    }
    for name, (ufunc, first) in kinds.items():
        function = getattr(weir, f"segment_{name}")
        want = np.full((5, 6), first, np.float32)
        ufunc.at(want, ids[[0, 1, 2, 4]], data[[0, 1, 2, 4]])
        assert_same_bits(function(data, ids, 5), want)
        columns = weir.vmap(lambda x, f=function: f(x, ids, 5), in_axes=1, out_axes=1, strict=True)
        assert_same_bits(columns(data), want)
    with np.errstate(invalid="ignore"):
        want = weir.segment_sum(data, ids, 5) / np.float32([1, 0, 2, 0, 1])[:, None]
    assert_same_bits(weir.segment_mean(data, ids, num_segments=5), want)
    assert weir.segment_max(np.int32([3]), np.int32([1]), 2).tolist() == [-(2**31), 3]
    assert weir.segment_max(np.array([True]), np.array([1]), 2).tolist() == [False, True]
    with pytest.raises(ValueError, match="of at least 0, found -1"):
        weir.segment_sum(data, ids, -1)
    with pytest.raises(TypeError, match="segment_sum needs num_segments"):
        weir.segment_sum(data, ids)
    with pytest.raises(ValueError, match="with the leading axes of the data"):
        weir.segment_sum(data, ids[:3], 5)
