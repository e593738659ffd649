"""Products of arrays: matmul, dot, einsum and their kin, all by the op `dot_general`."""

import collections

from weir import core, dims, dtypes
from weir.eager import operation
from weir.numpy import matrices, reductions


def dot_general(x, y, batch=((), ()), contract=((), ())):
    """The general product: batch axes in front, then the free axes of x, then those of y."""
    a, b = core.promote(x, y)
    is_bool = a.dtype_name == "bool"
    if is_bool:
        a, b = core.cast(a, "i32"), core.cast(b, "i32")
    attrs = {
        "lhs_batch": list(batch[0]),
        "rhs_batch": list(batch[1]),
        "lhs_contract": list(contract[0]),
        "rhs_contract": list(contract[1]),
    }
    out = core.apply("dot_general", [a, b], attrs, weak_type=a.weak_type and b.weak_type)
    return core.compare("not_equal", out, 0) if is_bool else out


def _check_equal(what, a, axis_a, b, axis_b):
    if not dims.same(a.shape[axis_a], b.shape[axis_b]):
        raise dims.unequal(
            a.shape[axis_a],
            b.shape[axis_b],
            f"{what}: axis {axis_a} of {a.describe()} and axis {axis_b} of {b.describe()} must have"
            " equal sizes",
        )


@operation
def matmul(x, y):
    """Returns: the matrix product of the last two axes; the others broadcast.

    A vector is a row on the left and a column on the right, and its axis is gone from the result.
    """
    a, b = core.promote(x, y)
    if not a.ndim or not b.ndim:
        raise ValueError(f"matmul needs arrays with axes, found {a.describe()} and {b.describe()}")
    a_is_vector, b_is_vector = a.ndim == 1, b.ndim == 1
    if a_is_vector:
        a = core.reshape(a, (1, a.size))
    if b_is_vector:
        b = core.reshape(b, (b.size, 1))
    _check_equal("matmul", a, a.ndim - 1, b, b.ndim - 2)
    out = _matrix_product(a, b)
    gone = ([out.ndim - 2] if a_is_vector else []) + ([out.ndim - 1] if b_is_vector else [])
    return core.reshape(out, [extent for i, extent in enumerate(out.shape) if i not in gone])


def _matrix_product(a, b):
    if b.ndim == 2:
        return dot_general(a, b, contract=((a.ndim - 1,), (0,)))
    batch = core.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = core.broadcast_to(a, batch + a.shape[-2:])
    b = core.broadcast_to(b, batch + b.shape[-2:])
    axes = tuple(range(len(batch)))
    return dot_general(a, b, (axes, axes), ((a.ndim - 1,), (b.ndim - 2,)))


@operation
def dot(x, y):
    """Returns: the product over the last axis of x and the last but one of y (its only one, of a
    vector).
    """
    a, b = core.promote(x, y)
    if not a.ndim or not b.ndim:
        return a * b
    axis = max(0, b.ndim - 2)
    _check_equal("dot", a, a.ndim - 1, b, axis)
    return dot_general(a, b, contract=((a.ndim - 1,), (axis,)))


@operation
def vdot(x, y):
    """Returns: the sum of products of all elements, those of x conjugated."""
    a, b = core.promote(x, y)
    if a.dtype_name in dtypes.COMPLEXES:
        a = core.apply("conjugate", [a])
    return dot(core.reshape(a, (a.size,)), core.reshape(b, (b.size,)))


@operation
def vecdot(x, y, axis=-1):
    """Returns: the sums of products along `axis`, elements of x conjugated."""
    a, b = core.broadcast(*core.promote(x, y))
    if a.dtype_name in dtypes.COMPLEXES:
        a = core.apply("conjugate", [a])
    at = core.canonical_axis(axis, a.ndim)
    others = tuple(i for i in range(a.ndim) if i != at)
    return dot_general(a, b, (others, others), ((at,), (at,)))


@operation
def inner(x, y):
    """Returns: the product over the last axes of both."""
    a, b = core.promote(x, y)
    if not a.ndim or not b.ndim:
        return a * b
    _check_equal("inner", a, a.ndim - 1, b, b.ndim - 1)
    return dot_general(a, b, contract=((a.ndim - 1,), (b.ndim - 1,)))


@operation
def outer(x, y):
    """Returns: the products of each element of x with each of y."""
    a, b = core.promote(x, y)
    return core.reshape(a, (a.size, 1)) * core.reshape(b, (1, b.size))


@operation
def tensordot(x, y, axes=2):
    """Returns: the product over pairs of axes: the last `axes` of x with the first of y, or two
    lists of axes.
    """
    a, b = core.promote(x, y)
    if isinstance(axes, int):
        left, right = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        left, right = core.canonical_axes(axes[0], a.ndim), core.canonical_axes(axes[1], b.ndim)
    if len(left) != len(right):
        raise ValueError(f"tensordot contracts {len(left)} axes of x and {len(right)} of y")
    for i, j in zip(left, right):
        _check_equal("tensordot", a, i, b, j)
    return dot_general(a, b, contract=(left, right))


