"""numpy.fft: discrete Fourier transforms over one to three axes, of f32, f64, c64 and c128.

Where lengths are given, axes are cut or filled with zeros to them; else they are those of the axes.
`norm` says which direction divides by the number n of elements: "backward" (as None) the inverse,
"forward" the other, "ortho" both, by its root.
"""

import math

import numpy as np

from weir import core, dims, dtypes, location
from weir.eager import operation
from weir.numpy import elementwise, shaping

__all__ = (
    "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft"
    " rfft2 rfftfreq rfftn"
).split()


def _transform(x, kind, axes, length=None, norm=None):
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
    return _scaled(core.transpose(moved, back), kind, math.prod(lengths), norm)


def _scaled(x, kind, count, norm):
    """Returns: the result of an op, whose inverse divides by the number of elements, as `norm` has
    it.
    """
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(
            f"norm must be 'backward', 'ortho' or 'forward', found {norm!r} ({location.text()})"
        )
    if norm in (None, "backward"):
        return x
    factor = core.scalar(count, dtypes.real_of(x.dtype_name))
    factor = elementwise.sqrt(factor) if norm == "ortho" else factor
    return x * factor if kind in ("IFFT", "IRFFT") else x / factor


def _sized(x, lengths, axes):
    """Returns: (x with these lengths of its axes, the axes)."""
    array = core.as_array(x)
    if axes is None:
        axes = range(array.ndim) if lengths is None else range(-len(lengths), 0)
    axes = [core.canonical_axis(axis, array.ndim) for axis in axes]
    if lengths is None or all(length is None for length in lengths):
        return array, axes
    if len(lengths) != len(axes):
        raise ValueError(
            f"a transform has {len(lengths)} lengths for {len(axes)} axes ({location.text()})"
        )
    for length, axis in zip(lengths, axes):
        extent = array.shape[axis]
        array = core.slice_axis(array, axis, 0, dims.smaller(length, extent))
        if not dims.at_most(length, extent):
            more = dims.larger(length - extent, 0)
            widths = [(0, more) if i == axis else (0, 0) for i in range(array.ndim)]
            array = shaping.pad(array, widths)
    return array, axes


@operation
def fft(x, n=None, axis=-1, norm=None):
    """Returns: the transform along one axis, of length n."""
    array, axes = _sized(x, [n], [axis])
    return _transform(array, "FFT", axes, norm=norm)


@operation
def ifft(x, n=None, axis=-1, norm=None):
    """Returns: the inverse transform along one axis, of length n."""
    array, axes = _sized(x, [n], [axis])
    return _transform(array, "IFFT", axes, norm=norm)


@operation
def fft2(x, s=None, axes=(-2, -1), norm=None):
    """Returns: the transform over two axes, of the lengths s."""
    array, axes = _sized(x, s, axes)
    return _transform(array, "FFT", axes, norm=norm)


@operation
def ifft2(x, s=None, axes=(-2, -1), norm=None):
    """Returns: the inverse transform over two axes, of the lengths s."""
    array, axes = _sized(x, s, axes)
    return _transform(array, "IFFT", axes, norm=norm)


@operation
def fftn(x, s=None, axes=None, norm=None):
    """Returns: the transform over up to three axes, of the lengths s; default all."""
    array, axes = _sized(x, s, axes)
    return _transform(array, "FFT", axes, norm=norm)


@operation
def ifftn(x, s=None, axes=None, norm=None):
    """Returns: the inverse transform over up to three axes, of the lengths s; default all."""
    array, axes = _sized(x, s, axes)
    return _transform(array, "IFFT", axes, norm=norm)


@operation
def rfft(x, n=None, axis=-1, norm=None):
    """Returns: frequencies 0 .. n // 2 of n real numbers along one axis."""
    array, axes = _sized(x, [n], [axis])
    return _transform(array, "RFFT", axes, norm=norm)


