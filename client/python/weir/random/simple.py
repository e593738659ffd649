"""Distributions that one draw of an op gives, by a formula."""

import math

from weir import checks, core, dims, dtypes, location
from weir.eager import operation
from weir.numpy import elementwise, reductions
from weir.random.keys import common_float, draw, float_name, sizes_of


@operation
def bits(shape=(), dtype="u32", *, seed):
    """Returns: integers of which all bits are random."""
    return draw("rng_bits", seed, shape, dtypes.name_of(dtype))


@operation
def uniform(shape=(), dtype="f32", minval=0.0, maxval=1.0, *, seed):
    """Returns: numbers from [minval, maxval), each as likely."""
    name = float_name(dtype)
    drawn = draw("rng_uniform", seed, shape, name)
    low, high = core.to_dtype(minval, name), core.to_dtype(maxval, name)
    if minval == 0.0 and maxval == 1.0 and core.is_scalar(minval) and core.is_scalar(maxval):
        return drawn
    # Rounding may reach the upper bound.
    scaled = drawn * (high - low) + low
    return elementwise.where(scaled >= high, elementwise.nextafter(high, low), scaled)


@operation
def normal(shape=(), dtype="f32", *, seed):
    """Returns: numbers of the standard normal distribution."""
    return draw("rng_normal", seed, shape, float_name(dtype))


@operation
def bernoulli(p=0.5, shape=None, *, seed):
    """Returns: bools that are true with probability p, which broadcasts to `shape` (by default its
    own).
    """
    chance = core.as_array(p)
    if chance.dtype_name not in dtypes.FLOATS:
        chance = core.cast(chance, "f32")
    extents = chance.shape if shape is None else core.canonical_shape(shape)
    return core.compare("less", draw("rng_uniform", seed, extents, chance.dtype_name), chance)


@operation
def randint(shape, minval, maxval, dtype="i32", *, seed):
    """Returns: integers from [minval, maxval), each as likely.

    The bounds broadcast to `shape`. A range of r numbers is uneven by at most r parts in 2**64.

    Raises: ValueError where Python numbers leave no integer; of others the range is then [minval].
    """
    name = dtypes.name_of(dtype)
    if name not in dtypes.INTEGERS:
        raise TypeError(f"random integers are wanted in {name} ({location.text()})")
    nothing = ValueError(f"there is no integer in [{minval}, {maxval}) ({location.text()})")
    if dims.is_size(minval) and dims.is_size(maxval):
        checks.require_at_most(minval + 1, maxval, nothing)
    elif core.is_scalar(minval) and core.is_scalar(maxval) and minval >= maxval:
        raise nothing
    drawn = draw("rng_bits", seed, shape, "u64")
    low, high = core.to_dtype(minval, "i64"), core.to_dtype(maxval, "i64")
    count = core.elementwise("maximum", core.elementwise("subtract", high, low), 1)
    place = core.elementwise("remainder", drawn, core.cast(count, "u64"))
    return core.cast(core.elementwise("add", core.cast(place, "i64"), low), name)


@operation
def gumbel(shape=(), dtype="f32", *, seed):
    """Returns: numbers of the standard Gumbel distribution."""
    name = float_name(dtype)
    drawn = draw("rng_uniform", seed, shape, name)
    tiny = {"f64": 2.0**-1022, "f16": 2.0**-14}.get(name, 2.0**-126)
    positive = elementwise.maximum(drawn, tiny)
    return -elementwise.log(-elementwise.log(positive))


@operation
def exponential(shape=(), dtype="f32", *, seed):
    """Returns: numbers of the exponential distribution with mean 1."""
    drawn = draw("rng_uniform", seed, shape, float_name(dtype))
    return -elementwise.log1p(-drawn)


@operation
def categorical(logits, axis=-1, shape=None, *, seed):
    """Returns: positions along `axis` of `logits`, as likely as exp(logits), as i32.

    `shape` must end with the shape of `logits` without `axis`, which it is by default.
    """
    (scores,) = core.promote_inexact(logits)
    at = core.canonical_axis(axis, scores.ndim)
    rest = scores.shape[:at] + scores.shape[at + 1 :]
    extents = rest if shape is None else core.canonical_shape(shape)
    more = len(extents) - len(rest)
    if more < 0 or extents[more:] != rest:
        raise ValueError(
            f"categorical: shape {extents} does not end with {rest} ({location.text()})"
        )
    full = extents[: more + at] + (scores.shape[at],) + extents[more + at :]
    noise = gumbel(full, scores.dtype_name, seed=seed)
    return reductions.argmax(noise + scores, axis=more + at)


