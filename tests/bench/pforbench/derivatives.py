"""Rows that take derivatives of each example: gradients by weights, jacobians and hessians."""

import numpy as np

from pforbench.images import DIGITS
from pforbench.recurrent import Lstm
from pforbench.row import Row


class DenseGradients(Row):
    """Gradients of a network of three dense layers of 32, as in the pfor paper's benchmarks."""

    name = "gradients-dense"
    sizes = (128, 1024)
    quick_sizes = (1, 3)

    def build(self):
        self.mapped = [self.normal(self.n, 1, 32)]
        self.shared = [x for _ in range(3) for x in (self.weights(32, 32), self.normal(32))]

    def example(self, x, *weights):
        def loss(*weights):
            return self.f.sum(_dense(self.f, x, weights) ** 2)

        return self.f.grad(loss, range(len(weights)))(*weights)


class ConvGradients(Row):
    """Gradients of two convolutions with pooling and a dense layer, of scanned digits."""

    name = "gradients-cnn"
    sizes = (16, 256)
    quick_sizes = (1, 3)

    def build(self):
        images = np.load(DIGITS / "image.npy")[: self.n]
        kernels = [self.normal(16, 1, 3, 3, scale=0.3), self.normal(32, 16, 3, 3, scale=0.1)]
        if self.f.channels_last:
            images = np.moveaxis(images, 2, -1)
            kernels = [np.ascontiguousarray(np.transpose(k, (2, 3, 1, 0))) for k in kernels]
        self.mapped = [np.ascontiguousarray(images)]
        self.shared = [kernels[0], self.normal(16), kernels[1], self.normal(32)]
        self.shared += [self.weights(128, 10), self.normal(10)]

    def example(self, x, *weights):
        f = self.f

        def loss(kernel1, bias1, kernel2, bias2, dense, offset):
            y = f.max_pool(f.tanh(f.conv(x, kernel1, bias1)))
            y = f.max_pool(f.tanh(f.conv(y, kernel2, bias2)))
            return f.sum((f.flatten(y) @ dense + offset) ** 2)

        gradients = list(f.grad(loss, range(len(weights)))(*weights))
        if f.channels_last:
            for place in (0, 2):
                gradients[place] = f.transpose(gradients[place], (3, 2, 0, 1))
        return tuple(gradients)


class LstmGradients(Lstm):
    """Gradients of an LSTM of 10 steps by its weights."""

    name = "gradients-lstm"
    sizes = (16,)
    quick_sizes = (1, 3)

    def build(self):
        super().build()
        self.flops = 0

    def example(self, xs, *weights):
        def loss(*weights):
            return self.f.sum(super(LstmGradients, self).example(xs, *weights) ** 2)

        return self.f.grad(loss, range(len(weights)))(*weights)


class Jacobians(Row):
    """Jacobians of two dense layers of 128 by the input."""

    name = "jacobian"
    sizes = (16, 128)
    quick_sizes = (1, 3)

    def build(self):
        self.mapped = [self.normal(self.n, 1, 128)]
        self.shared = [x for _ in range(2) for x in (self.weights(128, 128), self.normal(128))]

    def example(self, x, *weights):
        return self.f.jacobian(lambda x: _dense(self.f, x, weights))(x)


class Hessians(Row):
    """Hessians of a network with layers of 32 by the input."""

    name = "hessian"
    sizes = (16, 128)
    quick_sizes = (1, 3)

    def build(self):
        self.mapped = [self.normal(self.n, 1, 32)]
        self.shared = [x for _ in range(2) for x in (self.weights(32, 32), self.normal(32))]

    def example(self, x, *weights):
        return self.f.hessian(lambda x: self.f.sum(_dense(self.f, x, weights) ** 2))(x)


def _dense(f, x, weights):
    for kernel, bias in zip(weights[::2], weights[1::2]):
        x = f.tanh(x @ kernel + bias)
    return x


ROWS = (DenseGradients, ConvGradients, LstmGradients, Jacobians, Hessians)
