"""Shortest paths in random graphs with weighted edges, as a loop of a flow.

Distances that become smaller go along the edges until none does any more. What leaves the loop are
all distances that a node had for a while; the smallest of them is its distance, and the epoch is
complete, which a reduction outside of the loop waits for, when nothing goes round any more.

    PYTHONPATH=build/release/python python3 client/examples/shortest_paths.py
"""

import heapq

import numpy as np

import weir


def build():
    flow = weir.Flow("shortest_paths")
    edges = flow.input("edges", "i64", "i64", "f64")  # from, to, length
    starts = flow.input("starts", "i64")
    with flow.loop("relax") as loop:
        first = loop.enter(starts.map(lambda node: (node, np.float64(0))))
        again = loop.feedback()
        shorter = first.concat(again).reduce_by_key(keys=1, combine="min", state="loop")
        steps = shorter.join(loop.enter(edges), keys=1, state="loop")
        again.set(steps.map(lambda node, distance, to, length: (to, distance + length)))
        distances = loop.leave(shorter)
    distances.reduce_by_key(keys=1, combine="min").output("distances")
    distances.count(keys=0).output("improvements")
    return flow


def random_graphs(nodes=100, edges=600, epochs=3, seed=0):
    """Returns: inputs of the flow."""
    rng = np.random.default_rng(seed)
    graphs = [
        (*rng.integers(0, nodes, (2, edges)), rng.exponential(size=edges)) for _ in range(epochs)
    ]
    starts = [rng.integers(0, nodes, 1) for _ in range(epochs)]
    return {"edges": list(enumerate(graphs)), "starts": list(enumerate(starts))}


def expected(edges, starts):
    """Returns: the distance of each node that can be reached, by Dijkstra's algorithm."""
    following = {}
    for a, b, length in zip(*(column.tolist() for column in edges)):
        following.setdefault(a, []).append((b, length))
    done = {}
    queue = [(0.0, int(node)) for node in starts]
    while queue:
        distance, node = heapq.heappop(queue)
        if node in done:
            continue
        done[node] = distance
        for to, length in following.get(node, []):
            heapq.heappush(queue, (distance + length, to))
    return done


def check(results, inputs):
    for (epoch, edges), (_, starts) in zip(inputs["edges"], inputs["starts"]):
        nodes, distances = results["distances"][epoch]
        # Both add up a path's lengths from its start, so the bits are the same.
        assert dict(zip(nodes.tolist(), distances.tolist())) == expected(edges, starts)


def main():
    inputs = random_graphs()
    results = build().run(inputs)
    check(results, inputs)
    for epoch, (nodes, distances) in results["distances"].items():
        (start,) = inputs["starts"][epoch][1]
        (improvements,) = results["improvements"][epoch]
        print(f"graph {epoch}: {len(nodes)} nodes can be reached from node {start}")
        print(f"  found with {improvements[0]} distances on the way")
        for node in np.argsort(distances)[-3:]:
            print(f"  node {nodes[node]} is {distances[node]:.3f} away")
    print("as found by Dijkstra's algorithm")


if __name__ == "__main__":
    main()
