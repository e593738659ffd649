"""Flows: what the methods of streams make, what they refuse, and what comes out, by the sequential
executor.
"""

import inspect
import sys

import numpy as np
import pytest

import weir
import weir.numpy as wnp
from weir.flow import columns


def line():
    """Returns: `test_flow.py:` and the line of the caller."""
    return f"test_flow.py:{sys._getframe(1).f_lineno}"


def rows(records):
    """Returns: a sorted list of (column, ..., weight), one for each record."""
    if records is None:
        return []
    return sorted(zip(*(column.tolist() for column in records), records.weights.tolist()))


def run(stream, epochs, others=None):
    """Returns: {epoch: rows} of a stream made of the input `x`."""
    stream.output("out")
    results = stream.flow.run_sequentially({"x": epochs, **(others or {})})
    return {epoch: rows(records) for epoch, records in results["out"].items()}


@pytest.fixture
def flow():
    return weir.Flow("test")


# --- Columns.


def test_columns_are_types_pairs_and_texts(flow):
    stream = flow.input("x", "i64", np.float32, ("f64", (2, 3)), "u8[4]", float, ("bool", 2))
    assert stream.types == (
        ("i64", ()),
        ("f32", ()),
        ("f64", (2, 3)),
        ("u8", (4,)),
        ("f32", ()),
        ("bool", (2,)),
    )
    assert flow.inputs == {"x": stream.types}
    assert repr(stream) == (
        "weir.flow.Stream(x: (i64[], f32[], f64[2,3], u8[4], f32[], bool[2]))"
    )


@pytest.mark.parametrize(
    "types, message",
    [
        ([], "records need a column"),
        (["i65"], "is no element type|is no element type of Weir"),
        (["bf16"], "convert it in a map"),
        ([("f32", (-1,))], "-1"),
        (["f32[2"], "no element type"),
    ],
)
def test_columns_that_are_none(flow, types, message):
    with pytest.raises((weir.InvalidArgument, ValueError), match=message):
        flow.input("x", *types)
    assert flow.inputs == {}


def test_records_that_are_sent_have_the_types_of_the_input():
    types = (("i64", ()), ("f32", (2,)))
    arrays = columns.to_arrays(types, ([1, 2], np.ones((2, 2))), "it")
    assert [array.dtype for array in arrays] == [np.int64, np.float32]
    assert [a.shape for a in columns.to_arrays(types, ([], []), "it")] == [(0,), (0, 2)]
    for records, message in [
        ([1, 2], "column 0 of it is i64"),
        (([1.5], np.ones((1, 2))), r"column 0 of it is i64\[\] for each record, .*float64\[1\]"),
        (([1], np.ones((1, 3))), r"column 1 of it is f32\[2\]"),
        (([1, 2], np.ones((1, 2))), "have 1 and 2 records"),
        (([1],), "takes 2 columns .*, found 1"),
        (7, "found int"),
    ]:
        with pytest.raises(weir.InvalidArgument, match=message):
            columns.to_arrays(types, records, "it")
    with pytest.raises(weir.InvalidArgument, match="i8"):
        columns.to_arrays((("i8", ()),), [300], "it")
    assert columns.to_arrays((("i8", ()),), [3], "it")[0].dtype == np.int8


# --- The kinds of vertices, with results worked out by hand.


def test_map(flow):
    x = flow.input("x", "i64", "f32[2]")
    made = x.map(lambda n, v: (n * 2, wnp.sum(v) + 0.5))
    assert made.types == (("i64", ()), ("f32", ()))
    records = ([1, 2], [[1, 2], [3, 4]])
    assert run(made, [(0, records), (3, records)]) == {
        0: [(2, 3.5, 1), (4, 7.5, 1)],
        3: [(2, 3.5, 1), (4, 7.5, 1)],
    }


def test_functions_take_pytrees_apart_and_numbers_are_weak(flow):
    made = flow.input("x", "i64").map(lambda n: {"b": 1, "a": (n, 2.5)})
    assert made.types == (("i64", ()), ("f32", ()), ("i32", ()))
    assert run(made, [(0, [5])]) == {0: [(5, 2.5, 1, 1)]}


def test_functions_may_be_jitted_have_functions_of_their_own_and_large_constants(flow):
    @weir.function
    def factorial(n):
        return weir.cond(n <= 1, lambda: np.int64(1), lambda: n * factorial(n - 1))

    table = np.arange(1 << 17)
    x = flow.input("x", "i64")
    first = x.map(weir.jit(lambda n: factorial(n)))
    second = first.map(lambda n: factorial(n) + wnp.array(table)[n])
    assert flow.text().count("func @") >= 4
    assert run(second, [(0, [3])]) == {0: [(720 + 6, 1)]}


