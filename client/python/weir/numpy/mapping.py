"""Functions that take functions: over axes, over elements, by condition, by number."""

import re

from weir import checks, core, dims, dtypes, location, vectorize as mapped
from weir.array import Array
from weir.eager import operation
from weir.numpy import creation, elementwise, ordering, places, shaping

_ARGUMENT = r"\(\s*(\w+(\s*,\s*\w+)*)?\s*\)"
_LIST = rf"\s*{_ARGUMENT}(\s*,\s*{_ARGUMENT})*\s*"


def vectorize(pyfunc, excluded=frozenset(), signature=None):
    """Makes a function of arrays with few axes one that broadcasts over all others.

    Args:
      pyfunc: from arrays to an array or a tuple of arrays; without a signature from scalars.
      excluded: the positions (and names) of arguments that are handed on as they are.
      signature: the axes that one call takes and gives, such as "(n,m),(m)->(n)".

    Returns: the function, whose arguments broadcast over the axes in front of those of the
      signature. Under `weir.vmap` and `weir.jit` it is as any other.

    Raises: ValueError for a signature that is none; (when called) where arguments do not fit it.
    """
    wanted = None if signature is None else _parsed(signature)
    if not all(isinstance(each, (int, str)) for each in excluded):
        raise TypeError(f"vectorize: excluded holds positions and names, found {excluded!r}")

    @operation
    def vectorized(*args, **kwargs):
        fixed = {i: arg for i, arg in enumerate(args) if i in excluded or arg is None}
        mapped_ones = [i for i in range(len(args)) if i not in fixed]

        def function(*arrays):
            full = dict(fixed) | dict(zip(mapped_ones, arrays))
            return pyfunc(*(full[i] for i in range(len(args))), **kwargs)

        arrays = [core.as_array(args[i]) for i in mapped_ones]
        return _broadcast_over(function, arrays, wanted, signature)

    return vectorized


def _parsed(signature):
    """Returns: (the axes of each argument, those of each result)."""
    if not re.fullmatch(f"{_LIST}->{_LIST}", signature):
        raise ValueError(
            f"a signature of vectorize is such as '(n,m),(m)->(n)', found {signature!r}"
            f" ({location.text()})"
        )
    sides = []
    for side in signature.split("->"):
        parts = re.findall(r"\(([^()]*)\)", side)
        sides.append([tuple(re.findall(r"\w+", part)) for part in parts])
    return sides


def _broadcast_over(function, arrays, wanted, signature):
    inputs = [()] * len(arrays) if wanted is None else wanted[0]
    if len(inputs) != len(arrays):
        raise ValueError(
            f"vectorize: the signature '{signature}' names {len(inputs)} arguments, found"
            f" {len(arrays)} ({location.text()})"
        )
    sizes = {}
    for array, names in zip(arrays, inputs):
        _learn(sizes, array.shape[array.ndim - len(names) :], names, array, signature)
    leads = [x.shape[: x.ndim - len(names)] for x, names in zip(arrays, inputs)]
    lead = core.broadcast_shapes(*leads)

    def once(*rows):
        results = function(*rows)
        outputs = [()] if wanted is None else wanted[1]
        several = results if isinstance(results, (tuple, list)) else (results,)
        several = [core.as_array(result) for result in several]
        if wanted is not None:
            if len(several) != len(outputs):
                raise TypeError(
                    f"vectorize: the signature '{signature}' names {len(outputs)} results, the"
                    f" function returns {len(several)} ({location.text()})"
                )
            for result, names in zip(several, outputs):
                _learn(sizes, result.shape, names, result, signature)
                if result.ndim != len(names):
                    raise _unfit(result, names, signature)
        return tuple(several) if isinstance(results, (tuple, list)) else several[0]

    # Axes of size 1 are left out of the loops and come back in the results.
    rows, made, ones = [], once, []
    for array, own in zip(arrays, leads):
        kept = tuple(extent for extent in own if not dims.same(extent, 1))
        rows.append(core.reshape(array, kept + array.shape[len(own) :]))
    for i in reversed(range(len(lead))):
        own = [shape[i - len(lead)] if i >= len(lead) - len(shape) else 1 for shape in leads]
        if dims.same(lead[i], 1):
            ones.append(i)
        else:
            made = mapped.vmap(made, tuple(None if dims.same(extent, 1) else 0 for extent in own))
    results = made(*rows)
    if not ones:
        return results
    if isinstance(results, tuple):
        return tuple(core.expand_dims(result, ones) for result in results)
    return core.expand_dims(results, ones)


