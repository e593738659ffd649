"""What the tests share."""

import os
import pathlib

import numpy as np
import open_sizes
import pytest

import weir

_REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session", autouse=True)
def session():
    """One cluster in this process for all tests, whatever the environment names."""
    os.environ.pop("WEIR_ADDRESS", None)
    with weir.connect(workers=2) as opened:
        yield opened


# Tests whose every operation outside of traced functions is checked with open sizes too.
_WITH_OPEN_SIZES = (
    "test_numpy_",
    "test_nn",
    "test_special",
    "test_sparse",
    "test_lists",
    "test_functions",
    "test_optional",
    "test_dtypes",
    "test_random",
    "test_python_numbers",
    "test_lax",
    "test_selection",
    "test_indexing",
    "test_ragged",
    "test_collectives",
    "test_control",
    "test_loops",
)


@pytest.fixture(autouse=True)
def _with_open_sizes(request):
    if not request.module.__name__.startswith(_WITH_OPEN_SIZES):
        yield
        return
    with open_sizes.checked():
        yield


@pytest.fixture(scope="session")
def digits():
    """The folder of the digits models."""
    data = os.environ.get("WEIR_TEST_DATA", _REPOSITORY / "tests" / "data")
    return pathlib.Path(data) / "digits"


@pytest.fixture
def rng():
    """Random numbers that are the same in each run."""
    return np.random.default_rng(7)


def assert_tree_close(got, want, tol=2e-5):
    """Equal structures, shapes and, up to rounding, numbers."""
    got_leaves, got_structure = weir.tree.flatten(got)
    want_leaves, want_structure = weir.tree.flatten(want)
    assert got_structure == want_structure
    for a, b in zip(got_leaves, want_leaves):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=tol, atol=tol)


def assert_same_bits(got, want):
    """Equal structures, element types, shapes and numbers."""
    got_leaves, got_structure = weir.tree.flatten(got)
    want_leaves, want_structure = weir.tree.flatten(want)
    assert got_structure == want_structure
    for a, b in zip(got_leaves, want_leaves):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_array_equal(a, b)
