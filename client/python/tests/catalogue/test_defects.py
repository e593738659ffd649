"""Faults that a reading of TensorFlow's converters found: section 1.6, one test for each."""

import numpy as np
import pytest
from conftest import assert_same_bits
from oracle import agree, numbers, positive

import weir
import weir.numpy as wnp
from weir import nn


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("conjugate", [False, True])
def test_matmul_of_complex_transposes(swap, conjugate):
    """A transpose is no adjoint: only what asks for it is conjugated."""

    def body(xp, i, a, b):
        right = xp.swapaxes(b[i], 0, 1) if swap else b[i]
        return xp.matmul(a[i], xp.conj(right) if conjugate else right)

    a, b = (numbers(3, 2, 2, seed=seed, dtype=np.complex64) for seed in (7, 8))
    agree(body, a, b, of_largest=True)


@pytest.mark.parametrize("axis", [-1, -2])
def test_roll_of_negative_axes(axis):
    """The axis counts from the end of one iteration's array and never meets the iterations."""
    agree(lambda xp, i, x: xp.roll(x[i], 1, axis), numbers(3, 4, 5))
    agree(lambda xp, i, x: xp.roll(x[i], i + 1, axis), numbers(3, 4, 5))


@pytest.mark.parametrize("n", [1, 2])
def test_squeeze_of_one_iteration(n):
    """Without axes it takes all of size 1, but not that of the iterations."""
    x = numbers(n, 1, 3, 1)
    got = weir.vmap(lambda row: wnp.squeeze(row), strict=True)(x)
    assert got.shape == (n, 3)
    np.testing.assert_array_equal(got, x.reshape(n, 3))
    agree(lambda xp, i, x: xp.squeeze(x[i]), numbers(n, 1, 1), n=n)


def test_case_of_several_results():
    """The branches of a varying index return several results, of different shapes and types."""

    def body(xp, i, x):
        branches = [
            lambda: (x[i], i, x[0, :2]),
            lambda: (x[i] * 2, i + 10, x[i, 1:]),
            lambda: (x[0], i * 0, x[i, :2] - 1),
        ]
        return weir.switch(i % 3, branches) if xp is wnp else branches[i % 3]()

    agree(body, numbers(7, 3), n=7)


def test_batch_norm_of_inference():
    """The statistics that are given are those that count, and what training returns is no zero."""
    image, mean, var = positive(3, 2, 4, 5, 5), positive(3, 4), positive(3, 4, seed=8)

    def body(xp, i, image, mean, var):
        if xp is wnp:
            return nn.batch_norm(image[i], mean=mean[i], var=var[i]), nn.batch_norm(image[i])[1:]
        wide = (slice(None), None, None)
        normal = (image[i] - mean[i][wide]) / np.sqrt(var[i][wide] + np.float32(1e-5))
        return normal, (image[i].mean((0, 2, 3)), image[i].var((0, 2, 3)))

    _, (means, variances) = agree(body, image, mean, var, of_largest=True)
    assert (means > 0).all() and (variances > 0).all()


def test_slice_of_ragged_results():
    """A begin that varies, with all that follows it, would give results of different sizes."""
    x = numbers(3, 4)
    for loop in (weir.pfor, weir.for_loop):
        with pytest.raises(TypeError, match=r"bounds of a slice .* i64\[\] .*defects.py:\d+"):
            loop(lambda i: wnp.array(x)[i, i:], 3)

    def body(xp, i, x):
        """A start too far behind is moved back, and reads nothing that is not there."""
        if xp is wnp:
            return weir.lax.dynamic_slice_in_dim(x[i], 2 * i, 3)
        start = min(2 * i, 1)
        return x[i][start : start + 3]

    agree(body, x)


@pytest.mark.parametrize("order", [(-1, 0, 1), (0, -1, -2), (-3, -2, -1)])
def test_transpose_of_negative_axes(order):
    agree(lambda xp, i, x: xp.transpose(x[i], order), numbers(3, 4, 5, 6))


def test_rank_and_shape_are_invariant():
    """They are known while tracing, so what depends on them alone does not vary."""

    def body(row):
        assert (row.ndim, row.shape, row.size) == (2, (4, 5), 20)
        return row.ndim, wnp.array(row.shape)

    got = weir.vmap(body, out_axes=None, strict=True)(numbers(3, 4, 5))
    assert_same_bits(got, (np.int32(2), np.int32([4, 5])))


def test_checks_name_the_iteration():
    x = np.float32([1, 2, -3, 4])

    def body(i):
        weir.check(wnp.array(x)[i] > 0, "must be positive")
        return i

    for options in ({}, {"chunk_size": 1}, {"chunk_size": 3}):
        message = r"defects.py:\d+.*failed in iteration 2: must be positive"
        with pytest.raises(weir.FailedPrecondition, match=message):
            weir.pfor(body, 4, **options)
