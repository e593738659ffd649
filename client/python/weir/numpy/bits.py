"""The parts of numbers: fractions and exponents, distances of neighbours, packed bits."""

import math

from weir import checks, core, dims, dtypes, location
from weir.eager import operation
from weir.numpy import elementwise, reductions, shaping

# By type: the integers of its width, bits of the fraction, greatest exponent.
_LAYOUT = {"f32": ("i32", 23, 127), "f64": ("i64", 52, 1023)}


def _wide(x, what):
    """Returns: (x as f32 or f64, its own type)."""
    (array,) = core.promote_inexact(x)
    if array.dtype_name in dtypes.COMPLEXES:
        raise TypeError(f"{what} takes real numbers, found {array.describe()} ({location.text()})")
    return core.cast(array, "f64" if array.dtype_name == "f64" else "f32"), array.dtype_name


def _parts(array):
    """Returns: (m, e) with array = m * 2**e and 0.5 <= |m| < 1; (array, 0) for 0, infinities and
    NaN.
    """
    kind, width, bias = _LAYOUT[array.dtype_name]
    tiny = elementwise.abs(array) < 2.0 ** (1 - bias)
    normal = elementwise.where(tiny, array * 2.0 ** (width + 2), array)
    bits = core.apply("bitcast_convert", [normal], {"dtype": kind})
    exponent = elementwise.bitwise_and(elementwise.right_shift(bits, width), 2 * bias + 1)
    cleared = elementwise.bitwise_and(bits, ~((2 * bias + 1) << width))
    made = elementwise.bitwise_or(cleared, (bias - 1) << width)
    fraction = core.apply("bitcast_convert", [made], {"dtype": array.dtype_name})
    exponent = core.cast(exponent, "i32") - (bias - 1)
    exponent = elementwise.where(tiny, exponent - (width + 2), exponent)
    plain = (array == 0) | elementwise.logical_not(elementwise.isfinite(array))
    zero = core.full(array.shape, 0, "i32")
    return elementwise.where(plain, array, fraction), elementwise.where(plain, zero, exponent)


def _power_of_two(exponent, dtype_name):
    """Returns: 2**exponent: 0 below the least positive number, infinity above the greatest."""
    kind, width, bias = _LAYOUT[dtype_name]
    count = elementwise.clip(core.cast(exponent, kind), 1 - bias - width - 1, bias + 1)
    normal = elementwise.left_shift(elementwise.maximum(count + bias, 0), width)
    place = elementwise.clip(count + (bias - 1 + width), 0, width)
    below = elementwise.left_shift(core.full(count.shape, 1, kind), place)
    below = elementwise.where(count < 1 - bias - width, 0, below)
    bits = elementwise.where(count < 1 - bias, below, normal)
    return core.apply("bitcast_convert", [bits], {"dtype": dtype_name})


@operation
def frexp(x):
    """Returns: (m, e), m as float and e as i32, with x = m * 2**e and 0.5 <= |m| < 1; (x, 0) for 0,
    infinities and NaN.
    """
    array, name = _wide(x, "frexp")
    fraction, exponent = _parts(array)
    return core.cast(fraction, name), exponent


@operation
def ldexp(x, exponent):
    """Returns: x * 2**exponent, rounded once; exponents are integers."""
    array, name = _wide(x, "ldexp")
    power = core.as_array(exponent)
    if power.dtype_name not in dtypes.INTEGERS + dtypes.BOOLS:
        raise TypeError(
            f"ldexp takes integer exponents, found {power.describe()} ({location.text()})"
        )
    array, power = core.broadcast(array, power)
    limit = 1 << 14
    power = core.cast(elementwise.clip(core.cast(power, "i64"), -limit, limit), "i32")
    fraction, own = _parts(array)
    total = own + power
    # Both factors are exact: 2**total need not be a number where the result is one.
    is_great = total > 0
    fraction = elementwise.where(is_great, fraction * 2, fraction)
    total = elementwise.where(is_great, total - 1, total)
    plain = (array == 0) | elementwise.logical_not(elementwise.isfinite(array))
    scaled = fraction * _power_of_two(total, array.dtype_name)
    return core.cast(elementwise.where(plain, array, scaled), name)


