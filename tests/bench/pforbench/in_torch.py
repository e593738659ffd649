"""Rows in the words of PyTorch: `torch.func.vmap`, compiled where that works.

There is no loop or branch that depends on an example: loops run to their bound with a mask, and
both sides of a branch run.
"""

import torch
import torch.nn.functional as nn

# Loops are unrolled; compiling one of 13 trips does not end within minutes.
COMPILED_TRIPS = 8


class Framework:
    """The words of rows, and how programs run."""

    name = "torch"
    channels_last = False
    version = str(torch.__version__)
    tanh = staticmethod(torch.tanh)
    sigmoid = staticmethod(torch.sigmoid)
    relu = staticmethod(torch.relu)
    linalg = torch.linalg
    fft = torch.fft
    sum = staticmethod(torch.sum)
    jacobian = staticmethod(torch.func.jacrev)
    hessian = staticmethod(torch.func.hessian)

    def __init__(self, threads):
        torch.set_num_threads(threads)

    def close(self):
        pass

    def solve_triangular(self, a, b):
        return torch.linalg.solve_triangular(a, b, upper=False)

    def lu(self, x):
        return torch.linalg.lu_factor(x)[0]

    def grad(self, function, argnums):
        return torch.func.grad(function, tuple(argnums))

    def split(self, x, parts):
        return torch.chunk(x, parts, dim=-1)

    def conv(self, x, kernel, bias):
        return nn.conv2d(x, kernel, bias, padding=kernel.shape[-1] // 2)

    def max_pool(self, x):
        return nn.max_pool2d(x, 2)

    def flatten(self, x):
        return x.reshape(1, -1)

    def at(self, xs, t):
        return xs[t]

    def put(self, xs, t, x):
        places = torch.arange(xs.shape[0]).reshape(-1, *[1] * x.dim())
        return torch.where(places == t, x, xs)

    def concat(self, parts):
        return torch.cat(parts, dim=-1)

    def cond(self, holds, then, otherwise, x):
        return torch.where(holds, then(x), otherwise(x))

    def choose(self, holds, then, otherwise, xs):
        return _masked(holds, then(*xs), otherwise(*xs))

    def while_loop(self, cond, body, carry, bound):
        carry = tuple(torch.as_tensor(x) for x in carry)
        for _ in range(bound):
            carry = _masked(cond(*carry), body(*carry), carry)
        return carry

    def fori(self, trips, body, carry, bound):
        carry = tuple(torch.as_tensor(x) for x in carry)
        for t in range(bound):
            carry = _masked(trips > t, body(t, *carry), carry)
        return carry

    def scan(self, step, carry, xs):
        carry = tuple(torch.as_tensor(x) for x in carry)
        for x in xs.unbind():
            carry = step(x, *carry)
        return carry

    def compile(self, row):
        """Returns: a `Program`."""
        return Program(row)


def _masked(holds, new, old):
    return tuple(torch.where(holds, a, b) for a, b in zip(new, old))


class Program:
    """One row, compiled if it can be; its arrays are PyTorch's already."""

    def __init__(self, row):
        axes = (0,) * len(row.mapped) + (None,) * len(row.shared)
        self._arrays = [torch.tensor(x) for x in row.mapped + row.shared]
        plain = torch.func.vmap(row.example, in_dims=axes)
        self.notes, self.facts = [], {}
        self._function = plain
        if row.bound > COMPILED_TRIPS:
            self.notes = [f"not compiled: a loop of {row.bound} trips is unrolled"]
            return
        torch._dynamo.reset()
        self._function = torch.compile(plain, dynamic=False)
        try:
            self.run()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            self.notes = [f"not compiled: {reason[:100]}"]
            self._function = plain

    def run(self):
        with torch.no_grad():
            return self._function(*self._arrays)

    def results(self):
        out = self.run()
        return [x.numpy() for x in (out if isinstance(out, (tuple, list)) else [out])]
