"""Lists that programs index and grow: `weir.List`.

A list has a capacity, and memory for as many elements. Like every array it never changes: `push`
and the others return the list that comes next. A loop that carries a list writes one element in
place, so pushing costs the element and not the list.

A list is also what comes out where only the run knows how much it is: of `weir.pfor` with a traced
number of iterations, of `weir.numpy.nonzero`, `unique` and their kind.
"""


import numpy as np

from weir import checks, core, dims, dtypes, errors, location, loops, tree
from weir.array import Array
from weir.dims import Dim
from weir.eager import operation


class List:
    """A list of equal pytrees of arrays; a pytree itself, so that loops carry it, `vmap` maps it,
    functions take and return it, and it may be an element of another list.

    Indices are integers, known or traced, and count from the end where they are negative. A run
    fails, naming the iteration, where a list has no element with an index, or no room.

    `len(list)`, iteration and `if list` work for a list of NumPy arrays, outside of traced
    functions; inside, only `size` tells how many elements there are.

    Attributes:
      elements: the pytree of an element, each leaf T[...] as T[capacity, ...]; rows from `size` on
        have no meaning. (Those of a list that an operation made whole are zeros.)
      size: i64, how many elements there are. What `vmap` returns are the lists of all examples in
        one: both attributes have an axis more, in front.
    """

    __slots__ = ("elements", "size")

    def __init__(self, elements, size):
        """Makes a list of its attributes; `empty` and `of` are what programs use."""
        self.elements = elements
        self.size = size

    # --- Lists from nothing and from arrays.

    @classmethod
    def empty(cls, capacity, like):
        """Returns: a list without elements.

        Args:
          capacity: how many elements there may be, known while tracing; 1 at least.
          like: pytree of arrays and numbers, of the types and shapes of an element.
        """
        return _empty(_check_capacity(capacity), like)

    @classmethod
    def of(cls, rows, capacity=None):
        """Returns: a list of the rows of arrays, all of them elements.

        Args:
          rows: pytree of arrays T[n, ...] of equal n: the first axis counts the elements.
          capacity: how many elements there may be; by default n, or 1 where that is 0.

        Raises: ValueError where the leaves differ in n, or the capacity is below it.
        """
        return _of(rows, None if capacity is None else _check_capacity(capacity))

    @property
    def capacity(self):
        """How many elements there may be."""
        return np.shape(tree.leaves(self.elements)[0])[np.ndim(self.size)]

    # --- Single elements.

    @operation
    def get(self, index):
        """Returns: an element; `list[index]` is the same. A run fails without one."""
        at = self._place(index, ndim=0)
        return tree.map(lambda rows: core.as_array(rows)[at], self.elements)

    @operation
    def set(self, index, element):
        """Returns: the list with another element in this place. A run fails if there is none.

        Raises: TypeError for an element of another structure, shape or type.
        """
        at = self._place(index, ndim=0)
        return List(self._written(at, element, ()), self.size)

    @operation
    def push(self, element):
        """Returns: the list with one element more, which is its last. A run fails if it is full.

        Raises: TypeError for an element of another structure, shape or type.
        """
        self._check_single()
        full = f"a list of the capacity {self.capacity} is full"
        checks.check(core.compare("less", self.size, self.capacity), full)
        elements = self._written(_counted(self.size), element, ())
        return List(elements, core.elementwise("add", self.size, 1))

    @operation
    def pop(self):
        """Returns: (the list without its last element, that element). A run fails without one."""
        last = self.get(-1)
        return List(self.elements, core.elementwise("subtract", self.size, 1)), last

    @operation
    def top(self):
        """Returns: the last element. A run fails if there is none."""
        return self.get(-1)

    # --- Many elements at once.

    @operation
    def gather(self, indices):
        """Returns: the elements at these indices i[k], each leaf T[...] as T[k, ...]. A run fails
        if there is none for one of them.
        """
        at = self._place(indices, ndim=1)
        return tree.map(lambda rows: core.as_array(rows)[at], self.elements)

    @operation
    def scatter(self, indices, rows):
        """Returns: the list with other elements in these places. A run fails if one is none.

        Args:
          indices: i[k]; of a place named more than once the last one counts.
          rows: pytree of an element, each leaf T[...] as T[k, ...].

        Raises: TypeError for rows of another structure, shape or type.
        """
        at = self._place(indices, ndim=1)
        return List(self._written(at, rows, at.shape), self.size)

    @operation
    def extend(self, rows):
        """Returns: the list with the elements of another one behind its own, or with the rows of
        arrays. A run fails if there is no room for them.

        Args:
          rows: a `List`, or a pytree of an element, each leaf T[...] as T[k, ...].

        Raises: TypeError for elements of another structure, shape or type.
        """
        self._check_single()
        count = rows.size if isinstance(rows, List) else None
        if count is None:
            space = _count_rows(rows)
            count = core.scalar(space, "i64")
            places = core.elementwise("add", core.iota((space,), 0, "i64"), self.size)
        else:
            rows._check_single()
            space, rows = rows.capacity, rows.elements
            steps = core.iota((space,), 0, "i64")
            # Rows that are no elements go to a place outside, and `.at` leaves them out.
            places = core.apply(
                "select",
                [
                    core.compare("less", steps, core.broadcast_to(core.as_array(count), (space,))),
                    core.elementwise("add", steps, self.size),
                    core.full((space,), self.capacity, "i64"),
                ],
            )
        size = core.elementwise("add", self.size, count)
        full = f"a list of the capacity {self.capacity} has no room for as many elements"
        checks.check(core.compare("less_equal", size, self.capacity), full)
        return List(self._written(_counted(places), rows, (space,)), size)

    @operation
    def stack(self):
        """Returns: the elements, each leaf T[...] as T[capacity, ...]; rows from `size` on are
        zeros.
        """
        self._check_single()
        return tree.map(lambda rows: _only_first(rows, self.size), self.elements)

    @operation
    def concat(self):
        """Returns: the elements end to end, each leaf T[k, ...] as T[capacity * k, ...]; what lies
        behind the last element is zeros.

        Raises: TypeError for elements without an axis.
        """

        def joined(rows):
            if rows.ndim < 2:
                raise TypeError(
                    f"concat joins elements along their first axis, and those of {self} have none"
                    f" ({location.text()}); stack makes an array of them"
                )
            return core.reshape(rows, (rows.shape[0] * rows.shape[1], *rows.shape[2:]))

        return tree.map(joined, self.stack())

    # --- What is computed of the elements.

    @operation
    def map(self, function):
        """Returns: the list of what `function` makes of each element. It runs for the elements that
        there are, all at once, as the body of a `weir.pfor`.
        """
        self._check_single()
        rows = tree.map(core.as_array, self.elements)
        size = core.as_array(self.size)

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
        self._check_single()
        return core.reduce(op, _only_first(rows, self.size, neutral), [0], False)

    # --- Sizes.

    @operation
    def resize(self, size):
        """Returns: the first `size` elements; where there are fewer, zeros behind them. A run fails
        if `size` is negative or above the capacity.

        Args:
          size: integer scalar, known or traced.
        """
        self._check_single()
        size = _integers(size, 0, "the size of a list")
        no_such = f"a list of the capacity {self.capacity} cannot have this size"
        checks.check(core.compare("greater_equal", size, 0), no_such)
        checks.check(core.compare("less_equal", size, self.capacity), no_such)
        return List(tree.map(lambda rows: _only_first(rows, self.size), self.elements), size)

    def with_capacity(self, capacity):
        """Returns: the same elements with another capacity. A run fails if there are more.

        Args:
          capacity: how many elements there may be, known while tracing; 1 at least.
        """
        return _with_capacity(self, _check_capacity(capacity))

    @staticmethod
    def sum_of(lists):
        """Returns: a list of the sums of the elements with equal index, element-wise. A run fails
        where the lists differ in size.

        Args:
          lists: sequence of lists with elements of one structure and shape, and equal capacities.

        Raises: ValueError where they differ in structure, shape or capacity.
        """
        return _sum_of(list(lists))

    def split(self):
        """Returns: a Python list of the lists of the examples, of what `vmap` or `pfor` returned.

        Raises: ValueError for one list.
        """
        if np.ndim(self.size) == 0:
            raise ValueError(f"this is one list already: {self} ({location.text()})")
        count = np.shape(self.size)[0]
        return [tree.map(lambda leaf, i=i: leaf[i], self) for i in range(count)]

    # --- Python's view.

    def __getitem__(self, index):
        if isinstance(index, (slice, tuple)):
            raise TypeError(
                f"the index of a list is one integer, found {index!r} ({location.text()}); gather"
                " takes many"
            )
        return self.get(index)

    def __setitem__(self, index, element):
        raise TypeError(
            "lists do not change; write list = list.set(index, element) in place of the assignment"
            f" at {location.text()}"
        )

    def __len__(self):
        self._check_known("len() of", "list.size is how many elements there are, traced")
        return int(self.size)

    def __bool__(self):
        self._check_known("a Python condition on", "list.size > 0 is one for weir.cond")
        return bool(self.size)

    def __iter__(self):
        self._check_known(
            "iteration over",
            "use weir.fori_loop(0, list.size, ...) with list[k], or list.stack() for all rows",
        )
        return (tree.map(lambda rows, k=k: rows[k], self.elements) for k in range(int(self.size)))

    def __contains__(self, element):
        raise TypeError(
            f"a list does not say what is in it at {location.text()}; compare list.stack() with the"
            " element, for the rows before list.size"
        )

    def __repr__(self):
        types = tree.map(_type_text, self.elements)
        element = repr(types).replace("'", "") if tree.leaves(types) else "nothing"
        known = not isinstance(self.size, Array) and np.ndim(self.size) == 0
        size = f"{int(self.size)} elements, " if known else ""
        return f"weir.List({size}capacity {self.capacity}, rows {element})"

    # --- Inside.

    def _check_known(self, asked, instead):
        self._check_single()
        if isinstance(self.size, Array):
            raise errors.TracingError(
                f"{asked} a traced list at {location.text()} needs its size, which exists only when"
                f" the program runs; {instead}"
            )

    def _check_single(self):
        if np.ndim(self.size):
            raise TypeError(
                f"this is not one list but the lists of {np.shape(self.size)[0]} examples"
                f" ({location.text()}); weir.vmap maps a function of one list over them"
            )

    def _place(self, index, ndim):
        """Returns: i64, the index or indices counted from the front; a run fails without such."""
        self._check_single()
        at = _integers(index, ndim, "the index of a list" if ndim == 0 else "indices of a list")
        if core.is_scalar(index) or core.is_numpy(index):
            _check_inside(index, self.capacity)
        if ndim == 0 and not isinstance(index, (Array, Dim)):
            return self._known_place(int(index))
        if not at.is_index:
            negative = core.compare("less", at, 0)
            behind = core.elementwise("add", at, self.size)
            at = _counted(core.apply("select", [negative, behind, at]))
        begins = core.compare("greater_equal", at, 0)
        ends = core.compare("less", at, self.size)
        checks.check(core.apply("and", [begins, ends]), "a list has no element with this index")
        return at

    def _known_place(self, number):
        missing = "a list has no element with this index"
        if number >= 0:
            checks.check(core.compare("less", number, self.size), missing)
            return _counted(core.scalar(number, "i64"))
        at = core.elementwise("add", self.size, number)
        checks.check(core.compare("greater_equal", at, 0), missing)
        return _counted(at)

    def _written(self, at, element, batch):
        """Returns: the elements with `element`, of the leading axes `batch`, at these places."""
        leaves, structure = tree.flatten(element)
        rows, wanted = tree.flatten(self.elements)
        if structure != wanted:
            raise TypeError(
                f"the elements of this list have the structure {wanted}, found {structure}"
                f" ({location.text()})"
            )
        written = [_write(row, at, leaf, batch) for row, leaf in zip(rows, leaves)]
        return tree.unflatten(wanted, written)


