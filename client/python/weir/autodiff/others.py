"""Ops without derivatives that have no group of their own: random numbers, state, and what only
compiled programs contain.
"""

from weir.autodiff.rules import refused, zero

zero(
    "rng_bits rng_uniform rng_normal rng_fold",
    "random numbers depend on a key, which is no float; what is made of them has derivatives in"
    " its parameters",
)
zero("read_variable", "the value of a variable is a constant; differentiate a function of it")
zero("update_variable assign_variable check print", "it has no result")
refused(
    "while_rows case_rows ragged_rows shard", "programs before vectorization do not contain it"
)
