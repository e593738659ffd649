"""Random numbers by counters: a draw is a pure function of its seed and of where it stands, never
of a hidden state.

Each function takes `seed`, a Python integer or an integer scalar of the program. In one traced
function the draws of one seed are numbered, so two of them differ; tracing the function again gives
the same numbers. Inside of loops the iteration is part of the place: iterations draw different
numbers, the same ones in `weir.pfor`, `weir.vmap` and `weir.for_loop`, whatever the chunks, workers
and the number of iterations.
"""

import math

from weir import carried, checks, core, dims, dtypes, errors, location, trace as tracing, vectorize
from weir.array import Array
from weir.eager import operation
from weir.numpy import elementwise, linalg, products, reductions

__all__ = (
    "bernoulli beta bits categorical cauchy chisquare choice dirichlet exponential gamma gumbel"
    " laplace logistic lognormal multivariate_normal normal permutation poisson rademacher randint"
    " student_t truncated_normal uniform"
).split()


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


def _key_of_call():
    """Returns: a key for a function that is called here; each call and each iteration has its
    own.
    """
    trace = tracing.current()
    key = _key_of_function(trace) if trace.frames else core.scalar(0, "u64")
    key = core.apply("rng_fold", [_fold_loops(key), core.scalar(trace.draws, "i64")])
    trace.draws += 1
    return key


def _draw(op, seed, shape, dtype_name):
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
    if dims.is_size(x):
        x = core.iota((x,), 0, "i32")
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
    values = core.iota((x,), 0, "i32") if dims.is_size(x) else core.as_array(x)
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


@operation
def gamma(a, shape=None, dtype=None, *, seed):
    """Draws from the gamma distribution with scale 1, by the method of Marsaglia and Tsang ("A
    simple method for generating gamma variables", ACM TOMS 26(3), 2000). Only elements that are
    rejected draw again.

    Args:
      a: the shape parameters; they broadcast to `shape`, by default their own.
      dtype: a float type, by default that of `a` (f32 for integers).

    Returns: numbers >= 0, T[shape]: 0 where a is 0, NaN where it is negative or NaN. Those of a
    small a may be too small for their type, and are 0.

    Raises: TypeError for types that are no floats.
    """
    name = _float_name(dtype or dtypes.to_inexact(core.type_of(a)[0]))
    # Halves have too few digits for the rejection.
    inner = "f64" if name == "f64" else "f32"
    drawn = _for_each(lambda one: _gamma_of(one, inner, seed), core.to_dtype(a, inner), shape)
    return core.cast(drawn, name)


@operation
def poisson(lam, shape=None, dtype="i32", *, seed):
    """Draws from the Poisson distribution: by inversion below a mean of 10, else by transformed
    rejection (PTRS of Hoermann, "The transformed rejection method for generating Poisson random
    variables", Insurance: Mathematics and Economics 12, 1993). Only elements that are rejected
    draw again.

    Args:
      lam: the means; they broadcast to `shape`, by default their own.
      dtype: an integer or float type; numbers that it does not hold become its largest.

    Returns: whole numbers >= 0, T[shape].

    Raises: TypeError for other types and complex means; where it runs, FailedPrecondition for
    means that are negative, infinite or NaN.
    """
    name = dtypes.name_of(dtype)
    if name not in dtypes.INTEGERS + dtypes.FLOATS:
        raise TypeError(f"Poisson numbers are wanted in {name} ({location.text()})")
    if core.type_of(lam)[0] in dtypes.COMPLEXES:
        raise TypeError(f"a Poisson distribution has no complex number as mean ({location.text()})")
    means = core.to_dtype(lam, "f64")
    holds = (means >= 0) & (means < math.inf)
    checks.check(holds, "poisson needs means that are finite and >= 0")
    means = elementwise.where(holds, means, 0.0)  # No loop without an end beside the check.
    return core.cast(_for_each(lambda one: _poisson_of(one, seed), means, shape), name)


# --- Distributions made of others.


@operation
def laplace(shape=(), dtype="f32", *, seed):
    """Returns: numbers of the Laplace distribution with mean 0 and scale 1."""
    return exponential(shape, dtype, seed=seed) - exponential(shape, dtype, seed=seed)


@operation
def logistic(shape=(), dtype="f32", *, seed):
    """Returns: numbers of the logistic distribution with mean 0 and scale 1."""
    return gumbel(shape, dtype, seed=seed) - gumbel(shape, dtype, seed=seed)


@operation
def cauchy(shape=(), dtype="f32", *, seed):
    """Returns: numbers of the Cauchy distribution with median 0 and scale 1."""
    name = _float_name(dtype)
    return elementwise.tan((_draw("rng_uniform", seed, shape, name) - 0.5) * math.pi)


