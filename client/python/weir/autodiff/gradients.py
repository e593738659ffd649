"""Gradients: `grad`, `value_and_grad`."""

import functools

from weir import core, dtypes, location, tree
from weir.autodiff.functions import Arguments, Pullback, check_inexact, name_of
from weir.eager import operation


class Chosen:
    """The arguments of a call by which it is differentiated.

    Attributes:
      primals: a tuple of them.
      is_one: whether argnums names one, not several.
    """

    def __init__(self, what, function, argnums, args, kwargs):
        self.is_one = not isinstance(argnums, (tuple, list))
        numbers = (argnums,) if self.is_one else tuple(argnums)
        self._args, self._kwargs, self._function = args, kwargs, function
        self._places = []
        for number in numbers:
            at = core.known_integer(number, f"argnums of {what}")
            if not -len(args) <= at < len(args):
                raise ValueError(
                    f"{what}: argnums names argument {at}, and {name_of(function)} is called with"
                    f" {len(args)} by position ({location.text()})"
                )
            self._places.append(at % len(args))
        if len(set(self._places)) != len(self._places):
            raise ValueError(f"{what}: argnums names an argument twice ({location.text()})")
        self.primals = tuple(args[at] for at in self._places)

    def call(self, *primals):
        """Calls the function with these in place of the primals."""
        args = list(self._args)
        for at, primal in zip(self._places, primals):
            args[at] = primal
        return self._function(*args, **self._kwargs)

    def of_primals(self, trees):
        """Returns: one tree, or a tuple of them, as argnums asks."""
        return trees[0] if self.is_one else tuple(trees)


def value_and_grad(function, argnums=0, has_aux=False, holomorphic=False):
    """Makes a function that returns the result of `function` and its gradient.

    Args:
      function: from pytrees of arrays to a scalar of floats.
      argnums: the positions of the arguments that it is differentiated by: an integer, or a tuple.
      has_aux: whether it returns (result, auxiliary), of which the second is only handed on.
      holomorphic: for functions of complex arguments with a complex result that are: the gradient
        is the complex derivative. Else that of a real result by x + iy is d/dx - i d/dy, as in JAX.

    Returns: a function that takes the arguments of `function` and returns (result, gradient), with
      has_aux ((result, auxiliary), gradient). The gradient is a pytree like the argument, or a
      tuple of them.

    Raises (when called): TypeError for arguments of integers and for results that are no scalar
      floats; NotDifferentiable naming an operation and its line.
    """

    @operation
    @functools.wraps(function)
    def gradient(*args, **kwargs):
        chosen = Chosen("grad", function, argnums, args, kwargs)
        arguments = Arguments("grad", function, chosen.primals)
        if holomorphic:
            _check_holomorphic(function, arguments.arrays)
        pullback = Pullback(chosen.call, arguments, has_aux)
        _check_result(function, pullback, holomorphic)
        (result,) = pullback.results
        found = pullback.pull([core.full((), 1, result.dtype_name)])
        trees = chosen.of_primals(tree.unflatten(arguments.structure, found))
        value = pullback.result
        return ((value, pullback.aux), trees) if has_aux else (value, trees)

    return gradient


def grad(function, argnums=0, has_aux=False, holomorphic=False):
    """Makes a function that returns the gradient of `function`.

    Args:
      function, argnums, has_aux, holomorphic: as for `value_and_grad`.

    Returns: a function that takes the arguments of `function` and returns the gradient, with
      has_aux (gradient, auxiliary).
    """
    both = value_and_grad(function, argnums, has_aux, holomorphic)

    @operation
    @functools.wraps(function)
    def gradient(*args, **kwargs):
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def _check_holomorphic(function, arrays):
    for x in arrays:
        if x.dtype_name not in dtypes.COMPLEXES:
            raise TypeError(
                f"holomorphic=True needs complex arguments, and {name_of(function)} gets"
                f" {x.describe()} ({location.text()})"
            )


def _check_result(function, pullback, holomorphic):
    name = name_of(function)
    what = (
        f"grad needs {name} to return one scalar float; weir.jacrev and weir.vjp take functions"
        " with other results"
    )
    if len(pullback.results) != 1 or pullback.structure.kind is not tree.LEAF:
        raise TypeError(f"{what}: it returns {pullback.structure} ({location.text()})")
    (result,) = pullback.results
    if result.shape:
        raise TypeError(f"{what}: it returns {result.describe()} ({location.text()})")
    check_inexact("grad", f"the result of {name}", result)
    if result.dtype_name in dtypes.COMPLEXES and not holomorphic:
        raise TypeError(
            f"{what}: it returns {result.describe()} ({location.text()}); holomorphic=True gives"
            " the derivative of a function that has one"
        )
    if holomorphic and result.dtype_name not in dtypes.COMPLEXES:
        raise TypeError(
            f"holomorphic=True needs a complex result, found {result.describe()}"
            f" ({location.text()})"
        )