def _learn(sizes, extents, names, array, signature):
    if len(extents) != len(names):
        raise _unfit(array, names, signature)
    for extent, name in zip(extents, names):
        known = int(name) if name.isdigit() else sizes.setdefault(name, extent)
        if not dims.same(known, extent):
            raise dims.unequal(
                known,
                extent,
                f"vectorize: axis {name} of '{signature}' has the sizes {known} and {extent}, the"
                f" latter in {array.describe()}",
            )


def _unfit(array, names, signature):
    return ValueError(
        f"vectorize: {array.describe()} does not have the axes ({','.join(names)}) of"
        f" '{signature}' ({location.text()})"
    )


@operation
def apply_over_axes(function, x, axes):
    """Returns: `function(x, axis)` for each of the axes, one after the other; an axis that goes
    comes back with size 1.

    Raises: ValueError where a result has another number of axes.
    """
    array = core.as_array(x)
    for axis in core.canonical_axes(axes, array.ndim):
        result = core.as_array(function(array, axis))
        if result.ndim == array.ndim - 1:
            result = core.expand_dims(result, [axis])
        if result.ndim != array.ndim:
            raise ValueError(
                f"apply_over_axes: the function made {result.describe()} of {array.describe()}"
                f" ({location.text()})"
            )
        array = result
    return array


@operation
def piecewise(x, condlist, funclist, *args, **kwargs):
    """Returns: for each element of x what the function of its condition gives, in the type of x; 0
    where none holds. Of several that hold, the last one counts.

    Args:
      x: the array.
      condlist: a list of masks of the shape of x, or one mask.
      funclist: for each condition a function, which works element by element on all of x, or a
        number; one more is for elements for which no condition holds.
      args, kwargs: further arguments of the functions.
    """
    array = core.as_array(x)
    masks = [condlist] if core.is_scalar(condlist) or isinstance(condlist, Array) else condlist
    if core.is_numpy(masks) and masks.ndim == array.ndim:
        masks = [masks]
    if isinstance(condlist, Array) and condlist.ndim > array.ndim:
        masks = [condlist[i] for i in range(condlist.shape[0])]
    masks = [elementwise.astype(creation.array(mask), bool) for mask in masks]
    choices = list(funclist)
    if len(choices) not in (len(masks), len(masks) + 1):
        raise ValueError(
            f"piecewise has {len(masks)} conditions and {len(choices)} functions; there are as"
            f" many, or one more ({location.text()})"
        )

    def of(choice):
        return choice(array, *args, **kwargs) if callable(choice) else choice

    out = core.full(array.shape, 0, array.dtype_name)
    if len(choices) > len(masks):
        out = core.broadcast_to(core.to_dtype(of(choices.pop()), array.dtype_name), array.shape)
    for mask, choice in zip(masks, choices):
        value = core.to_dtype(of(choice), array.dtype_name)
        out = elementwise.where(mask, value, out)
    return out


@operation
def choose(x, choices, mode="raise"):
    """Returns: element by element that of `choices[x]`; all broadcast.

    Args:
      x: integers.
      choices: a sequence of arrays, or an array along whose axis 0 they lie.
      mode: what happens to numbers outside: "raise" fails the run, "clip" takes the nearest,
        "wrap" counts round.
    """
    number = core.as_array(x)
    if number.dtype_name not in dtypes.INTEGERS:
        raise TypeError(f"choose takes integers, found {number.describe()} ({location.text()})")
    table = choices if isinstance(choices, Array) and choices.ndim else None
    count = len(choices) if table is None else table.shape[0]
    checks.require_at_most(1, count, ValueError(f"choose needs a choice ({location.text()})"))
    number = core.cast(number, "i64")
    if mode == "raise":
        holds = elementwise.logical_and(number >= 0, number < count)
        checks.check(holds, f"choose takes numbers from 0 to {count - 1}")
    elif mode == "wrap":
        number = elementwise.mod(number, count)
    elif mode != "clip":
        raise ValueError(
            f"mode must be 'raise', 'clip' or 'wrap', found {mode!r} ({location.text()})"
        )
    if table is not None:
        return _chosen(table, elementwise.clip(number, 0, count - 1))
    number, *parts = core.broadcast(number, *core.promote(*choices))
    out = parts[0]
    for i, part in enumerate(parts[1:], start=1):
        out = core.apply("select", [number >= i, part, out])
    return out