@operation
def irfft(x, n=None, axis=-1, norm=None):
    """Returns: n real numbers (default 2 (m - 1)) from the m frequencies of `rfft`."""
    array = core.as_array(x)
    if n is not None:
        array, _ = _sized(array, [n // 2 + 1], [axis])
    return _transform(array, "IRFFT", [axis], n, norm=norm)


@operation
def fftshift(x, axes=None):
    """Returns: x with frequency 0 moved to the middle of each of the axes; default all."""
    array = core.as_array(x)
    axes = core.canonical_axes(axes, array.ndim)
    return shaping.roll(array, [array.shape[axis] // 2 for axis in axes], axes)


@operation
def ifftshift(x, axes=None):
    """Returns: x with the middle moved to the front; undoes `fftshift`."""
    array = core.as_array(x)
    axes = core.canonical_axes(axes, array.ndim)
    return shaping.roll(array, [-(array.shape[axis] // 2) for axis in axes], axes)


@operation
def fftfreq(n, d=1.0):
    """Returns: f32[n], the frequencies of `fft` for samples that are d apart."""
    if not dims.known(n):
        line = core.iota((n,), 0, "i64")
        behind = core.compare("greater_equal", line, (n + 1) // 2)
        return _frequencies(elementwise.where(behind, line - n, line), n) / d
    return core.constant(np.fft.fftfreq(n).astype(np.float32)) / d


def _frequencies(line, n):
    return core.cast(core.cast(line, "f64") / core.scalar(n, "f64"), "f32")


@operation
def rfftfreq(n, d=1.0):
    """Returns: f32[n // 2 + 1], the frequencies of `rfft` for samples that are d apart."""
    if not dims.known(n):
        return _frequencies(core.iota((n // 2 + 1,), 0, "i64"), n) / d
    return core.constant(np.fft.rfftfreq(n).astype(np.float32)) / d


@operation
def rfft2(x, s=None, axes=(-2, -1), norm=None):
    """Returns: the transform of real numbers over two axes, of the lengths s; frequencies 0 .. n //
    2 along the last.
    """
    return rfftn(x, s, axes, norm)


@operation
def rfftn(x, s=None, axes=None, norm=None):
    """Returns: the transform of real numbers over up to three axes, of the lengths s; default all;
    frequencies 0 .. n // 2 along the last.
    """
    array, axes = _sized(x, s, axes)
    return _transform(array, "RFFT", axes, norm=norm)


@operation
def irfft2(x, s=None, axes=(-2, -1), norm=None):
    """Returns: real numbers over two axes, of the lengths s, from the frequencies of `rfft2`."""
    return irfftn(x, s, axes, norm)


@operation
def irfftn(x, s=None, axes=None, norm=None):
    """Returns: real numbers over up to three axes, of the lengths s, from the frequencies of
    `rfftn`; default all, the last one 2 (m - 1) long.
    """
    if s is None:
        array, axes = _sized(x, None, axes)
        return _transform(array, "IRFFT", axes, norm=norm)
    array, axes = _sized(x, [*s[:-1], s[-1] // 2 + 1], axes)
    return _transform(array, "IRFFT", axes, s[-1], norm=norm)


_OTHER_DIRECTION = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _turned(norm):
    # An unknown one is refused where it is used.
    return _OTHER_DIRECTION.get(norm, norm)


@operation
def hfft(x, n=None, axis=-1, norm=None):
    """Returns: the n real frequencies (default 2 (m - 1)) of a signal whose second half mirrors and
    conjugates the m elements that are given.
    """
    return irfft(elementwise.conj(x), n, axis, _turned(norm))


@operation
def ihfft(x, n=None, axis=-1, norm=None):
    """Returns: the first n // 2 + 1 elements of the signal with these n real frequencies, as
    `hfft` takes them.
    """
    return elementwise.conj(rfft(x, n, axis, _turned(norm)))
