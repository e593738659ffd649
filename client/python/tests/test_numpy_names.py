"""What weir.numpy has beyond the calls of test_numpy_further.py, against NumPy, alone and under
vmap.
"""

import numpy as np
import pytest
from conftest import assert_same_bits, assert_tree_close

import weir
import weir.numpy as wnp

_RNG = np.random.default_rng(5)
X = _RNG.normal(size=(4, 6)).astype(np.float32)
V, W = X[0], X[1, :3]
K = _RNG.integers(-9, 9, size=(4, 6)).astype(np.int32)
NAN = np.where(_RNG.random((4, 6)) < 0.3, np.nan, X).astype(np.float32)
C = (X + 1j * X[::-1]).astype(np.complex64)
B = _RNG.integers(0, 256, size=(4, 6)).astype(np.uint8)
EXTREMES = np.float32([0, -0.0, 1, -3.7, 1e-45, 1e-40, 3e38, np.inf, -np.inf, np.nan])
POINTS = np.float32([[1, 2, 2.5, 4, 7], [2, 1, 0, 3, 9]])

CALLS = [
    *[("take", (X, np.array([-9, -1, 0, 8]), 1), {"mode": mode}) for mode in ("clip", "wrap")],
    ("take", (K, np.array([[30, -60], [2, 5]])), {"mode": "wrap"}),
    ("frexp", (EXTREMES,), {}),
    ("frexp", (K,), {}),
    ("ldexp", (EXTREMES, np.arange(-300, 300, 7)[:, None]), {}),
    ("spacing", (EXTREMES,), {}),
    ("apply_over_axes", (wnp.sum, X, [0, 1]), {}),
    ("piecewise", (X, [X < 0, X >= 1], [lambda x: -x, 7.0]), {}),
    ("piecewise", (X, [X < 0, X < 1], [lambda x: -x, lambda x: x * x, 2.0]), {}),
    ("piecewise", (V, V < 0, [lambda x, a: a * x, 1.0], 3), {}),
    ("choose", (K % 3, [X, X[0], 7.0]), {}),
    *[("choose", (K, np.stack([X, -X])), {"mode": mode}) for mode in ("clip", "wrap")],
    ("fromfunction", (lambda i, j: i + 2 * j, (3, 4)), {}),
    ("fromfunction", (lambda i: i * i, (3,)), {"dtype": int}),
    ("diag_indices_from", (X[:, :4],), {}),
    ("tril_indices_from", (X,), {"k": 1}),
    ("triu_indices_from", (X,), {}),
    ("polyadd", (V, W), {}),
    ("polysub", (W, K[0]), {}),
    ("polymul", (V, W), {}),
    ("polydiv", (V, W), {}),
    ("polydiv", (K[0] + 20, np.array([2, 1])), {}),
    ("polyder", (V,), {}),
    ("polyder", (K[0], 2), {}),
    ("polyint", (V, 2), {}),
    ("polyint", (V, 2, [1, 2]), {}),
    ("poly", (W,), {}),
    ("polyfit", (*POINTS, 2), {}),
    ("polyfit", (*POINTS, 1), {"w": np.float32([1, 2, 1, 0.5, 1])}),
    ("polyfit", (POINTS[0], POINTS.T, 2), {}),
    ("polyfit", (*POINTS, 1), {"cov": True}),
    ("polyfit", (*POINTS, 2), {"cov": "unscaled"}),
    ("polyfit", (*POINTS, 2), {"full": True}),
    ("nanpercentile", (NAN, 30), {}),
    ("nanpercentile", (NAN, [10, 90], 1), {"keepdims": True}),
    ("nancumprod", (NAN, 0), {}),
    ("i0", (X,), {}),
    ("kaiser", (7, 2.5), {}),
    ("kaiser", (1, 2.5), {}),
    ("histogram2d", (V, X[1]), {}),
    ("histogram2d", (V, X[1], [3, [-2, 0, 0.5, 2]]), {}),
    ("histogram2d", (V, X[1], 3, ((-1, 1), (0, 2))), {"weights": np.abs(X[2])}),
    ("histogram_bin_edges", (X, 5), {}),
    ("ediff1d", (X,), {}),
    ("ediff1d", (K,), {"to_end": [1, 2], "to_begin": 7}),
    *[("packbits", (X[..., None] > [-1, 0, 1],), {"axis": axis}) for axis in (None, 0, -1)],
    ("packbits", (K,), {"bitorder": "little"}),
    *[("unpackbits", (B,), {"axis": axis}) for axis in (None, 0, -1)],
    *[("unpackbits", (B,), {"axis": 1, "count": count}) for count in (3, -5, 60)],
    ("unpackbits", (B,), {"bitorder": "little"}),
    ("sort_complex", (np.round(C),), {}),
    ("asarray", (X,), {}),
    ("bitwise_and", (K, 3), {}),
]


