"""Derivatives of Fourier transforms, which are linear; complex ones are their own transposes."""

import numpy as np

from weir import core, dims
from weir.autodiff.rules import RULES, Linear


def _weights(count, length, like):
    """How often each frequency of a real transform counts: those in the middle stand for two."""
    if dims.known(count, length):
        weights = np.full(count, 2.0)
        weights[:1] = 1
        if length % 2 == 0:
            weights[length // 2 :] = 1
        return core.cast(core.constant(weights), like.dtype_name)
    places = core.iota((count,), 0, "i64")
    once = core.apply(
        "or", [core.compare("equal", places, 0), core.compare("equal", places * 2, length)]
    )
    return 2 - core.cast(once, like.dtype_name)


def _fft(call, ct):
    (x,), attrs = call.ins, call.attrs
    kind, lengths = attrs["fft_type"], attrs["fft_length"]
    axis = x.ndim - 1
    if kind in ("FFT", "IFFT"):
        return [call.again(ct)]
    if kind == "RFFT":
        high = [0] * ct.ndim
        high[axis] = lengths[-1] - ct.shape[axis]
        attrs = {"low": [0] * ct.ndim, "high": high, "interior": [0] * ct.ndim}
        whole = core.apply("pad", [ct, core.scalar(0, ct.dtype_name)], attrs)
        return [core.apply("real", [call.again(whole, fft_type="FFT")])]
    whole = call.again(core.cast(ct, x.dtype_name), fft_type="IFFT")
    half = core.reshape(core.slice_axis(whole, axis, 0, x.shape[axis]), x.shape)
    return [half * _weights(x.shape[axis], lengths[-1], x)]


RULES["fft"] = Linear(_fft)