tree.register(List, ("elements", "size"))


@operation
def _empty(capacity, like):
    like = tree.map(lambda leaf: core.as_array(leaf, "an element of a list"), like)
    if not tree.leaves(like):
        raise ValueError(f"an element of a list needs an array or a number ({location.text()})")
    zeros = tree.map(lambda x: core.full((capacity, *x.shape), 0, x.dtype_name), like)
    return List(zeros, core.scalar(0, "i64"))


@operation
def _of(rows, capacity):
    rows = tree.map(lambda leaf: core.as_array(leaf, "the rows of a list"), rows)
    count = _count_rows(rows)
    if capacity is not None:
        no_room = ValueError(
            f"a list of the capacity {capacity} has no room for {count} rows ({location.text()})"
        )
        checks.require_at_most(count, capacity, no_room)
    made = List(rows, core.scalar(count, "i64"))
    return _padded(made, dims.larger(count, 1) if capacity is None else capacity)


@operation
def _with_capacity(given, capacity):
    given._check_single()
    if dims.at_most(given.capacity, capacity):
        return _padded(given, capacity)
    fits = core.compare("less_equal", given.size, capacity)
    checks.check(fits, f"a list has more elements than the capacity {capacity}")
    padded = _padded(given, dims.larger(capacity, given.capacity))
    cut = tree.map(
        lambda rows: core.slice_axis(core.as_array(rows), 0, 0, capacity), padded.elements
    )
    return List(cut, given.size)


