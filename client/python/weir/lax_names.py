"""Functions of jax.lax that are no op of the registry, made of those that are."""

import enum
import math

from weir import carried, core, dims, dtypes, errors, location, parallel, trace as tracing, tree
from weir import vectorize as mapped
from weir.eager import operation
from weir.indexing import take_row
from weir.nn import windows
from weir.numpy import array_api, elementwise, products, shaping


class RoundingMethod(enum.IntEnum):
    """Where `round` puts numbers in the middle of two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


@operation
def round(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO):  # pylint: disable=redefined-builtin
    """Returns: the nearest integers, as floats; in the middle away from 0, or the even ones."""
    op = "round_half_even" if RoundingMethod(rounding_method) else "round_half_away"
    return core.elementwise(op, x)


@operation
def integer_pow(x, y):
    """Returns: x to the power of a Python integer."""
    return elementwise.power(x, core.known_integer(y, "the exponent of integer_pow"))


@operation
def select_n(which, *cases):
    """Returns: element by element that of the arrays `cases` whose number `which` is, clamped; of
    two for bools, that of False first.
    """
    number = core.as_array(which)
    if not cases or (number.dtype_name == "bool" and len(cases) > 2):
        raise TypeError(f"select_n needs a case for each number ({location.text()})")
    out, *rest = core.promote(*cases)
    for i, case in enumerate(rest, start=1):
        is_it = number if number.dtype_name == "bool" else number >= i
        out = elementwise.where(is_it, case, out)
    return out


# --- Shapes.


@operation
def full(shape, fill_value, dtype=None):
    """Returns: an array of one number, of its type by default."""
    name = core.type_of(fill_value)[0] if dtype is None else dtypes.name_of(dtype)
    return core.broadcast_to(core.to_dtype(fill_value, name), core.canonical_shape(shape))


@operation
def full_like(x, fill_value, dtype=None, shape=None):
    """Returns: one number with the shape and type of x."""
    array = core.as_array(x)
    extents = array.shape if shape is None else core.canonical_shape(shape)
    name = array.dtype_name if dtype is None else dtypes.name_of(dtype)
    return core.broadcast_to(core.to_dtype(fill_value, name), extents)


@operation
def broadcasted_iota(dtype, shape, dimension):
    """Returns: 0, 1, 2, ... along one axis of an array of this shape."""
    extents = core.canonical_shape(shape)
    at = core.canonical_axis(dimension, len(extents))
    return core.iota(extents, at, dtypes.name_of(dtype))


@operation
def broadcast(x, sizes):
    """Returns: x repeated along new axes of these sizes in front."""
    array = core.as_array(x)
    return core.broadcast_to(array, core.canonical_shape(sizes) + array.shape)


@operation
def expand_dims(x, dimensions):
    """Returns: x with axes of size 1 where they stand in the result."""
    return shaping.expand_dims(x, tuple(dimensions))


@operation
def squeeze(x, dimensions):
    """Returns: x without these axes of size 1."""
    return shaping.squeeze(x, tuple(dimensions))


@operation
def collapse(x, start_dimension, stop_dimension=None):
    """Returns: x with the axes start .. stop - 1 as one."""
    array = core.as_array(x)
    first, last, _ = slice(start_dimension, stop_dimension).indices(array.ndim)
    if first >= last:
        raise ValueError(
            f"collapse needs an axis between {start_dimension} and {stop_dimension} of"
            f" {array.describe()} ({location.text()})"
        )
    size = math.prod(array.shape[first:last])
    return core.reshape(array, (*array.shape[:first], size, *array.shape[last:]))


@operation
def split(x, sizes, axis=0):
    """Returns: a list of parts of these sizes along `axis`, which they fill."""
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    counts = core.canonical_shape(sizes)
    if not dims.same(sum(counts), array.shape[at]):
        message = f"split: the sizes {counts} do not fill axis {at} of {array.describe()}"
        raise dims.unequal(sum(counts), array.shape[at], message)
    return shaping.array_split(array, [sum(counts[:i]) for i in range(1, len(counts))], at)


@operation
def slice_in_dim(x, start_index, limit_index, stride=1, axis=0):
    """Returns: elements start, start + stride, ... below limit of one axis; negative numbers count
    from the end.
    """
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    return array[(slice(None),) * at + (slice(start_index, limit_index, stride),)]


@operation
def index_in_dim(x, index, axis=0, keepdims=True):
    """Returns: the row of `axis` at a known place, with the axis of size 1 or gone."""
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    row = array[(slice(None),) * at + (core.known_integer(index, "the index"),)]
    return core.expand_dims(row, [at]) if keepdims else row


@operation
def dynamic_update_slice_in_dim(x, update, start_index, axis):
    """Returns: x with `update` written from a traced place of `axis` on, moved so that it fits."""
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    start = core.to_dtype(start_index, "i64")
    start = elementwise.where(start < 0, start + array.shape[at], start)
    starts = [start if i == at else core.scalar(0, "i64") for i in range(array.ndim)]
    rows = core.to_dtype(update, array.dtype_name)
    return core.apply("dynamic_update_slice", [array, rows, *starts], weak_type=array.weak_type)


@operation
def dynamic_update_index_in_dim(x, update, index, axis):
    """Returns: x with the row at a traced place of `axis` replaced; the row may lack the axis."""
    array, row = core.as_array(x), core.as_array(update)
    at = core.canonical_axis(axis, array.ndim)
    if row.ndim < array.ndim:
        row = core.expand_dims(row, [at])
    return dynamic_update_slice_in_dim(array, row, index, at)


@operation
def sort_key_val(keys, values, dimension=-1, is_stable=True):
    """Returns: (the keys sorted along an axis, the values in the order of their keys)."""
    array, rows = core.as_array(keys), core.as_array(values)
    attrs = {"axis": core.canonical_axis(dimension, array.ndim), "descending": False}
    return tuple(core.apply_all("sort", [array, rows], attrs | {"is_stable": bool(is_stable)}))


# --- Products and convolutions.


@operation
def dot(x, y, dimension_numbers=None):
    """Returns: the product of vectors and matrices; or with the numbers ((contracting axes of x, of
    y), (batch axes of x, of y)) the general product.
    """
    a, b = core.promote(x, y)
    if dimension_numbers is not None:
        contract, batch = dimension_numbers
        return products.dot_general(a, b, batch, contract)
    if not 1 <= a.ndim <= 2 or not 1 <= b.ndim <= 2:
        raise TypeError(
            f"dot takes vectors and matrices, found {a.describe()} and {b.describe()}"
            f" ({location.text()})"
        )
    return products.dot(a, b)


@operation
def batch_matmul(x, y):
    """Returns: the products of matrices, whose axes in front are equal."""
    a, b = core.promote(x, y)
    message = (
        f"batch_matmul needs equal axes in front of matrices, found {a.describe()} and"
        f" {b.describe()}"
    )
    if a.ndim < 2 or a.ndim != b.ndim:
        raise TypeError(f"{message} ({location.text()})")
    for n, m in zip(a.shape[:-2], b.shape[:-2]):
        if dims.differ(n, m):
            raise TypeError(f"{message} ({location.text()})")
        if not dims.same(n, m):
            raise dims.unequal(n, m, message)
    return products.matmul(a, b)


@operation
def conv_general_dilated(
    lhs,
    rhs,
    window_strides,
    padding,
    lhs_dilation=None,
    rhs_dilation=None,
    dimension_numbers=None,
    feature_group_count=1,
    batch_group_count=1,
):
    """The convolution (without flipping), with axes in any order.

    Args:
      lhs, rhs: input and kernel.
      window_strides: one number for each axis of space.
      padding: "SAME", "VALID", or a pair (low, high) for each axis of space.
      lhs_dilation, rhs_dilation: one number for each axis of space, or None.
      dimension_numbers: three texts for input, kernel and result, such as ("NHWC", "HWIO",
        "NHWC"); N, C, O and I name batch, channels, output and input channels, other letters the
        axes of space. Default: ("NCHW", "OIHW", "NCHW").
      feature_group_count, batch_group_count: how many groups of channels, or of examples, are
        apart.

    Returns: the result, with its axes as named.
    """
    array, weights = core.promote_inexact(lhs, rhs)
    space = array.ndim - 2
    orders = _orders(dimension_numbers, array, weights)
    array, weights = core.transpose(array, orders[0]), core.transpose(weights, orders[1])
    strides = windows._each(window_strides, space, "window_strides")
    spread, dilation = (
        (1,) * space if value is None else windows._each(value, space, what)
        for value, what in ((lhs_dilation, "lhs_dilation"), (rhs_dilation, "rhs_dilation"))
    )
    out = windows.convolution(
        array, weights, padding, strides, dilation, spread, feature_group_count, batch_group_count
    )
    return core.transpose(out, [orders[2].index(i) for i in range(out.ndim)])


def _orders(dimension_numbers, array, weights):
    """Returns: for input, kernel and result where batch, channels and space stand in it."""
    space = array.ndim - 2
    if space < 1 or weights.ndim != array.ndim:
        raise ValueError(
            "conv_general_dilated needs input and kernel of one number of axes, found"
            f" {array.describe()} and {weights.describe()} ({location.text()})"
        )
    if dimension_numbers is None:
        return [list(range(array.ndim))] * 3
    texts = list(dimension_numbers)
    names = sorted(set(texts[0]) - set("NC"), key=texts[0].index) if texts else []
    wanted = [["N", "C", *names], ["O", "I", *names], ["N", "C", *names]]
    fits = len(texts) == 3 and len(names) == space
    if not fits or any(sorted(text) != sorted(each) for text, each in zip(texts, wanted)):
        raise ValueError(
            f"dimension_numbers are three texts such as ('NHWC', 'HWIO', 'NHWC') for {space} axes"
            f" of space, found {dimension_numbers!r} ({location.text()})"
        )
    # Axes of space have the order in which the kernel names them; any will do.
    return [[text.index(name) for name in each] for text, each in zip(texts, wanted)]


@operation
def conv(lhs, rhs, window_strides, padding):
    """Returns: the convolution of an input [n, c, space...] with a kernel [o, c, window...]."""
    return conv_general_dilated(lhs, rhs, window_strides, padding)


@operation
def conv_with_general_padding(
    lhs, rhs, window_strides, padding, lhs_dilation=None, rhs_dilation=None
):
    """Returns: the same with dilations."""
    return conv_general_dilated(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation)


# --- Functions of functions.


def _described(leaves):
    return ", ".join(leaf.describe() for leaf in leaves) or "none"


def _common(sizes, message):
    """Returns: the size that all have. Raises: ValueError with the message."""
    for size in sizes:
        if not dims.same(size, sizes[0]):
            raise dims.unequal(size, sizes[0], message)
    return sizes[0]


@operation
def map(function, xs, *, batch_size=None):  # pylint: disable=redefined-builtin
    """Returns: what `function` makes of the rows of `xs`, a pytree of arrays with equal leading
    sizes, one after the other; with `batch_size` so many at once.
    """
    leaves = [core.as_array(leaf, "a leaf of xs") for leaf in tree.leaves(xs)]
    message = "map needs arrays with equal leading sizes, found " + _described(leaves)
    if not leaves or not all(leaf.ndim for leaf in leaves):
        raise ValueError(f"{message} ({location.text()})")
    count = _common([leaf.shape[0] for leaf in leaves], message)
    if batch_size is not None:
        return mapped.vmap(function, chunk_size=batch_size)(xs)
    rows = tree.map(core.as_array, xs)
    return parallel.for_loop(lambda i: function(tree.map(lambda x: take_row(x, i), rows)), count)


@operation
def associative_scan(function, elems, reverse=False, axis=0):
    """The combinations of the first 1, 2, 3, ... rows, in a number of steps that grows with the
    logarithm of their number; where only the run knows that, each step takes all rows.

    Args:
      function: from two pytrees like `elems`, of any size along `axis`, to one: combines rows pair
        by pair; must be associative.
      elems: pytree of arrays with equal sizes along `axis`.
      reverse: whether to combine from the end.
      axis: along which axis.

    Returns: a pytree like `elems`.

    Raises: ValueError where sizes differ.
    """
    leaves, structure = tree.flatten(tree.map(core.as_array, elems))
    places = [core.canonical_axis(axis, leaf.ndim) for leaf in leaves]
    message = f"associative_scan needs equal sizes along axis {axis}, found {_described(leaves)}"
    if not leaves:
        raise ValueError(f"{message} ({location.text()})")
    count = _common([leaf.shape[at] for leaf, at in zip(leaves, places)], message)

    def combine(first, second):
        made = function(tree.unflatten(structure, first), tree.unflatten(structure, second))
        found, shape = tree.flatten(made)
        if shape != structure:
            raise TypeError(
                f"the function of associative_scan must return the structure {structure}, found"
                f" {shape} ({location.text()})"
            )
        found = [core.as_array(leaf) for leaf in found]
        for got, want in zip(found, first):
            if got.type_text != want.type_text:
                raise TypeError(
                    f"the function of associative_scan must return {want.type_text} for such,"
                    f" found {got.describe()} ({location.text()})"
                )
        return found

    def turned(rows):
        return [core.reverse(x, [at]) for x, at in zip(rows, places)] if reverse else rows

    scanned = _scanned if dims.known(count) else _scanned_open
    return tree.unflatten(structure, turned(scanned(combine, turned(leaves), places)))


def _scanned(combine, rows, places):
    count = rows[0].shape[places[0]]
    if count < 2:
        return rows

    def part(arrays, start, stop=None, step=1):
        which = slice(start, stop, step)
        return [x[(slice(None),) * at + (which,)] for x, at in zip(arrays, places)]

    odd = _scanned(combine, combine(part(rows, 0, count - 1, 2), part(rows, 1, None, 2)), places)
    last = part(odd, 0, -1) if count % 2 == 0 else odd
    heads, even = part(rows, 0, 1), part(rows, 2, None, 2)
    if even[0].shape[places[0]]:
        made = combine(last, even)
        heads = [core.concatenate(list(p), at) for *p, at in zip(heads, made, places)]
    out = []
    for a, b, at in zip(heads, odd, places):
        pairs, more = b.shape[at], a.shape[at] - b.shape[at]
        both = shaping.stack([core.slice_axis(a, at, 0, pairs), b], at + 1)
        woven = core.reshape(both, (*a.shape[:at], 2 * pairs, *a.shape[at + 1 :]))
        tail = [core.slice_axis(a, at, pairs, pairs + 1)] if more else []
        out.append(core.concatenate([woven, *tail], at))
    return out


def _scanned_open(combine, rows, places):
    """The same for a number of rows that only the run knows: what ends at a row combines 1, 2, 4,
    ... rows (Hillis and Steele, Data Parallel Algorithms, 1986), so that each step takes all.
    """
    count = rows[0].shape[places[0]]
    line = core.iota((count,), 0, "i64")

    def step(carry):
        distance, arrays = carry
        before = elementwise.maximum(line - distance, 0)
        before.is_index = True
        earlier = [x[(slice(None),) * at + (before,)] for x, at in zip(arrays, places)]
        out = []
        for new, old, at in zip(combine(earlier, arrays), arrays, places):
            there = core.reshape(line >= distance, (count,) + (1,) * (old.ndim - at - 1))
            out.append(elementwise.where(there, new, old))
        return distance * 2, out

    init = (core.scalar(1, "i64"), rows)
    return carried.while_loop(lambda carry: carry[0] < count, step, init)[1]


@operation
def cumlogsumexp(x, axis=0, reverse=False):
    """Returns: log(cumsum(exp(x))) along `axis`, without overflow."""
    (array,) = core.promote_inexact(x)
    return associative_scan(elementwise.logaddexp, array, reverse, axis)


@operation
def reduce(operands, init_values, computation, dimensions):
    """Reduces by any function, in a number of steps that grows with the logarithm of the size.

    Args:
      operands: pytree of arrays of one shape.
      init_values: a pytree of the same structure, of scalars.
      computation: from two pytrees of scalars to one; must be associative and commutative.
      dimensions: the axes that go.

    Where only the run knows the size, each step takes all rows.

    Returns: a pytree of arrays without these axes.
    """
    leaves, structure = tree.flatten(tree.map(core.as_array, operands))
    starts, other = tree.flatten(init_values)
    message = (
        "reduce needs operands of one shape and as many initial values, found"
        f" {_described(leaves)} and {len(starts)}"
    )
    if structure != other or len({leaf.ndim for leaf in leaves}) != 1:
        raise ValueError(f"{message} ({location.text()})")
    shape = [_common(sizes, message) for sizes in zip(*(leaf.shape for leaf in leaves))]
    axes = core.canonical_axes(dimensions, len(shape))
    kept = [i for i in range(len(shape)) if i not in axes]
    rest = tuple(shape[i] for i in kept)
    count, width = math.prod(shape[i] for i in axes), math.prod(rest)
    rows = [core.reshape(core.transpose(x, [*axes, *kept]), (count, width)) for x in leaves]
    names = [x.dtype_name for x in leaves]

    def combine(first, second):
        size = first[0].shape[0]
        flat = [[core.reshape(x, (size * width,)) for x in each] for each in (first, second)]
        pair = [tree.unflatten(structure, each) for each in flat]
        none = dims.same(size * width, 0)
        made = flat[0] if none else tree.leaves(mapped.vmap(computation)(*pair))
        return [core.reshape(core.to_dtype(x, n), (size, width)) for x, n in zip(made, names)]

    def part(start, stop):
        return [core.slice_axis(x, 0, start, stop) for x in rows]

    first = [core.broadcast_to(core.to_dtype(s, n), (1, width)) for s, n in zip(starts, names)]
    if not dims.known(count):
        rows = [core.concatenate(list(both), 0) for both in zip(first, rows)]
        rows = _scanned_open(combine, rows, [0] * len(rows))
        return tree.unflatten(structure, [core.reshape(x[count], rest) for x in rows])
    while count > 1:
        half = count // 2
        more = part(2 * half, count)
        made = combine(part(0, half), part(half, 2 * half))
        rows = [core.concatenate(list(both), 0) for both in zip(made, more)]
        count = rows[0].shape[0]
    rows = combine(first, rows) if count else first
    return tree.unflatten(structure, [core.reshape(x, rest) for x in rows])


def axis_index():
    """Returns: i32, the number of the iteration of the pfor, vmap or loop around.

    Raises: TracingError where there is none.
    """
    trace = tracing.required("axis_index")
    frames = [frame for frame in trace.own_loops if frame.index is not None]
    if not frames:
        raise errors.TracingError(
            f"axis_index at {location.text()} needs a pfor or vmap around it, found none"
        )
    return core.cast(frames[-1].index, "i32")


# --- Updates and bits.


def _scatter(combiner):
    def scatter(x, scatter_indices, updates, **attrs):
        array, rows = core.promote(x, updates)
        attrs = {"operand_batching_dims": [], "scatter_indices_batching_dims": []} | attrs
        attrs["input_batching_dims"] = attrs.pop("operand_batching_dims")
        indices = core.cast(core.as_array(scatter_indices), "i64")
        attrs.setdefault("index_vector_dim", indices.ndim - 1)
        return core.apply("scatter", [array, indices, rows], attrs | {"combiner": combiner})

    scatter.__name__ = scatter.__qualname__ = f"scatter_{combiner}"
    scatter.__doc__ = f"""Returns: x with `updates` combined into it by {combiner} at index vectors.

    Args:
      x, scatter_indices, updates: as of the op `scatter`.
      attrs: update_window_dims, inserted_window_dims and scatter_dims_to_operand_dims; if need be
        operand_batching_dims, scatter_indices_batching_dims and index_vector_dim.
    """
    return operation(scatter)


scatter_add, scatter_mul = _scatter("add"), _scatter("mul")
scatter_min, scatter_max = _scatter("min"), _scatter("max")

_LAYOUT = {"f32": ("i32", 8, 23), "f64": ("i64", 11, 52)}


@operation
def reduce_precision(x, exponent_bits, mantissa_bits):
    """Returns: x rounded, the even one of two nearest, to a float with so many bits, in the type of
    x. What has a greater exponent is infinite, what has a smaller one 0; NaN stays.
    """
    array = core.as_array(x)
    if array.dtype_name not in dtypes.FLOATS:
        raise TypeError(
            f"reduce_precision takes floats, found {array.describe()} ({location.text()})"
        )
    if exponent_bits < 1 or mantissa_bits < 0:
        raise ValueError(
            f"a float has at least 1 bit of exponent and 0 of fraction, found {exponent_bits} and"
            f" {mantissa_bits} ({location.text()})"
        )
    wide = core.cast(array, "f64" if array.dtype_name == "f64" else "f32")
    kind, exponent, fraction = _LAYOUT[wide.dtype_name]
    bits = core.apply("bitcast_convert", [wide], {"dtype": kind})
    sign = elementwise.bitwise_and(bits, dtypes.least(kind))
    size = elementwise.bitwise_xor(bits, sign)
    if mantissa_bits < fraction:
        away = fraction - mantissa_bits
        odd = elementwise.bitwise_and(elementwise.right_shift(size, away), 1)
        size = size + odd + ((1 << (away - 1)) - 1)
        size = elementwise.bitwise_and(size, -(1 << away))
    infinite = ((1 << exponent) - 1) << fraction
    if exponent_bits < exponent:
        bias, own = (1 << (exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        size = elementwise.where(size >= (bias + own + 1) << fraction, infinite, size)
        size = elementwise.where(size < (bias - own + 1) << fraction, 0, size)
    size = elementwise.bitwise_or(size, sign)
    out = core.apply("bitcast_convert", [size], {"dtype": wide.dtype_name})
    return core.cast(elementwise.where(elementwise.isnan(wide), wide, out), array.dtype_name)


@operation
def reduce_xor(x, axes):
    """Returns: the exclusive or of all integers or bools over `axes`."""
    array = core.as_array(x)
    if array.dtype_name not in dtypes.INTEGERS + dtypes.BOOLS:
        raise TypeError(
            f"reduce_xor takes integers or bools, found {array.describe()} ({location.text()})"
        )
    zero = False if array.dtype_name == "bool" else 0
    return reduce(array, core.to_dtype(zero, array.dtype_name), elementwise.bitwise_xor, axes)


conj, unstack, tile, stack = elementwise.conj, array_api.unstack, shaping.tile, shaping.stack
bitwise_and, bitwise_or = elementwise.bitwise_and, elementwise.bitwise_or
bitwise_xor, bitwise_not = elementwise.bitwise_xor, elementwise.bitwise_not
nextafter, broadcast_shapes = elementwise.nextafter, core.broadcast_shapes

__all__ = (
    "RoundingMethod associative_scan axis_index batch_matmul bitwise_and bitwise_not bitwise_or"
    " bitwise_xor broadcast broadcast_shapes broadcasted_iota collapse conj conv"
    " conv_general_dilated conv_with_general_padding cumlogsumexp dot dynamic_update_index_in_dim"
    " dynamic_update_slice_in_dim expand_dims full full_like index_in_dim integer_pow map nextafter"
    " reduce reduce_precision reduce_xor round scatter_add scatter_max scatter_min scatter_mul"
    " select_n slice_in_dim sort_key_val split squeeze stack tile unstack"
).split()
