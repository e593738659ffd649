"""Nothing of the catalogue is forgotten: each name is a test of this folder, or missing with a
reason.

names.txt has a line `section  name` for each test of the catalogue; missing.txt a line
`section  name  reason` for each of them that asks for what there is not yet.
"""

import ast
import collections
import pathlib

_FOLDER = pathlib.Path(__file__).parent


def _lines(file, columns):
    """Returns: the columns of each line, which two spaces part."""
    rows = [line.split("  ") for line in (_FOLDER / file).read_text().splitlines()]
    assert rows and all(len(row) == columns and all(row) for row in rows)
    return rows


def _tests():
    """Returns: the names of the test functions of the folder, as often as they stand there."""
    files = [file for file in _FOLDER.glob("test_*.py") if file.name != pathlib.Path(__file__).name]
    nodes = [node for file in files for node in ast.parse(file.read_text()).body]
    return [n.name for n in nodes if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")]


def test_every_name_is_a_test_or_missing():
    names = [name for _, name in _lines("names.txt", 2)]
    found = _tests() + [name for _, name, _ in _lines("missing.txt", 3)]
    assert collections.Counter(found) == collections.Counter(names)
    assert len(set(names)) == len(names)


def test_what_is_missing_stands_in_its_section():
    names = {(section, name) for section, name in _lines("names.txt", 2)}
    assert {(section, name) for section, name, _ in _lines("missing.txt", 3)} <= names