def test_flat_map(flow):
    def digits(n):
        empty = weir.List.empty(4, (np.int64(0), n))
        return weir.while_loop(
            lambda state: state[0] > 0,
            lambda state: (state[0] // 10, state[1].push((state[0] % 10, n))),
            (n, empty),
        )[1]

    x = flow.input("x", "i64")
    assert run(x.flat_map(digits), [(0, ([12, 0, 7], ))]) == {
        0: [(1, 12, 1), (2, 12, 1), (7, 7, 1)]
    }


def test_flat_map_of_rows(flow):
    x = flow.input("x", "i64")
    made = x.flat_map(lambda n: (wnp.arange(2, dtype="i64") + n, wnp.ones((2, 3))))
    assert made.types == (("i64", ()), ("f32", (3,)))
    made = made.map(lambda n, ones: n)
    assert run(made, [(0, [5, 10])]) == {0: [(5, 1), (6, 1), (10, 1), (11, 1)]}
    for wrong in (lambda n: n, lambda n: (), lambda n: (wnp.ones(2), wnp.ones(3))):
        with pytest.raises(weir.InvalidArgument, match="weir.List of records, or arrays"):
            x.flat_map(wrong)


def test_filter_and_switch(flow):
    x = flow.input("x", "i64")
    small, large = x.filter(lambda n: n != 3).switch(lambda n: n < 5)
    large.map(lambda n: -n).output("large")
    assert run(small, [(0, [1, 3, 7, 9])]) == {0: [(1, 1)]}
    results = flow.run_sequentially({"x": [(1, [1, 3, 7, 9])]})
    assert rows(results["large"][1]) == [(-9, 1), (-7, 1)]


def test_concat_exchange_and_inspect(flow):
    x = flow.input("x", "i64")
    y = flow.input("y", "i64")
    all_of_them = x.concat(y, x).exchange(keys=1).inspect(limit=2)
    found = run(all_of_them, [(0, [1])], {"y": [(0, [1, 2])]})
    assert found == {0: [(1, 3), (2, 1)]}


def test_collect(flow):
    x = flow.input("x", "i64", "f32")

    def sort(n, v):
        order = wnp.argsort(n)
        return n[order], wnp.cumsum(v[order])

    assert run(x.collect(sort), [(0, ([3, 1, 2], [1, 2, 4]))]) == {
        0: [(1, 2.0, 1), (2, 6.0, 1), (3, 7.0, 1)]
    }
    y = weir.Flow().input("x", "i64")
    assert run(y.collect(lambda n: wnp.sum(n)[None]), [(2, [3, 1])]) == {2: [(4, 1)]}
    z = weir.Flow().input("x", "i64")
    assert run(z.collect(), [(0, [3, 1])]) == {0: [(1, 1), (3, 1)]}


@pytest.mark.parametrize(
    "combine, wanted",
    [
        ("sum", (14, 5.0)),
        ("min", (1, 0.5)),
        ("max", (9, 4.0)),
        ("mean", (14 / 3, 5 / 3)),
        ("count", 3),
        (lambda a, b: (a[0] * b[0], wnp.maximum(a[1], b[1])), (36, 4.0)),
    ],
)
def test_reduce_by_key(flow, combine, wanted):
    x = flow.input("x", "i64", "i64", "f64")
    records = ([1, 1, 2, 1], [4, 9, 5, 1], [0.5, 0.5, 8, 4])
    found = run(x.reduce_by_key(keys=1, combine=combine), [(0, records)])
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    assert found[0][0] == (1, *wanted, 1)
    assert found[0][1][0] == 2


def test_a_function_of_one_value_takes_two_arrays(flow):
    x = flow.input("x", "i64", "i64[2]")
    made = x.reduce_by_key(keys=1, combine=lambda a, b: a * 10 + b)
    made = made.map(lambda key, v: (v[0], v[1]))
    assert run(made, [(0, ([1, 1, 1], [[1, 4], [2, 5], [3, 6]]))]) == {0: [(123, 456, 1)]}


def test_count_and_distinct_with_state(flow):
    x = flow.input("x", "i64")
    x.count(keys=1, state="job").output("updates")
    x.count(keys=1, state="job", emit="changes").output("changes")
    x.distinct(state="job").output("distinct")
    results = flow.run_sequentially({"x": [(0, [7, 7]), (1, [7, 8])]})
    assert rows(results["updates"][0]) == [(7, 2, 1)]
    assert rows(results["updates"][1]) == [(7, 3, 1), (8, 1, 1)]
    assert rows(results["changes"][1]) == [(7, 2, -1), (7, 3, 1), (8, 1, 1)]
    assert rows(results["distinct"][1]) == [(8, 1)]


def test_top_k(flow):
    x = flow.input("x", "i64", "f32")
    top = x.top_k(keys=1, k=2, by=1)
    assert run(top, [(0, ([1, 1, 1, 2], [1, 3, 2, 9]))]) == {
        0: [(1, 2.0, 1), (1, 3.0, 1), (2, 9.0, 1)]
    }


def test_join_and_semijoin(flow):
    left = flow.input("x", "i64", "f32")
    right = flow.input("y", "i64", "i64")
    left.join(right, keys=1, state="job").output("job")
    left.semijoin(right, keys=1).output("semi")
    found = run(left.join(right, keys=1), [(0, ([1, 2], [5, 6])), (1, ([1], [7]))], {
        "y": [(0, ([1, 1], [10, 20])), (1, ([2], [30]))]
    })
    assert found == {0: [(1, 5.0, 10, 1), (1, 5.0, 20, 1)]}
    results = flow.run_sequentially(
        {
            "x": [(0, ([1, 2], [5, 6])), (1, ([1], [7]))],
            "y": [(0, ([1, 1], [10, 20])), (1, ([2], [30]))],
        }
    )
    assert rows(results["job"][1]) == [(1, 7.0, 10, 1), (1, 7.0, 20, 1), (2, 6.0, 30, 1)]
    assert rows(results["semi"][0]) == [(1, 5.0, 1)] and 1 not in results["semi"]


def test_delay_and_window(flow):
    x = flow.input("x", "i64")
    x.delay(epochs=3).output("late")
    sums = x.window(size=3, slide=2).reduce_by_key(keys=0, combine="sum")
    epochs = [(epoch, [10**epoch]) for epoch in range(5)]
    assert run(sums, epochs) == {2: [(111, 1)], 4: [(11100, 1)], 6: [(10000, 1)]}
    late = flow.run_sequentially({"x": epochs})["late"]
    assert {epoch: rows(records) for epoch, records in late.items()} == {
        epoch + 3: [(10**epoch, 1)] for epoch in range(5)
    }


def test_zip(flow):
    x = flow.input("x", "i64")
    small, large = x.switch(lambda n: n < 5)
    met = x.zip(small.map(lambda n: n * 10).concat(large.map(lambda n: -n)))
    assert run(met, [(0, [3, 9, 3])]) == {0: [(3, 30, 2), (9, -9, 1)]}


def test_zip_holds_what_does_not_change_in_a_loop(flow):
    x = flow.input("x", "i64", "i64")
    with flow.loop("power") as loop:
        factor = loop.enter(x.map(lambda base, n: base))
        again = loop.feedback(like=["i64", "i64"])
        state = loop.enter(x.map(lambda base, n: (np.int64(1), n))).concat(again)
        going, done = state.switch(lambda power, n: n > 0)
        met = going.zip(factor, hold=[1])
        again.set(met.map(lambda power, n, base: (power * base, n - 1)))
        out = loop.leave(done.map(lambda power, n: power))
    assert run(out, [(0, ([2, 3], [10, 2]))]) == {0: [(9, 1), (1024, 1)]}


def test_merge_takes_the_record_that_there_is(flow):
    x = flow.input("x", "i64")
    small, large = x.switch(lambda n: n < 5)
    small.merge(x, name="twice").output("out")
    with pytest.raises(weir.InvalidArgument, match="'twice' .merge. at .0.: its inputs have more"):
        flow.run_sequentially({"x": [(0, [3])]})
    flow = weir.Flow("test")
    small, large = flow.input("x", "i64").switch(lambda n: n < 5)
    assert run(small.map(lambda n: n * 10).merge(large), [(0, [3, 9])]) == {0: [(9, 1), (30, 1)]}


def test_after_waits_for_records_of_the_same_source(flow):
    x = flow.input("x", "i64")
    small, _ = x.switch(lambda n: n < 5)
    x.after(small, unmatched="stop", name="strict").probe("end")
    assert run(x.after(small), [(0, [3, 2])]) == {0: [(2, 1), (3, 1)]}
    with pytest.raises(
        weir.InvalidArgument,
        match="'strict' .after. at .0.: input 0 has a record of origin 1, and input 1 has none",
    ):
        flow.run_sequentially({"x": [(0, [3, 9])]})
    with pytest.raises(weir.InvalidArgument, match="it is drop or stop"):
        x.after(small, unmatched="wait")


def test_pipelined_loops_are_an_attribute(flow):
    x = flow.input("x", "i64")
    halved = x.map(
        lambda n: weir.while_loop(lambda n: n > 4, lambda n: n // 2, n),
        pipelined="all",
        hold_bytes=64,
    )
    assert 'pipelined = "all"' in flow.text() and "hold_bytes = 64" in flow.text()
    assert run(halved, [(0, [3, 9, 16])]) == {0: [(3, 1), (4, 2)]}
    with pytest.raises(weir.InvalidArgument, match="it is loops or all"):
        x.map(lambda n: n, pipelined="yes")


def test_records_that_fail_may_be_left_out(flow):
    def check(n):
        weir.check(n < 5, "too large")
        return n

    x = flow.input("x", "i64")
    assert run(x.map(check, on_failure="drop"), [(0, [3, 9, 4])]) == {0: [(3, 1), (4, 1)]}
    with pytest.raises(weir.InvalidArgument, match="it is stop or drop"):
        x.map(check, on_failure="ignore")


def test_every_kind_of_vertex_and_attribute_can_be_made():
    makers = {
        "input": weir.Flow.input,
        "enter": weir.flow.Loop.enter,
        "leave": weir.flow.Loop.leave,
        "feedback": weir.flow.Feedback.set,
        "read_files": weir.Flow.read_files,
    }
    given_otherwise = {
        ("input", "types"),
        ("read_files", "types"),
        ("enter", "loop"),
        ("reduce_by_key", "function"),
    }
    assert "epochs" in inspect.signature(weir.Flow.delayed).parameters
    for kind, attrs in weir._native.vertex_kinds().items():
        maker = makers.get(kind) or getattr(weir.flow.Stream, kind)
        parameters = set(inspect.signature(maker).parameters)
        missing = {(kind, attr) for attr in attrs if attr not in parameters}
        assert missing <= given_otherwise


def test_probe(flow):
    flow.input("x", "i64").probe("here")
    assert "%here = probe(%x) loc(" in flow.text()
    assert flow.run_sequentially({"x": [(0, [1])]}) == {}


def test_weights(flow):
    x = flow.input("x", "i64")
    assert run(x, [(0, [1, 2, 3], [2, -1, 0]), (0, [1], [-2])]) == {0: [(2, -1)]}
    with pytest.raises(weir.InvalidArgument, match="weights"):
        flow.run_sequentially({"x": [(0, [1, 2], [1])]})
    with pytest.raises(weir.InvalidArgument, match="weights of input 'x' is i64"):
        flow.run_sequentially({"x": [(0, [1], [1.5])]})


# --- Loops.


def test_a_loop(flow):
    x = flow.input("x", "i64")
    with flow.loop("halve") as loop:
        again = loop.feedback(like=x)
        inside = loop.enter(x).concat(again)
        following = inside.filter(lambda n: n > 1).map(lambda n: n // 2)
        again.set(following)
        out = loop.leave(following)
    assert run(out, [(0, [6]), (1, [16])]) == {
        0: [(1, 1), (3, 1)],
        1: [(1, 1), (2, 1), (4, 1), (8, 1)],
    }


def test_a_bound_ends_a_loop(flow):
    x = flow.input("x", "i64")
    out = flow.iterate(x, lambda n: n.map(lambda n: n + 1), bound=4)
    assert run(out, [(0, [10])]) == {0: [(11, 1), (12, 1), (13, 1), (14, 1)]}


def test_a_body_may_say_what_leaves_and_use_other_streams(flow):
    x = flow.input("x", "i64")
    steps = flow.input("steps", "i64")

    def body(stream, steps):
        moved = stream.join(steps.map(lambda n: (n, n)), keys=0, state="loop")
        moved = moved.map(lambda n, key, step: n + step)
        return moved.filter(lambda n: n < 100), moved.filter(lambda n: n >= 100)

    out = flow.iterate(x, body, using=[steps])
    assert run(out, [(0, [0])], {"steps": [(0, [30])]}) == {0: [(120, 1)]}


def test_loops_nest(flow):
    x = flow.input("x", "i64", "i64")
    with flow.loop("outer") as outer:
        outer_again = outer.feedback(like=x)
        column = outer.enter(x).concat(outer_again)
        with flow.loop("inner") as inner:
            again = inner.feedback(like=column)
            cell = inner.enter(column).concat(again)
            again.set(cell.map(lambda i, j: (i, j + 1)), bound=3)
            cells = inner.leave(cell)
        outer_again.set(column.map(lambda i, j: (i + 1, j)), bound=2)
        out = outer.leave(cells)
    assert "loop @inner in @outer" in flow.text()
    assert run(out, [(0, ([0], [0]))]) == {
        0: [(i, j, 1) for i in range(2) for j in range(3)]
    }


def test_enter_into_a_later_trip(flow):
    x = flow.input("x", "i64")
    with flow.loop("trips") as loop:
        late = loop.enter(x, trip=2)
        again = loop.feedback()
        inside = late.concat(again)
        again.set(inside.map(lambda n: n + 1), bound=4)
        out = loop.leave(inside)
    assert run(out, [(0, [5])]) == {0: [(5, 1), (6, 1)]}


def test_what_feedback_needs(flow):
    x = flow.input("x", "i64")
    with flow.loop("a") as loop:
        with pytest.raises(weir.InvalidArgument, match="nothing has entered the loop"):
            loop.feedback()
        inside = loop.enter(x)
        loop.enter(x.map(lambda n: n * 0.5))
        with pytest.raises(weir.InvalidArgument, match="several kinds .*test_flow.py"):
            loop.feedback()
        assert loop.feedback(like=["f64", "i64[2]"]).types == (("f64", ()), ("i64", (2,)))
        again = loop.feedback(like=x, name="again")
        with pytest.raises(weir.FailedPrecondition, match="nothing comes to it yet; use set"):
            flow.text()
        with pytest.raises(weir.InvalidArgument, match=r"\(i64\[\]\) and is set to 'map_2', \(f64"):
            again.set(again.map(lambda n: wnp.float64(n)))
        with pytest.raises(weir.InvalidArgument, match="in loop 'a' and 'x' is outside of loops"):
            again.set(x)
        with pytest.raises(weir.InvalidArgument, match="a cycle that nothing enters"):
            again.set(again.filter(lambda n: n > 3))
        again.set(inside.concat(again))
        with pytest.raises(weir.FailedPrecondition, match="comes to 'again' already"):
            again.set(again)
        loop._open.clear()
    with pytest.raises(weir.FailedPrecondition, match="nothing is fed back to 'feedback_2'.*py:"):
        with flow.loop("b") as loop:
            loop.feedback(like=x)
    with pytest.raises(KeyError):
        with flow.loop("c") as loop:
            loop.feedback(like=x)
            raise KeyError("the user's own error is the one that is seen")


def test_a_loop_without_end(flow):
    out = flow.iterate(flow.input("x", "i64"), lambda n: n.map(lambda n: n + 1))
    with pytest.raises(weir.ResourceExhausted, match="loop_1"):
        out.output("out")
        flow.run_sequentially({"x": [(0, [1])]}, max_steps=1000)


# --- The text form, and places.


def test_the_text_names_the_lines_of_the_user(flow):
    x = flow.input("words", "i64")
    first = line()
    pairs = x.map(lambda w: (w, 1), name="pairs")
    pairs.reduce_by_key(keys=1, combine="sum").output("counts")
    text = flow.text()
    assert text.count("func @") == 1 and "flow @test {" in text
    assert '%words = input() {types = ["i64[]"]} loc("' in text
    number = int(first.split(":")[1])
    assert f'%pairs = map(%words) {{function = "map"}} loc("{__file__}":{number + 1}:0)' in text
    assert text.count(f"{__file__}\":{number + 2}:0") == 2


def test_names(flow):
    x = flow.input("x", "i64")

    def twice(n):
        return n * 2

    names = [x.map(twice).name, x.map(twice).name, x.map(twice, name="mine").name]
    assert names == ["map_1", "map_2", "mine"]
    assert 'function = "twice"' in flow.text() and 'function = "twice_2"' in flow.text()
    with pytest.raises(weir.InvalidArgument, match="'mine' .*the name is taken already"):
        x.filter(lambda n: n > 0, name="mine")
    assert x.filter(lambda n: n > 0).name == "filter_1"
    for wrong in (lambda: x.output(""), lambda: x.probe(7), lambda: weir.Flow(None)):
        with pytest.raises(weir.InvalidArgument, match="a name is a text .*test_flow.py"):
            wrong()
    flow.loop("twice")
    with pytest.raises(weir.InvalidArgument, match="py:.*two loops with the name 'twice'"):
        flow.loop("twice")
    odd = x.map(twice, name="a \"name\" of % any {kind}\n")
    assert run(odd, [(0, [1])]) == {0: [(2, 1)]}


def test_what_is_refused_leaves_the_flow_as_it_was(flow):
    x = flow.input("x", "i64")
    y = flow.input("y", "f32")
    before = flow.text()
    wrong = [
        (lambda: x.concat(y), r"have records of \(i64\[\]\) and \(f32\[\]\)"),
        (lambda: x.filter(lambda n: n), r"returns \(i64\[\]\), not \(bool\[\]\)"),
        (lambda: x.count(keys=3), "keys = 3, but records are"),
        (lambda: x.count(keys="word"), r"'count_1' \(count\): keys must be int, found 'word'"),
        (lambda: x.reduce_by_key(keys=0, combine="product"), "it is sum, min, max, mean or count"),
        (lambda: x.reduce_by_key(keys=0, combine=lambda a, b: (a, b)), "and returns"),
        (lambda: x.count(keys=1, state="ever"), "ever"),
        (lambda: x.count(keys=1, state="loop"), "loop"),
        (lambda: x.distinct(emit="changes"), "changes"),
        (lambda: x.join(y, keys=1), "key"),
        (lambda: x.window(size=0), "size = 0; it is at least 1"),
        (lambda: x.delay(epochs=0), "epochs = 0"),
        (lambda: x.top_k(keys=1, k=1, by=0), "by = 0"),
        (lambda: flow.input("x", "i64"), "taken"),
        (lambda: x.concat(weir.Flow().input("x", "i64")), "a stream of another flow"),
        (lambda: x.concat(7), "takes streams of flow 'test', found 7"),
        (lambda: flow.loop("a").leave(x), "in none"),
    ]
    for call, message in wrong:
        with pytest.raises(weir.InvalidArgument, match=message) as error:
            call()
        assert "test_flow.py:" in str(error.value), message
    assert flow.text().replace("  loop @a\n", "") == before
    assert list(flow.inputs) == ["x", "y"]


def test_errors_of_functions_are_those_of_python(flow):
    x = flow.input("x", "i64", "f32")
    with pytest.raises(TypeError, match=r"of map takes \(n\) and is given the columns \(i64"):
        x.map(lambda n: n)
    with pytest.raises(weir.TracingError, match="needs the numbers"):
        x.map(lambda n, v: 1 if v > 0 else 0)
    with pytest.raises(ZeroDivisionError):
        x.map(lambda n, v: 1 / 0)
    with pytest.raises(TypeError, match="of map returns must be an array or a number, found str"):
        x.map(lambda n, v: "text")
    with pytest.raises(weir.InvalidArgument, match="variable 'total'.*keep it in a vertex"):
        total = weir.Variable(0.0, name="total")
        x.map(lambda n, v: total.assign_add(v))
    with pytest.raises(weir.TracingError, match="psum at .* there is none around it"):
        x.map(lambda n, v: weir.psum(v))
    with pytest.raises(weir.InvalidArgument, match="py:.*print nothing; the vertex inspect"):
        x.map(lambda n, v: (weir.print("{}", n), n))
    assert "func @" not in flow.text()


def test_a_function_that_fails_names_the_record_and_the_line(flow):
    def check(n):
        weir.check(n < 5, "too large")
        return n

    flow.input("x", "i64").map(check, name="checked").output("out")
    with pytest.raises(weir.Error, match="too large") as error:
        flow.run_sequentially({"x": [(2, [3, 9])]})
    assert "checked" in str(error.value)


def test_inputs_that_are_none(flow):
    flow.input("x", "i64").output("out")
    with pytest.raises(weir.InvalidArgument, match="no input 'y'; its inputs are x"):
        flow.run_sequentially({"y": [(0, [1])]})
    with pytest.raises(weir.InvalidArgument, match="column 0 of input 'x'"):
        flow.run_sequentially({"x": [(0, [1.5])]})
    assert flow.run_sequentially({}) == {"out": {}}
    assert repr(flow) == "weir.Flow(test: x -> out)"
