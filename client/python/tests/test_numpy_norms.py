"""Norms, least squares, triangles and lengths of transforms against NumPy, alone and under vmap."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp

_RNG = np.random.default_rng(9)
T = _RNG.normal(size=(3, 4, 5)).astype(np.float32)
A, V = T[0], T[0, 0]
C = (A + 1j * T[1]).astype(np.complex64)
INF = np.inf


def close(got, want, tol=2e-4):
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    "x, order, axis",
    [
        (V, None, None),
        (A, None, None),
        (T, None, None),
        (T, None, (0, 2)),
        *[(V, order, None) for order in (1, 2, 3, 0.5, 0, INF, -INF, -1)],
        *[(T, order, 1) for order in (1, 2.5, INF)],
        *[(A, order, None) for order in ("fro", "nuc", 1, -1, 2, -2, INF, -INF)],
        *[(T, order, (2, 0)) for order in ("fro", "nuc", 1, 2, INF)],
        *[(C, order, None) for order in (None, 1, 2, "nuc")],
        (np.arange(4), 1, None),
    ],
)
def test_norms(x, order, axis, keepdims):
    close(wnp.linalg.norm(x, order, axis, keepdims), np.linalg.norm(x, order, axis, keepdims))


def test_norms_of_examples():
    for order in (None, 1, 2, "nuc", INF):
        got = weir.vmap(lambda a, order=order: wnp.linalg.norm(a, order), strict=True)(T)
        close(got, [np.linalg.norm(a, order) for a in T])
    for arguments, message in [
        ((V, "fro"), "no norm 'fro'"),
        ((A, 3), "no norm 3"),
        ((T, 1), "one or two axes"),
    ]:
        with pytest.raises(ValueError, match=message):
            wnp.linalg.norm(*arguments)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
@pytest.mark.parametrize("sides", [(), (2,)])
def test_least_squares(shape, sides):
    a = _RNG.normal(size=(3, *shape))
    a[1, :, 1] = a[1, :, 0]  # one that has no full rank
    b = _RNG.normal(size=(3, shape[0], *sides))
    got = weir.vmap(wnp.linalg.lstsq, strict=True)(a, b)
    for i in range(3):
        x, _, rank, s = np.linalg.lstsq(a[i], b[i], rcond=None)
        close(got[0][i], x, 1e-8)
        close(got[1][i], np.atleast_1d(((b[i] - a[i] @ x) ** 2).sum(0)), 1e-8)
        assert got[2][i] == rank
        close(got[3][i], s, 1e-8)


@pytest.mark.parametrize("trans", [0, 1, 2])
@pytest.mark.parametrize("lower", [False, True])
def test_triangles(lower, trans):
    a = C[:, :4] + 3 * np.eye(4, dtype=np.complex64)
    triangle = np.tril(a) if lower else np.triu(a)
    turned = {0: triangle, 1: triangle.T, 2: triangle.conj().T}[trans]
    for b in (C[:, 0], C[:, :2]):
        got = wnp.linalg.solve_triangular(a, b, lower=lower, trans=trans)
        close(turned @ got, b)
    rows = np.stack([a, 2 * a])
    solve = weir.vmap(lambda a: wnp.linalg.solve_triangular(a, C[:, 0], lower, trans), strict=True)
    close(solve(rows)[1], solve(rows)[0] / 2)
    with pytest.raises(ValueError, match="trans must be 0, 1 or 2, found 'T'"):
        wnp.linalg.solve_triangular(a, C[:, 0], trans="T")


def test_conditions_and_products():
    square = A[:, :4] + 2 * np.eye(4, dtype=np.float32)
    for order in (None, 2, -2, 1, INF, "fro"):
        close(wnp.linalg.cond(square, order), np.linalg.cond(square, order), 1e-3)
    close(wnp.linalg.cond(T), np.linalg.cond(T), 1e-3)
    chains = [(A, A.T, A), (V, A.T, A, V), (A, A.T), (A, A.T @ A, V)]
    for arrays in chains:
        close(wnp.linalg.multi_dot(arrays), np.linalg.multi_dot(arrays), 1e-3)


@pytest.mark.parametrize("n", [None, 2, 4, 7])
@pytest.mark.parametrize("axis", [-1, 0])
def test_transforms_of_other_lengths(n, axis):
    for name in ("fft", "ifft"):
        close(getattr(wnp.fft, name)(C, n, axis), getattr(np.fft, name)(C, n, axis))
    close(wnp.fft.rfft(A, n, axis), np.fft.rfft(A, n, axis))
    close(wnp.fft.irfft(C, n, axis), np.fft.irfft(C, n, axis))


def test_transforms_of_other_lengths_of_more_axes():
    for shape, axes in [((3, 6), None), ((5, 2), (0, 2)), (None, (1, 2))]:
        close(wnp.fft.fftn(T, shape, axes), np.fft.fftn(T, shape, axes))
        close(wnp.fft.ifftn(T, shape, axes), np.fft.ifftn(T, shape, axes))
    close(wnp.fft.fft2(T, (2, 8)), np.fft.fft2(T, (2, 8)))
    close(wnp.fft.ifft2(T, (2, 8)), np.fft.ifft2(T, (2, 8)))
    got = weir.vmap(lambda x: wnp.fft.fft2(x, (2, 8)), strict=True)(T)
    close(got, np.fft.fft2(T, (2, 8)))
    with pytest.raises(ValueError, match=r"2 lengths for 1 axes \(.*norms.py:\d+\)"):
        wnp.fft.fftn(T, (2, 2), (0,))


@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies(n):
    close(wnp.fft.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5).astype(np.float32))
    close(wnp.fft.rfftfreq(n, 0.5), np.fft.rfftfreq(n, 0.5).astype(np.float32))
    x = T[:, :, :n]
    for axes in (None, 1, (0, 2)):
        np.testing.assert_array_equal(wnp.fft.fftshift(x, axes), np.fft.fftshift(x, axes))
        np.testing.assert_array_equal(wnp.fft.ifftshift(x, axes), np.fft.ifftshift(x, axes))
