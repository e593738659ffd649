"""Public bug reports: section 4, parts A to D, one test for each with the number that it has there.

Each brings the reported situation into this package, and asks for the right answer or for an error
that names values, shapes and the line of Python.
"""

import numpy as np
import pytest
from conftest import assert_same_bits
from oracle import agree, assert_numbers, numbers, positive, variants

import weir
import weir.numpy as wnp
from weir import nn

# --- A. Wrong results.


@pytest.mark.parametrize("vary", [name for name in variants(0, 0) if name != "same"])
@pytest.mark.parametrize("left", ["plain", "transposed", "adjoint"])
@pytest.mark.parametrize("right", ["plain", "transposed", "adjoint"])
def test_a1_transposes_of_complex_products(left, right, vary):
    def form(xp, x, kind):
        turned = x if kind == "plain" else xp.swapaxes(x, -1, -2)
        return xp.conj(turned) if kind == "adjoint" else turned

    def body(xp, i, a, b):
        x, y = variants(a, b)[vary](i)
        return xp.matmul(form(xp, x, left), form(xp, y, right))

    a, b = (numbers(3, 2, 2, seed=seed, dtype=np.complex64) for seed in (7, 8))
    agree(body, a, b, of_largest=True)


def test_a3_a_predicate_of_the_outer_loop_and_a_state_of_the_inner():
    """Four by four on purpose: sizes that are equal hide an axis that is taken for another."""

    def body(i):
        def inner(j):
            def step(state):
                return state[0] + 1, state[1] * 2 + 1

            return weir.while_loop(lambda state: state[0] < i, step, (0, j))[1]

        return weir.pfor(inner, 4)

    got = weir.pfor(body, 4, strict=True)
    assert_same_bits(got, weir.for_loop(body, 4))
    i, j = np.mgrid[:4, :4]
    np.testing.assert_array_equal(got, (j + 1) * 2**i - 1)


@pytest.mark.parametrize("chunk_size", [1, 2, 7, 12])
def test_a5_chunks_of_transforms(chunk_size):
    """Convolutions by Fourier transforms are the same in chunks of any size."""
    rows, kernel = numbers(12, 4, 96), numbers(4, 96, seed=8)

    def body(i):
        spectrum = wnp.fft.rfft(wnp.array(rows)[i]) * wnp.fft.rfft(wnp.array(kernel))
        return wnp.fft.irfft(spectrum)

    got = weir.pfor(body, 12, chunk_size=chunk_size, strict=True)
    assert_same_bits(got, weir.pfor(body, 12))
    want = np.fft.irfft(np.fft.rfft(rows) * np.fft.rfft(kernel)).astype(np.float32)
    assert_numbers(got, want, of_largest=True)


def test_a7_a_shared_row_of_what_a_batch_made():
    """The second of the matrices that a loop makes multiplies every row of another loop."""

    def function(loop, a, x):
        made = loop(lambda k: wnp.tanh(a * (k + 1)), 3)
        return loop(lambda i: made[1] @ x[i], 5)

    a, x = numbers(4, 4), numbers(5, 4, seed=8)
    got = weir.jit(lambda a, x: function(weir.pfor, a, x))(a, x)
    assert_same_bits(got, weir.jit(lambda a, x: function(weir.for_loop, a, x))(a, x))
    assert_numbers(got, x @ np.tanh(a * 2).T, of_largest=True)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a9_pools_of_an_axis_that_is_mapped_last(axis):
    """The greatest element of each window and its place within one image, wherever the images are
    counted."""
    images = numbers(3, 1, 2, 6, 6)

    def pooled(image):
        parts = wnp.moveaxis(image.reshape(1, 2, 3, 2, 3, 2), 3, 4).reshape(1, 2, 3, 3, 4)
        return nn.max_pool(image, 2), wnp.argmax(parts, axis=-1)

    moved = np.ascontiguousarray(np.moveaxis(images, 0, axis))
    values, places = weir.vmap(pooled, in_axes=axis, strict=True)(moved)
    parts = np.moveaxis(images.reshape(3, 1, 2, 3, 2, 3, 2), 4, 5).reshape(3, 1, 2, 3, 3, 4)
    np.testing.assert_array_equal(values, parts.max(-1))
    np.testing.assert_array_equal(places, parts.argmax(-1))