def _arrays(result):
    """Returns: a result whose tuples are lists, and whose numbers are arrays."""
    result = list(result) if isinstance(result, tuple) else result
    return weir.tree.map(np.asarray, result)


def _assert_as(got, want, tol=1e-4):
    got, want = _arrays(got), _arrays(want)
    assert_tree_close(got, want, tol=tol)
    for a, b in zip(weir.tree.leaves(got), weir.tree.leaves(want)):
        assert a.dtype.kind == b.dtype.kind


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name, args, kwargs", CALLS, ids=[f"{i}-{name}" for i, (name, *_) in enumerate(CALLS)]
)
def test_as_numpy(name, args, kwargs):
    own = args
    if name == "apply_over_axes":
        args = (np.sum, *args[1:])
    _assert_as(getattr(wnp, name)(*own, **kwargs), getattr(np, name)(*args, **kwargs))


BATCHED = [call for call in CALLS if isinstance(call[1][0], np.ndarray)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name, args, kwargs", BATCHED, ids=[f"{i}-{name}" for i, (name, *_) in enumerate(BATCHED)]
)
def test_vmap_has_the_bits_of_one(name, args, kwargs):
    first, *rest = args
    rows = np.stack([first, first[::-1], np.roll(first, 1, -1)])

    def function(row):
        return getattr(wnp, name)(row, *rest, **kwargs)

    tol = 0 if name in ("frexp", "ldexp", "take", "packbits", "unpackbits", "choose") else 1e-4
    got = weir.vmap(function, strict=True)(rows)
    for i, row in enumerate(rows):
        want = weir.jit(function)(row)
        (assert_tree_close if tol else assert_same_bits)(weir.tree.map(lambda x: x[i], got), want)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_fractions_and_exponents_of_every_size(kind):
    limits = np.finfo(kind)
    sizes = np.float64(2) ** np.arange(-1080, 1020, 3)
    with np.errstate(over="ignore"):
        x = np.concatenate([np.float64(EXTREMES), -1.3 * sizes]).astype(kind)
    x = np.append(x, [limits.max, limits.tiny, limits.smallest_subnormal])
    _assert_as(wnp.frexp(x), np.frexp(x), tol=0)
    assert wnp.frexp(x)[0].dtype == kind
    powers = np.arange(-2300, 2300, 13, dtype=np.int32)[:, None]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(wnp.ldexp(x, powers), np.ldexp(x, powers))
        # NumPy leaves out the sign of halves.
        want = np.abs(np.spacing(x)) * np.where(x < 0, -1, 1).astype(kind)
        np.testing.assert_array_equal(wnp.spacing(x), want)


def test_types_make_arrays_and_are_types():
    def function(x):
        assert x.dtype == wnp.float32 and wnp.float32 == x.dtype and x.dtype != wnp.int32
        made = wnp.int32(x), wnp.float64(2), wnp.bool_([1, 0]), wnp.complex64(x), wnp.int8()
        return *made, x.astype(wnp.uint8), wnp.arange(3, dtype=wnp.float32), wnp.bfloat16(x)

    x = np.float32([1.5, 2.25])
    want = np.int32([1, 2]), np.array(2.0), np.array([True, False]), x + 0j, np.int8(0)
    want += np.uint8([1, 2]), np.float32([0, 1, 2]), x
    assert_same_bits(weir.jit(function)(x), want)
    got = weir.vmap(function, strict=True)(np.stack([x, x]))
    assert_same_bits(weir.tree.map(lambda y: y[1], got), want)
    for name in ("float32", "int8", "uint64", "complex128", "bool_"):
        kind = getattr(wnp, name)
        assert kind == getattr(np, name) == kind and hash(kind) == hash(np.dtype(kind))
        assert kind.itemsize == np.dtype(kind).itemsize and name in repr(kind)
        assert np.zeros(2, kind).dtype == kind and wnp.zeros(2, kind).dtype == kind
        assert type(kind(1)) is np.ndarray and kind([1]).dtype == kind
    # An array has a type and is none.
    assert not weir.jit(lambda x: x == wnp.float32)(x)
    with pytest.raises(OverflowError, match="300 is out of range for i8"):
        wnp.int8(300)
    # A type is strong where a Python number is weak.
    assert wnp.result_type(np.float16(1), 2.0) == wnp.float16
    assert (np.float16(1) + wnp.float32(2)).dtype == wnp.float32


