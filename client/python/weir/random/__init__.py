"""Random numbers by counters: a draw is a pure function of its seed and of where it stands, never
of a hidden state.

Each function takes `seed`, a Python integer or an integer scalar of the program. In one traced
function the draws of one seed are numbered, so two of them differ; tracing the function again gives
the same numbers. Inside of loops the iteration is part of the place: iterations draw different
numbers, the same ones in `weir.pfor`, `weir.vmap` and `weir.for_loop`, whatever the chunks, workers
and the number of iterations.
"""

from weir.random.composed import (
    ball,
    beta,
    cauchy,
    chisquare,
    dirichlet,
    double_sided_maxwell,
    f,
    generalized_normal,
    laplace,
    loggamma,
    logistic,
    lognormal,
    maxwell,
    multinomial,
    multivariate_normal,
    negative_binomial,
    orthogonal,
    rademacher,
    student_t,
    wald,
)
from weir.random.rejection import binomial, gamma, poisson
from weir.random.simple import (
    bernoulli,
    bits,
    categorical,
    choice,
    exponential,
    geometric,
    gumbel,
    normal,
    pareto,
    permutation,
    randint,
    rayleigh,
    triangular,
    truncated_normal,
    uniform,
    weibull,
)

__all__ = (
    "ball bernoulli beta binomial bits categorical cauchy chisquare choice dirichlet"
    " double_sided_maxwell exponential f gamma generalized_normal geometric gumbel laplace"
    " loggamma logistic lognormal maxwell multinomial multivariate_normal negative_binomial normal"
    " orthogonal pareto permutation poisson rademacher randint rayleigh student_t triangular"
    " truncated_normal uniform wald weibull"
).split()
