"""Gamma, Poisson and binomial numbers: each element draws until it is accepted."""

import math

from weir import carried, checks, core, dtypes, location, vectorize
from weir.eager import operation
from weir.numpy import elementwise
from weir.random.keys import draw, float_name


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
    name = float_name(dtype or dtypes.to_inexact(core.type_of(a)[0]))
    # Halves have too few digits for the rejection.
    inner = "f64" if name == "f64" else "f32"
    drawn = _for_each(lambda one: _gamma_of(one, inner, seed), [core.to_dtype(a, inner)], shape)
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
    name = _count_name(dtype, "Poisson")
    if core.type_of(lam)[0] in dtypes.COMPLEXES:
        raise TypeError(f"a Poisson distribution has no complex number as mean ({location.text()})")
    means = core.to_dtype(lam, "f64")
    holds = (means >= 0) & (means < math.inf)
    checks.check(holds, "poisson needs means that are finite and >= 0")
    means = elementwise.where(holds, means, 0.0)  # No loop without an end beside the check.
    return core.cast(_for_each(lambda one: _poisson_of(one, seed), [means], shape), name)


@operation
def binomial(n, p, shape=None, dtype="i32", *, seed):
    """Draws how many of n trials succeed: by inversion below a mean of 10, else by transformed
    rejection (BTRS of Hoermann, "The generation of binomial random variates", Journal of
    Statistical Computation and Simulation 46, 1993). Only elements that are rejected draw again.

    Args:
      n: numbers of trials, whole and up to 2^53.
      p: the probabilities of success; both broadcast to `shape`, by default together.
      dtype: an integer or float type; numbers that it does not hold become its largest.

    Returns: whole numbers from 0 to n, T[shape].

    Raises: TypeError for other types and complex parameters; where it runs, FailedPrecondition for
    trials that are negative or not whole, and probabilities outside of 0 to 1.
    """
    name = _count_name(dtype, "binomial")
    if dtypes.promote([core.type_of(n), core.type_of(p)])[0] in dtypes.COMPLEXES:
        raise TypeError(
            f"a binomial distribution has no complex number as parameter ({location.text()})"
        )
    trials, chance = core.to_dtype(n, "f64"), core.to_dtype(p, "f64")
    is_number = (trials >= 0) & (trials <= 2.0**53) & (elementwise.floor(trials) == trials)
    is_chance = (chance >= 0) & (chance <= 1)
    checks.check(is_number, "binomial needs whole numbers of trials from 0 to 2^53")
    checks.check(is_chance, "binomial needs probabilities from 0 to 1")
    # No loop without an end beside the checks.
    trials = elementwise.where(is_number, trials, 0.0)
    chance = elementwise.where(is_chance, chance, 0.0)
    drawn = _for_each(lambda n, p: _binomial_of(n, p, seed), [trials, chance], shape)
    return core.cast(drawn, name)


def _count_name(dtype, what):
    name = dtypes.name_of(dtype)
    if name not in dtypes.INTEGERS + dtypes.FLOATS:
        raise TypeError(f"{what} numbers are wanted in {name} ({location.text()})")
    return name


# --- How they are made.


def _for_each(sample, parameters, shape):
    """Returns: `sample(*parameters)` for each element of the parameters, broadcast to `shape`. The
    elements are iterations, so that each of them leaves the loops in `sample` by itself.
    """
    extents = core.broadcast_shapes(*(x.shape for x in parameters))
    extents = extents if shape is None else core.canonical_shape(shape)
    rows = [core.broadcast_to(x, extents) for x in parameters]
    drawn = vectorize.vmap(sample)(*(core.reshape(x, (x.size,)) for x in rows))
    return core.reshape(drawn, extents)


