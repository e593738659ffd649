"""What the checks of the sources share: which files there are, and how a check tests itself."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def listed(*patterns):
    """Goes to the root of the project. Returns: the paths there that git knows and that match."""
    os.chdir(ROOT)
    found = subprocess.run(["git", "ls-files", "-z", *patterns], check=True, stdout=subprocess.PIPE)
    return [name for name in found.stdout.decode().split("\0") if name and os.path.exists(name)]


def read(path):
    """Returns: the text of a file."""
    return pathlib.Path(path).read_text(encoding="utf-8")


def tell(name, outcomes):
    """Prints how a self-test ended.

    Args:
      name: of the check.
      outcomes: for each sample what is wrong with it, or None.

    Returns: whether all passed.
    """
    wrong = [outcome for outcome in outcomes if outcome]
    print("".join(f"self-test: {each}\n" for each in wrong), end="")
    print(f"{name}: {len(outcomes) - len(wrong)} passed, {len(wrong)} failed")
    return not wrong
