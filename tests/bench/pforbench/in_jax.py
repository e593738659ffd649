"""Rows in the words of JAX: `jit(vmap)`."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Framework:
    """The words of rows, and how programs run."""

    name = "jax"
    channels_last = True
    version = jax.__version__
    tanh = staticmethod(jnp.tanh)
    sigmoid = staticmethod(jax.nn.sigmoid)
    relu = staticmethod(jax.nn.relu)
    linalg = jnp.linalg
    fft = jnp.fft
    sum = staticmethod(jnp.sum)
    transpose = staticmethod(jnp.transpose)
    jacobian = staticmethod(jax.jacrev)
    hessian = staticmethod(jax.hessian)

    def __init__(self, threads):
        """XLA takes as many threads as the process has processors."""

    def close(self):
        pass

    def solve_triangular(self, a, b):
        return jax.scipy.linalg.solve_triangular(a, b, lower=True)

    def lu(self, x):
        return lax.linalg.lu(x)[0]

    def grad(self, function, argnums):
        return jax.grad(function, tuple(argnums))

    def split(self, x, parts):
        return jnp.split(x, parts, axis=-1)

    def conv(self, x, kernel, bias):
        names = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=names) + bias

    def max_pool(self, x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def flatten(self, x):
        return x.transpose(0, 3, 1, 2).reshape(1, -1)

    def at(self, xs, t):
        return xs[t]

    def put(self, xs, t, x):
        return jnp.asarray(xs).at[t].set(x)

    def concat(self, parts):
        return jnp.concatenate(parts, axis=-1)

    def cond(self, holds, then, otherwise, x):
        return lax.cond(holds, then, otherwise, x)

    def choose(self, holds, then, otherwise, xs):
        return lax.cond(holds, then, otherwise, *xs)

    def while_loop(self, cond, body, carry, bound):
        return lax.while_loop(lambda c: cond(*c), lambda c: body(*c), carry)

    def fori(self, trips, body, carry, bound):
        return lax.fori_loop(0, trips, lambda t, c: body(t, *c), carry)

    def scan(self, step, carry, xs):
        return lax.scan(lambda c, x: (step(x, *c), None), carry, xs)[0]

    def compile(self, row):
        """Returns: a `Program`."""
        return Program(row)


class Program:
    """One row, compiled; its arrays are JAX's already."""

    def __init__(self, row):
        axes = (0,) * len(row.mapped) + (None,) * len(row.shared)
        self._arrays = [jnp.asarray(x) for x in row.mapped + row.shared]
        self._function = jax.jit(jax.vmap(row.example, in_axes=axes))
        self.notes, self.facts = [], {}

    def run(self):
        return jax.block_until_ready(self._function(*self._arrays))

    def results(self):
        return [np.asarray(x) for x in jax.tree.leaves(self.run())]
