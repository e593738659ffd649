"""wnp.linalg and wnp.fft against NumPy, alone, in batches and under vmap."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp

_DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def _random(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def _tolerance(dtype):
    return 2e-4 if np.finfo(dtype).bits == 32 else 1e-10


def _close(got, want, dtype):
    np.testing.assert_allclose(got, want, rtol=_tolerance(dtype), atol=_tolerance(dtype))


@pytest.mark.parametrize("dtype", _DTYPES)
@pytest.mark.parametrize("batch", [(), (3,), (0,)])
def test_functions_of_square_matrices(batch, dtype):
    a = _random((*batch, 4, 4), dtype) + 3 * np.eye(4, dtype=dtype)
    b = _random((*batch, 4, 2), dtype, seed=1)
    _close(wnp.linalg.solve(a, b), np.linalg.solve(a, b), dtype)
    _close(wnp.linalg.inv(a), np.linalg.inv(a), dtype)
    _close(wnp.linalg.det(a), np.linalg.det(a), dtype)
    for got, want in zip(wnp.linalg.slogdet(a), np.linalg.slogdet(a)):
        _close(got, want, dtype)
    _close(wnp.linalg.matrix_power(a, 3), np.linalg.matrix_power(a, 3), dtype)
    _close(wnp.linalg.matrix_power(a, -2), np.linalg.matrix_power(a, -2), dtype)


@pytest.mark.parametrize("dtype", _DTYPES)
def test_hermitian_matrices(dtype):
    m = _random((2, 4, 4), dtype)
    a = m @ np.conj(np.swapaxes(m, -1, -2)) + np.eye(4, dtype=dtype)
    lower = wnp.linalg.cholesky(a)
    _close(lower, np.linalg.cholesky(a), dtype)
    _close(wnp.linalg.cholesky(a, upper=True), np.conj(np.swapaxes(lower, -1, -2)), dtype)
    values, vectors = wnp.linalg.eigh(a)
    _close(values, np.linalg.eigvalsh(a), dtype)
    _close(wnp.linalg.eigvalsh(a), values, dtype)
    np.testing.assert_allclose(a @ vectors, vectors * values[..., None, :], rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("dtype", _DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 3, 3)])
def test_rectangles(shape, dtype):
    a = _random(shape, dtype)
    q, r = wnp.linalg.qr(a)
    _close(q @ r, a, dtype)
    q, r = wnp.linalg.qr(a, mode="complete")
    assert q.shape[-1] == q.shape[-2] == shape[-2]
    _close(q @ r, a, dtype)
    u, s, vh = wnp.linalg.svd(a, full_matrices=False)
    _close((u * s[..., None, :]) @ vh, a, dtype)
    _close(wnp.linalg.svdvals(a), np.linalg.svd(a, compute_uv=False), dtype)
    _close(wnp.linalg.pinv(a), np.linalg.pinv(a), dtype)
    np.testing.assert_array_equal(wnp.linalg.matrix_rank(a), np.linalg.matrix_rank(a))


def test_eigenvalues_of_any_matrix():
    a = _random((3, 4, 4), np.float64)
    values, vectors = wnp.linalg.eig(a)
    _close(a @ vectors, vectors * values[..., None, :], np.float64)
    _close(wnp.linalg.eigvals(a), values, np.float64)


def test_one_matrix_for_many_right_hand_sides():
    a, b = _random((3, 3), np.float64), _random((5, 3), np.float64, seed=1)
    got = weir.vmap(wnp.linalg.solve, in_axes=(None, 0), strict=True)(a, b)
    _close(got, np.linalg.solve(a, b.T).T, np.float64)


@pytest.mark.parametrize("function", [wnp.linalg.inv, wnp.linalg.det, wnp.linalg.eigvalsh])
def test_rows_have_the_bits_of_the_loop(function):
    a = _random((5, 3, 3), np.float32)
    index = wnp.array(a)
    loop = weir.for_loop(lambda i: function(wnp.array(a)[i]), 5)
    np.testing.assert_array_equal(weir.vmap(function, strict=True)(index), loop)


def test_singular_matrices_make_no_error():
    assert wnp.linalg.det(np.zeros((2, 2), np.float32)) == 0
    assert not np.isfinite(wnp.linalg.inv(np.zeros((2, 2), np.float32))).any()


@pytest.mark.parametrize("name", ["inv", "det", "solve", "cholesky", "eigh"])
def test_other_shapes_are_refused(name):
    args = [np.ones((2, 3), np.float32)] * (2 if name == "solve" else 1)
    with pytest.raises(ValueError, match=f"{name} needs a square matrix"):
        getattr(wnp.linalg, name)(*args)


@pytest.mark.parametrize("dtype", _DTYPES)
@pytest.mark.parametrize("shape", [(8,), (3, 7), (2, 3, 5)])
def test_transforms(shape, dtype):
    x = _random(shape, dtype)
    for axis in range(-len(shape), len(shape)):
        _close(wnp.fft.fft(x, axis=axis), np.fft.fft(x, axis=axis), dtype)
        _close(wnp.fft.ifft(x, axis=axis), np.fft.ifft(x, axis=axis), dtype)
    _close(wnp.fft.fftn(x), np.fft.fftn(x), dtype)
    _close(wnp.fft.ifftn(wnp.fft.fftn(x)), x, dtype)
    if len(shape) > 1:
        _close(wnp.fft.fft2(x), np.fft.fft2(x), dtype)
        _close(wnp.fft.ifft2(x, axes=(1, 0)), np.fft.ifft2(x, axes=(1, 0)), dtype)


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_real_transforms(n):
    x = _random((3, n), np.float64)
    _close(wnp.fft.rfft(x), np.fft.rfft(x), np.float64)
    _close(wnp.fft.rfft(x, axis=0), np.fft.rfft(x, axis=0), np.float64)
    _close(wnp.fft.irfft(np.fft.rfft(x), n=n), x, np.float64)
    with pytest.raises(TypeError, match="rfft takes real numbers"):
        wnp.fft.rfft(x.astype(np.complex128))


def test_transforms_of_iterations():
    x = _random((4, 6), np.float32)
    _close(weir.vmap(wnp.fft.fft, strict=True)(x), np.fft.fft(x), np.float32)
