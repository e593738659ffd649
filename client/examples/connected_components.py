"""Connected components of a graph whose edges arrive epoch by epoch.

Each node has a label, the smallest number of a node of its component. Labels, and the edges along
which they spread, stay from epoch to epoch (state "job"), so an epoch recomputes only what its
edges change, and only that comes out (emit "updates").

    PYTHONPATH=build/release/python python3 client/examples/connected_components.py
"""

import numpy as np

import weir
import weir.numpy as wnp


def build():
    flow = weir.Flow("connected_components")
    edges = flow.input("edges", "i64", "i64")
    both_ways = edges.flat_map(lambda a, b: (wnp.stack([a, b]), wnp.stack([b, a])))
    own = both_ways.map(lambda node, other: (node, node))

    def spread(offered, both_ways):
        labels = offered.reduce_by_key(keys=1, combine="min", state="job")
        met = labels.join(both_ways, keys=1, state="job")
        return met.map(lambda node, label, neighbour: (neighbour, label)), labels

    labels = flow.iterate(own, spread, using=[both_ways])
    # In one epoch a label may become smaller several times.
    labels.reduce_by_key(keys=1, combine="min").output("labels")
    labels.count(keys=0).output("work")
    return flow


def random_edges(nodes=300, edges=40, epochs=10, seed=0):
    """Returns: inputs of the flow."""
    rng = np.random.default_rng(seed)
    return {"edges": [(e, tuple(rng.integers(0, nodes, (2, edges)))) for e in range(epochs)]}


def expected(inputs):
    """Returns: for each epoch the labels that it changes, by a union of sets."""
    component = {}  # a list of nodes for each node; the same one for nodes of one component
    labels = {}
    changes = {}
    for epoch, edges in inputs["edges"]:
        for a, b in zip(*(column.tolist() for column in edges)):
            first, second = (component.setdefault(node, [node]) for node in (a, b))
            if first is not second:
                first.extend(second)
                component.update(dict.fromkeys(second, first))
        now = {node: min(members) for node, members in component.items()}
        changes[epoch] = {n: label for n, label in now.items() if labels.get(n) != label}
        labels = now
    return changes


def check(results, inputs):
    for epoch, changes in expected(inputs).items():
        nodes, labels = results["labels"].get(epoch, (np.int64([]), np.int64([])))
        assert dict(zip(nodes.tolist(), labels.tolist())) == changes


def main():
    inputs = random_edges()
    results = build().run(inputs)
    check(results, inputs)
    known = {}
    for epoch, (nodes, labels) in results["labels"].items():
        known.update(zip(nodes.tolist(), labels.tolist()))
        (work,) = results["work"][epoch]
        components = len(set(known.values()))
        print(
            f"epoch {epoch}: {len(known)} nodes in {components} components,"
            f" {len(nodes)} labels are new ({work[0]} on the way)"
        )
    print("as found by uniting sets")


if __name__ == "__main__":
    main()
