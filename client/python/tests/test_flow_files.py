"""Flows that read and write files."""

import numpy as np
import pytest

import weir

TIMEOUT = 300


def rows(records):
    return sorted(zip(*(column.tolist() for column in records), records.weights.tolist()))


@pytest.fixture
def points(tmp_path):
    """Returns: a directory with three CSV files of (i64, f32[2])."""
    for part in range(3):
        lines = [f"{part},{i}.5,{-i}" for i in range(10 * part)]
        (tmp_path / f"points-{part}.csv").write_text("\n".join(["part,x,y", *lines, ""]))
    return tmp_path


def test_files_are_read_once_whatever_the_number_of_workers(points):
    flow = weir.Flow("read")
    stream = flow.read_files(points / "points-*.csv", "i64", "f32[2]", skip_lines=1)
    assert stream.types == (("i64", ()), ("f32", (2,)))
    stream.output("out")
    wanted = flow.run_sequentially()["out"]
    assert list(wanted) == [0] and wanted[0].rows == 30
    for workers in (1, 2, 4):
        with weir.connect(workers=workers):
            results = flow.run(timeout=TIMEOUT)["out"]
        assert list(results) == [0]
        for column, other in zip(results[0], wanted[0]):
            np.testing.assert_array_equal(column, other)


def test_each_file_is_an_epoch(points, session):
    flow = weir.Flow("read")
    stream = flow.read_files(points / "*.csv", "i64", "f32[2]", skip_lines=1, epochs="file")
    stream.count(keys=1).output("counts")
    results = flow.run(timeout=TIMEOUT)["counts"]
    assert {epoch: rows(records) for epoch, records in results.items()} == {
        1: [(1, 10, 1)],
        2: [(2, 20, 1)],
    }


def test_an_epoch_is_written_when_it_is_complete(points, session):
    flow = weir.Flow("copy")
    numbers = flow.input("numbers", "i64", "i64")
    numbers.write_files(points / "out-{epoch:03}.npy", name="sink")
    numbers.probe("seen")
    with session.deploy(flow) as job:
        job.send("numbers", ([3, 1, 2], [30, 10, 20]))
        job.send("numbers", ([5], [50]), epoch=7)
        assert not list(points.glob("out*"))
        job.advance("numbers", 7)
        job.close()
        job.wait(timeout=TIMEOUT)
    assert sorted(path.name for path in points.glob("*out*")) == ["out-000.npy", "out-007.npy"]
    np.testing.assert_array_equal(np.load(points / "out-000.npy"), [[3, 30], [1, 10], [2, 20]])
    np.testing.assert_array_equal(np.load(points / "out-007.npy"), [[5, 50]])


def test_what_is_written_has_the_same_bytes_on_any_number_of_workers(points):
    wanted = None
    for workers in (1, 2, 3):
        flow = weir.Flow("sums")
        stream = flow.read_files(points / "points*.csv", "i64", "f32[2]", skip_lines=1)
        stream.reduce_by_key(keys=1, combine="sum").write_files(points / "sums-{epoch}.csv")
        with weir.connect(workers=workers):
            flow.run(timeout=TIMEOUT)
        written = (points / "sums-0.csv").read_bytes()
        assert wanted is None or written == wanted
        wanted = written
    assert wanted.decode().split("\n") == ["1,50,-45", "2,200,-190", ""]


def test_faults_name_the_vertex_the_file_and_the_line(points, session):
    (points / "bad.csv").write_text("1,2\n3,four\n")
    flow = weir.Flow("read")
    flow.read_files(points / "bad.csv", "i64", "f32", name="numbers").output("out")
    with pytest.raises(weir.errors.InvalidArgument, match=r"'numbers' .*bad.csv:2:3: \"four\""):
        flow.run(timeout=TIMEOUT)
    flow = weir.Flow("read")
    flow.read_files(points / "none-*.csv", "i64", name="numbers").output("out")
    with pytest.raises(weir.errors.NotFound, match="'numbers' .*no file matches"):
        flow.run(timeout=TIMEOUT)
    with pytest.raises(weir.errors.InvalidArgument, match=r"test_flow_files.py.*ends neither"):
        weir.Flow("read").read_files("numbers.txt", "i64")
    with pytest.raises(weir.errors.InvalidArgument, match="it needs {epoch} once"):
        weir.Flow("read").read_files("numbers.csv", "i64").write_files("out.csv")
