"""Online training: a network learns to read scanned digits while they stream in.

Each epoch is one mini-batch, in parts that workers share. Every part reads the weights, a variable
of the flow; the gradients of all parts are summed and come back to the variable IN_FLIGHT epochs
later, so that many mini-batches are under way together, each with weights that are as old as that.
How old they are follows from virtual time, not from who is fast: the weights have the same bits on
any number of workers as those of a loop that takes one mini-batch after the other.

    PYTHONPATH=build/release/python python3 client/examples/online_training.py
"""

import os
import pathlib

import numpy as np

import weir
import weir.numpy as wnp

_DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data"
DIGITS = pathlib.Path(os.environ.get("WEIR_TEST_DATA", _DATA)) / "digits"
PARTS = 4  # of a mini-batch
EXAMPLES = 8  # of a part
HIDDEN = 32
IN_FLIGHT = 3
RATE = 0.2
LEARNED_FROM = 1397  # of the images; the others are for measuring


def first_weights():
    rng = np.random.default_rng(1)
    return (
        rng.normal(0, 0.1, (64, HIDDEN)).astype("f4"),
        np.zeros(HIDDEN, "f4"),
        rng.normal(0, 0.1, (HIDDEN, 10)).astype("f4"),
        np.zeros(10, "f4"),
    )


def learn(weights, gradients):
    step = RATE / (PARTS * EXAMPLES)
    return tuple(weight - step * gradient for weight, gradient in zip(weights, gradients))


def look(image, label, inner, inner_bias, outer, outer_bias):
    """Returns: of one digit the loss, whether it is read rightly, and the gradients."""
    hidden = wnp.tanh(image @ inner + inner_bias)
    logits = hidden @ outer + outer_bias
    powers = wnp.exp(logits - wnp.max(logits))
    probabilities = powers / wnp.sum(powers)
    is_label = wnp.arange(10) == label
    loss = -wnp.log(wnp.sum(wnp.where(is_label, probabilities, 0.0)))
    right = (wnp.argmax(logits) == label).astype("i64")
    to_logits = probabilities - wnp.where(is_label, 1.0, 0.0)
    to_hidden = (outer @ to_logits) * (1 - hidden * hidden)
    return (
        loss,
        right,
        wnp.outer(image, to_hidden),
        to_hidden,
        wnp.outer(hidden, to_logits),
        to_logits,
    )


def look_at_part(part, images, labels, *weights):
    """Returns: the sums of what `look` gives for each digit of a part."""
    each = weir.vmap(lambda image, label: look(image, label, *weights))(images, labels)
    return tuple(wnp.sum(column, axis=0) for column in each)


def build(in_flight=IN_FLIGHT):
    flow = weir.Flow("online_training")
    parts = flow.input("parts", "i64", f"f32[{EXAMPLES},64]", f"i64[{EXAMPLES}]")
    gradients = flow.delayed([("f32", w.shape) for w in first_weights()], epochs=in_flight)
    reading = parts.variable(gradients, init=first_weights, assign=learn, name="weights")
    seen = reading.exchange(keys=1).map(look_at_part)
    total = seen.reduce_by_key(keys=0, combine="sum")
    gradients.set(total.map(lambda loss, right, *gradients: gradients))
    total.map(lambda loss, right, *gradients: (loss, right)).output("progress")
    of_first = reading.filter(lambda part, *columns: part == 0)
    of_first.map(lambda part, images, labels, *weights: weights).output("weights_read")
    return flow


def batches(epochs=120, seed=0):
    """Returns: inputs of the flow, a mini-batch for each epoch."""
    images = np.load(DIGITS / "image.npy").reshape(-1, 64)
    labels = np.load(DIGITS / "labels.npy")
    rng = np.random.default_rng(seed)
    inputs = []
    for epoch in range(epochs):
        chosen = rng.choice(LEARNED_FROM, (PARTS, EXAMPLES), replace=False)
        inputs.append((epoch, (np.arange(PARTS), images[chosen], labels[chosen])))
    return {"parts": inputs}


def one_after_the_other(inputs, in_flight=IN_FLIGHT):
    """The same training as a plain loop in NumPy, in f64.

    Yields: for each mini-batch the weights that it reads, the loss and how many are read rightly.
    """
    weights = [weight.astype("f8") for weight in first_weights()]
    gradients = {}
    for epoch, (_, images, labels) in inputs["parts"]:
        if epoch - in_flight in gradients:
            weights = learn(weights, gradients.pop(epoch - in_flight))
        images, labels = images.reshape(-1, 64).astype("f8"), labels.ravel()
        inner, inner_bias, outer, outer_bias = weights
        hidden = np.tanh(images @ inner + inner_bias)
        logits = hidden @ outer + outer_bias
        powers = np.exp(logits - logits.max(1, keepdims=True))
        probabilities = powers / powers.sum(1, keepdims=True)
        of_label = np.arange(10) == labels[:, None]
        to_logits = probabilities - of_label
        to_hidden = to_logits @ outer.T * (1 - hidden**2)
        gradients[epoch] = (
            images.T @ to_hidden,
            to_hidden.sum(0),
            hidden.T @ to_logits,
            to_logits.sum(0),
        )
        yield weights, -np.log(probabilities[of_label]).sum(), (logits.argmax(1) == labels).sum()


def accuracy(weights):
    """Returns: how many of the images that nothing was learned from are read rightly."""
    inner, inner_bias, outer, outer_bias = weights
    images = np.load(DIGITS / "image.npy").reshape(-1, 64)[LEARNED_FROM:]
    logits = np.tanh(images @ inner + inner_bias) @ outer + outer_bias
    return (logits.argmax(1) == np.load(DIGITS / "labels.npy")[LEARNED_FROM:]).mean()


def weights_at(results, epoch):
    return [column[0] for column in results["weights_read"][epoch]]


def check(results, inputs, in_flight=IN_FLIGHT):
    wanted = one_after_the_other(inputs, in_flight)
    for (epoch, _), (weights, loss, right) in zip(inputs["parts"], wanted, strict=True):
        for found, weight in zip(weights_at(results, epoch), weights, strict=True):
            np.testing.assert_allclose(found, weight, atol=1e-4)
        (found_loss,), (found_right,) = results["progress"][epoch]
        assert abs(found_loss - loss) < 1e-2 and abs(found_right - right) <= 1


def main():
    inputs = batches()
    results = build().run(inputs)
    check(results, inputs)
    last = inputs["parts"][-1][0]
    for epoch in range(0, last + 1, 20):
        (loss,), (right,) = results["progress"][epoch]
        digits = PARTS * EXAMPLES
        print(f"mini-batch {epoch}: loss {loss / digits:.3f}, {right} of {digits} read rightly")
    before, after = (accuracy(weights_at(results, epoch)) for epoch in (0, last))
    print(f"of the other images {before:.3f} were read rightly before, {after:.3f} afterwards")
    assert after > 0.85
    print(f"as in a loop, with weights that are {IN_FLIGHT} mini-batches old")


if __name__ == "__main__":
    main()
