"""The examples of the package's README run."""

import pathlib
import re

_README = pathlib.Path(__file__).resolve().parents[1] / "README.md"


def test_examples(digits):
    blocks = re.findall(r"```python\n(.*?)```", _README.read_text(encoding="utf-8"), re.S)
    assert len(blocks) > 4
    names = {"digits": digits}
    for block in blocks:
        exec(compile(block, str(_README), "exec"), names)  # pylint: disable=exec-used
