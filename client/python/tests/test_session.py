"""Sessions, explanations, trees and the op table."""

import numpy as np
import pytest
from conftest import assert_tree_close

import weir
import weir.numpy as wnp
from weir import lax, tree
from weir.explain import Explanation

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_the_innermost_session_is_used(session):
    with weir.connect(workers=1) as inner:
        assert len(inner.workers()) == 1
        assert_tree_close(wnp.sum(X, 0), X.sum(0))
    assert len(session.workers()) == 2
    with pytest.raises(weir.FailedPrecondition, match="closed"):
        inner.workers()
    assert_tree_close(wnp.sum(X, 0), X.sum(0))


@pytest.mark.parametrize("workers", [1, 3])
def test_results_do_not_depend_on_the_number_of_workers(workers):
    function = weir.jit(weir.vmap(lambda row: weir.nn.softmax(row) @ row))
    want = function(X)
    with weir.connect(workers=workers):
        np.testing.assert_array_equal(function(X), want)


def test_explain():
    explanation = weir.explain(weir.vmap(lambda row: wnp.sum(row * 2)), X)
    assert "pfor" in explanation.stages and explanation.fallbacks == []
    assert "shard" in explanation.text("pfor") and "shard" not in explanation.text("verify")
    assert all(f"stage {stage}" in explanation.text() for stage in explanation.stages)
    assert explanation.counters["kernel_launches"] > 0
    with pytest.raises(ValueError, match="no stage 'none'; the stages are import, .*pfor, "):
        explanation.text("none")
    assert repr(explanation).startswith(f"weir.Explanation({len(explanation.stages)} stages, 0 f")
    summary = str(explanation).splitlines()
    assert summary[0] == "no fallbacks"
    assert f"  kernel_launches: {explanation.counters['kernel_launches']}" in summary
    assert summary[-1].startswith("stages, for text(stage): import ") and " pfor " in summary[-1]


def test_an_explanation_tells_what_falls_back():
    fallback = {"op": "for", "node": "%7", "location": "model.py:12", "reason": "trips may vary"}
    stages = [{"name": "pfor", "why": "loops go", "text": "func @main"}]
    explanation = Explanation(stages, [fallback], ["two loops"], {"run_ns": "1500000"})
    assert str(explanation).splitlines() == [
        "1 fallback",
        "  for at model.py:12 runs one iteration after the other: trips may vary",
        "note: two loops",
        "one run: 1.5 ms, compiled in 0 ms",
        "stages, for text(stage): pfor",
    ]


def test_explain_counts_the_same_for_any_number_of_rows():
    function = weir.jit(weir.vmap(lambda row: wnp.sum(wnp.exp(row) * 2)))
    launches = [
        weir.explain(function, np.ones((n, 3))).counters["kernel_launches"] for n in (4, 64)
    ]
    loop = weir.explain(
        lambda x: weir.for_loop(lambda i: wnp.sum(wnp.exp(x[i]) * 2), 64), np.ones((64, 3))
    )
    assert launches[0] == launches[1] < loop.counters["kernel_launches"]


def test_trees():
    value = {"b": (1, [2, None]), "a": 3}
    leaves, structure = tree.flatten(value)
    assert leaves == [3, 1, 2] and tree.unflatten(structure, leaves) == value
    assert (
        structure
        == tree.flatten({"a": 0, "b": (0, [0, None])})[1]
        != tree.flatten({"a": 0, "b": (0, [0])})[1]
    )
    assert tree.map(lambda x, y: x + y, value, value) == {"b": (2, [4, None]), "a": 6}
    assert tree.paths(value, "v") == ["v['a']", "v['b'][0]", "v['b'][1][0]"]
    with pytest.raises(ValueError, match="different structures"):
        tree.map(lambda x, y: x, value, {"a": 1})


def test_every_op_without_regions_has_a_function():
    missing = []
    for row in weir.ops():
        name = row["name"] + ("_" if row["name"] in ("and", "or", "not") else "")
        if row["max_regions"] == 0 and row["name"] not in ("call", "constant"):
            if row["summary"] not in (getattr(lax, name, None).__doc__ or ""):
                missing.append(name)
    assert missing == [] and len(weir.ops()) > 100


def test_primitives():
    assert_tree_close(lax.add(X, X), X + X)
    assert_tree_close(lax.maximum(X, 3), np.maximum(X, 3))
    assert_tree_close(lax.reduce_sum(X, axes=[1]), X.sum(1))
    assert_tree_close(lax.convert(X, dtype=np.int64), X.astype(np.int64))
    assert_tree_close(
        lax.iota(shape=(2, 3), dtype="f32", axis=1), np.tile(np.arange(3, dtype=np.float32), (2, 1))
    )
    assert_tree_close(lax.and_(X > 1, X > 2), X > 2)
    values, places = lax.top_k(X, k=2)
    assert_tree_close((values, places), (X[:, :0:-1], np.tile([2, 1], (4, 1))))
    with pytest.raises(TypeError, match="has no attribute 'axis'; it has axes"):
        lax.reduce_sum(X, axis=1)
    with pytest.raises(weir.InvalidArgument, match="axes"):
        lax.reduce_sum(X)
    with pytest.raises(weir.InvalidArgument, match="must be ints"):
        lax.reduce_sum(X, axes="x")
    assert_tree_close(lax.dynamic_index_in_dim(X, 9, 0, keepdims=False), X[3])
