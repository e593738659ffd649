"""Rows whose examples go ways of their own."""

import numpy as np

from pforbench.row import Row

ZERO = np.int32(0)


class InnerWhile(Row):
    """Example i takes i trips of next to nothing."""

    name = "inner-while"
    sizes = (50,)
    quick_sizes = (5,)

    def build(self):
        self.mapped = [np.arange(self.n, dtype=np.int32)]
        self.bound = self.n

    def example(self, i):
        _, total = self.f.while_loop(
            lambda t, total: t < i, lambda t, total: (t + 1, total + t), (ZERO, ZERO), self.bound
        )
        return total


class GeometricTrips(Row):
    """Each trip a product with a 256 x 256 matrix; half of the examples leave after each."""

    name = "geometric"
    sizes = (4096,)
    quick_sizes = (20,)

    def build(self):
        trips = self.random.geometric(0.5, self.n).astype(np.int32)
        self.mapped = [self.normal(self.n, 1, 256), trips]
        self.shared = [self.weights(256, 256)]
        self.bound = int(trips.max())

    def example(self, x, trips, w):
        return self.f.while_loop(
            lambda t, x: t < trips, lambda t, x: (t + 1, self.f.tanh(x @ w)), (ZERO, x), self.bound
        )[1]


class RareBranch(Row):
    """One example in a hundred takes the branch with a 256 x 256 product."""

    name = "rare-branch"
    sizes = (4096,)
    quick_sizes = (200,)

    def build(self):
        rare = self.random.permutation(self.n) < max(1, self.n // 100)
        self.mapped = [self.normal(self.n, 1, 256), rare]
        self.shared = [self.weights(256, 256)]

    def example(self, x, rare, w):
        return self.f.cond(rare, lambda x: self.f.tanh(x @ w), lambda x: x * 0.5, x)


ROWS = (InnerWhile, GeometricTrips, RareBranch)
