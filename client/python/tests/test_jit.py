"""jit: when functions are traced, what they take, and how they fail."""

import collections
import copy
import threading

import numpy as np
import pytest
from conftest import assert_tree_close

import weir
import weir.numpy as wnp

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Point = collections.namedtuple("Point", "x y")


def test_a_function_is_traced_once_for_each_type():
    traced = []

    @weir.jit
    def function(x, scale=2.0):
        """Doubles."""
        traced.append(x.shape)
        return x * scale

    for x in (X, X + 1, X, X[0], X[0], X.astype(np.float64)):
        assert_tree_close(function(x), x * 2)
    assert_tree_close(function(X, 3.0), X * 3)
    assert_tree_close(function(X, 4.0), X * 4)
    assert traced == [(2, 3), (3,), (2, 3), (2, 3)]
    assert function.__name__ == "function" and function.__doc__ == "Doubles."


def test_pytrees():
    @weir.jit
    def function(tree, *, bias):
        return {"sum": tree["a"] + bias, "rest": (tree["b"], None, [Point(1, tree["a"])])}

    got = function({"b": [X], "a": X[0]}, bias=1)
    assert_tree_close(got, {"sum": X[0] + 1, "rest": ([X], None, [Point(1, X[0])])})


def test_known_calls_take_trees_and_numbers():
    traced = []

    @weir.jit
    def function(parts, *rest, **named):
        traced.append(parts)
        return parts, rest, named

    calls = [
        (({"a": X, "b": [1, None]}, 2.5), {"n": np.float32(3)}),
        (({"a": X, "b": [True, None]}, 2.5), {"n": np.float32(3)}),
        (({"a": X, "b": (1, None)}, 2.5), {"n": np.float32(3)}),
        (({"a": X, "b": [1, None]}, 2.5, {"n": np.float32(3)}), {}),
        (({"a": X, "b": [1, None]}, 2.5), {"m": np.float32(3)}),
        (({"a": X, "b": [1, None]}, 2.5), {"n": np.full((), 3, np.float32)}),
        (({"a": X, "c": [1, None]}, 2.5), {"n": np.float64(3)}),
        ((X, X), {"n": X[0], "k": Point(X, 1)}),
    ]
    for repeat in range(3):
        for args, kwargs in calls:
            if repeat == 2:
                args = weir.tree.map(copy.copy, args)
            assert_tree_close(function(*args, **kwargs), (args[0], args[1:], kwargs))
    # A 0-d array and a scalar of NumPy are one type.
    assert len(traced) == len(calls) - 1
    with pytest.raises(OverflowError, match="out of range for i32"):
        function({"a": X, "b": [2**40, None]}, 2.5, n=np.float32(3))


def test_arguments_that_are_no_arrays():
    function = weir.jit(
        lambda x, axis, mode="sum": getattr(wnp, mode)(x, axis),
        static_argnums=1,
        static_argnames="mode",
    )
    assert_tree_close(function(X, 0), X.sum(0))
    assert_tree_close(function(X, 1, mode="max"), X.max(1))
    with pytest.raises(TypeError, match="argument mode .* is a str.*static_argnames"):
        weir.jit(lambda x, mode: x)(X, "sum")


def test_results_that_are_inputs_and_constants():
    array = np.ones((3, 2))
    same, one, twice = weir.jit(lambda x: (x, 1, x))(array)
    assert_tree_close((same, one, twice), (array, 1, array))
    same[0, 0] = 7
    assert array[0, 0] == 1 and twice[0, 0] == 1
    assert weir.jit(lambda: ())() == () and weir.jit(lambda x: None)(X) is None


@pytest.mark.parametrize("size", [0, 1, 1000, 100_001])
def test_large_and_small_arrays(size):
    x = np.arange(size, dtype=np.float64)
    assert_tree_close(weir.jit(lambda x: x[::-1] * 2)(x), x[::-1] * 2)
    assert_tree_close(weir.jit(lambda x: x + 1)(x[::2]), x[::2] + 1)


def test_arrays_outside_of_the_function_are_read_when_it_is_traced():
    for size in (100, 100_000):
        table = np.arange(float(size))
        total = table.sum()
        function = weir.jit(lambda i, table=table: wnp.array(table)[i] + wnp.array(table).sum())
        assert function(3) == 3 + total
        table[3] = 0
        assert function(4) == 4 + total
        assert len(function.lower(3).text) < 4000


def test_jit_inside_of_jit():
    inner = weir.jit(lambda x: x + 1)
    assert_tree_close(weir.jit(lambda x: inner(inner(x)))(X), X + 2)


def test_methods():
    class Model:
        scale = 3

        @weir.jit
        def __call__(self, x):
            return x * self.scale

    with pytest.raises(TypeError, match="neither an array nor a number"):
        Model()(X)
    assert_tree_close(
        weir.jit(Model().__call__.func._function, static_argnums=0)(Model(), X), X * 3
    )


def test_threads():
    results = {}

    def work(i):
        results[i] = weir.jit(lambda x: x * i)(X)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        assert_tree_close(results[i], X * i)


def test_types_without_a_counterpart():
    with pytest.raises(weir.InvalidArgument, match="no element type"):
        weir.jit(lambda x: x)(np.array(["a"]))


def test_the_program_names_its_inputs():
    text = weir.jit(lambda params, x: params["w"] * x).lower({"w": X}, 2).text
    assert "%\"params['w']\": f32[2,3]" in text and "%x: i32[]" in text
