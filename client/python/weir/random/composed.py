"""Distributions made of others."""

import math

from weir import carried, core, dtypes, location
from weir.eager import operation
from weir.numpy import elementwise, linalg, products, reductions, shaping
from weir.random.keys import common_float, draw, float_name, sizes_of
from weir.random.rejection import binomial, gamma, poisson
from weir.random.simple import bernoulli, exponential, gumbel, normal, uniform




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
    name = float_name(dtype)
    return elementwise.tan((draw("rng_uniform", seed, shape, name) - 0.5) * math.pi)


@operation
def lognormal(sigma=1.0, shape=None, dtype=None, *, seed):
    """Returns: exp(sigma x) for x of the standard normal distribution; sigma broadcasts to `shape`
    (by default its own) and gives the type.
    """
    scale = core.to_dtype(sigma, float_name(dtype or dtypes.to_inexact(core.type_of(sigma)[0])))
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


@operation
def beta(a, b, shape=None, dtype=None, *, seed):
    """Returns: numbers between 0 and 1 of the beta distribution; its parameters a and b, which are
    positive, broadcast to `shape` (by default together).
    """
    name = common_float(dtype, a, b)
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
    name = common_float(dtype, alpha)
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
    name = common_float(dtype, mean, cov)
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


@operation
def loggamma(a, shape=None, dtype=None, *, seed):
    """Returns: the logarithms of `gamma` numbers, which no small a makes too small for their type;
    a broadcasts to `shape` (by default its own).
    """
    return _log_gamma(a, shape, common_float(dtype, a), seed)


@operation
def f(dfnum, dfden, shape=None, dtype=None, *, seed):
    """Returns: numbers of the F distribution, whose degrees of freedom broadcast to `shape` (by
    default together).
    """
    name = common_float(dtype, dfnum, dfden)
    extents = sizes_of(shape, dfnum, dfden)
    above = chisquare(dfnum, extents, name, seed=seed) / core.to_dtype(dfnum, name)
    return above / (chisquare(dfden, extents, name, seed=seed) / core.to_dtype(dfden, name))


@operation
def maxwell(shape=(), dtype="f32", *, seed):
    """Returns: numbers >= 0 of the Maxwell distribution, the lengths of vectors of three standard
    normal numbers.
    """
    drawn = normal((*core.canonical_shape(shape), 3), dtype, seed=seed)
    return elementwise.sqrt(reductions.sum(drawn * drawn, -1))


@operation
def double_sided_maxwell(loc, scale, shape=None, dtype=None, *, seed):
    """Returns: numbers of the Maxwell distribution with a sign, times `scale` plus `loc`, which
    broadcast to `shape` (by default together).
    """
    name = common_float(dtype, loc, scale)
    extents = sizes_of(shape, loc, scale)
    drawn = maxwell(extents, name, seed=seed) * rademacher(extents, name, seed=seed)
    return core.to_dtype(loc, name) + core.to_dtype(scale, name) * drawn


@operation
def generalized_normal(p, shape=None, dtype=None, *, seed):
    """Returns: numbers x as likely as exp(-|x|^p); p broadcasts to `shape` (by default its own)."""
    name = common_float(dtype, p)
    power = core.to_dtype(p, name)
    length = elementwise.power(gamma(1 / power, shape, name, seed=seed), 1 / power)
    return length * rademacher(length.shape, name, seed=seed)


@operation
def ball(d, p=2.0, shape=(), dtype="f32", *, seed):
    """Returns: T[shape, d], points of the ball of radius 1 in d dimensions under the norm of order
    p, each as likely.
    """
    lead = core.canonical_shape(shape)
    name = float_name(dtype)
    at = generalized_normal(p, (*lead, core.known_size(d, "d")), name, seed=seed)
    power = core.to_dtype(p, name)
    total = reductions.sum(elementwise.power(elementwise.abs(at), power), -1)
    total = total + exponential(lead, name, seed=seed)
    return at / core.expand_dims(elementwise.power(total, 1 / power), [total.ndim])


@operation
def wald(mean, shape=None, dtype=None, *, seed):
    """Draws from the Wald distribution (inverse Gaussian of scale 1), by the method of Michael,
    Schucany and Haas ("Generating random variates using transformations with multiple roots", The
    American Statistician 30(2), 1976).

    Args:
      mean: positive; broadcasts to `shape`, by default its own.
      dtype: a float type, by default that of `mean` (f32 for integers).

    Returns: positive numbers, T[shape].
    """
    name = common_float(dtype, mean)
    extents = sizes_of(shape, mean)
    mean = core.to_dtype(mean, name)
    square = elementwise.square(normal(extents, name, seed=seed)) * mean
    # The smaller root without a difference of close numbers.
    less = 2 * mean / (2 + square + elementwise.sqrt(square * (4 + square)))
    is_less = uniform(extents, name, seed=seed) * (mean + less) <= mean
    return elementwise.where(is_less, less, mean * (mean / less))


@operation
def negative_binomial(n, p, shape=None, dtype="i32", *, seed):
    """Returns: how many trials fail until n succeed, where each succeeds with probability p; they
    broadcast to `shape` (by default together). A run fails where n or p is not positive.
    """
    extents = sizes_of(shape, n, p)
    chance = core.to_dtype(p, "f64")
    rate = gamma(core.to_dtype(n, "f64"), extents, "f64", seed=seed)
    return poisson(rate * ((1 - chance) / chance), extents, dtype, seed=seed)


@operation
def multinomial(n, p, shape=None, dtype="i32", *, seed):
    """Draws how many of n trials have each of k outcomes.

    Args:
      n: numbers of trials, whole.
      p: [..., k], the probabilities of the outcomes, of which only the ratios count; n and what is
        in front of k broadcast to `shape`, by default together.
      dtype: an integer or float type.

    Returns: T[shape, k], whole numbers whose sum over the last axis is n.
    """
    weights = core.to_dtype(p, "f64")
    if not weights.ndim:
        raise ValueError(f"multinomial needs p [..., k], found a scalar ({location.text()})")
    trials = core.to_dtype(n, "f64")
    lead = core.broadcast_shapes(trials.shape, weights.shape[:-1])
    lead = lead if shape is None else core.canonical_shape(shape)
    weights = shaping.moveaxis(core.broadcast_to(weights, (*lead, weights.shape[-1])), -1, 0)
    rest = core.apply("cumsum", [weights], {"axis": 0, "reverse": True, "exclusive": False})

    def step(left, outcome):
        weight, total = outcome
        chance = elementwise.where(total > 0, elementwise.minimum(weight / total, 1), 0)
        drawn = binomial(left, chance, dtype="f64", seed=seed)
        return left - drawn, drawn

    _, counts = carried.scan(step, core.broadcast_to(trials, lead), (weights, rest))
    return core.cast(shaping.moveaxis(counts, 0, -1), dtypes.name_of(dtype))


@operation
def orthogonal(n, shape=(), dtype="f32", *, seed):
    """Returns: T[shape, n, n], orthogonal matrices, each as likely (Haar)."""
    size = core.known_size(n, "n")
    drawn = normal((*core.canonical_shape(shape), size, size), dtype, seed=seed)
    return linalg.qr(drawn)[0]
