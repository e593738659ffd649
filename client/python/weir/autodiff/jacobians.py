"""Jacobians and hessians: products with all unit vectors, at once in a pfor."""

import functools

from weir import core, dtypes, location, loops, tree
from weir.autodiff.functions import Arguments, Pullback, Pushforward, check_inexact, name_of
from weir.autodiff.gradients import Chosen
from weir.eager import operation


def jacrev(function, argnums=0, has_aux=False, holomorphic=False, chunk_size=None):
    """Makes a function that returns the jacobian, a row for each result element: reverse mode,
    for functions with more arguments than results.

    Args:
      function: from pytrees of arrays to a pytree of arrays of floats.
      argnums, has_aux: as for `value_and_grad`.
      holomorphic: needed for complex results, as for `value_and_grad`.
      chunk_size: how many rows are computed at once; the result does not depend on it.

    Returns: a function that takes the arguments of `function` and returns the jacobian, with
      has_aux (jacobian, auxiliary): in the structure of the result, and in each of its leaves in
      that of the argument (or a tuple of them), arrays [*shape of result, *shape of argument].

    Raises (when called): as `value_and_grad`.
    """
    chunk = loops.check_chunk(chunk_size)

    @operation
    @functools.wraps(function)
    def jacobian(*args, **kwargs):
        chosen = Chosen("jacrev", function, argnums, args, kwargs)
        arguments = Arguments("jacrev", function, chosen.primals)
        pullback = Pullback(chosen.call, arguments, has_aux)
        _check_real(function, "jacrev", pullback.results, arguments.arrays, holomorphic)
        rows = [
            chosen.of_primals(tree.unflatten(arguments.structure, _rows(pullback, k, chunk)))
            for k in range(len(pullback.results))
        ]
        found = tree.unflatten(pullback.structure, rows)
        return (found, pullback.aux) if has_aux else found

    return jacobian


def jacfwd(function, argnums=0, has_aux=False, holomorphic=False, chunk_size=None):
    """Makes a function that returns the jacobian, a column for each argument element: forward
    mode, for functions with more results than arguments, and for while loops.

    Args:
      function, argnums, has_aux, chunk_size: as for `jacrev`.
      holomorphic: needed for complex arguments, as for `value_and_grad`.

    Returns: the same as `jacrev`.
    """
    chunk = loops.check_chunk(chunk_size)

    @operation
    @functools.wraps(function)
    def jacobian(*args, **kwargs):
        chosen = Chosen("jacfwd", function, argnums, args, kwargs)
        arguments = Arguments("jacfwd", function, chosen.primals)
        forward = Pushforward(chosen.call, arguments, has_aux)
        results, structure = tree.flatten(forward.result)
        _check_real(function, "jacfwd", results, arguments.arrays, holomorphic)
        columns = [_columns(forward, arguments, k, chunk) for k in range(len(arguments.arrays))]
        leaves = [
            chosen.of_primals(tree.unflatten(arguments.structure, list(row)))
            for row in zip(*columns)
        ]
        found = tree.unflatten(structure, leaves)
        return (found, forward.aux) if has_aux else found

    return jacobian


jacobian = jacrev


def hessian(function, argnums=0, has_aux=False, holomorphic=False, chunk_size=None):
    """Makes a function that returns the second derivatives: `jacfwd` of `jacrev`.

    Args:
      function, argnums, has_aux, holomorphic: as for `value_and_grad`; results need be no scalars.
      chunk_size: as for `jacrev`, of the columns.

    Returns: a function that takes the arguments of `function` and returns the hessian, with has_aux
      (hessian, auxiliary): arrays [*shape of result, *shape of argument, *shape of argument] in the
      structure of the result, of the argument and once more of the argument.
    """
    inner = jacrev(function, argnums, has_aux, holomorphic)
    return jacfwd(inner, argnums, has_aux, holomorphic, chunk_size)


def _unit(x, index):
    """The array of the type of `x` with 1 in the place `index`, counted in row-major order, and 0
    elsewhere.
    """
    line = core.compare("equal", core.iota((x.size,), 0, "i64"), core.cast(index, "i64"))
    return core.reshape(core.cast(line, x.dtype_name), x.shape)


def _rows(pullback, k, chunk):
    """The rows of the elements of result k: an array for each argument."""
    result = pullback.results[k]

    def row(index):
        cts = [None] * len(pullback.results)
        cts[k] = _unit(result, index)
        return pullback.pull(cts)

    if not result.shape:
        return row(core.scalar(0, "i64"))
    stacked = loops.parallel(row, result.size, chunk, False, "different").outputs
    return [core.reshape(x, (*result.shape, *x.shape[1:])) for x in stacked]


def _columns(forward, arguments, k, chunk):
    """The columns of the elements of argument k: an array for each result."""
    argument = arguments.arrays[k]

    def column(index):
        tangents = [None] * len(arguments.arrays)
        tangents[k] = _unit(argument, index)
        return tree.leaves(forward.push(tangents))

    if not argument.shape:
        return column(core.scalar(0, "i64"))
    stacked = loops.parallel(column, argument.size, chunk, False, "different").outputs
    return [_placed(x, argument.shape) for x in stacked]


def _placed(stacked, shape):
    moved = core.transpose(stacked, [*range(1, stacked.ndim), 0])
    return core.reshape(moved, (*moved.shape[:-1], *shape))


def _check_real(function, what, results, arrays, holomorphic):
    for x in results:
        check_inexact(what, f"a result of {name_of(function)}", x)
    for x in [*results, *arrays]:
        is_complex = x.dtype_name in dtypes.COMPLEXES
        if is_complex and not holomorphic:
            raise TypeError(
                f"{what} of {name_of(function)} would need two numbers for each complex one, and"
                f" it has {x.describe()} ({location.text()}); take the real and imaginary parts"
                " apart, or holomorphic=True where the function is"
            )
        if holomorphic and not is_complex:
            raise TypeError(
                f"holomorphic=True needs complex arguments and results, found {x.describe()}"
                f" ({location.text()})"
            )
