"""Python numbers, and objects that are nearly arrays, as arguments."""

import copy

import numpy as np
import pytest

import weir
import weir.numpy as wnp

LARGE = 2**40


@pytest.mark.parametrize(
    "call",
    [
        lambda: weir.jit(lambda x: x)(LARGE),
        lambda: weir.jit(lambda x: x)(-(2**31) - 1),
        lambda: weir.jit(lambda x: x)(2**70),
        lambda: weir.jit(lambda x: x + LARGE)(np.int32(1)),
        lambda: wnp.array(LARGE),
        lambda: wnp.array([LARGE, True]),
        lambda: wnp.array([2**63]),
        lambda: wnp.array([2**70, 1]),
        lambda: wnp.arange(LARGE, LARGE + 3),
        lambda: wnp.arange(2**31 - 2, 2**31 + 1),
        lambda: weir.List.empty(2, 0).push(LARGE),
    ],
)
def test_integers_that_the_type_does_not_hold(call):
    with pytest.raises(OverflowError, match=r"out of range for i32 \(.*numbers.py:\d+\); .*int64"):
        call()


def test_integers_that_the_type_holds():
    assert weir.jit(lambda x: x)(2**31 - 1) == 2**31 - 1
    assert weir.jit(lambda x: x)(np.int64(LARGE)) == LARGE
    assert weir.jit(lambda x: x + LARGE)(np.int64(1)) == LARGE + 1
    assert wnp.arange(2**31 - 2, 2**31).tolist() == [2**31 - 2, 2**31 - 1]
    assert wnp.arange(2**31 - 1, -(2**31) - 1, -(2**31)).tolist() == [2**31 - 1, -1]
    assert wnp.arange(LARGE, LARGE + 2, dtype="i64").tolist() == [LARGE, LARGE + 1]
    assert wnp.array([1, True]).dtype == np.int32 and wnp.array([LARGE, 0.5]).dtype == np.float32
    assert wnp.arange(3, 0).size == 0


def test_what_can_be_made_an_array_is_named():
    class Table:
        def __array__(self, dtype=None):
            return np.ones(3)

    with pytest.raises(TypeError, match=r"x of <lambda> is a Table.*py:\d+\); numpy.asarray makes"):
        weir.jit(lambda x: x)(Table())
    with pytest.raises(TypeError, match=r"x of <lambda> is a object.*name it in static_argnums"):
        weir.jit(lambda x: x)(object())


def test_copies_of_traced_arrays_are_the_arrays():
    @weir.jit
    def function(params):
        copied = copy.deepcopy(params)
        copied["b"] = copied["b"] + 1
        return params, copied, copy.copy(params["w"])

    params, copied, w = function({"w": np.ones(2), "b": np.float32(3)})
    assert params["b"] == 3 and copied["b"] == 4 and (copied["w"] == w).all()


@pytest.mark.parametrize("workers", [0, -1])
def test_a_session_needs_workers(workers):
    with pytest.raises(ValueError, match=f"a worker at least, found workers={workers}"):
        weir.connect(workers=workers)
