"""What every operation is made of: nodes, constants, promotion, broadcasting and plain movements.

All functions here need an active trace.
"""

import math
import operator

import numpy as np

from weir import _native, dims, dtypes, errors, location, trace as tracing
from weir.array import Array
from weir.dims import Dim

SCALARS = (bool, int, float, complex)


def is_scalar(x):
    """True for Python's own numbers."""
    return type(x) in SCALARS


def is_numpy(x):
    """True for NumPy arrays and NumPy scalars."""
    return isinstance(x, (np.ndarray, np.generic))


# By op: the attributes that hold sizes.
_SIZES = {
    row["name"]: {name for name, kind, _ in row["attrs"] if kind == "dims"}
    for row in _native.ops()
}


def _check_known(op, attrs):
    for name, value in attrs.items():
        for part in value if isinstance(value, (tuple, list)) else (value,):
            if type(part) is Dim and name not in _SIZES[op]:
                raise errors.InconclusiveDimension(
                    f"the {name} of {op}, {part},", "it is one number for all runs of a program"
                )
            if isinstance(part, Array):
                raise TypeError(
                    f"the {name} of {op} must be known while tracing, found {part.describe()}"
                    f" ({location.text()})"
                )


def apply_all(op, inputs, attrs=None, regions=(), captured=()):
    """Appends a node. Returns: its outputs as arrays."""
    trace = tracing.required(op)
    values = [check_scope(x).value for x in inputs]
    _check_known(op, attrs or {})
    outputs = trace.apply(op, values, attrs, regions, captured)
    origin = (op, *location.of_caller())
    return [Array(trace, output, origin=origin) for output in outputs]


def apply(op, inputs, attrs=None, weak_type=False):
    """Appends a node with one output. Returns: that output."""
    output = apply_all(op, inputs, attrs)[0]
    output.weak_type = weak_type
    return output


def check_scope(x):
    """Returns: `x`, or what stands for it in the function that is being traced. Raises:
    TracingError if it belongs to a program or a loop body that is finished.
    """
    trace = tracing.current()
    if x.owner is not trace:
        raise errors.TracingError(
            f"the array {x.describe()} belongs to a function whose tracing is over, and was used at"
            f" {location.text()}; pass it as an argument and return it as a result"
        )
    if x.region in trace.regions:
        return x
    if trace.environment is not None:
        again = trace.environment.find(x.value)
        if again is not None:
            return again
    if not trace.reaches(x.region):
        raise errors.TracingError(
            f"the array {x.describe()} was made inside the body of a loop or branch that is"
            f" finished, and was used at {location.text()}; return it from the body"
        )
    frame = trace.frames[-1]
    value = frame.extra(trace, x, x.dtype_name, x.shape, "captured")
    return Array(
        trace,
        value,
        region=frame.body,
        weak_type=x.weak_type,
        origin=x.origin,
        is_index=x.is_index,
    )


# --- From Python and NumPy to arrays.


def constant(value):
    """Returns: an array with the numbers of a NumPy array."""
    trace = tracing.required("a constant")
    value = np.asarray(value)
    native = value.astype(dtypes.to_numpy(dtypes.name_of(value.dtype)), copy=False)
    origin = ("constant", *location.of_caller())
    made, region = trace.constant(native)
    return Array(trace, made, region=region, origin=origin)


def size_value(size):
    """Returns: a size that only the run knows, as an i64 scalar of weak type."""
    trace = tracing.required("a size")
    value, region = trace.size_value(size)
    origin = (f"the size {size}", *location.of_caller())
    return Array(trace, value, region=region, weak_type=True, origin=origin, is_index=True)


def known_size(value, what):
    """Returns: a size: a Python integer or a `Dim`. Raises: TypeError naming `what` for anything
    else.
    """
    return value if type(value) is Dim else known_integer(value, what)


