"""What the tests of flows on processes share."""

import contextlib
import pathlib
import sys

import pytest

_REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# The examples, and what is known of them.
sys.path.append(str(_REPOSITORY / "client" / "python" / "tests"))

import processes
import weir


@pytest.fixture(scope="session")
def start_cluster(tmp_path_factory):
    """Returns: a context manager: (cluster, session) of so many workers."""

    @contextlib.contextmanager
    def start(workers, **options):
        folder = tmp_path_factory.mktemp(f"cluster-{workers}-")
        with processes.Cluster(folder, workers, **options) as cluster:
            with weir.connect(cluster.address) as session:
                yield cluster, session

    return start


@pytest.fixture(scope="module")
def three(start_cluster):
    """A cluster of three workers for the tests of a file, which leave it as they found it."""
    with start_cluster(3) as both:
        yield both


