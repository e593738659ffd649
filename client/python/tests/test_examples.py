"""The programs of client/examples run, and give what the same programs in NumPy give."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import weir

_FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples"
_NAMES = sorted(file.stem for file in _FOLDER.glob("*.py"))


def load(name):
    """Returns: an example as a module."""
    spec = importlib.util.spec_from_file_location(name, _FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", _NAMES)
def test_it_runs_as_a_script(name):
    package = pathlib.Path(weir.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, _FOLDER / f"{name}.py"],
        env={**os.environ, "PYTHONPATH": str(package)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert len(done.stdout.splitlines()) > 5


def test_beam_search():
    example = load("beam_search")
    models = example.models(20)
    scores, sentences = weir.vmap(example.search)(models)
    for model, row, beams in zip(models, scores, sentences.split()):
        np.testing.assert_allclose(row, numpy_search(example, model), rtol=1e-4, atol=1e-4)
        # The words of a beam have its score; there are others where two orders have the same.
        log_probability = log_softmax(model)
        found = [[int(word) for word in words] for words in beams.split()]
        scores_of_words = [sum(log_probability[w[:-1], w[1:]]) for w in map(np.array, found)]
        np.testing.assert_allclose(row, scores_of_words, rtol=1e-4, atol=1e-4)
        assert len(set(map(tuple, found))) == example.BEAMS
    assert {len(words) for beams in sentences.split() for words in beams.split()} > {3, 12}


def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


def numpy_search(example, logits):
    """Returns: the scores of the best sentences, descending."""
    log_probability = log_softmax(logits)
    beams = [(0.0, [example.START])]
    is_open = True
    while is_open:
        grown = []
        for score, words in beams:
            if words[-1] == example.END:
                grown.append((score, words))
                continue
            grown += [
                (score + log_probability[words[-1], word], [*words, word])
                for word in range(len(example.WORDS))
            ]
        beams = sorted(grown, key=lambda beam: -beam[0])[: example.BEAMS]
        is_open = any(words[-1] != example.END for _, words in beams)
        is_open = is_open and max(len(words) for _, words in beams) < example.LONGEST
    return [score for score, _ in beams]


def test_ray_marching():
    example = load("ray_marching")
    rays = example.directions()[::4, ::4].reshape(-1, 3)
    brightness, steps = weir.vmap(example.shade)(rays)
    centres = np.float64([[-0.7, 0.0, 4.0], [0.7, 0.3, 4.0]])

    def distance(point):
        balls = np.linalg.norm(point - centres, axis=1) - 1
        return min(-np.log(np.exp(-8 * balls).sum()) / 8, point[1] + 1)

    hits = 0
    for ray, light, count in zip(rays.astype(np.float64), brightness, steps):
        travelled, gap, trips = 0.0, distance(np.zeros(3)), 0
        while gap > example.CLOSE and travelled < example.FAR and trips < example.MOST_STEPS:
            travelled += gap
            gap, trips = distance(travelled * ray), trips + 1
        assert abs(trips - count) <= 1
        assert (light > 0) == (gap <= example.CLOSE)
        hits += light > 0
    assert 0 < hits < len(rays)


def test_markov_chains():
    example = load("markov_chains")
    last, mean, accepted, r = weir.pfor(example.chain, 1000)
    # A third of the density is the bell around -2, two thirds are the one around 3.
    assert abs(last.mean() - 4 / 3) < 0.3 and abs(mean.mean() - 4 / 3) < 0.3
    assert abs(last.std() - np.sqrt((5 + 2 * 13) / 3 - 16 / 9)) < 0.3
    assert 0.3 < accepted.mean() < 0.9 and 1 < r[0] < 1.1 and (r == r[0]).all()
    fewer = weir.pfor(example.chain, 10)
    np.testing.assert_array_equal(fewer[0], last[:10])


def test_clipped_gradients():
    """Per-example gradients by `grad` are those written by hand, and so is what they make."""
    example = load("clipped_gradients")
    images, labels = (each[:40] for each in example.digits())
    weights = example.first_weights()
    by_grad = weir.vmap(weir.grad(example.loss), in_axes=(None, 0, 0), strict=True)
    got = by_grad(weights, images, labels)
    want = [numpy_gradient(weights, x, label) for x, label in zip(images, labels)]
    want = {name: np.stack([each[name] for each in want]) for name in weights}
    for name, each in want.items():
        np.testing.assert_allclose(got[name], each, rtol=1e-4, atol=1e-5)
    squares = sum((each.reshape(40, -1) ** 2).sum(1) for each in want.values())
    factors = np.minimum(1, example.LIMIT / np.sqrt(squares))
    assert 0 < (factors < 1).sum()
    clipped = weir.jit(example.clipped_sum)
    total = clipped(weights, images, labels)
    for name, each in want.items():
        np.testing.assert_allclose(total[name], np.tensordot(factors, each, 1), atol=1e-4)
    explanation = weir.explain(clipped, weights, images, labels)
    assert not explanation.fallbacks
    assert any("f32[40,10,72], which is not made" in note for note in explanation.notes)


def numpy_gradient(weights, image, label):
    """The gradient of the example's loss, by hand."""
    (image,) = image
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
    hidden = np.tanh(np.einsum("fij,yxij->fyx", weights["filters"][:, 0], windows))
    blocks = hidden.reshape(-1, 3, 2, 3, 2).transpose(0, 1, 3, 2, 4).reshape(-1, 3, 3, 4)
    pooled = blocks.max(-1).reshape(-1)
    logits = weights["weights"] @ pooled + weights["bias"]
    by_logits = np.exp(log_softmax(logits[None])[0])
    by_logits[label] -= 1
    by_pooled = (weights["weights"].T @ by_logits).reshape(-1, 3, 3)
    by_blocks = by_pooled[..., None] * np.eye(4)[blocks.argmax(-1)]
    by_hidden = by_blocks.reshape(-1, 3, 3, 2, 2).transpose(0, 1, 3, 2, 4).reshape(hidden.shape)
    by_filters = np.einsum("fyx,yxij->fij", by_hidden * (1 - hidden**2), windows)
    return {
        "filters": by_filters[:, None],
        "weights": np.outer(by_logits, pooled),
        "bias": by_logits,
    }