@operation
def lognormal(sigma=1.0, shape=None, dtype=None, *, seed):
    """Returns: exp(sigma x) for x of the standard normal distribution; sigma broadcasts to `shape`
    (by default its own) and gives the type.
    """
    scale = core.to_dtype(sigma, _float_name(dtype or dtypes.to_inexact(core.type_of(sigma)[0])))
    extents = scale.shape if shape is None else core.canonical_shape(shape)
    return elementwise.exp(scale * normal(extents, scale.dtype, seed=seed))


@operation
def rademacher(shape=(), dtype="i32", *, seed):
    """Returns: -1 or 1, each as likely."""
    signs = core.cast(bernoulli(0.5, shape, seed=seed), dtypes.name_of(dtype))
    return 2 * signs - 1


@operation
def chisquare(df, shape=None, dtype=None, *, seed):
    """Returns: numbers of the chi-square distribution with `df` degrees of freedom, which broadcast
    to `shape` (by default their own).
    """
    return 2 * gamma(elementwise.divide(df, 2), shape, dtype, seed=seed)


@operation
def student_t(df, shape=None, dtype=None, *, seed):
    """Returns: numbers of Student's t distribution with `df` degrees of freedom, which broadcast to
    `shape` (by default their own).
    """
    half = elementwise.divide(df, 2)
    drawn = gamma(half, shape, dtype, seed=seed)
    spread = elementwise.sqrt(core.to_dtype(half, drawn.dtype_name) / drawn)
    return normal(drawn.shape, drawn.dtype, seed=seed) * spread


def _log_gamma(a, shape, name, seed):
    """Returns: logarithms of gamma numbers, which a small `a` does not make too small."""
    a = core.to_dtype(a, name)
    whole = elementwise.log(gamma(a + 1, shape, name, seed=seed))
    return whole - exponential(whole.shape, name, seed=seed) / a


def _common_float(dtype, *operands):
    met = dtypes.promote([core.type_of(x) for x in operands])[0]
    return _float_name(dtype or dtypes.to_inexact(met))


@operation
def beta(a, b, shape=None, dtype=None, *, seed):
    """Returns: numbers between 0 and 1 of the beta distribution; its parameters a and b, which are
    positive, broadcast to `shape` (by default together).
    """
    name = _common_float(dtype, a, b)
    a, b = core.broadcast(core.to_dtype(a, name), core.to_dtype(b, name))
    difference = _log_gamma(b, shape, name, seed) - _log_gamma(a, shape, name, seed)
    return 1 / (1 + elementwise.exp(difference))


@operation
def dirichlet(alpha, shape=None, dtype=None, *, seed):
    """Draws from the Dirichlet distribution.

    Args:
      alpha: [..., k], positive; what is in front of k broadcasts to `shape`, by default its own.
      dtype: a float type, by default that of `alpha` (f32 for integers).

    Returns: T[shape, k], positive numbers whose sum over the last axis is 1.
    """
    name = _common_float(dtype, alpha)
    alpha = core.to_dtype(alpha, name)
    if not alpha.ndim:
        raise ValueError(f"dirichlet needs alpha [..., k], found a scalar ({location.text()})")
    lead = alpha.shape[:-1] if shape is None else core.canonical_shape(shape)
    logs = _log_gamma(alpha, (*lead, alpha.shape[-1]), name, seed)
    parts = elementwise.exp(logs - reductions.max(logs, -1, keepdims=True))
    return parts / reductions.sum(parts, -1, keepdims=True)


@operation
def multivariate_normal(mean, cov, shape=None, dtype=None, *, seed):
    """Draws vectors from the normal distribution.

    Args:
      mean: [..., k].
      cov: [..., k, k], symmetric and positive definite.
      shape: of the result without k, to which what is in front broadcasts; by default that.
      dtype: a float type, by default the one in which `mean` and `cov` meet.

    Returns: T[shape, k].

    Raises: ValueError for shapes that do not fit.
    """
    name = _common_float(dtype, mean, cov)
    mean, cov = core.to_dtype(mean, name), core.to_dtype(cov, name)
    if mean.ndim < 1 or cov.ndim < 2 or cov.shape[-2:] != mean.shape[-1:] * 2:
        raise ValueError(
            f"multivariate_normal needs a mean [..., k] and a covariance [..., k, k], found"
            f" {mean.describe()} and {cov.describe()} ({location.text()})"
        )
    lead = core.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    lead = lead if shape is None else core.canonical_shape(shape)
    drawn = normal((*lead, mean.shape[-1], 1), dtypes.to_public(name), seed=seed)
    spread = products.matmul(linalg.cholesky(cov), drawn)
    return mean + core.reshape(spread, spread.shape[:-1])


# --- How gamma and Poisson numbers are made.


