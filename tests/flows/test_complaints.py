"""Each complaint in the README has a test, and the tests that it names are there."""

import pathlib
import re

_HERE = pathlib.Path(__file__).resolve().parent
_REPOSITORY = _HERE.parents[1]


def rows():
    """Yields: (complaint, names of tests)."""
    text = (_HERE / "README.md").read_text().split("\n## What users")[1]
    for complaint, tests in re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.M):
        if complaint != "complaint":
            yield complaint, re.findall(r"`([^`]+)`", tests)


def test_each_complaint_has_a_test():
    found = list(rows())
    assert len(found) > 25
    for complaint, tests in found:
        assert tests, complaint


def test_the_tests_are_there():
    sources = "\n".join(
        file.read_text()
        for folder in ("common", "server", "worker", "tests/cluster")
        for file in (_REPOSITORY / folder).rglob("*_test.cc")
    )
    for _, tests in rows():
        for test in tests:
            if "::" in test:
                file, name = test.split("::")
                (path,) = (*_HERE.glob(file), *(_REPOSITORY / "client/python/tests").glob(file))
                assert f"\ndef {name}(" in path.read_text(), test
            elif "/" in test:
                assert (_REPOSITORY / test).exists(), test
            else:
                suite, name = test.split(".")
                assert re.search(rf"TEST(_F|_P)?\(\w*{suite},\s+{name}\)", sources), test