def test_what_types_tell():
    def function(x):
        assert wnp.iscomplexobj(x) and not wnp.isrealobj(x) and not wnp.isscalar(x)
        assert wnp.isscalar(x[0]) and wnp.finfo(x).eps == wnp.finfo(wnp.float32).eps
        return x

    weir.jit(function)(C[0])
    assert wnp.finfo(wnp.float64).max == np.finfo(np.float64).max
    assert wnp.finfo(weir.bfloat16).eps == float(wnp.spacing(wnp.bfloat16(1))) * 2**16
    assert wnp.iinfo(wnp.int8).min == -128 and wnp.iinfo("u16").max == 65535
    for kind in (wnp.float32, weir.bfloat16):
        assert wnp.issubdtype(kind, wnp.floating) and not wnp.issubdtype(kind, wnp.integer)
        assert wnp.isdtype(kind, "real floating") and wnp.isdtype(kind, ("bool", "numeric"))
    assert wnp.isdtype(wnp.int8, wnp.int8) and not wnp.isdtype(wnp.int8, "bool")
    with pytest.raises(ValueError, match="one of bool, .* found 'real'"):
        wnp.isdtype(wnp.int8, "real")
    for a in (wnp.bool_, wnp.int8, wnp.uint8, wnp.int64, wnp.float16, wnp.float32, wnp.complex64):
        for b in (wnp.bool_, wnp.int16, wnp.float32, wnp.complex128):
            assert wnp.can_cast(a, b) == np.can_cast(a.dtype, b.dtype)
    assert wnp.can_cast(weir.bfloat16, wnp.float32) and wnp.can_cast(wnp.uint8, weir.bfloat16)
    assert not wnp.can_cast(weir.bfloat16, wnp.float16)
    assert not wnp.can_cast(wnp.float32, weir.bfloat16)
    assert wnp.can_cast(wnp.float32, weir.bfloat16, "same_kind")


def test_take_fills_what_lies_outside():
    places = np.array([[-7, -6], [5, 6]])
    got = wnp.take(X, places, 1, mode="fill")
    want = X[:, places % 6].copy()
    want[:, [0, 1], [0, 1]] = np.nan
    assert_same_bits(got, want)
    assert wnp.take(K[0], 9, mode="fill") == np.iinfo(np.int32).min
    assert wnp.take(B[0], 9, mode="fill") == 255
    assert wnp.take(K[0], np.array([9]), mode="fill", fill_value=-3).tolist() == [-3]
    assert wnp.take(X[:0], np.array([0]), 0, mode="fill", fill_value=1).tolist() == [[1.0] * 6]
    under = weir.vmap(lambda i: wnp.take(wnp.array(V), i, mode="fill"), strict=True)(places[:, 1])
    assert_same_bits(under, np.float32([V[0], np.nan]))


@pytest.mark.filterwarnings("ignore")
def test_grids_and_joins():
    def function(x):
        return {
            "r": wnp.r_[x, 0, 1:3],
            "rows": wnp.r_["0,2", x, x],
            "column": wnp.r_["c", x],
            "last": wnp.r_["1,2,0", x, x],
            "c": wnp.c_[x, x * 2],
            "lines": wnp.r_[0:1:3j, x],
        }

    x = V
    want = {
        "r": np.r_[x, np.int32(0), 1:3].astype(np.float32),
        "rows": np.r_["0,2", x, x],
        "column": np.asarray(np.r_["c", x]),
        "last": np.r_["1,2,0", x, x],
        "c": np.c_[x, x * 2],
        "lines": np.r_[0:1:3j, x].astype(np.float32),
    }
    assert_same_bits(weir.jit(function)(x), want)
    got = weir.vmap(function, strict=True)(np.stack([x, x]))
    assert_same_bits(weir.tree.map(lambda y: y[1], got), want)
    assert_tree_close(wnp.mgrid[0:3, 0:1:4j], np.mgrid[0:3, 0:1:4j])
    assert wnp.mgrid[0:3, 1:2].dtype == np.int32 and wnp.mgrid[0:1:3j].dtype == np.float32
    assert_tree_close(list(wnp.ogrid[0:3, 1:5:2]), list(np.ogrid[0:3, 1:5:2]))
    got = weir.jit(lambda x: x[wnp.s_[1:3]] + wnp.mgrid[0:2])(x)
    assert_same_bits(got, x[1:3] + np.float32([0, 1]))
    for mask in (np.triu, wnp.tril):
        assert_tree_close(wnp.mask_indices(4, mask, 1), np.mask_indices(4, mask, 1))


