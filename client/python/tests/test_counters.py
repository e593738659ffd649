"""What `weir.explain` counts of a run."""

import os

import numpy as np
import pytest

import weir
import weir.numpy as wnp


def _numbers(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def test_an_expensive_branch_costs_its_own_lanes():
    weights = _numbers(8, 8)

    def body(x):
        return weir.cond(x[0] > 10, lambda: x @ weights @ weights, lambda: x)

    rows = _numbers(100, 8)
    rows[42, 0] = 11
    counters = weir.explain(weir.vmap(body, strict=True), rows).counters
    assert counters["elements"]["dot_general"] == 2 * 8
    rows[:3, 0] = 11
    counters = weir.explain(weir.vmap(body, strict=True), rows).counters
    assert counters["elements"]["dot_general"] == 4 * 2 * 8


def test_a_branch_that_no_lane_takes_computes_nothing():
    body = lambda x: weir.cond(x > 10, lambda: wnp.sin(x), lambda: x)
    assert "sin" not in weir.explain(weir.vmap(body), _numbers(50)).counters["elements"]


def test_loops_compute_as_many_elements_as_trips():
    def body(trips, x):
        return weir.fori_loop(0, trips, lambda i, x: wnp.sin(x), x)

    trips = np.array([4, 0, 2, 7])
    explanation = weir.explain(weir.vmap(body, strict=True), trips, _numbers(4))
    assert explanation.counters["elements"]["sin"] == 13
    assert explanation.counters["op_launches"]["sin"] <= 13


def test_rows_by_the_loop_variable_are_not_gathered():
    rows = _numbers(64, 3)
    function = weir.jit(lambda rows: weir.pfor(lambda i: rows[i] * 2, 64))
    counters = weir.explain(function, rows).counters
    assert counters["bytes_gathered"] == 0
    assert "gather" not in counters["elements"]
    assert counters["elements"]["multiply"] == 64 * 3


def test_rows_by_other_indices_are():
    rows, which = _numbers(64, 3), np.arange(10)[::-1].copy()
    function = weir.jit(lambda rows, which: weir.vmap(lambda k: rows[k])(which))
    assert weir.explain(function, rows, which).counters["bytes_gathered"] == 10 * 3 * 4


def test_counts_do_not_depend_on_the_workers():
    rows = _numbers(1000, 5)
    function = weir.jit(lambda rows: weir.vmap(lambda row: wnp.tanh(row) + row)(rows))
    counts = []
    for workers in (1, 2, 3):
        with weir.connect(workers=workers):
            counts.append(weir.explain(function, rows).counters["elements"])
    assert counts[0] == counts[1] == counts[2]
    assert counts[0]["tanh"] == 5000


def test_the_summary_names_operations_and_steps():
    explanation = weir.explain(weir.vmap(wnp.tanh), _numbers(500))
    assert "tanh: 500 elements" in str(explanation)
    assert "bytes predicted" in str(explanation)
    (step,) = [step for step in explanation.steps if step["iterations"] == 500]
    assert 1 <= step["chunk"] <= 500


@pytest.mark.parametrize("n", [0, 1, 5])
def test_few_iterations(n):
    elements = weir.explain(weir.vmap(wnp.tanh), _numbers(n)).counters["elements"]
    assert elements.get("tanh", 0) == n


def test_the_times_of_operations_are_within_the_run():
    a, w = _numbers(512, 256), _numbers(256, 256)

    def body(row):
        return weir.fori_loop(0, 3, lambda i, x: wnp.tanh(x @ w), row)

    explanation = weir.explain(weir.vmap(body), a)
    times = explanation.counters["op_ns"]
    assert 0 < times["dot_general"] <= sum(times.values())
    assert all(ns > 0 for ns in times.values())
    assert sum(times.values()) <= 2 * os.cpu_count() * int(explanation.report["run_ns"])
    assert "dot_general: " in str(explanation)
