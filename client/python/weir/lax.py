"""One function for each op of the registry, the structured loops and branches, and what else
jax.lax has.

The functions are made from the op table (`weir.ops()`): operands by position, attributes as
keywords, or by position behind the operands, in the order of the op table; as in JAX the operands
of an op that takes any number may stand in a list. Nothing promotes or broadcasts, but a Python
number takes the element type of the first array beside it and, for element-wise ops, its shape.
Names that Python reserves get an underscore: `and_`, `or_`, `not_`.

Names of jax.lax that are no op (`associative_scan`, `conv_general_dilated`, ..) are in
`lax_names.py`, and its short names of ops (`mul`, `lt`, ..) are aliases.
"""

import keyword
import sys

from weir import _native, core, dtypes, lax_forms, lax_names
from weir.autodiff import stop_gradient
from weir.branches import cond, switch
from weir.carried import fori_loop, scan, while_loop
from weir.collectives import all_gather, pmax, pmean, pmin, psum
from weir.eager import operation
from weir.lax_names import *  # noqa: F403
from weir.parallel import for_loop, pfor

__all__ = (
    "all_gather cond dynamic_index_in_dim dynamic_slice_in_dim for_loop fori_loop ops pfor pmax"
    " pmean pmin psum scan stop_gradient switch while_loop"
).split()

_MODULE = sys.modules[__name__]
_OPS = {row["name"]: row for row in _native.ops()}
# `call` needs a second function, `constant` is weir.numpy.array.
_NO_PRIMITIVE = ("call", "constant")


def ops():
    """Returns: one dictionary for each op: name, summary, attributes (name, kind, required),
    numbers of operands.
    """
    return [dict(row) for row in _OPS.values()]


def _operand_like(x, like, is_elementwise):
    if not core.is_scalar(x) or like is None:
        return core.as_array(x)
    made = core.to_dtype(x, like.dtype_name)
    return core.broadcast_to(made, like.shape) if is_elementwise else made


def _attr_value(kind, value):
    if kind == "dtype":
        return dtypes.name_of(value)
    if kind == "dims":
        return core.canonical_shape(value)
    return value


def _primitive(row):
    kinds = {name: kind for name, kind, _ in row["attrs"]}

    def primitive(*operands, **attrs):
        operands, attrs = lax_forms.taken_apart(row, operands, attrs)
        for name in attrs:
            if name not in kinds:
                raise TypeError(
                    f"{row['name']} has no attribute '{name}'; it has {', '.join(kinds) or 'none'}"
                )
        arrays = [core.as_array(x) for x in operands if not core.is_scalar(x)]
        like = arrays[0] if arrays else None
        values = [_operand_like(x, like, row["elementwise"]) for x in operands]
        attrs = lax_forms.with_axes_from_the_front(row, attrs, values)
        converted = {name: _attr_value(kinds[name], value) for name, value in attrs.items()}
        outputs = core.apply_all(row["name"], values, converted)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    return primitive


def _document(row):
    least, most = row["min_inputs"], row["max_inputs"]
    count = f"{least} or more" if most is None else f"{least} to {most}"
    operands = f"{least if least == most else count} by position"
    attrs = [
        f"  {name} ({kind}{'' if required else ', optional'})"
        for name, kind, required in row["attrs"]
    ]
    return (
        f"{row['summary']}.\n\nOperands: {operands}.\n\nAttributes:\n"
        + "\n".join(attrs or ["  none"])
        + "\n\nRaises: InvalidArgument for shapes and types that do not fit."
    )


def _define_primitives():
    for name, row in _OPS.items():
        if row["max_regions"] != 0 or name in _NO_PRIMITIVE:
            continue
        public = name + "_" if keyword.iskeyword(name) else name
        function = _primitive(row)
        function.__name__ = function.__qualname__ = public
        function.__module__ = __name__
        function.__doc__ = _document(row)
        setattr(_MODULE, public, operation(function))
        __all__.append(public)


_define_primitives()


@operation
def dynamic_index_in_dim(x, index, axis=0, keepdims=True):
    """Returns: the row of `axis` at a traced position, clamped; with `axis` of size 1 or gone."""
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    row = dynamic_slice_in_dim(array, index, 1, at)
    return row if keepdims else core.reshape(row, array.shape[:at] + array.shape[at + 1 :])


@operation
def dynamic_slice_in_dim(x, start, size, axis=0):
    """Returns: `size` rows of `axis` from a traced start, clamped so that they lie inside."""
    array = core.as_array(x)
    at = core.canonical_axis(axis, array.ndim)
    starts = [start if i == at else 0 for i in range(array.ndim)]
    sizes = [size if i == at else extent for i, extent in enumerate(array.shape)]
    return core.apply(
        "dynamic_slice", [array] + [core.to_dtype(s, "i64") for s in starts], {"sizes": sizes}
    )


# JAX's names of ops.
_SPELLINGS = {
    "neg": "negate",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "rem": "remainder",
    "pow": "power",
    "max": "maximum",
    "min": "minimum",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "rev": "reverse",
    "clz": "count_leading_zeros",
    "population_count": "popcnt",
    "convert_element_type": "convert",
    "bitcast_convert_type": "bitcast_convert",
}


def _define_spellings():
    for name, op in _SPELLINGS.items():
        setattr(_MODULE, name, getattr(_MODULE, op))
    __all__.extend(_SPELLINGS)


_define_spellings()

__all__ += lax_names.__all__
