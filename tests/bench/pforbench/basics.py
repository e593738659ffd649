"""Rows without control flow of their own."""

from pforbench.row import Row


class Elementwise(Row):
    """A sum, which takes as long as memory does."""

    name = "elementwise"
    batched = True
    sizes = (256,)
    quick_sizes = (16,)

    def build(self):
        self.mapped = [self.normal(self.n, 1000), self.normal(self.n, 1000)]

    def example(self, x, y):
        return x + y


class Matmul(Row):
    """A product with a matrix that all examples share."""

    name = "matmul"
    batched = True
    sizes = (1024,)
    quick_sizes = (16,)

    def build(self):
        self.mapped = [self.normal(self.n, 1, 1000)]
        self.shared = [self.weights(1000, 1000)]
        self.flops = 2 * 1000 * 1000

    def example(self, x, w):
        return x @ w


class SmallBody(Row):
    """Next to nothing: what a call costs."""

    name = "small-body"
    batched = True
    sizes = (50,)
    quick_sizes = (5,)

    def build(self):
        self.mapped = [self.normal(self.n)]

    def example(self, x):
        return x * 2 + 1


ROWS = (Elementwise, Matmul, SmallBody)