@pytest.mark.parametrize(
    "left, right, dtype",
    [
        (np.float32, 0.1, np.float32),
        (np.int32, 0.5, np.float32),
        (np.float32, np.float64(0.1), np.float64),
        (np.int32, True, np.int32),
        (np.bool_, 3, np.int32),
        (np.float16, 2, np.float16),
        (np.complex64, 2.5, np.complex64),
    ],
)
def test_a11_promotion_of_scalars_of_an_iteration(left, right, dtype):
    """A scalar in each iteration is a scalar, whatever number of iterations there is."""
    x = np.array([1, 0, 2]).astype(left)
    for n in (0, 1, 3):
        got = weir.pfor(lambda i: wnp.array(x)[i] * right, n, strict=True)
        assert_same_bits(got, weir.for_loop(lambda i: wnp.array(x)[i] * right, n))
        assert_same_bits(got, x[:n].astype(dtype) * np.asarray(right, dtype))


def test_a13_ties_of_pools():
    """A net of convolution, relu and pool: no difference, and of equal elements the first."""
    kernel = numbers(4, 1, 3, 3)

    def body(xp, i, images):
        out = nn.max_pool(nn.relu(nn.conv(images[i], kernel)), 2)
        flat = out.reshape(4, -1)
        return out, wnp.argmax(flat, axis=1)

    agree(body, numbers(20, 1, 1, 10, 10), n=20, want=False)
    ties = np.float32([[1, 3, 3, 0], [2, 2, 1, 2], [0, 0, 0, 0]])
    got = weir.vmap(wnp.argmax, strict=True)(ties)
    np.testing.assert_array_equal(got, [1, 0, 0])


def test_a15_draws_in_parallel_are_always_the_same():
    def body(i):
        return weir.random.uniform((4,), seed=11) + weir.random.normal(seed=11)

    first = weir.pfor(body, 64)
    assert_same_bits(first, weir.for_loop(body, 64))
    assert len(np.unique(first)) == first.size
    for _ in range(50):
        assert_same_bits(weir.pfor(body, 64), first)


def test_a17_dropout_of_a_shared_value():
    """Each iteration draws a mask of its own, though what it masks is the same for all."""
    x, y = numbers(8, 3), positive(1, 300, seed=8)

    def body(i):
        kept = weir.random.bernoulli(0.5, (1, 300), seed=2)
        return wnp.array(x)[i] + wnp.mean(wnp.where(kept, wnp.array(y), 0), axis=1)

    got = weir.pfor(body, 8, strict=True)
    assert_same_bits(got, weir.for_loop(body, 8))
    assert len(np.unique(np.round(got - x, 4)[:, 0])) == 8


def test_a19_finished_iterations_run_no_body():
    lengths = np.int32([4, 0, 2])

    def body(i):
        def step(trip):
            weir.check(trip < wnp.array(lengths)[i], "one trip too many")
            return trip + 1

        return weir.while_loop(lambda trip: trip < wnp.array(lengths)[i], step, 0)

    np.testing.assert_array_equal(weir.pfor(body, 3, strict=True), lengths)


# --- B. Control flow.


