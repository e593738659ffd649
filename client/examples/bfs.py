"""Breadth-first search in random graphs, as a loop of a flow. Each epoch is a graph of its own.

Trip d of the loop finds the nodes that are d edges away: those that an edge leads to and that no
trip before has reached, which is what the reduction by node remembers (state "loop"). The loop ends
when a trip reaches nothing new.

    PYTHONPATH=build/release/python python3 client/examples/bfs.py
"""

import collections

import numpy as np

import weir


def build():
    flow = weir.Flow("bfs")
    edges = flow.input("edges", "i64", "i64")
    roots = flow.input("roots", "i64")
    both_ways = edges.concat(edges.map(lambda a, b: (b, a)))
    with flow.loop("search") as loop:
        found = loop.enter(roots.map(lambda node: (node, np.int64(0))))
        again = loop.feedback()
        # Gives a node in the trip that reaches it first; later ones are no smaller.
        reached = found.concat(again).reduce_by_key(keys=1, combine="min", state="loop")
        steps = reached.join(loop.enter(both_ways), keys=1, state="loop")
        again.set(steps.map(lambda node, distance, neighbour: (neighbour, distance + 1)))
        loop.leave(reached).output("distances")
    return flow


def random_graphs(nodes=200, edges=300, epochs=4, seed=0):
    """Returns: inputs of the flow."""
    rng = np.random.default_rng(seed)
    graphs = [rng.integers(0, nodes, (2, edges)) for _ in range(epochs)]
    roots = [rng.integers(0, nodes, 1) for _ in range(epochs)]
    return {
        "edges": [(epoch, tuple(graph)) for epoch, graph in enumerate(graphs)],
        "roots": list(enumerate(roots)),
    }


def expected(edges, roots):
    """Returns: the distance of each node that can be reached, by a queue."""
    neighbours = collections.defaultdict(list)
    for a, b in zip(*edges):
        neighbours[int(a)].append(int(b))
        neighbours[int(b)].append(int(a))
    distances = {int(root): 0 for root in roots}
    queue = collections.deque(distances)
    while queue:
        node = queue.popleft()
        for neighbour in neighbours[node]:
            if neighbour not in distances:
                distances[neighbour] = distances[node] + 1
                queue.append(neighbour)
    return distances


def check(results, inputs):
    for (epoch, edges), (_, roots) in zip(inputs["edges"], inputs["roots"]):
        nodes, distances = results["distances"][epoch]
        assert len(set(nodes.tolist())) == len(nodes)
        assert dict(zip(nodes.tolist(), distances.tolist())) == expected(edges, roots)


def main():
    inputs = random_graphs()
    results = build().run(inputs)
    check(results, inputs)
    for epoch, (nodes, distances) in results["distances"].items():
        (root,) = inputs["roots"][epoch][1]
        print(f"graph {epoch}: {len(nodes)} nodes can be reached from node {root}")
        for distance, count in enumerate(np.bincount(distances)):
            print(f"  {count:4} are {distance} edges away")
    print("as found with a queue")


if __name__ == "__main__":
    main()
