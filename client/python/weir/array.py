"""The arrays that functions see while they are traced.

An `Array` is a value of the program that is being built: it has a shape and an element type, and no
numbers yet. Its operators and methods are attached in `methods.py`.
"""

from weir import dtypes, errors, location


class Array:
    """A value of the program that is being traced.

    Attributes:
      shape: tuple of sizes: integers, and `weir.Dim` for those that only the run knows.
      dtype: NumPy element type, or `weir.bfloat16`.
      ndim, size: as in NumPy.
      weak_type: True for numbers from Python scalars, which take the type of the array beside them.
    """

    __slots__ = (
        "owner",
        "value",
        "region",
        "dtype_name",
        "shape",
        "weak_type",
        "origin",
        "is_index",
    )
    def __init__(self, trace, value, *, region=None, weak_type=False, origin=None, is_index=False):
        self.owner = trace
        self.value = value
        self.region = trace.region if region is None else region
        self.dtype_name, self.shape = trace.type(value)
        if trace.frames:
            trace.know_sizes(self.shape)
        self.weak_type = weak_type
        # What made it: (op or argument name, file, line).
        self.origin = origin or ("value", *location.of_caller())
        # A loop variable: an integer that is never negative.
        self.is_index = is_index

    @property
    def dtype(self):
        """The NumPy element type, or `weir.bfloat16`."""
        return dtypes.to_public(self.dtype_name)

    @property
    def ndim(self):
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self):
        """The number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def type_text(self):
        """The type as programs print it, such as `f32[2,3]`."""
        return f"{self.dtype_name}[{','.join(str(extent) for extent in self.shape)}]"

    def describe(self):
        """Returns: type and origin, for messages."""
        what, file, line = self.origin
        made = f" by {what}" if what != "value" else ""
        return f"{self.type_text} made{made} at {file}:{line}"

    def __repr__(self):
        return f"weir.Array({self.describe()})"

    # --- What a traced array cannot do.

    def _no_value(self, asked, instead):
        return errors.TracingError(
            f"{asked} at {location.text()} needs the numbers of the traced array {self.describe()},"
            f" which exist only when the program runs; {instead}"
        )

    def __bool__(self):
        raise self._no_value(
            "a Python condition (if, while, and, or, not, assert)",
            "use weir.cond for a branch, weir.while_loop for a loop, weir.numpy.where to choose"
            " elements, and & | ~ in place of and, or, not",
        )

    def __int__(self):
        raise self._no_value("int()", "use .astype(int) to stay in the program")

    def __float__(self):
        raise self._no_value("float()", "use .astype(float) to stay in the program")

    def __complex__(self):
        raise self._no_value("complex()", "use .astype(complex) to stay in the program")

    def __index__(self):
        raise self._no_value(
            "a Python index or range()",
            "use weir.fori_loop in place of range(), and weir.numpy.array(x)[i] where x is a list"
            " or a NumPy array",
        )

    def __format__(self, spec):
        if not spec:
            return repr(self)
        raise self._no_value(
            f"a format such as '{spec}'", "return the array from the traced function first"
        )

    def __hash__(self):
        raise self._no_value(
            "a set, or the key of a dictionary,",
            "use weir.numpy.any(array == item) in place of the operator in, and weir.switch to"
            " choose by an integer",
        )

    def __array__(self, dtype=None):
        raise self._no_value(
            "a NumPy function",
            "use the function of the same name in weir.numpy, and weir.numpy.array(x)[i] to index a"
            " NumPy array x",
        )

    def __deepcopy__(self, memo):
        # Arrays of a program never change.
        return self

    def item(self):
        """Raises: TracingError; a traced array has no numbers."""
        raise self._no_value("item()", "return the array from the traced function first")

    def tolist(self):
        """Raises: TracingError; a traced array has no numbers."""
        raise self._no_value("tolist()", "return the array from the traced function first")

    def __len__(self):
        if not self.shape:
            raise TypeError(f"len() of an array without axes: {self.describe()}")
        self._check_known_length("len()")
        return self.shape[0]

    def __iter__(self):
        if not self.shape:
            raise TypeError(f"iteration over an array without axes: {self.describe()}")
        self._check_known_length("iteration")
        return (self[i] for i in range(self.shape[0]))

    def _check_known_length(self, asked):
        if not isinstance(self.shape[0], int):
            raise errors.InconclusiveDimension(
                f"{asked} of the array {self.describe()}",
                "use weir.scan, weir.vmap or weir.fori_loop over its leading axis",
            )

    def __contains__(self, item):
        raise self._no_value("the operator in", "use weir.numpy.any(array == item)")

    def __setitem__(self, index, value):
        raise TypeError(
            "traced arrays do not change; write array = array.at[index].set(value) in place of the"
            f" assignment at {location.text()}"
        )
