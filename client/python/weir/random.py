"""Random numbers by counters: a draw is a pure function of its seed and of where it stands, never
of a hidden state.

Each function takes `seed`, a Python integer or an integer scalar of the program. In one traced
function the draws of one seed are numbered, so two of them differ; tracing the function again gives
the same numbers. Inside of loops the iteration is part of the place: iterations draw different
numbers, the same ones in `weir.pfor`, `weir.vmap` and `weir.for_loop`, whatever the chunks, workers
and the number of iterations.
"""

import math
import operator

from weir import core, dtypes, errors, location, trace as tracing
from weir.array import Array
from weir.eager import operation
from weir.numpy import elementwise, reductions


def _seed_and_key(seed):
    """Returns: (attribute seed, key). A seed that is known only at run time is part of the key."""
    if isinstance(seed, Array) or core.is_numpy(seed):
        array = core.as_array(seed, "the seed")
        if array.shape or array.dtype_name not in dtypes.INTEGERS:
            raise TypeError(
                f"a seed must be an integer scalar, found {array.describe()} ({location.text()})"
            )
        return 0, core.cast(array, "u64")
    number = operator.index(seed)
    if not -(2**63) <= number < 2**63:
        raise OverflowError(f"the seed {number} does not fit 64 bits ({location.text()})")
    return number, core.scalar(0, "u64")


def _fold_loops(key):
    """The iterations of the loops around the draw become part of the key."""
    for frame in tracing.current().loops:
        if frame.randomness == "error":
            raise errors.TracingError(
                f"random numbers are drawn at {location.text()} inside of a vmap with"
                " randomness='error'; use 'different' or 'same'"
            )
        if frame.randomness == "same":
            continue
        if frame.index is None:
            frame.needs_index = True
            continue
        key = core.apply("rng_fold", core.broadcast(key, core.cast(frame.index, "i64")))
    return key


def _draw(op, seed, shape, dtype_name):
    trace = tracing.required("a random number")
    number, key = _seed_and_key(seed)
    key = _fold_loops(key)
    attrs = {
        "seed": number,
        "draw": trace.draws,
        "shape": core.canonical_shape(shape),
        "dtype": dtype_name,
    }
    trace.draws += 1
    return core.apply(op, [key], attrs)


def _float_name(dtype):
    name = dtypes.name_of(dtype)
    if name not in dtypes.FLOATS:
        raise TypeError(f"random floats are wanted in {name} ({location.text()})")
    return name


@operation
def bits(shape=(), dtype="u32", *, seed):
    """Returns: integers of which all bits are random."""
    return _draw("rng_bits", seed, shape, dtypes.name_of(dtype))


@operation
def uniform(shape=(), dtype="f32", minval=0.0, maxval=1.0, *, seed):
    """Returns: numbers from [minval, maxval), each as likely."""
    name = _float_name(dtype)
    drawn = _draw("rng_uniform", seed, shape, name)
    low, high = core.to_dtype(minval, name), core.to_dtype(maxval, name)
    if minval == 0.0 and maxval == 1.0 and core.is_scalar(minval) and core.is_scalar(maxval):
        return drawn
    # Rounding may reach the upper bound.
    scaled = drawn * (high - low) + low
    return elementwise.where(scaled >= high, elementwise.nextafter(high, low), scaled)


@operation
def normal(shape=(), dtype="f32", *, seed):
    """Returns: numbers of the standard normal distribution."""
    return _draw("rng_normal", seed, shape, _float_name(dtype))


@operation
def bernoulli(p=0.5, shape=None, *, seed):
    """Returns: bools that are true with probability p, which broadcasts to `shape` (by default its
    own).
    """
    chance = core.as_array(p)
    if chance.dtype_name not in dtypes.FLOATS:
        chance = core.cast(chance, "f32")
    extents = chance.shape if shape is None else core.canonical_shape(shape)
    return core.compare("less", _draw("rng_uniform", seed, extents, chance.dtype_name), chance)


@operation
def randint(shape, minval, maxval, dtype="i32", *, seed):
    """Returns: integers from [minval, maxval), each as likely.

    The bounds broadcast to `shape`. A range of r numbers is uneven by at most r parts in 2**64.
    """
    name = dtypes.name_of(dtype)
    if name not in dtypes.INTEGERS:
        raise TypeError(f"random integers are wanted in {name} ({location.text()})")
    drawn = _draw("rng_bits", seed, shape, "u64")
    low, high = core.to_dtype(minval, "i64"), core.to_dtype(maxval, "i64")
    count = core.elementwise("maximum", core.elementwise("subtract", high, low), 1)
    place = core.elementwise("remainder", drawn, core.cast(count, "u64"))
    return core.cast(core.elementwise("add", core.cast(place, "i64"), low), name)


@operation
def gumbel(shape=(), dtype="f32", *, seed):
    """Returns: numbers of the standard Gumbel distribution."""
    name = _float_name(dtype)
    drawn = _draw("rng_uniform", seed, shape, name)
    tiny = {"f64": 2.0**-1022, "f16": 2.0**-14}.get(name, 2.0**-126)
    positive = elementwise.maximum(drawn, tiny)
    return -elementwise.log(-elementwise.log(positive))


@operation
def exponential(shape=(), dtype="f32", *, seed):
    """Returns: numbers of the exponential distribution with mean 1."""
    drawn = _draw("rng_uniform", seed, shape, _float_name(dtype))
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
    if core.is_scalar(x):
        x = core.iota((operator.index(x),), 0, "i32")
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    keys = _draw("rng_bits", seed, (array.shape[at],), "u64")
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
    values = core.iota((operator.index(x),), 0, "i32") if core.is_scalar(x) else core.as_array(x)
    if p is None:
        places = randint(shape, 0, values.shape[0], "i64", seed=seed)
    else:
        extents = core.canonical_shape(shape)
        places = categorical(elementwise.log(p), shape=extents, seed=seed)
    places.is_index = True
    return values[places]


@operation
def truncated_normal(lower, upper, shape=(), dtype="f32", *, seed):
    """Returns: numbers of the standard normal distribution between two bounds."""
    name = _float_name(dtype)
    low, high = core.to_dtype(lower, name), core.to_dtype(upper, name)
    root = math.sqrt(2.0)
    first, last = elementwise.erf(low / root), elementwise.erf(high / root)
    drawn = _draw("rng_uniform", seed, shape, name) * (last - first) + first
    return elementwise.clip(elementwise.erfinv(drawn) * root, low, high)
