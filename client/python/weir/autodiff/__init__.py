"""Automatic differentiation, in reverse and forward mode.

A function is recorded while it is traced; its derivatives are ordinary operations of the program,
so that `weir.vmap`, `weir.pfor`, `weir.jit` and further derivatives take them as any others.
README.md says how.
"""

from weir.autodiff import (  # each enters its rules
    branches,
    calls,
    complexes,
    elementwise,
    fourier,
    indexing,
    loops,
    matrices,
    meetings,
    movement,
    ordering,
    others,
    products,
    reductions,
    special,
    windows,
)
from weir.autodiff.custom import custom_jvp, custom_vjp, stop_gradient
from weir.autodiff.gradients import grad, value_and_grad
from weir.autodiff.jacobians import hessian, jacfwd, jacobian, jacrev
from weir.autodiff.transforms import jvp, linearize, vjp

__all__ = (
    "custom_jvp custom_vjp grad hessian jacfwd jacobian jacrev jvp linearize stop_gradient"
    " value_and_grad vjp"
).split()