@operation
def _sum_of(lists):
    if not lists:
        raise ValueError(f"sum_of needs a list at least ({location.text()})")
    first = lists[0]
    types = _types(first)
    for each in lists:
        each._check_single()
        if _types(each) != types:
            raise ValueError(f"sum_of: the lists {first} and {each} differ ({location.text()})")
        checks.check(core.compare("equal", each.size, first.size), "lists to add differ in size")

    def total(*leaves):
        out = core.as_array(leaves[0])
        for leaf in leaves[1:]:
            out = core.elementwise("add", out, leaf)
        return out

    return List(tree.map(total, *(each.elements for each in lists)), first.size)


def _types(given):
    """Returns: what lists have in common that may be added."""
    leaves, structure = tree.flatten(given.elements)
    return structure, [(np.shape(leaf), core.type_of(leaf)[0]) for leaf in leaves]


def _padded(given, capacity):
    if dims.same(given.capacity, capacity):
        return given

    def pad(rows):
        rows = core.as_array(rows)
        zeros = core.full((capacity - rows.shape[0], *rows.shape[1:]), 0, rows.dtype_name)
        made = core.concatenate([rows, zeros], 0)
        return core.reshape(made, (capacity, *rows.shape[1:]))

    return List(tree.map(pad, given.elements), given.size)


