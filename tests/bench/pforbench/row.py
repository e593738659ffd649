"""What a row of the table is."""

import numpy as np


class Row:
    """A function of one example, and the examples.

    Attributes:
      name: how the row is called.
      sizes, quick_sizes: numbers of examples.
      batched: whether `example` takes leading axes, so that a framework without `vmap` can run it.
      f: the framework whose words `example` uses.
      n: the number of examples.
      mapped: list of arrays whose leading axis counts the examples.
      shared: list of arrays that all examples share.
      bound: the most trips of a loop in an example; 0 where there is no loop.
      flops: floating-point operations of the products of an example, for rows that are held against
        the machine's limit; 0 for others.
    """

    name = ""
    sizes = ()
    quick_sizes = ()
    batched = False

    def __init__(self, f, n):
        self.f = f
        self.n = n
        self.mapped, self.shared, self.bound = [], [], 0
        self.flops = 0
        # The numbers of this generator are the same in all versions of NumPy.
        self.random = np.random.RandomState(n + 1)
        self.build()

    def build(self):
        """Fills the other attributes."""
        raise NotImplementedError

    def example(self, *arrays):
        """Returns: the result of one example; takes its parts of `mapped`, then `shared`."""
        raise NotImplementedError

    @staticmethod
    def comparable(results):
        """Returns: what all frameworks must agree in."""
        return results

    def normal(self, *shape, scale=1.0):
        """Returns: f32 numbers with this standard deviation."""
        return (self.random.standard_normal(shape) * scale).astype(np.float32)

    def weights(self, inputs, outputs):
        """Returns: a matrix that keeps the size of what it is multiplied with."""
        return self.normal(inputs, outputs, scale=inputs**-0.5)
