"""The flows of client/examples: each gives what its own plain computation gives, and on any number
of workers, again and again, the records of the sequential executor, bit for bit but for one.
"""

import numpy as np
import pytest
from test_examples import load

import weir

# Inputs small enough for the sequential executor.
SMALL = {
    "word_count": lambda example: example.numbered(example.VERSES)[0],
    "bfs": lambda example: example.random_graphs(nodes=30, edges=40, epochs=3),
    "shortest_paths": lambda example: example.random_graphs(nodes=20, edges=60),
    "connected_components": lambda example: example.random_edges(nodes=40, edges=8, epochs=4),
    "pagerank": lambda example: example.random_updates(nodes=8, edges=16, changes=2, epochs=3),
    "kmeans": lambda example: example.random_points(points=40),
    "online_training": lambda example: example.batches(epochs=8),
    "escape_times": lambda example: example.rows_of_points(width=20, height=3),
    "streaming_model": lambda example: example.batches(images=6, size=2),
    "sliding_window_anomalies": lambda example: example.random_readings(2, 20, 4),
}

# Products of matrices in f32: kernels add up in another order than the sequential executor, the
# same on each cluster (below).
ADDED_UP_OTHERWISE = {"online_training"}


def multisets(results):
    """Returns: {output: {epoch: sorted (bytes of the columns, weight)}}."""
    return {
        name: {
            epoch: sorted(
                (tuple(row.tobytes() for row in record), weight)
                for *record, weight in zip(*records, records.weights.tolist())
            )
            for epoch, records in epochs.items()
        }
        for name, epochs in results.items()
    }


@pytest.fixture(scope="module")
def wanted():
    """Returns: a function from a name to (example, inputs, results), computed once."""
    known = {}

    def find(name):
        if name not in known:
            example = load(name)
            inputs = SMALL[name](example)
            known[name] = example, inputs, example.build().run_sequentially(inputs)
        return known[name]

    return find


@pytest.mark.parametrize("name", SMALL)
def test_the_sequential_executor(name, wanted):
    example, inputs, results = wanted(name)
    assert any(epochs for epochs in results.values())
    example.check(results, inputs)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_clusters(name, workers, wanted):
    example, inputs, results = wanted(name)
    with weir.connect(workers=workers):
        for _ in range(3):
            found = example.build().run(inputs, timeout=300)
            example.check(found, inputs)
            if name not in ADDED_UP_OTHERWISE:
                assert multisets(found) == multisets(results)


@pytest.mark.parametrize("in_flight", [1, 4])
def test_training_has_the_bits_of_a_loop_of_the_same_functions(in_flight):
    example = load("online_training")
    inputs = example.batches(epochs=12)
    look, learn = weir.jit(example.look_at_part), weir.jit(example.learn)
    weights, gradients, read, right = example.first_weights(), {}, [], []
    for epoch, (parts, images, labels) in inputs["parts"]:
        if epoch >= in_flight:
            weights = learn(weights, gradients[epoch - in_flight])
        read.append([weight.tobytes() for weight in weights])
        seen = [look(*part, *weights) for part in zip(parts, images, labels)]
        right.append(sum(int(each[1]) for each in seen))
        # As reduce_by_key does: in f64, in the order of records.
        sums = [sum(np.float64(column) for column in columns) for columns in zip(*seen)]
        gradients[epoch] = tuple(total.astype(np.float32) for total in sums[2:])
    assert len({weights[0] for weights in read}) == 12 - in_flight + 1
    for workers in [1, 2, 3]:
        with weir.connect(workers=workers):
            results = example.build(in_flight).run(inputs, timeout=300)
        for epoch in range(12):
            found = example.weights_at(results, epoch)
            assert [weight.tobytes() for weight in found] == read[epoch]
            assert results["progress"][epoch][1][0] == right[epoch]


def test_a_check_finds_what_is_wrong(wanted):
    for name in SMALL:
        example, inputs, results = wanted(name)
        output = next(name for name, epochs in results.items() if epochs)
        fewer = {**results, output: dict(list(results[output].items())[1:])}
        with pytest.raises((AssertionError, KeyError, UnboundLocalError)):
            example.check(fewer, inputs)
