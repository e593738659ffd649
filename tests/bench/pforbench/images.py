"""Rows that look at images: [1, channels, height, width] each, or [1, height, width, channels] for
the frameworks that want it so.
"""

import pathlib

import numpy as np

from pforbench.row import Row

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "data" / "digits"


class Network(Row):
    """Two convolutions with pooling, and two dense layers."""

    sizes = (1, 16, 256)
    quick_sizes = (1, 3)

    def count(self, size, channels, kernel, dense):
        """Counts the operations of images of [size, size] through convolutions between `channels`
        and dense layers between `dense`.
        """
        for inputs, outputs in zip(channels, channels[1:]):
            self.flops += 2 * size * size * kernel * kernel * inputs * outputs
            size //= 2
        self.flops += sum(2 * inputs * outputs for inputs, outputs in zip(dense, dense[1:]))

    def set_up(self, images, kernels, biases, dense):
        """Takes images [n, 1, c, h, w], kernels [o, c, h, w], and dense weights and biases."""
        if self.f.channels_last:
            images = np.moveaxis(images, 2, -1)
            kernels = [np.transpose(k, (2, 3, 1, 0)) for k in kernels]
        self.mapped = [np.ascontiguousarray(images)]
        pairs = [x for pair in zip(kernels, biases) for x in pair]
        self.shared = [np.ascontiguousarray(x) for x in pairs + dense]

    def example(self, x, kernel1, bias1, kernel2, bias2, dense1, offset1, dense2, offset2):
        f = self.f
        x = f.max_pool(f.relu(f.conv(x, kernel1, bias1)))
        x = f.max_pool(f.relu(f.conv(x, kernel2, bias2)))
        x = f.relu(f.flatten(x) @ dense1 + offset1)
        return x @ dense2 + offset2


class Digits(Network):
    """The trained model: Weir runs the ONNX file, the others its layers with its weights."""

    name = "digits-cnn"

    def build(self):
        images = np.load(DIGITS / "image.npy")[: self.n]
        self.count(8, (1, 16, 32), 3, (128, 64, 10))
        if self.f.name == "weir":
            import weir

            self.mapped = [images]
            self.example = weir.load_onnx(DIGITS / "cnn.onnx")
            return
        import onnx
        from onnx import numpy_helper

        tensors = onnx.load(DIGITS / "cnn.onnx").graph.initializer
        k1, b1, k2, b2, w1, o1, w2, o2 = (numpy_helper.to_array(x) for x in tensors)
        self.set_up(images, [k1, k2], [b1, b2], [w1.T, o1, w2.T, o2])


class Mnist(Network):
    """Images of 28 x 28, 5 x 5 kernels to 32 and 64 channels, dense layers of 1024 and 10."""

    name = "mnist-cnn"

    def build(self):
        images = self.normal(self.n, 1, 1, 28, 28)
        kernels = [self.normal(32, 1, 5, 5, scale=0.2), self.normal(64, 32, 5, 5, scale=0.05)]
        biases = [self.normal(32, scale=0.1), self.normal(64, scale=0.1)]
        dense = [self.weights(3136, 1024), self.normal(1024, scale=0.1)]
        dense += [self.weights(1024, 10), self.normal(10, scale=0.1)]
        self.count(28, (1, 32, 64), 5, (3136, 1024, 10))
        self.set_up(images, kernels, biases, dense)


ROWS = (Digits, Mnist)
