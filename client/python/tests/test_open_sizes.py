"""Sizes that `weir.jit` leaves open: one program for all of them, and what Python may ask."""

import inspect
import re

import numpy as np
import open_sizes
import pytest
from conftest import assert_same_bits, assert_tree_close

import weir
import weir.numpy as wnp
from weir import dims

SIZES = [0, 1, 2, 7, 1000]


def rows(n, *rest):
    """f32[n, ...], numbers without an order."""
    return np.random.default_rng(n).normal(size=(n, *rest)).astype(np.float32)


def size(text):
    """A size from its text."""
    return dims.Dim._parse(text)


# --- One program.


def test_one_trace_and_one_compilation_serve_all_sizes():
    traced = []

    def normalized(x, y):
        traced.append((x.shape, y.shape))
        return (x - x.mean(0)) / (1 + x.std(0)) + y, x.shape[0], wnp.concatenate([x, x])

    opened = weir.jit(normalized, shapes="n, _")
    for n in [3, *SIZES[1:], 3, 0]:
        x, y = rows(n, 4), rows(n, 1)
        with np.errstate(all="ignore"):
            assert_tree_close(opened(x, y), weir.jit(normalized)(x, y))
        assert opened.run_with_report(x, y)[1]["compilations"] == "1"
    assert [str(shapes) for shapes in traced if type(shapes[0][0]) is weir.Dim] == [
        "((n, 4), (n, 1))"
    ]
    assert len({id(opened.lower(rows(n, 4), rows(n, 1))) for n in SIZES}) == 1


def test_sizes_without_a_symbol_make_programs_of_their_own():
    opened = weir.jit(lambda x: x * 2, shapes="n, ...")
    programs = {id(opened.lower(rows(n, k))) for n in SIZES for k in (1, 2)}
    assert len(programs) == 2
    assert opened(np.float64([[1]])).dtype == np.float64


def test_forms_of_shapes():
    def product(x, y=None, scale=1.0):
        return (x["a"] @ y).sum() * scale + x["b"][0].shape[0]

    x, y = {"a": rows(3, 4), "b": [rows(5)]}, rows(4)
    want = product(x, y)
    for shapes in [
        ({"a": "n, m", "b": ["k"]}, "m", None),
        ({"a": "n, m", "b": "k"}, "m", ""),
        ({"a": "_, m", "b": None}, "m", "..."),
        {"x": {"a": "..., m", "b": ["k"]}, "y": "m"},
        {"x": {"a": "n, 4", "b": [None]}},
        {"x": {"a": "n, 2*m", "b": [None]}, "y": "2*m"},
    ]:
        opened = weir.jit(product, shapes=shapes)
        assert_tree_close(opened(x, y), np.float32(want))
        assert_tree_close(opened(x, y=y), np.float32(want))
        assert_tree_close(opened(x, y, 2.0), product(x, y, 2.0).astype(np.float32))
    both = weir.jit(lambda x, axis: x.sum(axis), shapes=("n, m", None), static_argnums=1)
    for axis in (0, 1):
        assert_tree_close(both(rows(3, 2), axis), rows(3, 2).sum(axis))

    class Model:
        @weir.jit(shapes=(None, "n"))
        def __call__(self, x):
            return x * 2

    assert "n" in weir.jit(lambda *xs: xs[1], shapes=("_", "n")).lower(rows(1), rows(2)).text
    with pytest.raises(TypeError, match="is a Model"):
        Model()(rows(2))


def test_expressions_bound_what_a_size_may_be():
    halves = weir.jit(lambda x: x.reshape(-1, 4).sum(1) + x[0], shapes="4*n+4")
    for n in (4, 8, 4000):
        assert_tree_close(halves(rows(n)), rows(n).reshape(-1, 4).sum(1) + rows(n)[0], tol=1e-4)
    assert halves.lower(rows(4)) is halves.lower(rows(8))
    for n in (0, 3, 6):
        with pytest.raises(weir.InvalidArgument, match=r"axis 0 of x of <lambda> has size \d, wh"):
            halves(rows(n))
    joined = weir.jit(lambda x, y, z: wnp.concatenate([x, y]) + z, shapes=("n", "m", "n+m"))
    assert_tree_close(joined(rows(2), rows(3), np.ones(5, np.float32))[:2], rows(2) + 1)
    with pytest.raises(
        weir.InvalidArgument,
        match=r"axis 0 of z of <lambda> has size 4, but m\+n is 5 \(m = 3 as axis 0 of y has size"
        r" 3, n = 2 as axis 0 of x has size 2\) \(.*test_open_sizes.py",
    ):
        joined(rows(2), rows(3), rows(4))