def known_integer(value, what):
    """Returns: a Python integer. Raises: TypeError naming `what` for anything else."""
    try:
        return operator.index(value)
    except errors.InconclusiveDimension:
        raise
    except TypeError:
        found = value.describe() if isinstance(value, Array) else repr(value)
        raise TypeError(f"{what} must be an integer, found {found} ({location.text()})") from None


def check_range(value, dtype_name):
    """Raises: OverflowError for a Python integer that the integer type does not hold."""
    if type(value) is not int or dtype_name not in dtypes.INTEGERS:
        return
    limits = np.iinfo(dtypes.to_numpy(dtype_name))
    if not limits.min <= value <= limits.max:
        raise OverflowError(
            f"the Python integer {value} is out of range for {dtype_name} ({location.text()}); one"
            " that stands alone is i32, and numpy.int64 makes one of 64 bits"
        )


def scalar(value, dtype_name):
    """Returns: a scalar of this element type with the value of a Python number or a size.

    Raises: OverflowError for an integer that the type does not hold.
    """
    if type(value) is Dim:
        return cast(size_value(value), dtype_name)
    check_range(value, dtype_name)
    made = constant(np.array(value).astype(dtypes.to_numpy(dtype_name)))
    return cast(made, dtype_name)


def as_array(x, what="operand"):
    """Returns: `x` as a traced array; Python numbers become weak scalars.

    Raises: TypeError for what is no number and no array.
    """
    if isinstance(x, Array):
        return check_scope(x)
    if is_scalar(x):
        made = scalar(x, dtypes.of_scalar(x))
        made.weak_type = type(x) is not bool
        return made
    if is_numpy(x):
        return constant(x)
    if type(x) is Dim:
        return size_value(x)
    raise TypeError(
        f"{what} must be an array or a number, found {type(x).__name__} at {location.text()}"
        + ("; weir.numpy.array makes an array of a list" if isinstance(x, (list, tuple)) else "")
    )


def type_of(x):
    """Returns: (element type, weak) of an operand that may be a number, a NumPy array or a traced
    one.
    """
    if isinstance(x, Array):
        return x.dtype_name, x.weak_type
    if is_scalar(x):
        return dtypes.of_scalar(x), type(x) is not bool
    if is_numpy(x):
        return dtypes.name_of(x.dtype), False
    if type(x) is Dim:
        return "i64", True
    return type_of(as_array(x))


def cast(x, dtype_name, weak_type=False):
    """Returns: `x` converted; complex numbers become real by their real part."""
    if x.dtype_name == dtype_name:
        if x.weak_type == weak_type:
            return x
        return Array(x.owner, x.value, region=x.region, weak_type=weak_type, origin=x.origin)
    if x.dtype_name in dtypes.COMPLEXES and dtype_name not in dtypes.COMPLEXES:
        x = apply("real", [x])
        return cast(x, dtype_name, weak_type)
    return apply("convert", [x], {"dtype": dtype_name}, weak_type)


def to_dtype(x, dtype_name, weak_type=False):
    """Returns: an operand of any kind as an array of this type, a number without a conversion."""
    if is_scalar(x):
        # A float number for an integer type is cut, as convert does.
        value = int(x) if dtype_name in dtypes.INTEGERS and type(x) is float else x
        made = scalar(value, dtype_name)
        made.weak_type = weak_type
        return made
    return cast(as_array(x), dtype_name, weak_type)


def promote(*operands):
    """Returns: the operands as arrays of the type in which they meet."""
    dtype_name, weak_type = dtypes.promote([type_of(x) for x in operands])
    return [to_dtype(x, dtype_name, weak_type) for x in operands]


def promote_inexact(*operands):
    """Returns: the operands as arrays of the float or complex type in which they meet; integers
    become f32.
    """
    dtype_name, weak_type = dtypes.promote([type_of(x) for x in operands])
    return [to_dtype(x, dtypes.to_inexact(dtype_name), weak_type) for x in operands]


# --- Shapes.


def place(number, extent, axis):
    """Returns: a place along an axis of this size, counted from the front. Raises: IndexError for
    one outside. A size that may be negative or not counts from the front.
    """
    at = number + extent if dims.below(number, 0) else number
    if dims.below(at, 0) or dims.at_most(extent, at):
        raise outside(number, extent, axis)
    return at


