"""numpy.fft: discrete Fourier transforms over one to three axes, of f32, f64, c64 and c128.

Lengths are those of the axes; `norm` is 'backward', as in NumPy.
"""

from weir import core, dtypes
from weir.eager import operation

__all__ = "fft fft2 fftn ifft ifft2 ifftn irfft rfft".split()


def _transform(x, kind, axes, length=None):
    array = core.promote_inexact(core.as_array(x))[0]
    if kind == "RFFT" and array.dtype_name in dtypes.COMPLEXES:
        raise TypeError(f"rfft takes real numbers, found {array.describe()}")
    if kind != "RFFT" and array.dtype_name not in dtypes.COMPLEXES:
        array = core.cast(array, "c128" if array.dtype_name == "f64" else "c64")
    axes = [core.canonical_axis(axis, array.ndim) for axis in axes]
    if len(axes) > 3:
        raise ValueError(f"transforms go over at most three axes, found {len(axes)}")
    order = [i for i in range(array.ndim) if i not in axes] + axes
    lengths = [array.shape[axis] for axis in axes]
    if kind == "IRFFT":
        lengths[-1] = 2 * (lengths[-1] - 1) if length is None else length
    moved = core.apply(
        "fft", [core.transpose(array, order)], {"fft_type": kind, "fft_length": tuple(lengths)}
    )
    back = [0] * len(order)
    for place, axis in enumerate(order):
        back[axis] = place
    return core.transpose(moved, back)


@operation
def fft(x, axis=-1):
    """Returns: the transform along one axis."""
    return _transform(x, "FFT", [axis])


@operation
def ifft(x, axis=-1):
    """Returns: the inverse transform along one axis."""
    return _transform(x, "IFFT", [axis])


@operation
def fft2(x, axes=(-2, -1)):
    """Returns: the transform over two axes."""
    return _transform(x, "FFT", axes)


@operation
def ifft2(x, axes=(-2, -1)):
    """Returns: the inverse transform over two axes."""
    return _transform(x, "IFFT", axes)


@operation
def fftn(x, axes=None):
    """Returns: the transform over up to three axes; default all."""
    return _transform(x, "FFT", range(core.as_array(x).ndim) if axes is None else axes)


@operation
def ifftn(x, axes=None):
    """Returns: the inverse transform over up to three axes; default all."""
    return _transform(x, "IFFT", range(core.as_array(x).ndim) if axes is None else axes)


@operation
def rfft(x, axis=-1):
    """Returns: frequencies 0 .. n // 2 of real numbers along one axis."""
    return _transform(x, "RFFT", [axis])


@operation
def irfft(x, n=None, axis=-1):
    """Returns: n real numbers (default 2 (m - 1)) from the m frequencies of `rfft`."""
    return _transform(x, "IRFFT", [axis], n)