def _gamma_of(a, name, seed):
    """One number. For a < 1 it is one for a + 1, times u^(1 / a)."""
    is_usual = (a > 0) & (a < math.inf)
    d = elementwise.where(a < 1, a + 1, a) - 1 / 3
    c = 1 / (3 * elementwise.sqrt(d))

    def attempt(_):
        t = c * draw("rng_normal", seed, (), name)
        u = draw("rng_uniform", seed, (), name)
        # The paper's x^2 / 2 + d - d v + d log v, where v = (1 + t)^3 and t = c x.
        gain = d * (3 * _log1p_tail(t))
        accepted = (t > -1) & (elementwise.log(u) < gain)
        # v close to 1 has its digits behind the point.
        close = d + d * t * (3 + t * (3 + t))
        far = d * (1 + t) * (1 + t) * (1 + t)
        return accepted, elementwise.where(elementwise.abs(t) < 0.125, close, far)

    _, drawn = carried.while_loop(lambda state: ~state[0], attempt, (~is_usual, a))
    less = elementwise.power(1 - draw("rng_uniform", seed, (), name), 1 / a)
    drawn = elementwise.where(is_usual & (a < 1), drawn * less, drawn)
    return elementwise.where(a >= 0, drawn, math.nan)


def _poisson_of(mean, seed):
    is_small = mean < 10
    small = _poisson_by_inversion(elementwise.where(is_small, mean, 0.0), seed)
    large = _poisson_by_rejection(elementwise.where(is_small, 10.0, mean), is_small, seed)
    return elementwise.where(is_small, small, large)


def _poisson_by_inversion(mean, seed):
    """The first number whose cumulative probability exceeds a uniform one; for means below 10."""
    u = draw("rng_uniform", seed, (), "f64")

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
        u = draw("rng_uniform", seed, (), "f64") - 0.5
        v = draw("rng_uniform", seed, (), "f64")
        side = 0.5 - elementwise.abs(u)
        number = elementwise.floor((2 * a / side + b) * u + mean + 0.43)
        height = elementwise.log(v * scale / (a / (side * side) + b))
        accepted = height <= _log_poisson(number, mean)
        accepted = ((side >= 0.07) & (v <= quick)) | (accepted & ((side >= 0.013) | (v <= side)))
        return accepted & (number >= 0), number

    return carried.while_loop(lambda state: ~state[0], attempt, (is_done, mean))[1]


def _binomial_of(n, p, seed):
    # The rarer outcome is counted.
    rare = elementwise.minimum(p, 1 - p)
    is_small = n * rare < 10
    small = _binomial_by_inversion(n, elementwise.where(is_small, rare, 0.0), seed)
    usual = elementwise.where(is_small, 0.5, rare)
    trials = elementwise.where(is_small, 20.0, n)
    large = _binomial_by_rejection(trials, usual, is_small, seed)
    number = elementwise.where(is_small, small, large)
    return elementwise.where(p > 0.5, n - number, number)


def _binomial_by_inversion(n, p, seed):
    """The first number whose cumulative probability exceeds a uniform one; for means below 10."""
    u = draw("rng_uniform", seed, (), "f64")
    odds = p / (1 - p)

    def step(state):
        number, probability, below = state
        probability = probability * odds * (n - number) / (number + 1)
        return number + 1, probability, below + probability

    # Beyond 128 there is less than the last digit of the sum.
    first = elementwise.exp(n * elementwise.log1p(-p))
    start = (core.scalar(0.0, "f64"), first, first)
    last = elementwise.minimum(n, 128.0)
    return carried.while_loop(lambda state: (u >= state[2]) & (state[0] < last), step, start)[0]


def _binomial_by_rejection(n, p, is_done, seed):
    """BTRS, for p up to 1/2 and means from 10 on, with the paper's constants; no trip where
    `is_done`.
    """
    mean, other = n * p, n * (1 - p)
    spread = elementwise.sqrt(mean * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    scale = (2.83 + 5.1 / b) * spread
    quick = 0.92 - 4.2 / b

    def log_chance(number):
        # That both of two Poisson numbers are these, given their sum, without what is constant.
        return _log_poisson(number, mean) + _log_poisson(n - number, other)

    highest = log_chance(elementwise.floor((n + 1) * p))

    def attempt(_):
        u = draw("rng_uniform", seed, (), "f64") - 0.5
        v = draw("rng_uniform", seed, (), "f64")
        side = 0.5 - elementwise.abs(u)
        number = elementwise.floor((2 * a / side + b) * u + mean + 0.5)
        is_inside = (number >= 0) & (number <= n)
        number = elementwise.clip(number, 0.0, n)
        height = elementwise.log(v * scale / (a / (side * side) + b))
        accepted = ((side >= 0.07) & (v <= quick)) | (height <= log_chance(number) - highest)
        return accepted & is_inside, number

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