def test_b21_a_rare_branch_costs_what_its_iterations_cost():
    """One of a hundred iterations takes a loop of many trips, and only those run it."""

    def body(i):
        def rare():
            def step(state):
                return state[0] + 1, state[1] + state[0]

            return weir.while_loop(lambda state: state[0] < 90 + i % 3, step, (i * 0, i))[1]

        return weir.cond(i % 100 == 7, rare, lambda: i)

    i = np.arange(1000)
    trips = np.where(i % 100 == 7, 90 + i % 3, 0)
    explanation = weir.explain(lambda: weir.pfor(body, 1000, strict=True))
    # A row for the branch of each iteration, and one for each trip of those that loop.
    assert explanation.counters["rows_run"] == 1000 + trips.sum()
    np.testing.assert_array_equal(weir.pfor(body, 1000), i + trips * (trips - 1) // 2)


def test_b23_a_counter_that_all_share_stays_shared():
    """x[j] with the counter j of a loop inside reads one row for all iterations."""

    def function(x, y):
        def body(i):
            return weir.fori_loop(0, 4, lambda j, total: total + x[j] * y[i], wnp.zeros(32))

        return weir.pfor(body, 5, strict=True)

    x, y = numbers(4, 32), numbers(5, 32, seed=8)
    text = weir.explain(function, x, y).text("pfor")
    gathers = [line for line in text.splitlines() if "gather(" in line]
    assert len(gathers) == 1 and gathers[0].endswith(": f32[32]")
    assert_numbers(weir.jit(function)(x, y), y * x.sum(0), of_largest=True)


def test_b25_branches_keep_static_shapes():
    x = numbers(6, 2, 3)

    def function(x):
        out = weir.vmap(lambda row: weir.cond(row[0, 0] > 0, lambda: row * 2, lambda: row - 1))(x)
        assert out.shape == (6, 2, 3)
        return out

    want = np.where(x[:, :1, :1] > 0, x * 2, x - 1)
    assert_numbers(weir.jit(function)(x), want)


def test_b33_a_choice_of_powers():
    """x^2 or x^3 by the sign of x: the values; their gradients are another matter."""

    def body(xp, i, x):
        if xp is wnp:
            return weir.cond(x[i] > 0, lambda: x[i] ** 2, lambda: x[i] ** 3)
        return x[i] ** 2 if x[i] > 0 else x[i] ** 3

    agree(body, numbers(20), n=20)


# --- C. No iteration, one iteration, scalars, empty arrays.


def test_c37_squeeze_of_scalars():
    for n in (0, 1, 3):
        x = numbers(3)
        got = weir.pfor(lambda i: wnp.squeeze(wnp.array(x)[i]), n, strict=True)
        np.testing.assert_array_equal(got, x[:n])
        assert got.shape == (n,)


def test_c39_block_diagonals_of_no_iteration():
    """Shapes do not come from running: [0, R, C] without a single matrix."""

    def body(xp, i, a, b):
        right = xp.concatenate([a[i], xp.zeros((2, 3), np.float32)], 1)
        left = xp.concatenate([xp.zeros((4, 2), np.float32), b[i]], 1)
        return xp.concatenate([right, left], 0)

    agree(body, numbers(3, 2, 2), numbers(3, 4, 3))
    none = weir.vmap(lambda a, b: wnp.kron(a, b), strict=True)(numbers(0, 2, 2), numbers(0, 4, 3))
    assert none.shape == (0, 8, 6) and none.dtype == np.float32


def test_c41_updates_of_empty_arrays():
    def body(xp, i, x):
        if xp is wnp:
            return x[i].at[:0].set(x[i, :0]), x[i].at[wnp.zeros((0,), "i32")].add(1)
        return x[i], x[i]

    for shape in ((3, 0), (3, 1, 0), (3, 2), (3, 2, 2)):
        agree(body, numbers(*shape))
    got = weir.vmap(lambda row: row.at[0].set(7.0), strict=True)(numbers(1, 1, 0))
    assert got.shape == (1, 1, 0)


# --- D. Missing or partial converters, shapes, element types.


def test_d43_results_of_different_sizes():
    """They are lists, with room for what is known to be enough; without that they are refused where
    they stand, with the array that decides the size.
    """
    x = numbers(3, 4)

    def body(i):
        row = wnp.array(x)[i]
        return (
            wnp.arange(i, capacity=3),
            wnp.repeat(row, i, capacity=8),
            wnp.unique(wnp.round(row), return_counts=True),
            wnp.where(row > 0),
        )

    got = weir.pfor(body, 3, strict=True)
    assert_same_bits(got, weir.for_loop(body, 3))
    for i in range(3):
        line, repeated, (values, counts), (places,) = weir.tree.map(
            lambda leaf, i=i: leaf[i], got[:3] + (got[3].elements,)
        )
        np.testing.assert_array_equal(line.elements[: line.size], np.arange(i))
        np.testing.assert_array_equal(repeated.elements[: repeated.size], np.repeat(x[i], i))
        want = np.unique(x[i].round(), return_counts=True)
        np.testing.assert_array_equal(values.elements[: values.size], want[0])
        np.testing.assert_array_equal(counts.elements[: counts.size], want[1])
        np.testing.assert_array_equal(places[: got[3].size[i]], np.where(x[i] > 0)[0])
    for loop in (weir.pfor, weir.for_loop):
        with pytest.raises(TypeError, match=r"must be known .* i64\[\] .*reports.py:\d+"):
            loop(lambda i: wnp.arange(i), 3)
        with pytest.raises(TypeError, match=r"repeats of repeat .* i64\[\] .*reports.py:\d+"):
            loop(lambda i: wnp.repeat(wnp.array(x)[0], i), 3)
        with pytest.raises(TypeError, match=r"shape must be known .* i64\[\] .*reports.py:\d+"):
            loop(lambda i: wnp.bincount(wnp.arange(3), length=i), 3)


def test_d45_operands_that_are_like_attributes():
    """Factors, fill values, draws and the types of bits may vary without a loop over iterations."""

    def body(xp, i, x, factor):
        image = x[i]
        mean = xp.mean(image)
        bits = weir.lax.bitcast_convert(image, dtype="i32") if xp is wnp else image.view(np.int32)
        return (image - mean) * factor[i] + mean, xp.full((2, 2), factor[i]), bits

    x, factor = numbers(3, 4, 4), positive(3)
    agree(body, x, factor, of_largest=True)

    def drawing(i):
        return wnp.array(factor)[i] * weir.random.uniform((3,), seed=1)

    assert not weir.explain(lambda: weir.pfor(drawing, 3)).fallbacks


@pytest.mark.parametrize(
    "name",
    "abs real imag angle conj negative square exp expm1 exp2 log log1p log2 log10 sqrt reciprocal"
    " sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh rint".split(),
)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_d47_types_of_complex_functions(dtype, name):
    got = agree(
        lambda xp, i, x: getattr(xp, name)(x[i]), numbers(3, 4, dtype=dtype), of_largest=True
    )
    assert got.dtype == getattr(np, name)(np.full(1, 0.5, dtype)).dtype


def test_d49_static_shapes_of_nested_maps():
    def function(x):
        out = weir.vmap(weir.vmap(lambda row: wnp.sum(row)))(x)
        assert out.shape == (100, 10)
        return out

    x = numbers(100, 10, 3)
    assert_numbers(weir.jit(function)(x), x.sum(2), of_largest=True)


def test_d53_permutations_and_masks_of_an_iteration():
    def body(xp, i, x):
        order = xp.argsort(x[i])
        return x[i][order], xp.take(x[0], order), xp.sum(xp.where(x[i] > 0, x[i], 0))

    x = numbers(3, 6)
    agree(body, x, of_largest=True)
    chosen = weir.pfor(lambda i: wnp.array(x)[i][wnp.array(x)[i] > 0], 3, strict=True)
    for row, size, elements in zip(x, chosen.size, chosen.elements):
        np.testing.assert_array_equal(elements[:size], row[row > 0])


def test_d55_normalization_of_one_example():
    """By statistics that are given, or by those of groups within one example."""

    def body(xp, i, x, mean, var):
        image = x[i][None]
        if xp is wnp:
            return nn.batch_norm(image, mean=mean, var=var), nn.group_norm(image, 2)
        wide = (slice(None), None, None)
        groups = image.reshape(1, 2, -1)
        normal = groups - groups.mean(-1, keepdims=True)
        normal = normal / np.sqrt(groups.var(-1, keepdims=True) + np.float32(1e-5))
        given = (image - mean[wide]) / np.sqrt(var[wide] + np.float32(1e-5))
        return given, normal.reshape(image.shape)

    agree(body, numbers(3, 4, 5, 5), positive(4), positive(4, seed=8), of_largest=True)
