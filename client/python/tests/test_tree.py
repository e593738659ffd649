"""Pytrees of classes that users register."""

import dataclasses

import numpy as np
import pytest

import weir


@dataclasses.dataclass
class Particle:
    place: object
    speed: object
    kind: str


weir.tree.register(Particle, fixed=("kind",))
PLACES, SPEEDS = np.arange(6, dtype=np.float32).reshape(3, 2), np.float32([1, 0, 2])


def test_instances_go_through_functions_maps_and_loops():
    traced = []

    @weir.jit
    def moved(particle):
        traced.append(particle.kind)

        def step(one):
            return Particle(one.place + one.speed, one.speed, one.kind)

        return weir.vmap(lambda one: weir.fori_loop(0, 2, lambda t, p: step(p), one))(particle)

    got = moved(Particle(PLACES, SPEEDS, "electron"))
    assert isinstance(got, Particle) and got.kind == "electron"
    np.testing.assert_array_equal(got.place, PLACES + 2 * SPEEDS[:, None])
    # What is fixed is known while tracing, and tells programs apart.
    moved(Particle(PLACES, SPEEDS, "electron"))
    assert moved(Particle(PLACES, SPEEDS, "muon")).kind == "muon"
    assert traced == ["electron", "muon"]


def test_paths_and_structures_name_the_attributes():
    particle = Particle((PLACES, 1), SPEEDS, "muon")
    assert weir.tree.paths(particle, "p") == ["p.place[0]", "p.place[1]", "p.speed"]
    assert repr(weir.tree.flatten(particle)[1]) == "Particle((*, *), *, 'muon')"
    doubled = weir.tree.map(lambda a, b: a + b, particle, particle)
    assert doubled.place[1] == 2 and doubled.kind == "muon"
    with pytest.raises(ValueError, match="'muon'.*'electron'"):
        weir.tree.map(lambda a, b: a, particle, Particle((PLACES, 1), SPEEDS, "electron"))
    mapped = weir.vmap(lambda p: p.place[0] + p.speed, in_axes=(Particle((0, None), 0, ""),))
    assert mapped(particle).shape == (3, 2)


def test_fields_of_other_classes_are_named():
    class Pair:
        def __init__(self, first, second):
            self.first, self.second = first, second

    with pytest.raises(TypeError, match="fields of Pair, which is no dataclass"):
        weir.tree.register(Pair)
    weir.tree.register(Pair, ("first", "second"))
    swapped = weir.jit(lambda pair: Pair(pair.second, pair.first))(Pair(np.ones(2), 3))
    assert swapped.first == 3 and swapped.second.tolist() == [1, 1]


def test_a_branch_that_changes_what_is_fixed_is_refused():
    with pytest.raises(TypeError, match="different structures.*'up'.*'down'"):
        weir.jit(
            lambda x: weir.cond(
                x > 0, lambda: Particle(x, x, "up"), lambda: Particle(x, x, "down")
            ).place
        )(1.0)