@operation
def kron(x, y):
    """Returns: the Kronecker product."""
    a, b = core.promote(x, y)
    ndim = max(a.ndim, b.ndim)
    a = core.reshape(a, (1,) * (ndim - a.ndim) + a.shape)
    b = core.reshape(b, (1,) * (ndim - b.ndim) + b.shape)
    wide_a = core.reshape(a, [size for extent in a.shape for size in (extent, 1)])
    wide_b = core.reshape(b, [size for extent in b.shape for size in (1, extent)])
    return core.reshape(wide_a * wide_b, [i * j for i, j in zip(a.shape, b.shape)])


# --- einsum.


@operation
def einsum(subscripts, *operands):
    """Returns: the sum of products that `subscripts` describes, such as "bij,bjk->bik", as NumPy's
    einsum.

    Operands are contracted from left to right.
    """
    arrays = core.promote(*operands)
    inputs, output = _parse(subscripts, arrays)
    terms = [_Term(*_without_repeats(array, labels)) for array, labels in zip(arrays, inputs)]
    while len(terms) > 1:
        kept = set(output).union(*(term.labels for term in terms[2:]))
        terms[:2] = [_multiply(terms[0], terms[1], kept)]
    term = _sum_out(terms[0], set(output))
    return core.transpose(term.array, [term.labels.index(label) for label in output])


class _Term:
    """An array whose axes have labels."""

    def __init__(self, array, labels):
        self.array = array
        self.labels = labels


def _parse(subscripts, arrays):
    """Returns: (labels of each operand, labels of the result). The axes of an ellipsis get labels
    of their own.
    """
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(arrays):
        raise ValueError(f"einsum '{subscripts}' names {len(parts)} operands, found {len(arrays)}")
    widths = [
        a.ndim - len(part.replace("...", "")) for part, a in zip(parts, arrays) if "..." in part
    ]
    width = max(widths, default=0)
    inputs = []
    for part, array in zip(parts, arrays):
        spread = array.ndim - len(part.replace("...", ""))
        labels = _labels(part, range(width - spread, width) if "..." in part else ())
        if len(labels) != array.ndim:
            raise ValueError(f"einsum '{subscripts}': '{part}' does not fit {array.describe()}")
        inputs.append(labels)
    if not arrow:
        counts = collections.Counter(c for part in parts for c in part.replace("...", ""))
        right = ("..." if widths else "") + "".join(sorted(c for c, n in counts.items() if n == 1))
    output = _labels(right, range(width) if "..." in right else ())
    known = {label for labels in inputs for label in labels}
    if len(set(output)) != len(output) or not known.issuperset(output):
        raise ValueError(
            f"einsum '{subscripts}': the result must name each of its axes once, from the operands"
        )
    return inputs, output


def _labels(part, spread):
    head, _, tail = part.partition("...")
    return list(head) + list(spread) + list(tail)


def _without_repeats(array, labels):
    """A label twice in one operand stands for its diagonal."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            array = matrices.diagonal(array, 0, first, second)
            labels = [x for i, x in enumerate(labels) if i not in (first, second)] + [label]
    return array, labels


def _sum_out(term, kept):
    axes = tuple(i for i, label in enumerate(term.labels) if label not in kept)
    if not axes:
        return term
    array = core.reduce("reduce_sum", term.array, axes, False)
    return _Term(array, [label for label in term.labels if label in kept])


def _multiply(x, y, kept):
    """The product of two terms, summed over what neither the result nor a later term needs."""
    x = _sum_out(x, kept.union(y.labels))
    y = _sum_out(y, kept.union(x.labels))
    x, y = _expand_ones(x, y), _expand_ones(y, x)
    shared = [label for label in x.labels if label in y.labels]
    batch = [label for label in shared if label in kept]
    contract = [label for label in shared if label not in kept]
    for label in shared:
        _check_equal("einsum", x.array, x.labels.index(label), y.array, y.labels.index(label))

    def axes(term, labels):
        return tuple(term.labels.index(label) for label in labels)

    array = dot_general(
        x.array,
        y.array,
        (axes(x, batch), axes(y, batch)),
        (axes(x, contract), axes(y, contract)),
    )
    free = [label for label in x.labels if label not in shared]
    free += [label for label in y.labels if label not in shared]
    return _Term(array, batch + free)


def _expand_ones(term, other):
    """A size of 1 broadcasts."""
    shape = list(term.array.shape)
    for i, label in enumerate(term.labels):
        if label in other.labels and dims.same(shape[i], 1):
            shape[i] = other.array.shape[other.labels.index(label)]
    return _Term(core.broadcast_to(term.array, shape), term.labels)