def test_calls_that_do_not_fit_are_refused():
    added = weir.jit(lambda x, y: x + y, shapes=("n, 3", "n, _"))
    for x, y, message in [
        (rows(2, 3), rows(4, 3), r"axis 0 of y of <lambda> has size 4, but n is 2 \(n = 2 as axis 0"
         r" of x has size 2\)"),
        (rows(2, 4), rows(2, 4), "axis 1 of x of <lambda> has size 4, but shapes says 3"),
        (rows(2), rows(2, 3), r"argument x of <lambda> has 1 axes \(2,\), but shapes says 'n, 3'"),
    ]:
        with pytest.raises(weir.InvalidArgument, match=message):
            added(x, y)
    assert_tree_close(added(rows(2, 3), rows(2, 3)), rows(2, 3) * 2)
    with pytest.raises(weir.InvalidArgument, match=r"do not tell the symbols of m\*n, axis 0 of x"):
        weir.jit(lambda x: x, shapes="n*m")(rows(4))
    with pytest.raises(ValueError, match="shapes has 1 entries and the call of <lambda> 2"):
        weir.jit(lambda x, y: x, shapes=("n",))(rows(4), rows(4))


@pytest.mark.parametrize(
    "shapes, error, message",
    [
        (3, TypeError, "shapes must be a text"),
        ((3,), TypeError, "must hold texts .* found 3"),
        ({"z": "n"}, TypeError, "shapes names 'z', but the arguments of <lambda> are x"),
        ("n, ..., ...", ValueError, "more than one ellipsis"),
        ("n, 2*", ValueError, r"shapes: 'n, 2\*'"),
        ("?", ValueError, "unknown size"),
    ],
)
def test_shapes_that_say_nothing(shapes, error, message):
    with pytest.raises(error, match=message):
        weir.jit(lambda x: x, shapes=shapes)


def test_programs_and_explanations_show_the_symbols():
    opened = weir.jit(weir.vmap(lambda row: row.sum()), shapes="n, k+1")
    text = opened.lower(rows(2, 3)).text
    assert "%row: f32[n,k+1], %size_k: i8[k,0]" in text and "pfor {extent = (n)}" in text
    explanation = weir.explain(opened, rows(2, 3))
    assert "f32[n,k+1]" in explanation.text("pfor") and not explanation.fallbacks
    assert explanation.counters["elements"]["reduce_sum"] == 2
    with pytest.raises(TypeError, match=r"f32\[n,k\+1\] made by argument x at .*test_open_sizes"):
        weir.jit(lambda x: wnp.zeros(x), shapes="n, k+1")(rows(2, 3))


def test_a_traced_function_that_calls_another_keeps_its_sizes():
    inner = weir.jit(lambda x: x.sum() * x.shape[0], shapes="k")
    outer = weir.jit(lambda x: inner(wnp.concatenate([x, x])), shapes="n")
    assert_tree_close(outer(np.ones(3, np.float32)), np.float32(36))


# --- What Python asks.


