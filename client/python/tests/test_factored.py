"""Per-example gradients of which only sums, norms and dot products are wanted are never made."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp

LIMIT = 2.0


def clip_factor(*gradients):
    squares = sum(wnp.sum(g * g) for g in gradients)
    return wnp.minimum(1.0, LIMIT / wnp.sqrt(squares))


def clipped_sum(gradient):
    """What sums the clipped gradients of all examples."""

    def mapped(*examples):
        def one(*example):
            g = gradient(*example)
            return weir.psum(clip_factor(g) * g)

        return weir.vmap(one, out_axes=None, strict=True)(*examples)

    return mapped


def expected(gradients):
    """The same in double precision, from all gradients."""
    g = gradients.astype(np.float64)
    norms = np.sqrt((g.reshape(len(g), -1) ** 2).sum(1))
    return np.tensordot(np.minimum(1, LIMIT / norms), g, 1)


def floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def dense(x, y):
    return wnp.outer(x, y)


def over_time(x, y):
    return x.T @ y


def tied(x, y, u, v):
    return x.T @ y + wnp.outer(u, v)


def embedding(ids, rows):
    return wnp.zeros((50, 20), "f4").at[ids].add(rows)


def tied_embedding(ids, rows, u, v):
    return embedding(ids, rows) - wnp.outer(u, v)


def convolution(patches, outputs):
    return (patches.T @ outputs).reshape((3, 3, 4, 16))


def filters(images, outputs):
    """The gradient of a filter [3, 3, channels in, out], for images [height, width, channels] and
    gradients of outputs of the same size."""
    return weir.lax.conv_general_dilated(
        images[None],
        outputs[None],
        (1, 1),
        [(1, 1), (1, 1)],
        dimension_numbers=("CHWN", "IHWO", "HWNC"),
    )


def filter_gradients(images, outputs):
    height, width = images.shape[1:3]
    padded = np.pad(images, [(0, 0), (1, 1), (1, 1), (0, 0)])
    return np.stack(
        [
            np.einsum("nhwc,nhwo->nco", padded[:, i : i + height, j : j + width], outputs)
            for i in range(3)
            for j in range(3)
        ],
        axis=1,
    ).reshape(len(images), 3, 3, images.shape[-1], -1)


def embedded(ids, rows):
    out = np.zeros((len(ids), 50, 20), np.float32)
    for example, its_ids, its_rows in zip(out, ids, rows):
        np.add.at(example, its_ids, its_rows)
    return out


def shape_text(array):
    return "[" + ",".join(str(extent) for extent in array.shape) + "]"


def made_by(program):
    """The text of what runs, but for views."""
    lines = program.text("dce-converted").splitlines()
    return "".join(line for line in lines if "broadcast_in_dim" not in line)


def case(rng, gradient, n=40):
    """Returns: arguments and all gradients."""
    if gradient is dense:
        x, y = floats(rng, n, 24), floats(rng, n, 20)
        return (x, y), np.einsum("na,nb->nab", x, y)
    if gradient is filters:
        x, y = floats(rng, n, 4, 4, 24), floats(rng, n, 4, 4, 20)
        return (x, y), filter_gradients(x, y)
    if gradient is convolution:
        x, y = floats(rng, n, 25, 36), floats(rng, n, 25, 16)
        return (x, y), np.einsum("nta,ntb->nab", x, y).reshape(n, 3, 3, 4, 16)
    x, y, u, v = (floats(rng, n, *s) for s in [(5, 24), (5, 20), (24,), (20,)])
    if gradient is over_time:
        return (x, y), np.einsum("nta,ntb->nab", x, y)
    if gradient is tied:
        return (x, y, u, v), np.einsum("nta,ntb->nab", x, y) + np.einsum("na,nb->nab", u, v)
    ids = rng.integers(0, 50, (n, 5))
    if gradient is embedding:
        return (ids, y), embedded(ids, y)
    u = floats(rng, n, 50)
    return (ids, y, u, v), embedded(ids, y) - np.einsum("na,nb->nab", u, v)


GRADIENTS = [dense, over_time, tied, embedding, tied_embedding, convolution, filters]


@pytest.mark.parametrize("gradient", GRADIENTS)
def test_clipped_gradients(rng, gradient):
    arguments, gradients = case(rng, gradient)
    got = clipped_sum(gradient)(*arguments)
    np.testing.assert_allclose(got, expected(gradients), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("gradient", GRADIENTS)
def test_no_step_has_a_gradient_for_each_example(rng, gradient):
    arguments, gradients = case(rng, gradient)
    program = weir.explain(clipped_sum(gradient), *arguments)
    assert shape_text(gradients) in program.text("phases")
    assert shape_text(gradients) not in made_by(program)
    assert any("which is not made" in note for note in program.notes)


@pytest.mark.parametrize("gradient", GRADIENTS)
def test_any_number_of_workers_and_chunks_gives_the_same_bits(rng, gradient):
    arguments, _ = case(rng, gradient, n=600)

    def summed(chunk_size):
        def run(*examples):
            def one(*example):
                g = gradient(*example)
                return clip_factor(g) * g

            return wnp.sum(weir.vmap(one, chunk_size=chunk_size)(*examples), axis=0)

        return weir.jit(run)

    want = np.asarray(weir.jit(clipped_sum(gradient))(*arguments))
    for chunk_size in (None, 7, 256):
        np.testing.assert_array_equal(summed(chunk_size)(*arguments), want)
    for workers in (1, 3):
        with weir.connect(workers=workers):
            np.testing.assert_array_equal(weir.jit(clipped_sum(gradient))(*arguments), want)


@pytest.mark.parametrize("gradient", GRADIENTS)
def test_one_iteration_after_the_other_gives_the_same_norms(rng, gradient):
    arguments, gradients = case(rng, gradient)
    n = len(gradients)

    def norm(*example):
        return wnp.sqrt(wnp.sum(gradient(*example) ** 2))

    def one_by_one(*arrays):
        return weir.for_loop(lambda i: norm(*(x[i] for x in arrays)), n)

    at_once = weir.jit(lambda *arrays: weir.vmap(norm)(*arrays))(*arguments)
    np.testing.assert_array_equal(at_once, weir.jit(one_by_one)(*arguments))
    want = np.sqrt((gradients.reshape(n, -1) ** 2).sum(1))
    np.testing.assert_allclose(at_once, want, rtol=1e-4)


def test_norms_outside_of_the_loop(rng):
    (x, y), gradients = case(rng, over_time)

    def clipped(x, y):
        g = weir.vmap(over_time)(x, y)
        norms = wnp.sqrt(wnp.sum(g**2, axis=(1, 2)))
        return wnp.sum(g * wnp.minimum(1.0, LIMIT / norms)[:, None, None], axis=0), norms

    got, norms = weir.jit(clipped)(x, y)
    np.testing.assert_allclose(got, expected(gradients), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(norms, np.sqrt((gradients**2).sum((1, 2))), rtol=1e-5)
    assert shape_text(gradients) not in made_by(weir.explain(clipped, x, y))


def test_a_model_of_several_layers(rng):
    n = 40
    x, h, d1, d2 = (floats(rng, n, size) for size in (32, 24, 24, 20))

    def gradients(x, h, d1, d2):
        return {"w1": wnp.outer(x, d1), "b1": d1, "w2": wnp.outer(h, d2), "b2": d2}

    def one(*example):
        g = gradients(*example)
        c = clip_factor(*g.values())
        return {name: weir.psum(c * value) for name, value in g.items()}

    def clipped(*examples):
        return weir.vmap(one, out_axes=None, strict=True)(*examples)

    each = {
        "w1": np.einsum("na,nb->nab", x, d1),
        "b1": d1,
        "w2": np.einsum("na,nb->nab", h, d2),
        "b2": d2,
    }
    squares = sum((g.reshape(n, -1).astype(np.float64) ** 2).sum(1) for g in each.values())
    c = np.minimum(1, LIMIT / np.sqrt(squares))
    got = weir.jit(clipped)(x, h, d1, d2)
    for name, g in each.items():
        np.testing.assert_allclose(got[name], np.tensordot(c, g, 1), rtol=1e-4, atol=1e-5)
    made = made_by(weir.explain(clipped, x, h, d1, d2))
    assert shape_text(each["w1"]) not in made
    assert shape_text(each["w2"]) not in made


@pytest.mark.parametrize("n, size", [(4096, 128)])
def test_peak_memory(rng, n, size):
    x, y = floats(rng, n, size), floats(rng, n, size)
    counters = weir.explain(clipped_sum(dense), x, y).counters
    assert counters["arena_bytes"] < n * size * size * 4 / 30


# Of 3 x 3 filters from 64 to 64 channels at 8 x 8 places. Long sums, so that the norms are those of
# the gradients themselves, made for the examples of a chunk.
def test_peak_memory_of_filters(rng):
    n = 1024
    x, y = floats(rng, n, 8, 8, 64), floats(rng, n, 8, 8, 64)
    program = weir.explain(clipped_sum(filters), x, y)
    assert program.counters["arena_bytes"] < n * 9 * 64 * 64 * 4 / 2
    assert "f32[1024,3,3,64,64]" not in made_by(program)


def test_errors_do_not_grow_with_the_number_of_examples(rng):
    x, y = (rng.random((50_000, 17), np.float32) for _ in range(2))
    got = weir.jit(lambda x, y: wnp.sum(weir.vmap(dense)(x, y), axis=0))(x, y)
    np.testing.assert_allclose(got, x.T.astype(np.float64) @ y, rtol=1e-6)


def test_gradients_that_are_returned_too(rng):
    (x, y), gradients = case(rng, dense)

    def both(x, y):
        g = weir.vmap(dense)(x, y)
        return g, wnp.sum(g, axis=0)

    got, total = weir.jit(both)(x, y)
    np.testing.assert_array_equal(got, gradients)
    np.testing.assert_allclose(total, gradients.sum(0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_what_is_not_finite_stays_where_it_is(rng, bad):
    x, y = floats(rng, 9, 24), floats(rng, 9, 20)
    x[3, 5] = bad
    got = np.asarray(weir.jit(lambda x, y: wnp.sum(weir.vmap(dense)(x, y), axis=0))(x, y))
    want = np.einsum("na,nb->nab", x, y).sum(0)
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
