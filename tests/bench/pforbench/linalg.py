"""Rows of one operation on one matrix, or of one transform.

NumPy runs them over its own leading axes. Factors are compared by what is unique in them.
"""

import numpy as np

from pforbench.row import Row

# How many matrices of which side.
SIDES = {8: 4096, 64: 256, 256: 16}
LENGTHS = (64, 1000, 4096)
LINES = 256


def _adjoint(x):
    return np.swapaxes(x, -1, -2).conj()


class Matrices(Row):
    """One operation on matrices of `side` rows and columns."""

    batched = True
    side = 0
    quick_sizes = (5,)

    def build(self):
        self.mapped = [self.normal(self.n, self.side, self.side)]

    def positive(self):
        """Returns: symmetric matrices with eigenvalues from 1 to about 5."""
        x = self.normal(self.n, self.side, self.side, scale=self.side**-0.5)
        return x @ _adjoint(x) + np.eye(self.side, dtype=np.float32)


class Cholesky(Matrices):
    def build(self):
        self.mapped = [self.positive()]

    def example(self, x):
        return self.f.linalg.cholesky(x)


class TriangularSolve(Matrices):
    """As many right-hand sides as unknowns."""

    def build(self):
        factors = np.linalg.cholesky(self.positive())
        self.mapped = [factors, self.normal(self.n, self.side, self.side)]

    def example(self, a, b):
        return self.f.solve_triangular(a, b)


class Lu(Matrices):
    def example(self, x):
        return self.f.lu(x)


class Qr(Matrices):
    def example(self, x):
        return self.f.linalg.qr(x)

    @staticmethod
    def comparable(results):
        q, r = results
        return [q @ r, np.abs(np.diagonal(r, axis1=-1, axis2=-2))]


class Eigh(Matrices):
    def build(self):
        self.mapped = [self.positive()]

    def example(self, x):
        return self.f.linalg.eigh(x)

    @staticmethod
    def comparable(results):
        values, vectors = results
        return [values, (vectors * values[..., None, :]) @ _adjoint(vectors)]


class Eig(Matrices):
    def example(self, x):
        return self.f.linalg.eig(x)

    @staticmethod
    def comparable(results):
        values, vectors = results
        by_part = [np.sort(values.real, axis=-1), np.sort(values.imag, axis=-1)]
        return [*by_part, np.linalg.norm(vectors, axis=-2)]


class Svd(Matrices):
    def example(self, x):
        return self.f.linalg.svd(x)

    @staticmethod
    def comparable(results):
        u, s, vh = results
        return [s, (u * s[..., None, :]) @ vh]


class Solve(Matrices):
    """One right-hand side."""

    def build(self):
        self.mapped = [self.positive(), self.normal(self.n, self.side, 1)]

    def example(self, a, b):
        return self.f.linalg.solve(a, b)


class Inverse(Matrices):
    def build(self):
        self.mapped = [self.positive()]

    def example(self, x):
        return self.f.linalg.inv(x)


class Determinant(Matrices):
    """Of matrices that keep lengths about as they are, so that no determinant is out of range."""

    def build(self):
        self.mapped = [self.positive()]

    def example(self, x):
        return self.f.linalg.slogdet(x)


class Transform(Row):
    """The frequencies of one line of complex numbers."""

    batched = True
    sizes = (LINES,)
    quick_sizes = (5,)
    length = 0

    def build(self):
        self.mapped = [self.normal(self.n, self.length) + 1j * self.normal(self.n, self.length)]
        self.mapped = [x.astype(np.complex64) for x in self.mapped]

    def example(self, x):
        return self.f.fft.fft(x)


class RealTransform(Transform):
    def build(self):
        self.mapped = [self.normal(self.n, self.length)]

    def example(self, x):
        return self.f.fft.rfft(x)


_MATRICES = {
    "cholesky": Cholesky,
    "triangular-solve": TriangularSolve,
    "lu": Lu,
    "qr": Qr,
    "eigh": Eigh,
    "eig": Eig,
    "svd": Svd,
    "solve": Solve,
    "inv": Inverse,
    "slogdet": Determinant,
}
ROWS = tuple(
    type(base.__name__, (base,), {"name": f"{name}-{side}", "side": side, "sizes": (count,)})
    for name, base in _MATRICES.items()
    for side, count in SIDES.items()
) + tuple(
    type(base.__name__, (base,), {"name": f"{name}-{length}", "length": length})
    for name, base in {"fft": Transform, "rfft": RealTransform}.items()
    for length in LENGTHS
)
