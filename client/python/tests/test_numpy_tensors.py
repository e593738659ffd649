"""weir.numpy.linalg beside factorizations, and transforms of real numbers, against NumPy."""

import numpy as np
import pytest
from conftest import assert_tree_close

import weir
import weir.numpy as wnp

_RNG = np.random.default_rng(13)
X = _RNG.normal(size=(3, 4, 4)).astype(np.float32)
V = _RNG.normal(size=(3, 4, 3)).astype(np.float32)
C = (X + 1j * X[::-1]).astype(np.complex64)

LINALG = [
    ("diagonal", (X,), {}, np.diagonal(X, 0, 1, 2)),
    ("diagonal", (X, -1), {}, np.diagonal(X, -1, 1, 2)),
    ("trace", (X, 1), {}, np.trace(X, 1, 1, 2)),
    ("cross", (V, V[::-1]), {}, np.cross(V, V[::-1])),
    ("matmul", (X, X), {}, X @ X),
    ("matrix_transpose", (X,), {}, X.swapaxes(1, 2)),
    ("outer", (X[0, 0], X[0, 1]), {}, np.outer(X[0, 0], X[0, 1])),
    ("tensordot", (X, X[0]), {"axes": 1}, np.tensordot(X, X[0], 1)),
    ("vecdot", (C, C[::-1]), {}, (C.conj() * C[::-1]).sum(-1)),
    ("matrix_norm", (X,), {}, np.linalg.norm(X, "fro", (1, 2))),
    ("matrix_norm", (X,), {"ord": 1, "keepdims": True}, np.linalg.norm(X, 1, (1, 2), True)),
    ("matrix_norm", (X,), {"ord": "nuc"}, np.linalg.norm(X, "nuc", (1, 2))),
    ("vector_norm", (X,), {}, np.linalg.norm(X.ravel())),
    ("vector_norm", (X, 1), {"ord": 3, "keepdims": True}, np.linalg.norm(X, 3, 1, True)),
    ("vector_norm", (X, (0, 2)), {"ord": np.inf}, np.abs(X).max((0, 2))),
    ("tensorsolve", (V.reshape(3, 4, 3)[:, :, 0].reshape(3, 4)[:, :3], V[0, 0]), {}, None),
    ("tensorsolve", (_RNG.normal(size=(2, 3, 6)), _RNG.normal(size=(2, 3))), {}, None),
    ("tensorsolve", (_RNG.normal(size=(2, 6, 3)), _RNG.normal(size=(2, 3))), {"axes": (1,)}, None),
    ("tensorinv", (_RNG.normal(size=(4, 6, 8, 3)),), {}, None),
    ("tensorinv", (_RNG.normal(size=(24, 8, 3)),), {"ind": 1}, None),
]


@pytest.mark.parametrize(
    "name, args, kwargs, want", LINALG, ids=[f"{i}-{name}" for i, (name, *_) in enumerate(LINALG)]
)
def test_linalg(name, args, kwargs, want):
    want = getattr(np.linalg, name)(*args, **kwargs) if want is None else want
    function = getattr(wnp.linalg, name)
    assert_tree_close(function(*args, **kwargs), want, tol=1e-4)
    fixed = [x for x in args if not isinstance(x, np.ndarray)]
    arrays = [np.stack([x, x * 2]) for x in args if isinstance(x, np.ndarray)]
    got = weir.vmap(lambda *rows: function(*rows, *fixed, **kwargs), strict=True)(*arrays)
    assert_tree_close(got[0], want, tol=1e-4)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.complex128])
def test_exponentials_of_matrices(kind):
    scale = np.float32([0, 0.01, 1, 6, 12])[:, None, None]
    rows = _RNG.normal(size=(5, 4, 4)) * scale
    if np.dtype(kind).kind == "c":
        rows = rows + 1j * _RNG.normal(size=(5, 4, 4)) * scale
    rows = rows.astype(kind)
    values, vectors = np.linalg.eig(rows.astype(np.complex128))
    want = vectors * np.exp(values)[:, None, :] @ np.linalg.inv(vectors)
    greatest = np.abs(want).max((1, 2), keepdims=True)
    tol = 1e-4 if np.dtype(kind).itemsize in (4, 8) and kind != np.float64 else 1e-11
    for got in (wnp.linalg.expm(rows), weir.vmap(wnp.linalg.expm, strict=True)(rows)):
        assert got.dtype == kind
        np.testing.assert_allclose(got / greatest, want / greatest, atol=tol)
    broken = rows.real.copy()
    broken[0, 0, 0], broken[1, 0, 0] = np.nan, np.inf
    got = wnp.linalg.expm(broken)
    assert np.isnan(got[0]).any() and not np.isfinite(got[1]).all()
    size = greatest[2].real
    assert_tree_close(got[2] / size, wnp.linalg.expm(broken[2]) / size, 1e-4)
    assert wnp.linalg.expm(np.zeros((0, 0), kind)).shape == (0, 0)


FFTS = [
    *[("hfft", (C[0],), kwargs) for kwargs in ({}, {"n": 5}, {"axis": 0, "norm": "ortho"})],
    *[("ihfft", (X[0],), kwargs) for kwargs in ({}, {"n": 7}, {"norm": "forward"})],
    *[("rfft2", (X,), kwargs) for kwargs in ({}, {"s": (3, 6)}, {"axes": (0, 1)})],
    *[("irfft2", (C,), kwargs) for kwargs in ({}, {"s": (3, 5)}, {"norm": "ortho"})],
    *[("rfftn", (X,), kwargs) for kwargs in ({}, {"s": (2, 5)}, {"axes": (2, 0)})],
    *[("irfftn", (C,), kwargs) for kwargs in ({}, {"s": (2, 5), "axes": (0, 2)})],
    *[
        (name, (C,), {"norm": norm})
        for name in ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "irfft")
        for norm in ("backward", "ortho", "forward")
    ],
    *[("rfft", (X,), {"norm": norm}) for norm in ("backward", "ortho", "forward")],
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name, args, kwargs", FFTS, ids=[f"{i}-{name}" for i, (name, *_) in enumerate(FFTS)]
)
def test_transforms(name, args, kwargs):
    function = getattr(wnp.fft, name)
    got, want = function(*args, **kwargs), getattr(np.fft, name)(*args, **kwargs)
    assert_tree_close(got, want, tol=1e-4)
    assert got.dtype == (np.float32 if want.dtype.kind == "f" else np.complex64)
    rows = weir.vmap(lambda x: function(x, **kwargs), strict=True)(args[0][None])
    assert_tree_close(rows[0], want, tol=1e-4)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: wnp.fft.fft(X, norm="x"), ValueError, "found 'x'"),
        (lambda: wnp.fft.hfft(C, norm="x"), ValueError, "found 'x'"),
        (lambda: wnp.linalg.outer(X, X), ValueError, "takes vectors"),
        (lambda: wnp.linalg.tensorsolve(X, X), ValueError, "no square matrix"),
        (lambda: wnp.linalg.tensorinv(X), ValueError, "other numbers of elements"),
        (lambda: wnp.linalg.expm(V), ValueError, "square matrix"),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
