"""Derivatives by differences, to compare with: of programs in double precision."""

import numpy as np

import weir
import weir.numpy as wnp

STEP = 1e-5


def doubled(x):
    """Returns: an array of floats or complex numbers in double precision; others as they are."""
    if np.issubdtype(x.dtype, np.complexfloating):
        return x.astype(np.complex128)
    return x.astype(np.float64) if np.issubdtype(x.dtype, np.floating) else x


def is_inexact(x):
    return np.issubdtype(np.asarray(x).dtype, np.inexact)


def noise(rng, like):
    """Returns: random numbers of the type of an array."""
    drawn = rng.normal(size=like.shape)
    if np.issubdtype(like.dtype, np.complexfloating):
        drawn = drawn + 1j * rng.normal(size=like.shape)
    return drawn.astype(like.dtype)


def inexact_leaves(result):
    return [x for x in weir.tree.leaves(result) if wnp.issubdtype(x.dtype, np.inexact)]


class Checked:
    """A function at one point, its derivatives both ways, and its differences.

    Args:
      function: from arrays to a pytree of arrays.
      xs: double precision.

    Attributes:
      compared: how many numbers were compared.
    """

    def __init__(self, rng, function, xs, step=STEP):
        self._rng = rng
        self._step = step

        def floats(*xs):
            return tuple(inexact_leaves(function(*xs)))

        self._function = floats
        self._xs = xs
        self._directions = [noise(rng, x) for x in xs]
        self.compared = 0

    def _values(self):
        """Returns: (results at six points, tangents)."""

        @weir.jit
        def run(xs, vs):
            def at(h):
                return self._function(*(x + h * v for x, v in zip(xs, vs)))

            steps = [s * self._step for s in (1, -1, 0.5, -0.5)]
            return [at(h) for h in steps], weir.jvp(self._function, xs, vs)[1]

        return run(tuple(self._xs), tuple(self._directions))

    def check(self, rtol=1e-5, atol=1e-7):
        """Compares jvp with differences where these are smooth, and vjp with jvp."""
        (up, down, half_up, half_down), tangents = self._values()
        kept = []
        for a, b, c, d, t in zip(up, down, half_up, half_down, tangents):
            with np.errstate(all="ignore"):
                wide = (a - b) / (2 * self._step)
                narrow = (c - d) / self._step
                scale = 1 + np.abs(narrow)
                smooth = np.isfinite(narrow) & (np.abs(wide - narrow) < 1e-4 * scale)
            np.testing.assert_allclose(t[smooth], narrow[smooth], rtol=1e-3, atol=1e-4)
            self.compared += int(smooth.sum())
            kept.append(smooth & np.isfinite(t))
        self._check_transposed(tangents, kept, rtol, atol)

    def _check_transposed(self, tangents, kept, rtol, atol):
        weights = [np.where(k, noise(self._rng, t), 0) for t, k in zip(tangents, kept)]

        @weir.jit
        def pull(xs, weights):
            return weir.vjp(self._function, *xs)[1](weights)

        cts = pull(tuple(self._xs), tuple(weights))
        # What is weighed with nothing may come from where there is no derivative.
        if not all(k.all() for k in kept):
            cts = [np.where(np.isfinite(ct), ct, 0) for ct in cts]
        with np.errstate(all="ignore"):
            forth = sum(np.sum(w * np.where(k, t, 0)) for w, t, k in zip(weights, tangents, kept))
            back = sum(np.sum(ct * v) for ct, v in zip(cts, self._directions))
        sizes = [np.sum(np.abs(ct * v)) for ct, v in zip(cts, self._directions)]
        tolerance = rtol * max(1, *sizes) if sizes else atol
        if all(k.all() for k in kept):
            assert abs(np.real(forth - back)) <= tolerance + atol, (forth, back)
