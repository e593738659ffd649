"""Training by clipped gradients: what one example may change is bounded.

The loss is that of one image. Its gradient is taken for each image of a batch, cut to a length, and
only then summed, with noise: differentially private gradient descent (Abadi et al., "Deep learning
with differential privacy", 2016). Of dense layers no gradient of a single image is ever made: its
length and its part of the sum come of the factors that it is a product of.

    PYTHONPATH=build/release/python python3 client/examples/clipped_gradients.py
"""

import os
import pathlib

import numpy as np

import weir
import weir.numpy as wnp
from weir import nn

FILTERS, CLASSES = 8, 10
BATCH, EPOCHS = 100, 6
LIMIT, NOISE, RATE = 1.0, 0.5, 1.0


def digits():
    """Returns: images f32[1797, 1, 8, 8] of scanned digits, and which digits they are."""
    repository = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(os.environ.get("WEIR_TEST_DATA", repository / "tests" / "data"))
    images = np.load(folder / "digits" / "image.npy").reshape(-1, 1, 8, 8)
    labels = np.load(folder / "digits" / "labels.npy").reshape(-1).astype(np.int64)
    return (images / images.max()).astype(np.float32), labels


def first_weights(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "filters": 0.3 * rng.standard_normal((FILTERS, 1, 3, 3), np.float32),
        "weights": 0.1 * rng.standard_normal((CLASSES, FILTERS * 9), np.float32),
        "bias": np.zeros(CLASSES, np.float32),
    }


def logits(weights, image):
    """Returns: f32[10] for one image f32[1, 8, 8]."""
    hidden = wnp.tanh(nn.conv(image[None], weights["filters"]))
    pooled = nn.max_pool(hidden, (2, 2))[0]
    return weights["weights"] @ pooled.reshape(-1) + weights["bias"]


def loss(weights, image, label):
    return nn.softmax_cross_entropy_with_integer_labels(logits(weights, image), label)


def clipped_sum(weights, images, labels):
    """Returns: the sum of the gradients of all images, each at most LIMIT long."""

    def one(image, label):
        gradient = weir.grad(loss)(weights, image, label)
        squares = sum(wnp.sum(part**2) for part in weir.tree.leaves(gradient))
        factor = wnp.minimum(1.0, LIMIT / wnp.sqrt(squares))
        return weir.tree.map(lambda part: weir.psum(factor * part), gradient)

    return weir.vmap(one, out_axes=None)(images, labels)


@weir.jit
def step(weights, images, labels, seed):
    """Returns: the weights after one batch."""

    def moved(weight, total):
        noise = NOISE * LIMIT * weir.random.normal(total.shape, seed=seed)
        return weight - RATE / images.shape[0] * (total + noise)

    return weir.tree.map(moved, weights, clipped_sum(weights, images, labels))


@weir.jit
def accuracy(weights, images, labels):
    return wnp.mean(weir.vmap(lambda x: wnp.argmax(logits(weights, x)))(images) == labels)


@weir.jit
def sensitivity(weights, image):
    """Returns: how the logits change with the pixels, f32[10, 8, 8]."""
    return weir.jacobian(lambda x: logits(weights, x))(image)[:, 0]


def main():
    images, labels = digits()
    train, test = (images[:1500], labels[:1500]), (images[1500:], labels[1500:])
    weights = first_weights()
    for epoch in range(EPOCHS):
        for i in range(0, len(train[0]), BATCH):
            batch = (each[i : i + BATCH] for each in train)
            weights = step(weights, *batch, np.int64(1000 * epoch + i))
        print(f"epoch {epoch}: {100 * accuracy(weights, *test):.1f} % of the test images are right")
    print(f"\nwhat makes an image more of a {test[1][0]}:")
    for row in sensitivity(weights, test[0][0])[test[1][0]]:
        print("".join("+" if pixel > 0.1 else "-" if pixel < -0.1 else " " for pixel in row))


if __name__ == "__main__":
    main()
