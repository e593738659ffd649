"""Loops over iterations that do not depend on one another: `pfor`, and `for_loop` with the same
contract.
"""

from weir import loops
from weir.eager import operation
from weir.lists import List


def pfor(body, n, chunk_size=None, strict=False, capacity=None):
    """Runs `body(i)` for i = 0 .. n-1, all at once, and stacks the results.

    Args:
      body: takes the iteration as an i64 scalar; returns a pytree of arrays whose shapes do not
        depend on it. Its iterations cannot see one another.
      n: how many iterations; a Python integer or a `weir.Dim`, may be 0. With a capacity also an
        integer scalar that only the run knows, and that differs between the iterations of loops
        around: then just as many run as there are.
      chunk_size: how many iterations run at once; the results do not depend on it. A body that
        reduces over its iterations (`psum` and the like) runs whole.
      strict: whether an operation that can only run one iteration after the other is an error.
      capacity: how many iterations there may be, a Python integer or a `weir.Dim`. A run fails
        where n is above.

    Returns: the pytree of `body`, each leaf T[...] as T[n, ...]. With a capacity a `weir.List` of n
      elements, whose leaves are T[capacity, ...] with zeros from n on.

    Raises: ValueError for a negative n, one above the capacity or a chunk_size below 1; TypeError
      for a traced n without a capacity.
    """
    chunk_size = loops.check_chunk(chunk_size)
    if capacity is None:
        return _pfor(body, loops.check_count("pfor", n), chunk_size, strict)
    return _ragged_pfor(body, n, loops.check_capacity("pfor", n, capacity), chunk_size, strict)


@operation
def _pfor(body, n, chunk_size, strict):
    return loops.parallel(body, n, chunk_size, strict, "different").tree()


@operation
def _ragged_pfor(body, n, capacity, chunk_size, strict):
    size = loops.as_size("pfor", n)
    stacked = loops.parallel(body, capacity, chunk_size, strict, "different", size)
    return List(stacked.tree(), size)


def for_loop(body, n, capacity=None):
    """The same as `pfor`, one iteration after the other: the baseline.

    So a read of a variable sees what earlier iterations wrote, and iterations cannot meet: `psum`
    and its like, and assignments by mean or sum, need a pfor.

    Args:
      body, n, capacity: as for `pfor`.

    Returns: the same values as `pfor(body, n, capacity=capacity)`.
    """
    if capacity is None:
        return _for_loop(body, loops.check_count("for_loop", n))
    return _ragged_for_loop(body, n, loops.check_capacity("for_loop", n, capacity))


@operation
def _for_loop(body, n):
    return loops.sequential(body, n).tree()


@operation
def _ragged_for_loop(body, n, capacity):
    size = loops.as_size("for_loop", n)
    return List(loops.sequential_up_to(body, size, capacity).tree(), size)
