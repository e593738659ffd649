"""Rows in the words of Weir: `vmap` inside `jit`, and the loop that it is measured against."""

import numpy as np

import weir
import weir.numpy as wnp
from weir import core

# The loop is timed on at most this many examples.
LOOP_EXAMPLES = 256
PROFILES = 5


class Framework:
    """The words of rows, and how programs run."""

    name = "weir"
    channels_last = False
    version = weir.__version__
    tanh = staticmethod(wnp.tanh)
    sigmoid = staticmethod(weir.nn.sigmoid)
    relu = staticmethod(weir.nn.relu)
    linalg = wnp.linalg
    fft = wnp.fft
    sum = staticmethod(wnp.sum)
    jacobian = staticmethod(weir.jacrev)
    hessian = staticmethod(weir.hessian)

    def __init__(self, threads):
        self._session = weir.connect(workers=threads)

    def close(self):
        """Ends the cluster."""
        self._session.close()

    def solve_triangular(self, a, b):
        return wnp.linalg.solve_triangular(a, b, lower=True)

    def lu(self, x):
        return core.apply_all("lu", [x])[0]

    def grad(self, function, argnums):
        return weir.grad(function, tuple(argnums))

    def split(self, x, parts):
        return wnp.split(x, parts, axis=-1)

    def conv(self, x, kernel, bias):
        return weir.nn.conv(x, kernel, bias, padding="SAME")

    def max_pool(self, x):
        return weir.nn.max_pool(x, 2)

    def flatten(self, x):
        return x.reshape(1, -1)

    def at(self, xs, t):
        return xs[t]

    def put(self, xs, t, x):
        return xs.at[t].set(x)

    def concat(self, parts):
        return wnp.concatenate(parts, axis=-1)

    def cond(self, holds, then, otherwise, x):
        return weir.cond(holds, then, otherwise, x)

    def choose(self, holds, then, otherwise, xs):
        return weir.cond(holds, then, otherwise, *xs)

    def while_loop(self, cond, body, carry, bound):
        return weir.while_loop(lambda c: cond(*c), lambda c: body(*c), carry)

    def fori(self, trips, body, carry, bound):
        return weir.fori_loop(0, trips, lambda t, c: body(t, *c), carry)

    def scan(self, step, carry, xs):
        return weir.scan(lambda c, x: (step(x, *c), None), carry, xs)[0]

    def compile(self, row):
        """Returns: a `Program`."""
        return Program(row)


class Program:
    """One row, compiled.

    Attributes:
      notes: remarks for below the table.
      facts: figures for columns of the table.
    """

    def __init__(self, row):
        mapped, shared = row.mapped, row.shared
        axes = (0,) * len(mapped) + (None,) * len(shared)
        self._arrays = [*mapped, *shared]
        self._function = weir.jit(lambda *a: weir.vmap(row.example, in_axes=axes)(*a))
        self._prepare_loop(row)
        explanation = weir.explain(self._function, *self._arrays)
        fallbacks = sorted({each["op"] for each in explanation.fallbacks})
        self.notes = [f"one iteration after the other: {', '.join(fallbacks)}"] if fallbacks else []
        self.facts = {
            "launches": explanation.counters.get("kernel_launches", 0),
            "fallbacks": len(explanation.fallbacks),
        }

    def _prepare_loop(self, row):
        self.loop_examples = min(row.n, LOOP_EXAMPLES)
        count = len(row.mapped)

        def loop(*arrays):
            mapped, shared = arrays[:count], arrays[count:]
            return weir.for_loop(
                lambda i: row.example(*(x[i] for x in mapped), *shared), self.loop_examples
            )

        self._loop = weir.jit(loop)
        self._loop_arrays = [x[: self.loop_examples] for x in row.mapped] + row.shared

    def run(self):
        """Runs all examples at once."""
        return self._function(*self._arrays)

    def profile(self):
        """Returns: (nanoseconds of a run, those of its kernels by op), of the fastest of a few."""
        explanations = [weir.explain(self._function, *self._arrays) for _ in range(PROFILES)]
        fastest = min(explanations, key=lambda each: int(each.report["run_ns"]))
        return int(fastest.report["run_ns"]), fastest.counters["op_ns"]

    def run_loop(self):
        """Runs the first examples one after the other."""
        return self._loop(*self._loop_arrays)

    def results(self):
        """Returns: the results as a list of NumPy arrays. Raises: AssertionError if the loop gives
        other bits.
        """
        at_once = weir.tree.leaves(self.run())
        for a, b in zip(at_once, weir.tree.leaves(self.run_loop())):
            np.testing.assert_array_equal(a[: self.loop_examples], b, "for_loop gives other bits")
        return at_once
