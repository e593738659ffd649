"""Products with jacobians: `vjp`, `jvp`, `linearize`."""

from weir import jit as jitting, location, trace as tracing, tree
from weir.autodiff.functions import Arguments, Pullback, Pushforward, matched, pushed
from weir.eager import operation


def vjp(function, *primals, has_aux=False):
    """Runs a function, and makes the function that walks it back.

    Args:
      function: from pytrees of arrays to a pytree of arrays.
      *primals: its arguments, of floats or complex numbers.
      has_aux: whether it returns (result, auxiliary), of which the second is only handed on.

    Returns: (result, pullback), with has_aux (result, pullback, auxiliary). `pullback(ct)`, of a
      cotangent of the type of the result, returns a tuple with that of each argument. Outside of
      traced functions each call of it runs the function again.

    Raises: TypeError for arguments of integers; NotDifferentiable naming an operation and its line.
    """
    if tracing.current() is None:
        return _vjp_outside(function, primals, has_aux)
    arguments = Arguments("vjp", function, primals)
    pullback = Pullback(function, arguments, has_aux)

    def pull(ct):
        likes = pullback.results
        cts = matched("the cotangents of a vjp", ct, pullback.structure, likes)
        return tree.unflatten(arguments.structure, pullback.pull(cts))

    return (pullback.result, pull, pullback.aux) if has_aux else (pullback.result, pull)


def _vjp_outside(function, primals, has_aux):
    def run(*primals):
        found = vjp(function, *primals, has_aux=has_aux)
        return (found[0], found[2]) if has_aux else found[0]

    pull = jitting.jit(lambda primals, ct: vjp(function, *primals, has_aux=has_aux)[1](ct))
    returned = operation(run)(*primals)
    result, aux = returned if has_aux else (returned, None)

    def pullback(ct):
        return pull(primals, ct)

    return (result, pullback, aux) if has_aux else (result, pullback)


@operation
def jvp(function, primals, tangents, has_aux=False):
    """Runs a function together with how its result changes.

    Args:
      function: from pytrees of arrays to a pytree of arrays.
      primals: a tuple of its arguments, of floats or complex numbers.
      tangents: a tuple of how they change, of the same types.
      has_aux: whether it returns (result, auxiliary), of which the second is only handed on.

    Returns: (result, tangent of the result), with has_aux (result, tangent, auxiliary).

    Raises: TypeError where tangents and primals differ in structure or types; NotDifferentiable
      naming an operation and its line.
    """
    _check_tuples("jvp", primals, tangents)
    arguments = Arguments("jvp", function, primals)
    what = "the tangents of a jvp"
    moved = matched(what, tuple(tangents), arguments.structure, arguments.arrays)
    result, change, aux = pushed(function, arguments, moved, has_aux)
    return (result, change, aux) if has_aux else (result, change)


def _check_tuples(what, *given):
    for each in given:
        if not isinstance(each, (tuple, list)):
            raise TypeError(
                f"{what} takes a tuple of primals and one of tangents, found"
                f" {type(each).__name__} ({location.text()})"
            )


def linearize(function, *primals, has_aux=False):
    """Runs a function, and makes the function that says how its result changes.

    Args:
      function, *primals, has_aux: as for `vjp`.

    Returns: (result, change), with has_aux (result, change, auxiliary). `change(*tangents)`, of the
      types of the primals, returns the tangent of the result, and computes no more than that;
      branches, loops and custom functions run once more for it. Outside of traced functions each
      call of it runs the function again.
    """
    if tracing.current() is None:
        return _linearize_outside(function, primals, has_aux)
    arguments = Arguments("linearize", function, primals)
    forward = Pushforward(function, arguments, has_aux)

    def change(*tangents):
        what = "the tangents of a linearized function"
        return forward.push(matched(what, tangents, arguments.structure, arguments.arrays))

    return (forward.result, change, forward.aux) if has_aux else (forward.result, change)


def _linearize_outside(function, primals, has_aux):
    def run(*primals):
        found = linearize(function, *primals, has_aux=has_aux)
        return (found[0], found[2]) if has_aux else found[0]

    push = jitting.jit(lambda primals, t: linearize(function, *primals, has_aux=has_aux)[1](*t))
    returned = operation(run)(*primals)
    result, aux = returned if has_aux else (returned, None)

    def change(*tangents):
        return push(primals, tangents)

    return (result, change, aux) if has_aux else (result, change)