def _for_each(draw, parameters, shape):
    """Returns: `draw(parameter)` for each of the parameters, broadcast to `shape`. The elements
    are iterations, so that each of them leaves the loops in `draw` by itself.
    """
    extents = parameters.shape if shape is None else core.canonical_shape(shape)
    rows = core.broadcast_to(parameters, extents)
    drawn = vectorize.vmap(draw)(core.reshape(rows, (rows.size,)))
    return core.reshape(drawn, extents)


def _gamma_of(a, name, seed):
    """One number. For a < 1 it is one for a + 1, times u^(1 / a)."""
    is_usual = (a > 0) & (a < math.inf)
    d = elementwise.where(a < 1, a + 1, a) - 1 / 3
    c = 1 / (3 * elementwise.sqrt(d))

    def attempt(_):
        t = c * _draw("rng_normal", seed, (), name)
        u = _draw("rng_uniform", seed, (), name)
        # The paper's x^2 / 2 + d - d v + d log v, where v = (1 + t)^3 and t = c x.
        gain = d * (3 * _log1p_tail(t))
        accepted = (t > -1) & (elementwise.log(u) < gain)
        # v close to 1 has its digits behind the point.
        close = d + d * t * (3 + t * (3 + t))
        far = d * (1 + t) * (1 + t) * (1 + t)
        return accepted, elementwise.where(elementwise.abs(t) < 0.125, close, far)

    _, drawn = carried.while_loop(lambda state: ~state[0], attempt, (~is_usual, a))
    less = elementwise.power(1 - _draw("rng_uniform", seed, (), name), 1 / a)
    drawn = elementwise.where(is_usual & (a < 1), drawn * less, drawn)
    return elementwise.where(a >= 0, drawn, math.nan)


def _poisson_of(mean, seed):
    is_small = mean < 10
    small = _poisson_by_inversion(elementwise.where(is_small, mean, 0.0), seed)
    large = _poisson_by_rejection(elementwise.where(is_small, 10.0, mean), is_small, seed)
    return elementwise.where(is_small, small, large)


def _poisson_by_inversion(mean, seed):
    """The first number whose cumulative probability exceeds a uniform one; for means below 10."""
    u = _draw("rng_uniform", seed, (), "f64")

    def step(state):
        number, probability, below = state
        number, probability = number + 1, probability * mean / (number + 1)
        return number, probability, below + probability

    # Beyond 128 there is less than the last digit of the sum.
    first = elementwise.exp(-mean)
    start = (core.scalar(0.0, "f64"), first, first)
    return carried.while_loop(lambda state: (u >= state[2]) & (state[0] < 128), step, start)[0]


def _poisson_by_rejection(mean, is_done, seed):
    """PTRS, for means from 10 on, with the paper's constants; no trip where `is_done`."""
    b = 0.931 + 2.53 * elementwise.sqrt(mean)
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    quick = 0.9277 - 3.6224 / (b - 2)

    def attempt(_):
        u = _draw("rng_uniform", seed, (), "f64") - 0.5
        v = _draw("rng_uniform", seed, (), "f64")
        side = 0.5 - elementwise.abs(u)
        number = elementwise.floor((2 * a / side + b) * u + mean + 0.43)
        height = elementwise.log(v * scale / (a / (side * side) + b))
        accepted = height <= _log_poisson(number, mean)
        accepted = ((side >= 0.07) & (v <= quick)) | (accepted & ((side >= 0.013) | (v <= side)))
        return accepted & (number >= 0), number

    return carried.while_loop(lambda state: ~state[0], attempt, (is_done, mean))[1]


def _log_poisson(number, mean):
    """The logarithm of a Poisson probability. The sum in its definition cancels for great numbers;
    there it is Loader's ("Fast and accurate computation of binomial probabilities", 2000).
    """
    plain = number * elementwise.log(mean) - mean - elementwise.lgamma(number + 1)
    t = (mean - number) / number
    deviance = number * (t * t * (t / 3 - 0.5) + _log1p_tail(t))
    square = number * number
    stirling = (1 / 12 - (1 / 360 - 1 / (1260 * square)) / square) / number
    saddle = deviance - 0.5 * elementwise.log(2 * math.pi * number) - stirling
    return elementwise.where(number < 16, plain, saddle)


def _log1p_tail(t):
    """log(1 + t) - t + t^2 / 2 - t^3 / 3, by its series where the sum cancels."""
    total = 0.0
    for k in range(15, 3, -1):
        total = total * t + (1 / k if k % 2 else -1 / k)
    plain = elementwise.log1p(t) - t * (1 - t * (0.5 - t / 3))
    return elementwise.where(elementwise.abs(t) < 0.125, t * t * t * t * total, plain)
