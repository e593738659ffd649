"""A model in a stream: scanned digits arrive in small batches and are classified as they come.

The digit of each image is what a convolutional network, read from an ONNX file and written for one
image, makes of it. Labels arrive in a stream of their own and meet their images by number; each
epoch gives the accuracy so far, and the images that were read wrongly.

    PYTHONPATH=build/release/python python3 client/examples/streaming_model.py
"""

import os
import pathlib

import numpy as np

import weir
import weir.numpy as wnp

_DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data"
DIGITS = pathlib.Path(os.environ.get("WEIR_TEST_DATA", _DATA)) / "digits"
FIRST = 1397  # of the images that the model was not trained on


def build():
    flow = weir.Flow("digits")
    images = flow.input("images", "i64", "f32[1,1,8,8]")
    labels = flow.input("labels", "i64", "i64")
    model = weir.load_onnx(DIGITS / "cnn.onnx")

    def read(number, image):
        return number, wnp.argmax(model(image)[0]).astype("i64")

    met = images.map(read).join(labels, keys=1)
    right = met.map(lambda number, digit, label: wnp.where(digit == label, 1.0, 0.0))
    right.reduce_by_key(keys=0, combine="mean", state="job").output("accuracy")
    met.filter(lambda number, digit, label: digit != label).output("wrong")
    return flow


def batches(images=400, size=50):
    """Returns: inputs of the flow, an epoch for each batch."""
    numbers = np.arange(FIRST, FIRST + images)
    pixels = np.load(DIGITS / "image.npy")[numbers]
    labels = np.load(DIGITS / "labels.npy")[numbers]
    cuts = [slice(begin, begin + size) for begin in range(0, images, size)]
    return {
        "images": [(epoch, (numbers[cut], pixels[cut])) for epoch, cut in enumerate(cuts)],
        "labels": [(epoch, (numbers[cut], labels[cut])) for epoch, cut in enumerate(cuts)],
    }


def check(results, inputs):
    logits = np.load(DIGITS / "cnn_logits.npy")[:, 0]
    seen, right = 0, 0
    for epoch, (numbers, labels) in inputs["labels"]:
        digits = logits[numbers].argmax(1)
        wrong = digits != labels
        seen, right = seen + len(labels), right + (~wrong).sum()
        if epoch in results["accuracy"]:  # nothing comes out where it is what it was
            (accuracy,) = results["accuracy"][epoch]
        assert accuracy[0] == np.float32(right / seen)
        found = results["wrong"].get(epoch, ([], [], []))
        assert sorted(zip(*found)) == sorted(zip(numbers[wrong], digits[wrong], labels[wrong]))


def main():
    inputs = batches()
    results = build().run(inputs)
    check(results, inputs)
    for epoch, (numbers, _) in inputs["labels"]:
        if epoch in results["accuracy"]:
            (accuracy,) = results["accuracy"][epoch]
        print(f"epoch {epoch}: {len(numbers)} images, accuracy so far {accuracy[0]:.4f}")
        for number, digit, label in zip(*results["wrong"].get(epoch, ([], [], []))):
            print(f"  image {number} is a {label} and was read as {digit}")
    print("as the model gives it image by image")


if __name__ == "__main__":
    main()
