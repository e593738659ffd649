"""k-means clustering: the trips of the iteration are the trips of a loop.

Points are in parts, so that workers share them. In each trip the centres, one record, are sent to
every part, and each point goes to its nearest centre; the means of what came to each are the next
centres. Sums are in the order of the points, so the centres have the same bits on any cluster.

    PYTHONPATH=build/release/python python3 client/examples/kmeans.py
"""

import numpy as np

import weir
import weir.numpy as wnp

CENTRES = 4
PARTS = 8
TRIPS = 10


def build():
    flow = weir.Flow("kmeans")
    points = flow.input("points", "i64", "f64[2]")  # the part, the place
    start = flow.input("start", f"f64[{CENTRES},2]")

    def nearest(part, point, centres):
        distances = wnp.sum((centres - point) ** 2, axis=1)
        return wnp.argmin(distances).astype("i64"), point, 1.0, wnp.zeros_like(point)

    def move(centre, total, count, before):  # a centre without points stays
        moved = wnp.where(count > 0, total / wnp.maximum(count, 1), before)
        return wnp.where(wnp.arange(CENTRES)[:, None] == centre, moved, 0.0)

    with flow.loop("trips") as loop:
        again = loop.feedback(like=start)
        centres = loop.enter(start).concat(again)
        sent = centres.flat_map(
            lambda centres: (
                wnp.arange(PARTS, dtype="i64"),
                wnp.broadcast_to(centres, (PARTS, CENTRES, 2)),
            )
        )
        chosen = loop.enter(points).join(sent, keys=1, state="loop").map(nearest)
        before = centres.flat_map(
            lambda centres: (
                wnp.arange(CENTRES, dtype="i64"),
                wnp.zeros_like(centres),
                wnp.zeros(CENTRES),
                centres,
            )
        )
        means = chosen.concat(before).reduce_by_key(keys=1, combine="sum").map(move)
        following = means.reduce_by_key(keys=0, combine="sum")
        again.set(following, bound=TRIPS)
        loop.leave(following).output("centres")
    return flow


def random_points(points=600, seed=0):
    """Returns: inputs of the flow: two epochs, whose points lie around other places."""
    rng = np.random.default_rng(seed)
    inputs = {"points": [], "start": []}
    for epoch in range(2):
        middles = rng.uniform(-10, 10, (CENTRES, 2))
        places = middles[rng.integers(0, CENTRES, points)] + rng.normal(size=(points, 2))
        inputs["points"].append((epoch, (np.arange(points) % PARTS, places)))
        inputs["start"].append((epoch, places[None, :CENTRES]))
    return inputs


def expected(points, centres):
    """Returns: the centres of all trips."""
    trips = []
    for _ in range(TRIPS):
        nearest = ((points[:, None] - centres) ** 2).sum(-1).argmin(1)
        following = centres.copy()
        for i in set(nearest.tolist()):
            following[i] = points[nearest == i].mean(0)
        trips.append(following)
        centres = following
    return trips


def check(results, inputs):
    for (epoch, (_, points)), (_, (start,)) in zip(inputs["points"], inputs["start"]):
        (found,) = results["centres"][epoch]
        wanted = expected(points, start)
        # Equal centres of several trips are one record, with a weight.
        assert results["centres"][epoch].weights.sum() == TRIPS
        for centres in found:
            assert min(np.abs(centres - w).max() for w in wanted) < 1e-9
        for w in wanted:
            assert min(np.abs(centres - w).max() for centres in found) < 1e-9


def main():
    inputs = random_points()
    results = build().run(inputs)
    check(results, inputs)
    for (epoch, (_, points)), (_, (start,)) in zip(inputs["points"], inputs["start"]):
        print(f"epoch {epoch}: {len(points)} points, {results['centres'][epoch].rows} trips moved")
        for x, y in expected(points, start)[-1]:
            print(f"  a centre at {x:7.3f} {y:7.3f}")
    print("as computed trip by trip")


if __name__ == "__main__":
    main()