def test_vectorize_broadcasts():
    dot = wnp.vectorize(lambda m, v: m @ v, signature="(n,m),(m)->(n)")
    m, v = _RNG.normal(size=(2, 1, 3, 4)), _RNG.normal(size=(5, 4))
    assert_tree_close(dot(m, v), np.vectorize(np.dot, signature="(n,m),(m)->(n)")(m, v))
    got = weir.vmap(lambda m: dot(m, v), strict=True)(m)
    assert_tree_close(got, np.einsum("abij,cj->aci", m, v))
    assert dot(m, v[:1]).shape == (2, 1, 3)
    scalar = wnp.vectorize(lambda a, b, k: (a + b, weir.cond(a > b, lambda: k, lambda: -k)), {2})
    total, chosen = scalar(X[:, None], W[:, None], 2)
    assert_same_bits(total, X[:, None] + W[:, None])
    assert_same_bits(chosen, np.where(X[:, None] > W[:, None], 2, -2).astype(np.int32))
    with pytest.raises(ValueError, match=r"axis m of .* has the sizes 4 and 3"):
        dot(m, v[:, :3])
    with pytest.raises(ValueError, match="found 'n->n'"):
        wnp.vectorize(lambda x: x, signature="n->n")
    with pytest.raises(ValueError, match="does not have the axes \\(n,m\\)"):
        dot(v[0], v[0])
    with pytest.raises(ValueError, match="names 2 arguments, found 1"):
        dot(m)


def test_updates_that_return_the_array():
    places = np.array([[1], [0], [3], [2]])
    want = X.copy()
    np.put_along_axis(want, places, 9.5, 1)
    assert_same_bits(wnp.put_along_axis(X, places, 9.5, 1), want)
    want = X.copy()
    np.put_along_axis(want, places[:2, 0], np.float32([1, 2]), None)
    assert_same_bits(wnp.put_along_axis(X, places[:2, 0], np.float32([1, 2]), None), want)
    got = weir.vmap(lambda x, p: wnp.put_along_axis(x, p, 9.5, 0), strict=True)(X, places)
    want = X.copy()
    np.put_along_axis(want, places, 9.5, 1)
    assert_same_bits(got, want)
    for shape in ((4, 6), (6, 4), (9, 2), (3, 3, 3)):
        for wrap in (False, True):
            for value in (7, [1, 2, 3]):
                want = np.zeros(shape, np.int32)
                np.fill_diagonal(want, value, wrap)
                value = value if value == 7 else np.array(value)
                got = wnp.fill_diagonal(np.zeros(shape, np.int32), value, wrap=wrap)
                assert_same_bits(got, want)


def test_functions_of_the_array_api():
    assert_same_bits(list(wnp.unstack(X, axis=1)), [X[:, i] for i in range(6)])
    m, v = _RNG.normal(size=(2, 3, 4)).astype("c8"), _RNG.normal(size=(5, 1, 4)).astype("c8") * 1j
    assert_tree_close(wnp.matvec(m, v), np.einsum("aij,baj->bai", m, np.tile(v, (1, 2, 1))))
    u = v[..., :3]
    want = np.einsum("bai,aij->baj", np.tile(u.conj(), (1, 2, 1)), m)
    assert_tree_close(wnp.vecmat(u, m), want)
    assert_same_bits(
        wnp.cumulative_sum(K, axis=1, include_initial=True)[:, 1:],
        K.cumsum(1, dtype=np.int32),
    )
    assert wnp.cumulative_prod(K[0], include_initial=True)[0] == 1
    assert wnp.cumulative_sum(K[0], dtype=wnp.float32).dtype == np.float32
    for own, name in (("acos", "arccos"), ("atan2", "arctan2"), ("concat", "concatenate")):
        assert getattr(wnp, own) is getattr(wnp, name)
    assert wnp.bitwise_left_shift(1, 3) == 8 and wnp.euler_gamma == np.euler_gamma


