"""Points of the Mandelbrot set as a stream: each is squared and shifted until it escapes.

The loop is written for one point, in plain control flow, and brought out into the flow (pipelined):
a point leaves after as many trips as it needs, points of one epoch that are in the same trip go
together, and no epoch waits for the slowest point of the one before.

    PYTHONPATH=build/release/python python3 client/examples/escape_times.py
"""

import numpy as np

import weir

LIMIT = 200  # trips, after which a point counts as one of the set


def escape(x, y):
    """Returns: (x, y, trips until the point is outside of the circle with radius 2)."""

    def inside(state):
        re, im, trips = state
        return (re * re + im * im <= 4) & (trips < LIMIT)

    def step(state):
        re, im, trips = state
        return re * re - im * im + x, 2 * re * im + y, trips + 1

    _, _, trips = weir.while_loop(inside, step, (0.0, 0.0, np.int64(0)))
    return x, y, trips


def build():
    flow = weir.Flow("escape_times")
    points = flow.input("points", "f32", "f32")
    points.map(escape, pipelined="loops", name="escape").output("trips")
    return flow


def rows_of_points(width=60, height=24):
    """Returns: inputs of the flow, an epoch for each row of an image."""
    x = np.linspace(-2, 0.6, width, dtype=np.float32)
    y = np.linspace(-1.2, 1.2, height, dtype=np.float32)
    return {"points": [(row, (x, np.full(width, at))) for row, at in enumerate(y)]}


def check(results, inputs):
    for epoch, (x, y) in inputs["points"]:
        re, im = np.zeros_like(x), np.zeros_like(y)
        trips = np.zeros(len(x), np.int64)
        for _ in range(LIMIT):
            still = re * re + im * im <= 4
            trips += still
            re, im = (
                np.where(still, re * re - im * im + x, re),
                np.where(still, 2 * re * im + y, im),
            )
        found = results["trips"][epoch]
        assert sorted(zip(*found)) == sorted(zip(x, y, trips))


def main():
    inputs = rows_of_points()
    results = build().run(inputs)
    check(results, inputs)
    for epoch, _ in inputs["points"]:
        x, _, trips = results["trips"][epoch]
        shades = np.minimum(np.log2(trips[np.argsort(x)]).astype(int), 7)
        print("".join(" .:-=+*#"[shade] for shade in shades))
    print("as point by point")


if __name__ == "__main__":
    main()