@operation
def spacing(x):
    """Returns: the distance from x to the next number of its type, away from 0, with the sign of
    x.
    """
    (array,) = core.promote_inexact(x)
    if array.dtype_name in dtypes.COMPLEXES:
        raise TypeError(
            f"spacing takes real numbers, found {array.describe()} ({location.text()})"
        )
    if array.dtype_name in _HALVES:
        return _spacing_of_halves(array)
    outwards = elementwise.where(array < 0, -math.inf, math.inf)
    return elementwise.nextafter(array, outwards) - array


# By type: bits of the fraction, least exponent of normal numbers, greatest number.
_HALVES = {"f16": (10, -14, 65504.0), "bf16": (7, -126, 3.3895313892515355e38)}


def _spacing_of_halves(array):
    width, least, greatest = _HALVES[array.dtype_name]
    wide = core.cast(array, "f32")
    exponent = elementwise.maximum(_parts(wide)[1] - 1, least)
    exponent = elementwise.where(wide == 0, least, exponent)
    size = _power_of_two(exponent - width, "f32")
    size = elementwise.where(elementwise.abs(wide) == greatest, math.inf, size)
    size = elementwise.where(elementwise.isfinite(wide), size, math.nan)
    return core.cast(elementwise.where(wide < 0, -size, size), array.dtype_name)


# --- Bits of bytes.


def _order(bitorder):
    if bitorder not in ("big", "little"):
        raise ValueError(
            f"bitorder must be 'big' or 'little', found {bitorder!r} ({location.text()})"
        )
    line = core.iota((8,), 0, "u8")
    return line if bitorder == "little" else core.reverse(line, [0])


@operation
def packbits(x, axis=None, bitorder="big"):
    """Returns: u8, eight elements of x along `axis` (None: made flat) as the bits of one; true is
    1. The last ones are filled up with 0.

    Args:
      x: bools or integers.
      axis: None or an axis.
      bitorder: "big": the first element is the highest bit; "little": the lowest.
    """
    array = core.as_array(x)
    if array.dtype_name not in dtypes.INTEGERS + dtypes.BOOLS:
        raise TypeError(
            f"packbits takes bools or integers, found {array.describe()} ({location.text()})"
        )
    if axis is None:
        array, axis = shaping.ravel(array), 0
    at = core.canonical_axis(axis, array.ndim)
    rows = core.cast(shaping.moveaxis(elementwise.astype(array, bool), at, -1), "u8")
    rows = shaping.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, -rows.shape[-1] % 8)])
    rows = core.reshape(rows, (*rows.shape[:-1], rows.shape[-1] // 8, 8))
    placed = elementwise.left_shift(rows, _order(bitorder))
    return shaping.moveaxis(reductions.sum(placed, -1, dtype="u8"), -1, at)


@operation
def unpackbits(x, axis=None, count=None, bitorder="big"):
    """Returns: u8, the bits of the bytes of x along `axis` (None: made flat), eight for each.

    Args:
      x: u8.
      axis: None or an axis.
      count: how many bits of the axis there are, filled up with 0; where negative, how many are
        left out at its end.
      bitorder: as of `packbits`.
    """
    array = core.as_array(x)
    if array.dtype_name != "u8":
        raise TypeError(f"unpackbits takes u8, found {array.describe()} ({location.text()})")
    if axis is None:
        array, axis = shaping.ravel(array), 0
    at = core.canonical_axis(axis, array.ndim)
    rows = core.expand_dims(shaping.moveaxis(array, at, -1), [array.ndim])
    bits = elementwise.bitwise_and(elementwise.right_shift(rows, _order(bitorder)), 1)
    bits = core.reshape(bits, (*bits.shape[:-2], bits.shape[-2] * 8))
    if count is not None:
        extent = bits.shape[-1]
        few = ValueError(
            f"unpackbits cannot leave out {-count} of {extent} bits ({location.text()})"
        )
        checks.require_at_most(-count, extent, few)
        wanted = count if count >= 0 else extent + count
        kept = core.slice_axis(bits, bits.ndim - 1, 0, dims.smaller(wanted, extent))
        more = dims.larger(0, wanted - extent)
        bits = shaping.pad(kept, [(0, 0)] * (bits.ndim - 1) + [(0, more)])
    return shaping.moveaxis(bits, -1, at)