def test_sets():
    a, b = np.int32([3, 1, 2, 3]), np.int32([2, 5])
    assert list(wnp.setxor1d(a, b)) == [1, 3, 5]
    assert wnp.setxor1d(a, b, size=4, fill_value=-1).tolist() == [1, 3, 5, -1]
    values, places, inverse, counts = wnp.unique_all(a)
    assert [list(x) for x in (values, places, counts)] == [[1, 2, 3], [1, 2, 0], [1, 1, 2]]
    assert inverse.tolist() == [2, 0, 1, 2]
    assert [list(x) for x in wnp.unique_counts(a)] == [[1, 2, 3], [1, 1, 2]]
    assert wnp.unique_inverse(a, size=3)[1].tolist() == [2, 0, 1, 2]
    assert list(wnp.unique_values(a)) == [1, 2, 3]


def test_roots():
    for p in ([1, -3, 2], [0, 0, 2, -5, 1, 0, 0], [3.0], [1, 0, 1], [0, 0]):
        got = np.sort_complex(wnp.roots(p))
        want = np.sort_complex(np.roots(p))
        assert_tree_close(got, want, tol=1e-5)
        assert got.dtype == np.complex64
    rows = np.float32([[1, -3, 2], [2, 0, -8]])
    got = weir.vmap(lambda p: wnp.roots(p, strip_zeros=False))(rows)
    assert_tree_close(np.sort(got.real), np.float32([[1, 2], [-2, 2]]))
    square = np.float32([[2, 1], [1, 3]])
    assert_tree_close(wnp.poly(square), np.poly(square).astype(np.complex64))
    with pytest.raises(TypeError, match="strip_zeros=False"):
        weir.jit(wnp.roots)(rows[0])


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: wnp.take(X, 1.5, mode="clip"), TypeError, "take needs integers"),
        (lambda: wnp.take(X, 1, mode="raise"), ValueError, "found 'raise'"),
        (lambda: wnp.choose(K[0], [1, 2]), weir.FailedPrecondition, "from 0 to 1"),
        (lambda: wnp.choose(V, [1, 2]), TypeError, "choose takes integers"),
        (lambda: wnp.piecewise(V, [V < 0], [1, 2, 3]), ValueError, "1 conditions and 3 functions"),
        (lambda: wnp.fill_diagonal(V, 1), ValueError, "needs two axes"),
        (lambda: wnp.fill_diagonal(X, 1, inplace=True), NotImplementedError, "inplace=False"),
        (lambda: wnp.put_along_axis(X, K[0], 1, 0), ValueError, "equal numbers of axes"),
        (lambda: wnp.r_["x", V], ValueError, "up to three numbers .* found 'x'"),
        (lambda: wnp.packbits(V), TypeError, "bools or integers"),
        (lambda: wnp.unpackbits(K), TypeError, "takes u8, found i32"),
        (lambda: wnp.unpackbits(B, bitorder="x"), ValueError, "found 'x'"),
        (lambda: wnp.ldexp(V, V), TypeError, "integer exponents"),
        (lambda: wnp.frexp(C), TypeError, "real numbers"),
        (lambda: wnp.polyfit(V, W, 1), ValueError, "a y for each x"),
        (lambda: wnp.polyder(X), ValueError, "polyder takes vectors"),
        (lambda: wnp.polyint(V, 3, [1, 2]), ValueError, "takes 3 constants, found 2"),
        (lambda: wnp.poly(X), ValueError, "vector or a square matrix"),
        (lambda: wnp.cumulative_sum(X), ValueError, "needs an axis"),
        (lambda: wnp.unstack(np.float32(1)), ValueError, "array with axes"),
        (lambda: wnp.matvec(V, V), ValueError, "needs 2 and 1 axes"),
        (lambda: wnp.histogram2d(V, W), ValueError, "two vectors of one size"),
        (lambda: wnp.diag_indices_from(X), ValueError, "of one size, found \\(4, 6\\)"),
        (lambda: wnp.triu_indices_from(V), ValueError, "needs a matrix"),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_every_element_is_in_a_bin():
    rows = _RNG.normal(size=(300, 7)).astype(np.float32)
    counts, edges = weir.vmap(lambda row: wnp.histogram(row, 3))(rows)
    assert (counts.sum(1) == 7).all()
    assert_same_bits(edges[:, -1], rows.max(1))
    table = weir.vmap(lambda row: wnp.histogram2d(row, row[::-1], 3)[0])(rows)
    assert (table.sum((1, 2)) == 7).all()