def _write(rows, at, element, batch):
    element = core.as_array(element, "an element of a list")
    rows = core.as_array(rows)
    kind = core.promote(element, core.scalar(0, rows.dtype_name))[0]
    wanted = (*batch, *rows.shape[1:])
    if not dims.same_shape(element.shape, wanted) or kind.dtype_name != rows.dtype_name:
        what = "rows for the elements" if batch else "the elements"
        raise TypeError(
            f"{what} of this list are {rows.dtype_name}{list(wanted)}, found"
            f" {element.describe()} ({location.text()})"
        )
    return rows.at[at].set(core.cast(element, rows.dtype_name))


def _countable(rows):
    rows = core.as_array(rows)
    return core.cast(rows, "i32") if rows.dtype_name == "bool" else rows


def _only_first(rows, count, rest=0):
    """Returns: the rows, from `count` on each number `rest`."""
    rows = core.as_array(rows)
    live = core.compare("less", core.iota(rows.shape[:1], 0, "i64"), count)
    mask = core.broadcast_in_dim(live, rows.shape, [0])
    return core.apply("select", [mask, rows, core.full(rows.shape, rest, rows.dtype_name)])


def _counted(index):
    """Returns: an integer that is known not to be negative where the run goes on."""
    index = core.as_array(index)
    return Array(index.owner, index.value, region=index.region, origin=index.origin, is_index=True)


def _integers(x, ndim, what):
    """Returns: integers as i64. Raises: TypeError for others, and for other numbers of axes."""
    dtype_name, _ = core.type_of(x)
    if dtype_name not in dtypes.INTEGERS or np.ndim(x) != ndim:
        wanted = "an integer scalar" if ndim == 0 else "integers with one axis"
        found = x.describe() if isinstance(x, Array) else repr(x)
        raise TypeError(f"{what} must be {wanted}, found {found} ({location.text()})")
    is_index = isinstance(x, Array) and x.is_index
    as_i64 = core.to_dtype(x, "i64")
    return _counted(as_i64) if is_index or dtype_name in dtypes.UNSIGNED else as_i64


def _check_inside(index, capacity):
    for number in np.asarray(index).ravel():
        if dims.below(number, -capacity) or dims.at_most(capacity, number):
            raise IndexError(
                f"a list of the capacity {capacity} never has an element with the index {number}"
                f" ({location.text()})"
            )


def _count_rows(rows):
    """Returns: the size of the first axis of all leaves. Raises: ValueError where they differ."""
    sizes = {}
    for leaf, path in zip(tree.leaves(rows), tree.paths(rows, "rows")):
        leaf = core.as_array(leaf, path)
        if not leaf.shape:
            raise ValueError(
                f"{path} has no axis for the elements of a list: {leaf.describe()}"
                f" ({location.text()})"
            )
        sizes.setdefault(leaf.shape[0], []).append(path)
    if len(sizes) != 1:
        texts = "; ".join(f"{size}: {', '.join(names)}" for size, names in sizes.items())
        raise ValueError(
            f"the rows of a list differ in number: {texts or 'no array'} ({location.text()})"
        )
    return next(iter(sizes))


def _check_capacity(capacity):
    if isinstance(capacity, Array):
        raise TypeError(
            f"the capacity of a list must be known while tracing, found {capacity.describe()}"
            f" ({location.text()})"
        )
    number = core.known_size(capacity, "the capacity of a list")
    too_small = ValueError(
        f"a list needs a capacity of 1 at least, found {number} ({location.text()})"
    )
    if dims.below(number, 1):
        raise too_small
    if not dims.at_most(1, number):
        checks.require_at_most(1, number, too_small)
    return number


def _type_text(leaf):
    shape = ",".join(str(extent) for extent in np.shape(leaf)[1:])
    return f"{core.type_of(leaf)[0]}[{shape}]"
