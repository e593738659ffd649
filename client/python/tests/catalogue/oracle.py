"""What tests of the catalogue ask: pfor has the bits of for_loop, and the numbers of NumPy."""

import functools

import numpy as np
from conftest import assert_same_bits

import weir
import weir.numpy as wnp

# Rounding of one or a few operations; what sums many numbers is exact to this part of its largest.
_TOLERANCE = {np.dtype(kind): 1e-5 for kind in ("float32", "complex64")}
_TOLERANCE |= {np.dtype(kind): 1e-12 for kind in ("float64", "complex128")}


def agree(body, *tables, n=3, want=None, of_largest=False, before=None):
    """Runs `body(xp, i, *tables)` for i = 0 .. n-1, and for n = 0 and n = 1.

    With `before`, what the body takes in place of the tables is `before(xp, *tables)`, a tuple made
    outside of the loop.

    pfor, whole and in chunks and without a fallback, gives the bits of for_loop. These are the
    numbers of `want(i, *tables)`, or of the body itself where xp is NumPy, unless `want` is False.
    `of_largest`: rounding is measured by the largest number of the result, as for sums.

    Returns: what pfor returned.
    """
    before = before or (lambda xp, *given: given)
    run = functools.partial(_run, body, before, tables)
    nothing = run(weir.pfor, 0, strict=True)
    assert_same_bits(nothing, run(weir.for_loop, 0))
    for count in (1, n):
        expected = run(weir.for_loop, count)
        for chunk_size in (None, 1, 2)[:count]:
            got = run(weir.pfor, count, chunk_size=chunk_size, strict=True)
            assert_same_bits(got, expected)
        assert_same_bits(nothing, weir.tree.map(lambda leaf: leaf[:0], got))
        if want is not False:
            numpy_body = want or functools.partial(body, np)
            rows = [numpy_body(i, *before(np, *tables)) for i in range(count)]
            assert_numbers(got, weir.tree.map(lambda *leaves: np.stack(leaves), *rows), of_largest)
    return got


def _run(body, before, tables, loop, n, **options):
    """The tables are inputs of the program, so that nothing is known when it is compiled."""

    def program(*given):
        taken = before(wnp, *given)
        return loop(lambda i: body(wnp, i, *taken), n, **options)

    return weir.jit(program)(*tables)


def assert_numbers(got, want, of_largest=False):
    """Equal structures and shapes; integers and bools are equal, others up to rounding."""
    got_leaves, got_structure = weir.tree.flatten(got)
    want_leaves, want_structure = weir.tree.flatten(want)
    assert got_structure == want_structure
    for a, b in zip(got_leaves, want_leaves):
        assert np.shape(a) == np.shape(b)
        tolerance = _TOLERANCE.get(a.dtype, 0)
        finite = np.abs(b[np.isfinite(b)]) if of_largest else np.zeros(0)
        atol = tolerance * finite.max(initial=0)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=atol)


def variants(x, y):
    """The five ways in which two operands vary: (name, function of i that gives both)."""
    return {
        "neither": lambda i: (x, y),
        "left": lambda i: (x[i], y),
        "right": lambda i: (x, y[i]),
        "both": lambda i: (x[i], y[i]),
        "same": lambda i: (x[i], x[i]),
    }


def numbers(*shape, seed=7, dtype=np.float32):
    """Numbers of the standard normal distribution; complex ones have both parts."""
    rng = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.complexfloating):
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return rng.normal(size=shape).astype(dtype)


def positive(*shape, seed=7, dtype=np.float32):
    """Numbers between 0.25 and 1.75, which do not cancel."""
    return np.random.default_rng(seed).uniform(0.25, 1.75, shape).astype(dtype)


def integers(*shape, low=-20, high=20, seed=7, dtype=np.int32):
    """Integers from low .. high-1."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)
