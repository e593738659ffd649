"""What building a flow costs, and the names that it gives."""

import pytest

import weir


@pytest.fixture
def flow():
    return weir.Flow("test")


def test_building_costs_what_there_is(flow):
    def add(stream, count):
        with flow.loop() as loop:
            again = loop.feedback(like=stream)
            inside = loop.enter(stream).concat(again)
            for _ in range(count):
                inside = inside.concat()
            again.set(inside.filter(lambda n: n < 5), bound=3)
            return loop.leave(inside).map(lambda n: n + 1)

    stream = flow.input("x", "i64")
    vertices = 1
    for _ in range(40):
        before = flow._builder.checks
        stream = add(stream, 10)
        vertices += 16
        assert flow._builder.checks - before <= 32, f"after {vertices} vertices"
    stream.output("out")
    assert flow.text().count(" = ") >= vertices
    results = flow.run_sequentially({"x": [(0, [7])]})
    assert results["out"][0][0].tolist() == [47]


def test_a_name_after_many(flow):
    x = flow.input("x", "i64")
    names = [x.concat().name for _ in range(3)]
    x.concat(name="concat_4")
    with pytest.raises(weir.InvalidArgument, match="taken"):
        x.concat(name="concat_4")
    assert [*names, x.concat().name, x.concat(name="concat").name, x.concat().name] == [
        "concat_1", "concat_2", "concat_3", "concat_5", "concat", "concat_6",
    ]  # fmt: skip
    for wanted in ["f", "f_2", "f_3"]:

        def f(n):
            return n

        assert f'function = "{wanted}"' in x.map(f).flow.text()


def test_a_drawing(flow):
    x = flow.input("x", "i64")
    with flow.loop("outer") as outer:
        with flow.loop("inner") as inner:
            again = inner.feedback(like=x, name="again")
            inside = inner.enter(outer.enter(x, name="in"), name='"in"').concat(again, name="all")
            again.set(inside, bound=2)
            out = inner.leave(inside, name="out")
        outer.leave(out, name="last").output("result")
    assert flow.draw() == """\
digraph "test" {
  node [shape=box];
  v0 [label="x\\ninput"];
  v6 [label="last\\nleave"];
  v7 [label="result\\noutput"];
  subgraph cluster_0 {
    label="outer";
    v2 [label="in\\nenter"];
    v5 [label="out\\nleave"];
    subgraph cluster_1 {
      label="inner";
      v1 [label="again\\nfeedback"];
      v3 [label="\\"in\\"\\nenter"];
      v4 [label="all\\nconcat"];
    }
  }
  v0 -> v2 [label="(i64[])"];
  v2 -> v3 [label="(i64[])"];
  v3 -> v4 [label="(i64[])"];
  v1 -> v4 [label="(i64[])"];
  v4 -> v1 [label="(i64[])", style=dashed, constraint=false];
  v4 -> v5 [label="(i64[])"];
  v5 -> v6 [label="(i64[])"];
  v6 -> v7 [label="(i64[])"];
}
"""