def test_equal_expressions_are_equal_sizes():
    n, m = size("n"), size("m")
    assert n * 2 + n == 3 * n and (n + 1) * (n - 1) == n**2 - 1 and n + m == m + n
    assert hash(n * 2) == hash(n + n) and {n: 1}[n + 0] == 1
    assert n - n == 0 and type(n - n) is int and (4 * n) // 4 == n and (4 * n) % 4 == 0
    assert divmod(4 * n + 3, 4) == (n, 3) and -(-(8 * n + 1) // 8) == n + 1
    assert abs(n) == n and +n == n and 7 - n == -(n - 7) and n != "n" and n != None  # noqa: E711
    assert weir.Dim.min(n, n + 1) == n and weir.Dim.max(n + 1, 1) == n + 1
    assert str(weir.Dim.min(n, 4)) == "min(n,4)" and repr((n, 8)) == "(n, 8)" and f"{n:>3}" == "  n"


def test_comparisons_that_hold_for_all_values_are_decided():
    n = size("n")
    assert n >= 0 and not n < 0 and n > -1 and n + 1 > 0 and 0 < n + 1 and n + 1 != 0
    assert n + 2 > n + 1 and n + 1 != n and n % 4 < 4 and n // 2 <= n and n + 1
    assert weir.Dim.min(n, 4) <= 4 and n - weir.Dim.min(n, 4) >= 0


@pytest.mark.parametrize(
    "ask, asked, instead",
    [
        (lambda n: n == 1, "n == 1", "weir.Dim.max"),
        (lambda n: n != 4, "n != 4", "weir.cond"),
        (lambda n: n > 2, "n > 2", r"'n\+1' is 1 or more"),
        (lambda n: 8 <= n, "n >= 8", "shapes= of weir.jit"),
        (lambda n: min(n, 4), "4 < n|n > 4|n < 4", "weir.Dim.min"),
        (lambda n: 1 if n else 2, "n != 0", "weir.cond"),
        (lambda n: n % 2 == 0, "n%2 == 0", "multiple of 4"),
        (int, r"int\(\) of n", "weir.fori_loop"),
        (lambda n: list(range(n)), r"range\(\).* of n", "weir.scan"),
        (lambda n: [1, 2][n], "index.* of n", "wnp.array"),
        (float, r"float\(\) of n", "wnp.array"),
        (lambda n: wnp.split(wnp.zeros(n), n), "split: .* of n", "weir.scan"),
        (lambda n: n**-1, r"n \*\* -1", "0 or more"),
        (lambda n: list(wnp.zeros(n)), r"iteration of the array f32\[n\]", "weir.vmap"),
        (lambda n: len(wnp.zeros((n, 2))), r"len\(\) of the array f32\[n,2\]", "weir.scan"),
        (lambda n: wnp.zeros(n) + wnp.zeros(8), r"shapes \(n,\) and \(8,\) broadcast", "one name"),
        (lambda n: wnp.zeros((2, n)) @ wnp.zeros(3), "matmul: .*whether n is 3", "one name"),
        (lambda n: wnp.zeros(n)[: n - 3], r"bound n-3 of a slice", r"x\[:-3\]"),
    ],
)
def test_what_depends_on_the_run_is_refused(ask, asked, instead):
    line = inspect.getsourcelines(ask)[1] if inspect.isfunction(ask) else None
    at = rf"test_open_sizes.py:{line or '[0-9]+'} "
    with pytest.raises(weir.InconclusiveDimension, match=f"(?s)({asked}).*{at}.*{instead}"):
        weir.jit(lambda x: ask(x.shape[0]), shapes="n")(rows(3))


def test_errors_name_the_function_that_asked():
    with pytest.raises(weir.InconclusiveDimension, match=r"^hanning: .*int\(\) of n at .*sizes.py"):
        weir.jit(lambda x: wnp.hanning(x.shape[0]), shapes="n")(rows(3))
    with pytest.raises(weir.InconclusiveDimension, match="^matrix_power: .*whether n is 4"):
        weir.jit(lambda x: wnp.linalg.matrix_power(x, 2), shapes="n, _")(rows(4, 4))
    with pytest.raises(weir.InconclusiveDimension, match="^roll: "):
        weir.jit(weir.vmap(lambda x: wnp.roll(x, x.astype(int))), shapes="n, m")(rows(4, 4))


def test_numpy_takes_sizes():
    def function(x):
        n = x.shape[0]
        assert np.int64(3) + n == n + 3 and type(np.int32(2) * n) is weir.Dim
        assert np.int64(-1) < n and np.prod(x.shape) == 2 * n
        line = np.arange(3, dtype=np.float32) * n
        return np.sqrt(n), line, np.maximum(n, x.sum()), np.float32(2) / n

    root, line, most, part = weir.jit(function, shapes="n, 2")(np.ones((9, 2), np.float32))
    assert (root, most, part) == (3, 18, np.float32(2 / 9)) and line.tolist() == [0, 9, 18]


def test_a_size_is_a_value_where_it_meets_one():
    def values(x):
        n = x.shape[0]
        line, pair = np.arange(3) + n, wnp.array([n, 1])
        return n / 2, n * 0.5, x.sum() * n, line, pair, -n, n & 1, n > x, n

    for n in SIZES:
        half, product, total, line, pair, minus, odd, above, alone = weir.jit(values, shapes="n")(
            np.ones(n, np.float32)
        )
        assert (half, product, total) == (n / 2, n / 2, n * n) and total.dtype == np.float32
        assert line.tolist() == [n, n + 1, n + 2] and pair.tolist() == [n, 1]
        assert (minus, odd, alone) == (-n, n & 1, n) and above.tolist() == [n > 1] * n
        assert alone.dtype == np.int64  # As the index of a loop.


# --- The same as with numbers.

IDIOMS = {
    "all but the ends": lambda x: x[1:] - x[:-1],
    "all but the last by its size": lambda x: x[: x.shape[0] - 1] * 2,
    "first and rest": lambda x: wnp.concatenate([x[:1], x[1:]]).reshape(x.shape),
    "first ones": lambda x: x[:3],
    "last ones": lambda x: x[-3:],
    "between": lambda x: x[2:-2],
    "each second": lambda x: (x[::2], x[1::2], x[5:1:3]),
    "turned round": lambda x: (x[::-1], x[::-3], x[4:1:-1], x[-2::-2]),
    "last": lambda x: (x[-1], x[x.shape[0] - 1]),
    "fixed places": lambda x: (x[np.array([0, -1])], x[2]),
    "updates": lambda x: (x.at[1:3].set(7), x.at[-1].add(1), x.at[::2].multiply(2)),
    "pairs": lambda x: x.reshape(-1, 2).sum(1),
    "as a matrix": lambda x: x.reshape(x.shape[0], 1) * x,
    "middle": lambda x: x[x.shape[0] // 4 : 3 * x.shape[0] // 4],
    "halves": lambda x: wnp.split(x, 2),
    "thirds": lambda x: wnp.array_split(x, 3),
    "parts": lambda x: wnp.split(x, [1, 4]),
    "mean and deviation": lambda x: ((x - x.mean()) / (x.std() + 1), x.var(ddof=1)),
    "extremes": lambda x: (x.max(), x.argmin(), wnp.ptp(x)),
    "greatest of none": lambda x: wnp.max(x, initial=0),
    "quantiles": lambda x: (wnp.median(x), wnp.quantile(x, 0.3)),
    "ends of the order": lambda x: wnp.quantile(x, np.array([0, 1.0])),
    "ranks": lambda x: wnp.argsort(wnp.argsort(x)),
    "counting": lambda x: (wnp.arange(x.shape[0]), wnp.arange(2, x.shape[0], 3)),
    "counting down": lambda x: wnp.arange(x.shape[0], 0, -2),
    "line": lambda x: (wnp.linspace(0, 1, x.shape[0]), wnp.linspace(x.sum(), 1, x.size + 2)),
    "identity": lambda x: (wnp.eye(x.shape[0], 3), wnp.tri(2, x.shape[0])),
    "diagonals": lambda x: (wnp.diag(x[:9]), wnp.diagonal(x[:9, None] * x[:5])),
    "padding": lambda x: (wnp.pad(x, 2), wnp.pad(x, (0, x.shape[0]))),
    "wrapped": lambda x: wnp.pad(x, (1, 3), mode="wrap"),
    "reflected": lambda x: wnp.pad(x, 2, mode="reflect"),
    "mirrored": lambda x: wnp.pad(x, 2, mode="symmetric"),
    "edges": lambda x: wnp.pad(x, x.shape[0] // 2, mode="edge"),
    "rolled": lambda x: (wnp.roll(x, 2), wnp.roll(x, -x.shape[0] // 2)),
    "repeated": lambda x: (wnp.tile(x, 3), wnp.repeat(x, 2), wnp.repeat(x[:1], x.shape[0])),
    "resized": lambda x: wnp.resize(x, (2, 3)),
    "inserted": lambda x: wnp.insert(x, 1, 7, 0),
    "deleted": lambda x: wnp.delete(x, -2, 0),
    "gradient": lambda x: wnp.gradient(x),
    "integral": lambda x: wnp.trapezoid(x),
    "convolution": lambda x: wnp.convolve(x, np.ones(3, np.float32)),
    "differences": lambda x: (wnp.diff(x), wnp.diff(x, 2)),
    "covariances": lambda x: (wnp.cov(x), wnp.cov(wnp.stack([x, x * x]), ddof=5)),
    "correlations": lambda x: wnp.corrcoef(x, wnp.roll(x, 1)),
    "variances of few": lambda x: (wnp.var(x, ddof=5), wnp.nanvar(x, ddof=2)),
    "bins": lambda x: (wnp.histogram(x, 3), wnp.histogram(x, x.shape[0] + 1, (-1, 1))),
    "bins of the plane": lambda x: wnp.histogram2d(x, x * x, 3),
    "bins between borders": lambda x: wnp.digitize(np.float32([-1, 0, 1]), wnp.sort(x)),
    "bins between falling borders": lambda x: wnp.digitize(x, wnp.sort(x, descending=True), True),
    "unwrapped": lambda x: wnp.unwrap(x * 5),
    "taken or clipped": lambda x: wnp.take(x, np.array([0, 3, -9]), mode="clip"),
    "taken round": lambda x: wnp.take(x, np.array([0, 3, -9]), mode="wrap"),
    "taken or filled": lambda x: wnp.take(x, np.array([0, 3, -1, -9]), mode="fill", fill_value=7),
    "taken of rows": lambda x: wnp.take(x[None], np.array([[0, -2]]), 1, mode="fill"),
    "chosen by number": lambda x: wnp.choose(np.array([[0], [3], [-1]]), x[:, None], mode="clip"),
    "chosen round": lambda x: wnp.choose(np.array([0, 3, -1]), x[:, None], mode="wrap"),
    "filled diagonals": lambda x: (
        wnp.fill_diagonal(wnp.zeros((x.shape[0], 3)), 1, wrap=True),
        wnp.fill_diagonal(wnp.zeros((2, x.shape[0])), np.float32([1, 2])),
        wnp.fill_diagonal(wnp.zeros((x[:5].shape[0],) * 3), x[:1].sum()),
    ),
    "put along": lambda x: wnp.put_along_axis(x, np.array([0, 5]), 7, 0, mode="clip"),
    "sums of polynomials": lambda x: (wnp.polyadd(x, [1, 2]), wnp.polysub(x[1:], x)),
    "products of polynomials": lambda x: wnp.polymul(x, x),
    "quotients of polynomials": lambda x: wnp.polydiv(x, x + 1),
    "derivatives": lambda x: wnp.polyder(x, 2),
    "integrals": lambda x: wnp.polyint(x, 2, [1, 2]),
    "zeros": lambda x: wnp.abs(wnp.roots(1 + x[:4] * x[:4], strip_zeros=False)).sum(),
    "fitted": lambda x: wnp.polyfit(wnp.linspace(-1, 1, x.size), x, 1, cov="unscaled"),
    "fitted with errors": lambda x: wnp.polyfit(wnp.linspace(-1, 1, x.size), x, 1, cov=True),
    "exponential": lambda x: wnp.linalg.expm(x[:5, None] * x[:5]),
    "solved": lambda x: wnp.linalg.tensorsolve(wnp.eye(x[:9].shape[0]) * 2, x[:9]),
    "inverted": lambda x: wnp.linalg.tensorinv(wnp.eye(x[:9].shape[0]) * 2, 1),
    "packed": lambda x: (wnp.packbits(x > 0), wnp.unpackbits((x * 9).astype("u1"), count=-3)),
    "filled up bits": lambda x: wnp.unpackbits((x * 9).astype("u1"), count=20),
    "sums from nothing on": lambda x: wnp.cumulative_sum(x, include_initial=True),
    "between ends": lambda x: wnp.ediff1d(x, 1, x[:2]),
    "without NaN": lambda x: (wnp.nanpercentile(x, wnp.abs(x)), wnp.nancumprod(x)),
    "greatest but NaN": lambda x: wnp.nanargmax(x),
    "vectorized": lambda x: wnp.vectorize(lambda a, b: a * b.sum(), signature="(),(n)->()")(x, x),
    "piecewise": lambda x: wnp.piecewise(x, [x < 0, x > 1], [lambda y: -y, 1, 2]),
    "joined": lambda x: wnp.r_[x, 0:3, x],
    "in columns": lambda x: wnp.c_[x, x],
    "scaled transform": lambda x: wnp.fft.ifft(wnp.fft.fft(x[:9], norm="ortho"), norm="forward"),
    "spectrum": lambda x: wnp.fft.hfft(x[:50], norm="ortho"),
    "powers on a line": lambda x: wnp.logspace(0, 1, x.shape[0]),
    "parts by jax.lax": lambda x: (
        weir.lax.slice_in_dim(x, 1, None, 2),
        weir.lax.broadcast(x[:9], (2, x.shape[0])),
        weir.lax.collapse(x[None], 0),
        weir.lax.full_like(x, 3),
        weir.lax.broadcasted_iota("i4", x.shape, 0),
    ),
    "split by jax.lax": lambda x: weir.lax.split(x, (1, x.shape[0] - 1)),
    "rows by jax.lax": lambda x: (
        weir.lax.index_in_dim(x, -1),
        weir.lax.dynamic_index_in_dim(x, x.shape[0] - 1),
        weir.lax.dynamic_slice_in_dim(x, 1, 2),
        weir.lax.dynamic_update_slice_in_dim(x, x[:2] * 2, -1, 0),
        weir.lax.dynamic_update_index_in_dim(x, 7.0, x.shape[0] // 2, 0),
    ),
    "pairs in order": lambda x: weir.lax.sort_key_val(x, x * 2),
    "products of many": lambda x: weir.lax.batch_matmul(x[:, None, None], x[:, None, None]),
    "reductions of jax.lax": lambda x: (
        weir.lax.reduce_sum(x, (0,)),
        weir.lax.reduce_prod(wnp.tanh(x), (0,)),
        weir.lax.reduce_or(x > 0, (0,)),
    ),
    "combined": lambda x: weir.lax.associative_scan(lambda a, b: a + b, x),
    "combined from the end": lambda x: weir.lax.associative_scan(
        _affine, (wnp.tanh(x[None]), x[None]), True, 1
    ),
    "combined exponents": lambda x: weir.lax.cumlogsumexp(x),
    "reduced": lambda x: weir.lax.reduce(
        wnp.stack([x, x * x]), np.float32(0.5), lambda a, b: a + b, (1,)
    ),
    "reduced to a row": lambda x: weir.lax.reduce(
        wnp.stack([x, x * x]), np.float32(0.5), wnp.maximum, (0,)
    ),
    "mapped one by one": lambda x: weir.lax.map(lambda a: a * 2, x),
    "segments": lambda x: weir.segment_mean(x, (x > 0).astype(int), 3),
    "attention": lambda x: weir.nn.dot_product_attention(
        *(wnp.stack([x, x * x], -1)[None, :50, None],) * 3, is_causal=True
    ),
    "transposed convolution": lambda x: weir.nn.conv_transpose(
        x[None, None], np.ones((1, 2, 3), np.float32), strides=2
    ),
    "lengths": lambda x: (weir.nn.l2_normalize(x), weir.nn.smooth_labels(x, 0.1)),
    "logarithms of means": lambda x: weir.nn.logmeanexp(x),
    "frequencies": lambda x: (wnp.fft.fftfreq(x.shape[0] + 1), wnp.fft.rfftfreq(x.shape[0] + 2)),
    "transform": lambda x: wnp.fft.fft(x[:50], 8),
    "kinds": lambda x: wnp.unique(wnp.sign(x), size=3),
    "chosen": lambda x: (x[x > 0].size, wnp.nonzero(x > 0, size=4), wnp.where(x > 0, x, 0)),
    "membership": lambda x: wnp.isin(x, x[1:]),
    "softmax": lambda x: (weir.nn.softmax(x[None]), weir.nn.layer_norm(x, epsilon=1e-3)),
    "sampled": lambda x: weir.random.normal((x.shape[0], 2), seed=1),
    "shuffled": lambda x: (weir.random.permutation(x, seed=2), weir.random.choice(x, (2,), seed=3)),
    "gamma": lambda x: weir.random.gamma(wnp.exp(x[:9]), seed=4),
    "mapped": lambda x: weir.vmap(lambda a: weir.vmap(lambda b: a * b)(x[:4]))(x),
    "mapped in chunks": lambda x: weir.vmap(_plus_random, chunk_size=3)(x),
    "one after the other": lambda x: weir.for_loop(lambda i: x[i] * i, x.shape[0]),
    "all at once": lambda x: weir.pfor(lambda i: x[i] * i, x.shape[0]),
    "meeting": lambda x: weir.vmap(lambda a: (weir.psum(a), a - weir.pmean(a), weir.pmax(a)))(x),
    "gathered": lambda x: weir.vmap(lambda a: weir.all_gather(a)[0] + a)(x[:9]),
    "scanned": lambda x: weir.scan(lambda c, a: (c + a, c * 2), np.float32(0), x),
    "scanned back": lambda x: weir.scan(lambda c, a: (c + a, c), np.float32(0), x, reverse=True),
    "counted": lambda x: weir.fori_loop(0, x.shape[0], lambda i, c: c + x[i], np.float32(0)),
    "branch": lambda x: weir.cond(wnp.array(x.shape[0]) > 2, lambda: x.sum(), lambda: -1.0),
    "list": lambda x: weir.List.of(x, x.shape[0] + 1).push(1.0).stack(),
    "last of a list": lambda x: weir.List.of(x)[x.shape[0] - 1],
    "list of few": lambda x: weir.List.of(x[:2], 3).gather(np.array([0])),
    "sparse": lambda x: weir.Sparse.of(x[:9], 9).to_dense(),
    "masked rows": lambda x: (x[:, None] * wnp.ones(3)).at[x > 0].set(0),
    "in a function": lambda x: _power_of_two(np.int32(3), x),
    "in a function of more": lambda x: _power_of_two(np.int32(2), wnp.concatenate([x, x, x])),
}


def _affine(a, b):
    return b[0] * a[0], b[0] * a[1] + b[1]


def _plus_random(a):
    return a + weir.random.normal(seed=5)


@weir.function
def _power_of_two(k, x):
    more = lambda: _power_of_two(k - 1, x) + wnp.ones(x.shape) * x.shape[0]  # noqa: E731
    return weir.cond(k <= 0, lambda: x, more)


@pytest.mark.parametrize("name", IDIOMS)
def test_idioms_give_what_they_give_with_numbers(name):
    opened = weir.jit(IDIOMS[name], shapes="n")
    compared = 0
    for n in [5, *SIZES]:
        x = rows(n)
        try:
            want = weir.jit(IDIOMS[name])(x)
        except (ValueError, IndexError, weir.Error):
            # Not the same class: what only the run knows is a failure of the run.
            with pytest.raises(weir.Error):
                opened(x)
            continue
        assert_tree_close(opened(x), want, tol=1e-4)
        compared += 1
    assert compared >= 3 and len(opened._programs) == 1


def test_a_function_captures_sizes_of_its_surroundings():
    @weir.jit(shapes=("n", "4*m"))
    def outer(x, y):
        @weir.function
        def inner(value):
            return value * x.shape[0] + wnp.ones(y.shape[0] // 4).sum()

        return inner(1.0) + weir.vmap(inner)(x).sum()

    for n, m in [(3, 2), (0, 0), (5, 1)]:
        x = np.ones(n, np.float32)
        assert outer(x, rows(4 * m)) == n + m + n * (n + m)


def test_random_numbers_do_not_depend_on_open_sizes():
    def draw(x):
        return weir.vmap(lambda a: a + weir.random.normal((2,), seed=7))(x)

    for n in SIZES:
        assert_same_bits(weir.jit(draw, shapes="n")(rows(n)), weir.jit(draw)(rows(n)))


def test_results_that_hold_sizes_have_numbers():
    sparse = weir.jit(lambda x: weir.Sparse.of(x, 3), shapes="n, m")(np.eye(2, 5))
    assert sparse.shape == (2, 5)
    assert_tree_close(sparse.to_dense(), np.eye(2, 5))


def test_two_symbols():
    def attention(q, k, v):
        scores = weir.nn.softmax(q @ k.T / k.shape[1] ** 0.5)
        return scores @ v, wnp.einsum("ij,kj->ik", q, k), q.shape[0] * k.shape[0]

    opened = weir.jit(attention, shapes=("n, 4", "m, 4", "m, d"))
    for n, m, d in [(3, 5, 2), (1, 1, 1), (0, 4, 3), (6, 2, 2)]:
        operands = rows(n, 4), rows(m, 4), rows(m, d)
        assert_tree_close(opened(*operands), weir.jit(attention)(*operands), tol=1e-4)
    assert len(opened._programs) == 1


# --- What refuses.


@pytest.mark.parametrize("name", open_sizes.REFUSED)
def test_what_refuses_names_itself_and_the_size(name):
    reason, call = open_sizes.REFUSED[name]
    assert reason
    opened = weir.jit(call, shapes=("n, _", "m, _"))
    with pytest.raises((weir.InconclusiveDimension, weir.InvalidArgument)) as raised:
        opened(np.eye(4, dtype=np.float32), np.ones((2, 4), np.float32))
    text = str(raised.value)
    assert re.search(rf"\b{name}", text) and re.search(r"\b[nm]\b", text), text
    assert re.search(r"open_sizes.py:\d+", text), text


# --- ONNX.


def _field(number, value):
    """One field of a protobuf message: an integer, a text or a message."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    value = value.encode() if isinstance(value, str) else value
    assert len(value) < 2**14
    length = [len(value)] if len(value) < 128 else [len(value) % 128 | 128, len(value) // 128]
    return bytes([number << 3 | 2, *length]) + value


def _value(name, *extents):
    sizes = [_field(1, _field(2 if isinstance(e, str) else 1, e)) for e in extents]
    tensor = _field(1, 1) + _field(2, b"".join(sizes))
    return _field(1, name) + _field(2, _field(1, tensor))


def _node(op, inputs, output):
    return b"".join(_field(1, name) for name in inputs) + _field(2, output) + _field(4, op)


@pytest.fixture
def model(tmp_path):
    """relu(x w) of x [batch, 3] and w [3, k]."""
    graph = _field(1, _node("MatMul", ["x", "w"], "product"))
    graph += _field(1, _node("Relu", ["product"], "y")) + _field(2, "graph")
    graph += _field(11, _value("x", "batch", 3)) + _field(11, _value("w", 3, "k"))
    graph += _field(12, _value("y", "batch", "k"))
    path = tmp_path / "model.onnx"
    path.write_bytes(_field(1, 8) + _field(8, _field(2, 13)) + _field(7, graph))
    return weir.load_onnx(path)


def test_models_with_symbols_take_open_sizes(model):
    assert model.inputs == [("x", "f32", ("batch", 3)), ("w", "f32", (3, "k"))]

    @weir.jit(shapes=("n, 3", "3, m"))
    def doubled(x, w):
        y = model(wnp.concatenate([x, x]), w)
        assert str(y.shape) == "(2*n, m)"
        return y[: x.shape[0]] / x.shape[0], y.shape

    for n, m in [(2, 5), (1, 1), (7, 2)]:
        x, w = rows(n, 3), rows(3, m)
        got, shape = doubled(x, w)
        assert_tree_close(got, np.maximum(x @ w, 0) / n)
        assert shape == (2 * n, m)
    assert len(doubled._programs) == 1


def test_models_map_over_open_sizes(model, digits):
    mapped = weir.jit(weir.vmap(model, in_axes=(0, None)), shapes=("n, b, 3", "3, m"))
    for n, b, m in [(2, 3, 4), (0, 1, 2), (5, 2, 1)]:
        x, w = rows(n, b, 3), rows(3, m)
        assert_tree_close(mapped(x, w), np.maximum(x @ w, 0))
    cnn = weir.load_onnx(digits / "cnn.onnx")
    images = np.load(digits / "image.npy")
    logits = weir.jit(weir.vmap(cnn), shapes="n, ...")
    assert_same_bits(logits(images[:7]), weir.vmap(cnn)(images[:7]))
    assert logits(images[:0]).shape == (0, 1, 10)
