"""PageRank of a graph whose edges come and go.

Edges arrive with weight 1 and leave with weight -1. Ranks are whole numbers of 10**-9, so that sums
are exact, and for each trip of the power iteration there is a sum by node that is kept from epoch
to epoch (state "job"). What has changed is taken back and given anew (emit "changes") and goes on
to the next trip, so an epoch costs what its edges change, and the ranks are those of an iteration
from the beginning over the edges that there are.

    PYTHONPATH=build/release/python python3 client/examples/pagerank.py
"""

import numpy as np

import weir
import weir.numpy as wnp

ONE = 10**9
TRIPS = 20


def share(rank, degree):
    """What a node gives to each node that it has an edge to: 0.85 of its rank in all."""
    return rank * 17 // (20 * degree)


def build():
    flow = weir.Flow("pagerank")
    edges = flow.input("edges", "i64", "i64")
    nodes = edges.flat_map(lambda a, b: wnp.stack([a, b])).distinct(state="job", emit="changes")
    degrees = edges.map(lambda a, b: a).count(keys=1, state="job", emit="changes")

    def own(node):  # rank 1 to begin with, then 0.15 in each trip
        trips = wnp.arange(TRIPS + 1, dtype="i64")
        given = wnp.where(trips == 0, np.int64(ONE), np.int64(ONE * 3 // 20))
        return wnp.full(TRIPS + 1, node), trips, given

    def spread(given, degrees, edges):
        ranks = given.reduce_by_key(keys=2, combine="sum", state="job", emit="changes")
        going = ranks.filter(lambda node, trip, rank: trip < TRIPS)
        shares = going.join(degrees, keys=1, state="job").map(
            lambda node, trip, rank, degree: (node, trip + 1, share(rank, degree))
        )
        moved = shares.join(edges, keys=1, state="job")
        last = ranks.filter(lambda node, trip, rank: trip == TRIPS)
        return moved.map(lambda node, trip, amount, to: (to, trip, amount)), last

    ranks = flow.iterate(nodes.flat_map(own), spread, using=[degrees, edges])
    ranks.map(lambda node, trip, rank: (node, rank)).output("ranks")
    return flow


def random_updates(nodes=40, edges=150, changes=4, epochs=5, seed=0):
    """Returns: inputs of the flow; the first epoch has all edges, later ones change some."""
    rng = np.random.default_rng(seed)
    there = rng.integers(0, nodes, (edges, 2))
    updates = [(0, tuple(there.T), np.ones(edges, np.int64))]
    for epoch in range(1, epochs):
        added = rng.integers(0, nodes, (changes, 2))
        weights = np.repeat(np.int64([-1, 1]), changes)
        updates.append((epoch, tuple(np.concatenate([there[:changes], added]).T), weights))
        there = np.concatenate([there[changes:], added])
    return {"edges": updates}


def expected(edges):
    """Returns: the ranks by node, by matrices; `edges` is an array [n, 2]."""
    nodes, places = np.unique(edges, return_inverse=True)
    a, b = places.reshape(-1, 2).T
    degrees = np.maximum(np.bincount(a, minlength=len(nodes)), 1)
    ranks = np.full(len(nodes), ONE)
    for _ in range(TRIPS):
        shares = share(ranks, degrees)
        ranks = np.full(len(nodes), ONE * 3 // 20)
        np.add.at(ranks, b, shares[a])
    return dict(zip(nodes.tolist(), ranks.tolist()))


def after_each_epoch(results, inputs):
    """Yields: (epoch, ranks by node after it, how many changed)."""
    ranks = {}
    for epoch, *_ in inputs["edges"]:
        changes = results["ranks"].get(epoch)
        if changes is not None:
            rows = list(zip(*map(np.ndarray.tolist, changes), changes.weights.tolist()))
            for node, rank, weight in sorted(rows, key=lambda row: row[2]):
                assert weight in (-1, 1)
                if weight > 0:
                    ranks[node] = rank
                else:
                    assert ranks.pop(node) == rank
        yield epoch, dict(ranks), 0 if changes is None else changes.rows


def check(results, inputs):
    there = []
    for (_, edges, weights), (_, ranks, _) in zip(
        inputs["edges"], after_each_epoch(results, inputs)
    ):
        for edge, weight in zip(np.transpose(edges).tolist(), weights):
            if weight > 0:
                there.append(edge)
            else:
                there.remove(edge)
        assert ranks == expected(np.array(there))


def main():
    inputs = random_updates()
    results = build().run(inputs)
    check(results, inputs)
    for epoch, ranks, changed in after_each_epoch(results, inputs):
        print(f"epoch {epoch}: {len(ranks)} nodes, {changed} records of changed ranks")
        for node in sorted(ranks, key=ranks.get)[-3:]:
            print(f"  node {node} has rank {ranks[node] / ONE:.4f}")
    print("as computed from the beginning after each epoch")


if __name__ == "__main__":
    main()