@operation
def permutation(x, axis=0, *, seed):
    """Returns: 0 .. x-1 in random order, or the array x with the rows of `axis` in random order."""
    if dims.is_size(x):
        x = core.iota((x,), 0, "i32")
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    keys = draw("rng_bits", seed, (array.shape[at],), "u64")
    order = core.iota((array.shape[at],), 0, "i64")
    attrs = {"axis": 0, "descending": False, "is_stable": True}
    order = core.apply_all("sort", [keys, order], attrs)[1]
    order.is_index = True
    return array[(slice(None),) * at + (order,)]


@operation
def choice(x, shape=(), p=None, *, seed):
    """Returns: elements of the vector x (or of 0 .. x-1), each as likely or with probabilities p,
    with replacement.
    """
    values = core.iota((x,), 0, "i32") if dims.is_size(x) else core.as_array(x)
    if p is None:
        places = randint(shape, 0, values.shape[0], "i64", seed=seed)
    else:
        extents = core.canonical_shape(shape)
        places = categorical(elementwise.log(p), shape=extents, seed=seed)
    places.is_index = True
    return values[places]


@operation
def geometric(p, shape=None, dtype="i32", *, seed):
    """Returns: how many trials there are until the first success, 1 or more, where each succeeds
    with probability p, which broadcasts to `shape` (by default its own). A run fails for p outside
    of 0 to 1 and for 0.
    """
    chance = core.to_dtype(p, "f64")
    checks.check((chance > 0) & (chance <= 1), "geometric needs probabilities above 0 and up to 1")
    extents = chance.shape if shape is None else core.canonical_shape(shape)
    tail = elementwise.log1p(-draw("rng_uniform", seed, extents, "f64"))
    failures = elementwise.floor(tail / elementwise.log1p(-chance))
    return core.cast(failures + 1, dtypes.name_of(dtype))


@operation
def pareto(b, shape=None, dtype=None, *, seed):
    """Returns: numbers >= 1 of the Pareto distribution; its exponent b, which is positive,
    broadcasts to `shape` (by default its own).
    """
    drawn, b = _exponential_like(shape, dtype, seed, b)
    return elementwise.exp(drawn / b)


@operation
def weibull(scale, concentration, shape=None, dtype=None, *, seed):
    """Returns: numbers >= 0 of the Weibull distribution; its parameters, which are positive,
    broadcast to `shape` (by default together).
    """
    drawn, scale, concentration = _exponential_like(shape, dtype, seed, scale, concentration)
    return scale * elementwise.power(drawn, 1 / concentration)


@operation
def rayleigh(scale=1.0, shape=None, dtype=None, *, seed):
    """Returns: numbers >= 0 of the Rayleigh distribution; `scale` broadcasts to `shape` (by default
    its own).
    """
    drawn, scale = _exponential_like(shape, dtype, seed, scale)
    return scale * elementwise.sqrt(2 * drawn)


def _exponential_like(shape, dtype, seed, *parameters):
    """Returns: (exponential numbers, the parameters in their type)."""
    name = common_float(dtype, *parameters)
    extents = sizes_of(shape, *parameters)
    drawn = exponential(extents, dtypes.to_public(name), seed=seed)
    return (drawn, *(core.to_dtype(x, name) for x in parameters))


@operation
def triangular(left, mode, right, shape=None, dtype=None, *, seed):
    """Returns: numbers of the triangular distribution from `left` to `right` with its top at
    `mode`; they broadcast to `shape` (by default together).
    """
    name = common_float(dtype, left, mode, right)
    u = draw("rng_uniform", seed, sizes_of(shape, left, mode, right), name)
    left, mode, right = (core.to_dtype(x, name) for x in (left, mode, right))
    width = right - left
    rising = left + elementwise.sqrt(u * width * (mode - left))
    falling = right - elementwise.sqrt((1 - u) * width * (right - mode))
    return elementwise.where(u * width < mode - left, rising, falling)


@operation
def truncated_normal(lower, upper, shape=(), dtype="f32", *, seed):
    """Returns: numbers of the standard normal distribution between two bounds."""
    name = float_name(dtype)
    low, high = core.to_dtype(lower, name), core.to_dtype(upper, name)
    root = math.sqrt(2.0)
    first, last = elementwise.erf(low / root), elementwise.erf(high / root)
    drawn = draw("rng_uniform", seed, shape, name) * (last - first) + first
    return elementwise.clip(elementwise.erfinv(drawn) * root, low, high)
