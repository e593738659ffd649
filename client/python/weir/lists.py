"""Lists that programs index and grow: `weir.List`.

A list has a capacity, and memory for as many elements. Like every array it never changes: `push`
and the others return the list that comes next. A loop that carries a list writes one element in
place, so pushing costs the element and not the list.

A list is also what comes out where only the run knows how much it is: of `weir.pfor` with a traced
number of iterations, of `weir.numpy.nonzero`, `unique` and their kind.
"""

import collections

from weir import checks, core, dtypes, location, loops, tree
from weir import trace as tracing
from weir.eager import operation

_Fields = collections.namedtuple("_Fields", ["elements", "size"])


class List(_Fields):
    """A list of equal pytrees of arrays; a pytree itself, so that loops carry it, `vmap` maps it
    and functions return it.

    Attributes:
      elements: the pytree of an element, each leaf T[...] as T[capacity, ...]; rows from `size` on
        have no meaning. (Those of a list that an operation made whole are zeros.)
      size: i64, how many elements there are.
    """

    __slots__ = ()

    @classmethod
    def empty(cls, capacity, like):
        """Returns: a list without elements.

        Args:
          capacity: how many elements there may be, known while tracing.
          like: pytree of arrays and numbers, of the types and shapes of an element.

        Raises: TracingError outside of a traced function.
        """
        tracing.required("weir.List.empty")
        capacity = int(capacity)
        if capacity < 1:
            raise ValueError(f"a list needs a capacity of 1 at least ({location.text()})")
        like = tree.map(lambda leaf: core.as_array(leaf, "an element of a list"), like)
        zeros = tree.map(lambda x: core.full((capacity, *x.shape), 0, x.dtype_name), like)
        return cls(zeros, core.scalar(0, "i64"))

    @property
    def capacity(self):
        """How many elements there may be."""
        return tree.leaves(self.elements)[0].shape[0]

    def push(self, element):
        """Returns: the list with one element more, which is its last. A run fails if it is full."""
        full = f"a list of the capacity {self.capacity} is full"
        checks.check(core.compare("less", self.size, self.capacity), full)
        return List(self._written(self.size, element), core.elementwise("add", self.size, 1))

    def pop(self):
        """Returns: (the list without its last element, that element). A run fails without one."""
        last = core.elementwise("subtract", self.size, 1)
        return List(self.elements, last), self.get(last)

    def top(self):
        """Returns: the last element. A run fails if there is none."""
        return self.get(core.elementwise("subtract", self.size, 1))

    def get(self, index):
        """Returns: an element. A run fails if the list has none with this index (from 0 on)."""
        index = self._checked(index)
        return tree.map(lambda rows: rows[index], self.elements)

    def set(self, index, element):
        """Returns: the list with another element in this place. A run fails if the list has none
        with this index.
        """
        return List(self._written(self._checked(index), element), self.size)

    # --- All elements at once.

    @operation
    def map(self, function):
        """Returns: the list of what `function` makes of each element. It runs for the elements that
        there are, all at once, as the body of a `weir.pfor`.
        """

        rows, size = tree.map(core.as_array, self)

        def body(index):
            return function(tree.map(lambda leaf: leaf[index], rows))

        stacked = loops.parallel(body, self.capacity, None, False, "different", size)
        return List(stacked.tree(), size)

    @operation
    def sum(self):
        """Returns: the sum of the elements, leaf by leaf; bool leaves are counted, as i32."""
        return tree.map(
            lambda rows: self._reduced("reduce_sum", _countable(rows), 0), self.elements
        )

    @operation
    def prod(self):
        """Returns: the product of the elements, leaf by leaf; bool leaves as i32."""
        return tree.map(
            lambda rows: self._reduced("reduce_prod", _countable(rows), 1), self.elements
        )

    @operation
    def max(self):
        """Returns: the greatest of the elements, leaf by leaf, NaN if one is; of none the least
        number of the type.
        """
        return tree.map(
            lambda rows: self._extreme("reduce_max", "reduce_or", rows, dtypes.least), self.elements
        )

    @operation
    def min(self):
        """Returns: the smallest of the elements, leaf by leaf, NaN if one is; of none the greatest
        number of the type.
        """
        return tree.map(
            lambda rows: self._extreme("reduce_min", "reduce_and", rows, dtypes.greatest),
            self.elements,
        )

    @operation
    def mean(self):
        """Returns: the mean of the elements, leaf by leaf, a float; NaN of none."""

        def mean_of(rows):
            (rows,) = core.promote_inexact(rows)
            wide = core.cast(rows, "f32") if rows.dtype_name in ("f16", "bf16") else rows
            total = self._reduced("reduce_sum", wide, 0)
            divisor = core.to_dtype(self.size, wide.dtype_name)
            return core.cast(core.elementwise("divide", total, divisor), rows.dtype_name)

        return tree.map(mean_of, self.elements)

    def _extreme(self, op, op_of_bools, rows, neutral_of):
        name = core.as_array(rows).dtype_name
        return self._reduced(op_of_bools if name == "bool" else op, rows, neutral_of(name))

    def _reduced(self, op, rows, neutral):
        """Reduces the rows that are elements."""
        rows = core.as_array(rows)
        line = core.iota(rows.shape[:1], 0, "i64")
        mask = core.broadcast_in_dim(core.compare("less", line, self.size), rows.shape, [0])
        kept = core.apply("select", [mask, rows, core.full(rows.shape, neutral, rows.dtype_name)])
        return core.reduce(op, kept, [0], False)

    def _checked(self, index):
        index = core.to_dtype(index, "i64")
        begins = core.compare("greater_equal", index, 0)
        ends = core.compare("less", index, self.size)
        checks.check(core.apply("and", [begins, ends]), "a list has no element with this index")
        return index

    def _written(self, index, element):
        leaves, structure = tree.flatten(element)
        rows, wanted = tree.flatten(self.elements)
        if structure != wanted:
            raise TypeError(
                f"the elements of this list have the structure {wanted}, found {structure}"
                f" ({location.text()})"
            )
        written = [_write(row, index, leaf) for row, leaf in zip(rows, leaves)]
        return tree.unflatten(wanted, written)


def _countable(rows):
    rows = core.as_array(rows)
    return core.cast(rows, "i32") if rows.dtype_name == "bool" else rows


def _write(rows, index, element):
    element = core.as_array(element, "an element of a list")
    kind = core.promote(element, core.scalar(0, rows.dtype_name))[0]
    if element.shape != rows.shape[1:] or kind.dtype_name != rows.dtype_name:
        raise TypeError(
            f"the elements of this list are {rows.dtype_name}{list(rows.shape[1:])}, found"
            f" {element.describe()} ({location.text()})"
        )
    return rows.at[index].set(core.cast(element, rows.dtype_name))
