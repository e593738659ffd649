"""A function of pytrees, as what is differentiated: recorded once, then run either way."""

from weir import core, dims, dtypes, location, tree
from weir.array import Array
from weir.autodiff import activity, replay
from weir.autodiff.replay import Environment
from weir.autodiff.walking import STRUCTURED, Backward, push, push_node, push_plain
from weir.recording import Scope


def name_of(function):
    """Returns: what errors call a function."""
    return getattr(function, "__name__", "the function")


class Arguments:
    """The arguments by which a function is differentiated.

    Attributes:
      arrays: their leaves.
      structure: of the tuple of them.
    """

    def __init__(self, what, function, primals):
        leaves, self.structure = tree.flatten(tuple(primals))
        role = f"an argument of {name_of(function)}"
        self.arrays = [core.as_array(leaf, role) for leaf in leaves]
        paths = [
            path
            for i, primal in enumerate(primals)
            for path in tree.paths(primal, f"argument {i}")
        ]
        for x, path in zip(self.arrays, paths):
            check_inexact(what, f"{path} of {name_of(function)}", x)


def check_inexact(what, role, x):
    """Raises: TypeError for an array that is not of floats or complex numbers."""
    if x.dtype_name in dtypes.FLOATS + dtypes.COMPLEXES:
        return
    raise TypeError(
        f"{what} differentiates by floats and complex numbers, and {role} is {x.describe()}"
        f" ({location.text()}); convert it with .astype, or differentiate by other arguments"
    )


class Recorded:
    """A function that has been called with arrays of its own.

    Attributes:
      results: the leaves of what it returned, in the recording; `structure` is theirs.
    """

    def __init__(self, function, arguments, has_aux=False):
        self._arguments = arguments

        def call(*arrays):
            return function(*tree.unflatten(arguments.structure, arrays))

        self.body, returned, _ = replay.record(call, arguments.arrays)
        aux = ()
        if has_aux:
            if not isinstance(returned, tuple) or len(returned) != 2:
                raise TypeError(
                    f"with has_aux {name_of(function)} must return (result, auxiliary), found"
                    f" {type(returned).__name__} ({location.text()})"
                )
            returned, aux = returned
        leaves, self.structure = tree.flatten(returned)
        aux, self._aux_structure = tree.flatten(aux)
        what = f"a result of {name_of(function)}"
        self.results = [self._array(leaf, what) for leaf in leaves]
        self._aux = [self._array(leaf, what) for leaf in aux]
        self.body.results = [x.value for x in self.results + self._aux]

    @staticmethod
    def _array(leaf, what):
        return leaf if isinstance(leaf, Array) else core.as_array(leaf, what)

    def environment(self):
        """Returns: one in which the arguments stand for those of the recording."""
        made = Environment()
        made.put(self.body.args, self._arguments.arrays)
        return made

    def returned(self, arrays):
        """Returns: (result, auxiliary) made of what the body gives."""
        arrays = [_like(x, like) for x, like in zip(arrays, self.results + self._aux)]
        count = len(self.results)
        return (
            tree.unflatten(self.structure, arrays[:count]),
            tree.unflatten(self._aux_structure, arrays[count:]),
        )


def _like(x, like):
    made = Array(x.owner, x.value, region=x.region, weak_type=like.weak_type, origin=like.origin)
    made.is_index = like.is_index
    return made


class Pullback:
    """A function that has run, from cotangents of its results to those of its arguments."""

    def __init__(self, function, arguments, has_aux=False):
        self._arguments = arguments
        self._recorded = Recorded(function, arguments, has_aux)
        body = self._recorded.body
        self._back = Backward(body, self._recorded.environment(), set(body.args))
        self.result, self.aux = self._recorded.returned(self._back.results)

    @property
    def results(self):
        """The leaves of the result."""
        return self._back.results[: len(self._recorded.results)]

    @property
    def structure(self):
        """The structure of the result."""
        return self._recorded.structure

    def pull(self, cts):
        """Args: arrays, one for each leaf of the result, None for zero. Returns: for each leaf of
        the arguments an array.
        """
        rest = len(self._back.results) - len(cts)
        found = self._back.pull([*cts, *[None] * rest])
        args = self._recorded.body.args
        return [
            _zeros(x) if found.get(arg) is None else core.cast(found[arg], x.dtype_name)
            for arg, x in zip(args, self._arguments.arrays)
        ]


def _zeros(x):
    return core.full(x.shape, 0, x.dtype_name)


class Pushforward:
    """A function that has run, from tangents of its arguments to those of its results."""

    def __init__(self, function, arguments, has_aux=False):
        self._arguments = arguments
        self._recorded = Recorded(function, arguments, has_aux)
        self._environment = self._recorded.environment()
        results = replay.run_body(self._recorded.body, self._environment)
        self.result, self.aux = self._recorded.returned(results)

    def push(self, tangents):
        """Args: arrays, one for each leaf of the arguments, None for zero. Returns: a tree of the
        tangents of the results.
        """
        body = self._recorded.body
        known = {arg: t for arg, t in zip(body.args, tangents) if t is not None}
        for node in body.nodes:
            self._push(node, known)
        moved = [known.get(value) for value in body.results[: len(self._recorded.results)]]
        likes = tree.leaves(self.result)
        filled = [_zeros(x) if t is None else t for t, x in zip(moved, likes)]
        return tree.unflatten(self._recorded.structure, filled)

    def _push(self, node, known):
        if isinstance(node, Scope) or node.op in STRUCTURED:
            # These run once more, beside their tangents.
            push_node(node, Environment(self._environment, again=True), known)
        elif activity.of_node(node, set(known)):
            with location.fixed(node.location):
                known.update(push_plain(node, self._environment, known))


def pushed(function, arguments, tangents, has_aux=False):
    """Runs a function with its tangents beside it.

    Returns: (result, tangents of the result, auxiliary).
    """
    recorded = Recorded(function, arguments, has_aux)
    environment = recorded.environment()
    known = {arg: t for arg, t in zip(recorded.body.args, tangents) if t is not None}
    arrays, moved = push(recorded.body, environment, known)
    result, aux = recorded.returned(arrays)
    pairs = zip(recorded.results, moved)
    filled = [_zeros(x) if t is None else t for x, t in pairs]
    return result, tree.unflatten(recorded.structure, filled), aux


def matched(what, given, structure, arrays):
    """Returns: the leaves of cotangents or tangents, of the types of `arrays`; None for those of
    what has no derivative.

    Raises: TypeError where structure, shape or element type differ.
    """
    leaves, found = tree.flatten(given)
    if found != structure:
        raise TypeError(
            f"{what} have the structure {found}, and {structure} is needed ({location.text()})"
        )
    return [_matched(what, leaf, x) for leaf, x in zip(leaves, arrays)]


def _matched(what, leaf, x):
    if x.dtype_name not in dtypes.FLOATS + dtypes.COMPLEXES:
        return None
    if core.is_scalar(leaf):
        leaf = core.to_dtype(leaf, x.dtype_name)
    array = core.as_array(leaf, what)
    weak = array.weak_type and array.dtype_name != x.dtype_name
    array = core.cast(array, x.dtype_name) if weak else array
    if array.dtype_name != x.dtype_name or not dims.same_shape(array.shape, x.shape):
        raise TypeError(
            f"{what} must be of the type of what they belong to, {x.type_text}, found"
            f" {array.describe()} ({location.text()})"
        )
    return array
