"""Ray marching: written for one ray, run on all pixels of an image.

A ray goes on by its distance to the nearest surface until it is close to it, or too far away. Each
ray takes the steps that it needs and no more.

    PYTHONPATH=build/release/python python3 client/examples/ray_marching.py
"""

import numpy as np

import weir
import weir.numpy as wnp

WIDTH, HEIGHT = 64, 32
FAR, CLOSE, MOST_STEPS = 20.0, 1e-3, 100
SHADES = " .:-=+*#%@"
LIGHT = np.float32([-0.5, 0.7, -0.5])


def distance(point):
    """Returns: how far a point f32[3] is from two balls that melt together, over a floor."""
    balls = weir.vmap(lambda centre: wnp.linalg.norm(point - centre) - 1)(
        wnp.array([[-0.7, 0.0, 4.0], [0.7, 0.3, 4.0]])
    )
    smooth = -wnp.logsumexp(-8 * balls) / 8
    return wnp.minimum(smooth, point[1] + 1)


def normal(point):
    """Returns: f32[3], the direction away from the surface, by differences."""
    steps = 1e-2 * wnp.eye(3)
    slope = weir.vmap(lambda step: distance(point + step) - distance(point - step))(steps)
    return slope / wnp.linalg.norm(slope)


def shade(direction):
    """Returns: (brightness between 0 and 1, steps) of the ray in this direction, f32[3]."""

    def goes_on(state):
        _, gap, steps = state
        return (gap > CLOSE) & (state[0] < FAR) & (steps < MOST_STEPS)

    def step(state):
        travelled, gap, steps = state
        travelled = travelled + gap
        return travelled, distance(travelled * direction), steps + 1

    start = (0.0, distance(0 * direction), 0)
    travelled, gap, steps = weir.while_loop(goes_on, step, start)
    light = wnp.sum(normal(travelled * direction) * LIGHT)
    return wnp.where(gap > CLOSE, 0.0, wnp.clip(light, 0.05, 1)), steps


def directions():
    """Returns: f32[HEIGHT, WIDTH, 3], of length 1."""
    y, x = np.meshgrid(np.linspace(0.5, -0.5, HEIGHT), np.linspace(-1, 1, WIDTH), indexing="ij")
    rays = np.stack([x, y, np.full_like(x, 1.5)], axis=-1)
    return (rays / np.linalg.norm(rays, axis=-1, keepdims=True)).astype(np.float32)


def main():
    brightness, steps = weir.jit(weir.vmap(weir.vmap(shade)))(directions())
    for row in brightness:
        print("".join(SHADES[int(light * (len(SHADES) - 1))] for light in row))
    print(f"steps of a ray: {steps.min()} to {steps.max()}, {steps.mean():.1f} on average")


if __name__ == "__main__":
    main()
