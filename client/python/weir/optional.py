"""Values that may be missing: `weir.Optional`."""

import numpy as np

from weir import checks, core, errors, location, tree
from weir.array import Array
from weir.eager import operation


class Optional:
    """A pytree of arrays that is there in some iterations and missing in others; a pytree itself,
    so that branches and loops return it. A run fails, naming the iteration, where a value is used
    that is missing.

    Attributes:
      value: the pytree; without meaning where it is missing.
      has_value: bool, whether it is there. What `vmap` returns are those of all examples in one:
        every array has an axis more, in front.
    """

    __slots__ = ("value", "has_value")

    def __init__(self, value, has_value):
        """Makes one of its attributes; `of` and `none` are what programs use."""
        self.value = value
        self.has_value = has_value

    @classmethod
    def of(cls, value, where=True):
        """Returns: one with a value.

        Args:
          value: pytree of arrays and numbers.
          where: bool scalar, known or traced: whether the value is there.
        """
        return _of(value, where)

    @classmethod
    def none(cls, like):
        """Returns: one without a value, of the types and shapes of the pytree `like`."""
        return _of(_zeros(like), False)

    @operation
    def get(self):
        """Returns: the value. A run fails if it is missing."""
        self._check_single()
        checks.check(core.as_array(self.has_value), "an optional value is missing")
        return tree.map(core.as_array, self.value)

    @operation
    def get_or(self, default):
        """Returns: the value, or `default` if it is missing.

        Args:
          default: pytree of the structure of the value, each leaf of its shape and type.

        Raises: TypeError, ValueError where they differ.
        """
        self._check_single()
        return tree.map(self._choose, self.value, default)

    def __bool__(self):
        if isinstance(self.has_value, Array):
            raise errors.TracingError(
                f"a Python condition on an optional value at {location.text()} needs to know"
                " whether it is there, which only the run does; has_value is a condition for"
                " weir.cond, and get_or takes a default"
            )
        self._check_single()
        return bool(self.has_value)

    def __repr__(self):
        known = not isinstance(self.has_value, Array) and np.ndim(self.has_value) == 0
        text = ("nothing" if not self.has_value else repr(self.value)) if known else "traced"
        return f"weir.Optional({text})"

    def _check_single(self):
        if np.ndim(self.has_value):
            raise TypeError(
                f"this is not one value but those of {np.shape(self.has_value)[0]} examples"
                f" ({location.text()}); weir.vmap maps a function of one over them"
            )

    def _choose(self, value, default):
        value, given = core.as_array(value), core.as_array(default, "a default")
        kind = core.promote(default, core.scalar(0, value.dtype_name))[0].dtype_name
        if given.shape != value.shape or kind != value.dtype_name:
            raise TypeError(
                f"the default of {value.describe()} is {given.describe()} ({location.text()})"
            )
        given = core.to_dtype(default, value.dtype_name)
        holds = core.broadcast_to(core.as_array(self.has_value), value.shape)
        return core.apply("select", [holds, value, given])


tree.register(Optional, ("value", "has_value"))


@operation
def _zeros(like):
    given = tree.map(lambda leaf: core.as_array(leaf, "what a missing value is like"), like)
    return tree.map(lambda x: core.full(x.shape, 0, x.dtype_name), given)


@operation
def _of(value, where):
    there = core.as_array(where, "whether a value is there")
    if there.dtype_name != "bool" or there.ndim:
        raise TypeError(
            f"where must be a bool scalar, found {there.describe()} ({location.text()})"
        )
    return Optional(tree.map(lambda leaf: core.as_array(leaf, "a value"), value), there)