def outside(number, extent, axis):
    """Returns: the error for an index."""
    return IndexError(
        f"index {number} is outside of axis {axis} of size {extent} ({location.text()})"
    )


def canonical_axis(axis, ndim):
    """Returns: the axis counted from the front. Raises: ValueError if there is none."""
    if isinstance(axis, Array):
        raise TypeError(f"an axis must be a Python integer, found {axis.describe()}")
    number = int(axis)
    if not -ndim <= number < ndim:
        raise ValueError(
            f"there is no axis {number} in an array of {ndim} axes ({location.text()})"
        )
    return number % ndim if ndim else 0


def canonical_axes(axes, ndim):
    """Returns: axes (None: all of them) counted from the front. Raises: ValueError for one given
    twice.
    """
    if axes is None:
        return tuple(range(ndim))
    if not isinstance(axes, (tuple, list, range)):
        axes = (axes,)
    counted = tuple(canonical_axis(axis, ndim) for axis in axes)
    if len(set(counted)) != len(counted):
        raise ValueError(f"an axis is given twice: {tuple(axes)} ({location.text()})")
    return counted


def canonical_shape(shape):
    """Returns: a shape given as a size or a sequence as a tuple of sizes."""
    if isinstance(shape, (int, np.integer, Array, Dim)):
        shape = (shape,)
    out = []
    for extent in shape:
        if isinstance(extent, Array):
            raise TypeError(
                f"a shape must be known while tracing, found {extent.describe()} in it"
                f" ({location.text()})"
            )
        out.append(extent if type(extent) is Dim else int(extent))
    return tuple(out)


def broadcast_shapes(*shapes):
    """Returns: the shape to which all broadcast. Raises: ValueError naming the shapes."""
    ndim = max((len(shape) for shape in shapes), default=0)
    out = [1] * ndim
    for shape in shapes:
        for i, extent in enumerate(shape, start=ndim - len(shape)):
            if dims.same(extent, 1) or dims.same(extent, out[i]):
                continue
            if not dims.same(out[i], 1):
                raise _no_broadcast(shapes, extent, out[i])
            out[i] = extent
    return tuple(out)


def _no_broadcast(shapes, a, b):
    texts = " and ".join(str(tuple(s)) for s in shapes)
    if dims.differ(a, b) and dims.differ(a, 1) and dims.differ(b, 1):
        return ValueError(f"shapes {texts} do not broadcast together ({location.text()})")
    return errors.InconclusiveDimension(
        f"whether shapes {texts} broadcast together",
        "sizes fit where they are one expression, and only the number 1 repeats: give equal sizes"
        " one name in shapes= of weir.jit, or reshape one of them",
    )


def broadcast_to(x, shape):
    """`x` repeated along new axes in front and along axes of size 1. Raises: ValueError."""
    if dims.same_shape(x.shape, shape):
        return x
    if not dims.same_shape(broadcast_shapes(x.shape, shape), shape):
        raise ValueError(
            f"shape {x.shape} does not broadcast to {tuple(shape)} ({location.text()})"
        )
    first = len(shape) - x.ndim
    return broadcast_in_dim(x, shape, range(first, len(shape)))


def broadcast_in_dim(x, shape, axes):
    """Returns: an array of this shape in which axis i of `x` is axis axes[i]; the other axes
    repeat.
    """
    return apply("broadcast_in_dim", [x], {"shape": tuple(shape), "axes": list(axes)}, x.weak_type)


def broadcast(*arrays):
    """Returns: the arrays broadcast together."""
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return [broadcast_to(x, shape) for x in arrays]


def full(shape, value, dtype_name):
    """Returns: an array of one number."""
    return broadcast_to(scalar(value, dtype_name), shape)