def _chosen(table, number):
    """Returns: element by element that of `table[number]`; rows and numbers broadcast."""
    shape = core.broadcast_shapes(number.shape, table.shape[1:])
    added = len(shape) - (table.ndim - 1)
    table = core.expand_dims(table, list(range(1, 1 + added)))
    number = core.expand_dims(core.broadcast_to(number, shape), [0])
    return core.reshape(ordering.take_along_axis(table, number, 0), shape)


@operation
def put_along_axis(x, indices, values, axis, mode=None):
    """Returns: x in which, for each line along `axis`, the elements at the positions in the same
    line of `indices` are `values`, which broadcast to the shape of `indices`.

    Args:
      x: the array, or one whose elements `axis` = None counts flat.
      indices: integers; negative ones count from the end, others outside are left out.
      values: of the type of x.
      axis: None or an axis.
      mode: "clip" moves indices outside to the ends; None leaves them out.
    """
    array, where = core.as_array(x), core.as_array(indices)
    if axis is None:
        flat = put_along_axis(shaping.ravel(array), where, values, 0, mode)
        return core.reshape(flat, array.shape)
    at = core.canonical_axis(axis, array.ndim)
    if where.ndim != array.ndim:
        raise ValueError(
            f"put_along_axis needs equal numbers of axes: {array.describe()}, {where.describe()}"
            f" ({location.text()})"
        )
    if mode not in (None, "clip", "drop"):
        raise ValueError(f"mode must be None or 'clip', found {mode!r} ({location.text()})")
    if mode == "clip":
        where = elementwise.clip(where, 0, dims.larger(array.shape[at] - 1, 0))
    wanted = [where.shape[at] if i == at else extent for i, extent in enumerate(array.shape)]
    where = core.broadcast_to(where, wanted)
    entries = [core.iota(where.shape, i, "i64") for i in range(array.ndim)]
    for entry in entries:
        entry.is_index = True
    entries[at] = where
    return array.at[tuple(entries)].set(values)


@operation
def fill_diagonal(x, value, wrap=False, inplace=False):
    """Returns: x with `value` along the main diagonal; a vector of values is used again and again.

    Args:
      x: two axes, or more of one size.
      value: a number or an array.
      wrap: whether the diagonal of a tall matrix begins anew behind its end.
      inplace: only False: arrays of a program do not change.
    """
    if inplace:
        raise NotImplementedError(f"fill_diagonal works with inplace=False ({location.text()})")
    array = core.as_array(x)
    message = f"fill_diagonal needs two axes, or more of one size, found {array.describe()}"
    if array.ndim < 2:
        raise ValueError(f"{message} ({location.text()})")
    for extent in array.shape if array.ndim > 2 else ():
        if not dims.same(extent, array.shape[0]):
            raise dims.unequal(extent, array.shape[0], message)
    step, stop = 1 + sum(_products(array.shape[1:])), array.size
    if array.ndim == 2 and not wrap:
        stop = dims.smaller(array.size, array.shape[1] * array.shape[1])
    count = -(-stop // step)
    line = core.iota((count,), 0, "i64") * step
    line.is_index = True
    values = places.resize(core.to_dtype(value, array.dtype_name), (count,))
    flat = shaping.ravel(array).at[line].set(values)
    return core.reshape(flat, array.shape)


def _products(extents):
    """Returns: how many elements lie between neighbours of each axis but the last."""
    out, total = [], 1
    for extent in reversed(extents):
        total *= extent
        out.append(total)
    return out


