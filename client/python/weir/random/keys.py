"""What a random number depends on: its seed, the number of the draw, the calls and loops around."""

from weir import core, dtypes, errors, location, trace as tracing
from weir.array import Array


def _seed_and_key(seed):
    """Returns: (attribute seed, key). A seed that is known only at run time is part of the key."""
    if isinstance(seed, Array) or core.is_numpy(seed):
        array = core.as_array(seed, "the seed")
        if array.shape or array.dtype_name not in dtypes.INTEGERS:
            raise TypeError(
                f"a seed must be an integer scalar, found {array.describe()} ({location.text()})"
            )
        return 0, core.cast(array, "u64")
    number = core.known_integer(seed, "a seed")
    if not -(2**63) <= number < 2**63:
        raise OverflowError(f"the seed {number} does not fit 64 bits ({location.text()})")
    return number, core.scalar(0, "u64")


def _fold_loops(key):
    """The iterations of the loops around the draw become part of the key."""
    for frame in tracing.current().own_loops:
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


def _key_of_function(trace):
    """The key that each call gives to the function that is being traced."""
    frame = trace.frames[-1]
    value = frame.extra(trace, tracing.KEY, "u64", (), "key")
    return Array(trace, value, region=frame.body)


def key_of_call():
    """Returns: a key for a function that is called here; each call and each iteration has its
    own.
    """
    trace = tracing.current()
    key = _key_of_function(trace) if trace.frames else core.scalar(0, "u64")
    key = core.apply("rng_fold", [_fold_loops(key), core.scalar(trace.draws, "i64")])
    trace.draws += 1
    return key


def draw(op, seed, shape, dtype_name):
    trace = tracing.required("a random number")
    number, key = _seed_and_key(seed)
    if trace.frames:
        key = core.apply("rng_fold", [key, _key_of_function(trace)])
    key = _fold_loops(key)
    attrs = {
        "seed": number,
        "draw": trace.draws,
        "shape": core.canonical_shape(shape),
        "dtype": dtype_name,
    }
    trace.draws += 1
    return core.apply(op, [key], attrs)


def float_name(dtype):
    name = dtypes.name_of(dtype)
    if name not in dtypes.FLOATS:
        raise TypeError(f"random floats are wanted in {name} ({location.text()})")
    return name


def common_float(dtype, *operands):
    met = dtypes.promote([core.type_of(x) for x in operands])[0]
    return float_name(dtype or dtypes.to_inexact(met))


def sizes_of(shape, *parameters):
    """Returns: a shape that was given, by default the one to which parameters broadcast."""
    if shape is not None:
        return core.canonical_shape(shape)
    return core.broadcast_shapes(*(core.as_array(x).shape for x in parameters))