def reshape(x, shape):
    """Returns: `x` with another shape of the same size, without an open dimension."""
    if dims.same_shape(x.shape, shape):
        return x
    return apply("reshape", [x], {"shape": tuple(shape)}, x.weak_type)


def transpose(x, permutation):
    """Returns: `x` with axis i taken from axis permutation[i]."""
    if list(permutation) == list(range(x.ndim)):
        return x
    return apply("transpose", [x], {"permutation": list(permutation)}, x.weak_type)


def iota(shape, axis, dtype_name):
    """Returns: an array that counts 0, 1, ... along `axis`."""
    return apply("iota", [], {"shape": tuple(shape), "dtype": dtype_name, "axis": axis})


def join_axes(x, axes):
    """Returns: (`x` with these axes (None: all of them) as one, which axis that is, the shape in
    which each of them has size 1).
    """
    axes = canonical_axes(axes, x.ndim)
    kept = [1 if i in axes else extent for i, extent in enumerate(x.shape)]
    if len(axes) == 1:
        return x, axes[0], kept
    others = [i for i in range(x.ndim) if i not in axes]
    shape = [x.shape[i] for i in others]
    size = math.prod(x.shape[i] for i in axes)
    return reshape(transpose(x, others + sorted(axes)), (*shape, size)), len(others), kept


def slice_axes(x, start, limit, stride):
    """Returns: elements start, start + stride, ... below limit of each axis."""
    whole = all(dims.same(s, 0) for s in start) and dims.same_shape(limit, x.shape)
    if whole and all(s == 1 for s in stride):
        return x
    attrs = {"start": tuple(start), "limit": tuple(limit), "stride": list(stride)}
    out = apply("slice", [x], attrs, x.weak_type)
    if dims.known(*out.shape):
        return out
    return reshape(out, [dims.gathered(extent) for extent in out.shape])


def slice_axis(x, axis, start, limit, stride=1):
    """Returns: elements of one axis."""
    starts, limits, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[axis], limits[axis], strides[axis] = start, limit, stride
    return slice_axes(x, starts, limits, strides)


def reverse(x, axes):
    """Returns: `x` with the order of these axes turned round."""
    return apply("reverse", [x], {"axes": list(axes)}, x.weak_type) if axes else x


def concatenate(arrays, axis):
    """Returns: arrays of one type put end to end."""
    for array in arrays[1:]:
        if array.ndim == arrays[0].ndim:
            _check_beside(arrays[0], array, axis)
    return arrays[0] if len(arrays) == 1 else apply("concatenate", arrays, {"axis": axis})


def _check_beside(first, other, axis):
    for i, (a, b) in enumerate(zip(first.shape, other.shape)):
        if i != axis and not dims.known(a, b) and not dims.same(a, b):
            raise dims.unequal(
                a,
                b,
                f"{first.describe()} and {other.describe()} are put together along axis {axis} and"
                f" need equal sizes of axis {i}",
            )


def expand_dims(x, axes):
    """Returns: `x` with axes of size 1 where they stand in the result; `axes` are counted from the
    front.
    """
    others = iter(x.shape)
    ndim = x.ndim + len(axes)
    return reshape(x, [1 if i in axes else next(others) for i in range(ndim)])


def elementwise(op, *operands):
    """Returns: an element-wise op on promoted and broadcast operands."""
    arrays = broadcast(*promote(*operands))
    return apply(op, arrays, weak_type=all(x.weak_type for x in arrays))


def elementwise_inexact(op, *operands):
    """The same for an op on floats: integers become f32."""
    arrays = broadcast(*promote_inexact(*operands))
    return apply(op, arrays, weak_type=all(x.weak_type for x in arrays))


def compare(op, a, b):
    """Returns: a comparison, of element type bool."""
    return apply(op, broadcast(*promote(a, b)))


def reduce(op, x, axes, keepdims):
    """Returns: a reduction over `axes`, which are counted from the front."""
    out = apply(op, [x], {"axes": list(axes)})
    if not keepdims:
        return out
    return reshape(out, [1 if i in axes else extent for i, extent in enumerate(x.shape)])
