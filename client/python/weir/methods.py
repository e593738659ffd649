"""Operators and methods of `Array`, each by the function of the same meaning in `weir.numpy`, and
operators of `Dim` where the other operand is no size.
"""

import operator

import numpy as np

from weir import core, dims, errors, indexing, location, numpy as wnp
from weir.array import Array
from weir.dims import Dim

_BINARY = {
    "add": wnp.add,
    "sub": wnp.subtract,
    "mul": wnp.multiply,
    "truediv": wnp.true_divide,
    "floordiv": wnp.floor_divide,
    "mod": wnp.mod,
    "divmod": wnp.divmod,
    "pow": wnp.power,
    "matmul": wnp.matmul,
    "and": wnp.bitwise_and,
    "or": wnp.bitwise_or,
    "xor": wnp.bitwise_xor,
    "lshift": wnp.left_shift,
    "rshift": wnp.right_shift,
}
_COMPARISONS = {
    "eq": wnp.equal,
    "ne": wnp.not_equal,
    "lt": wnp.less,
    "le": wnp.less_equal,
    "gt": wnp.greater,
    "ge": wnp.greater_equal,
}
_UNARY = {"neg": wnp.negative, "pos": wnp.positive, "abs": wnp.abs, "invert": wnp.invert}
_METHODS = (
    "all any argmax argmin argsort clip conj cumprod cumsum diagonal dot max mean min nonzero prod"
    " ptp ravel repeat round sort std squeeze sum swapaxes take trace var"
).split()


def _array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """A NumPy function of traced arrays, such as that of `numpy_array + array`, is the one of this
    name here.
    """
    function = getattr(wnp, ufunc.__name__, None)
    if method != "__call__" or function is None or kwargs:
        raise errors.TracingError(
            f"numpy.{ufunc.__name__} cannot work on the traced array {self.describe()} at"
            f" {location.text()}; use weir.numpy, or return the array from the traced function"
            " first"
        )
    return function(*inputs)


def _array_function(self, function, types, args, kwargs):
    """The same for functions that are no ufuncs, such as `numpy.concatenate`."""
    package = function.__module__.replace("numpy", "", 1).lstrip(".")
    place = getattr(wnp, package, None) if package else wnp
    own = getattr(place, function.__name__.rstrip("_"), None)
    if own is None:
        raise errors.TracingError(
            f"{function.__module__}.{function.__name__} cannot work on the traced array"
            f" {self.describe()} at {location.text()}, and weir.numpy has no such function; return"
            " the array from the traced function first"
        )
    return own(*args, **kwargs)


def _is_operand(other):
    return (
        isinstance(other, (Array, Dim)) or core.is_scalar(other) or core.is_numpy(other)
    )


def _forward(function):
    def method(self, other):
        return function(self, other) if _is_operand(other) else NotImplemented

    return method


def _backward(function):
    def method(self, other):
        return function(other, self) if _is_operand(other) else NotImplemented

    return method


def _of_sizes(of_sizes, of_values):
    """Returns: an operator of `Dim`: a size of two sizes, a value with anything else."""

    def method(self, other):
        if of_sizes is not None and dims.is_size(other):
            return of_sizes(self, other)
        return of_values(self, other)

    return method


# What NumPy calls the operators of sizes.
_UFUNCS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


def _ufunc_of_sizes(self, ufunc, method, *inputs, **kwargs):
    """NumPy's functions of a `Dim` and integers are those of sizes, of others those of values."""
    # NumPy's integers come as arrays without axes.
    sizes = [x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in inputs]
    if ufunc.__name__ in _UFUNCS and all(map(dims.is_size, sizes)):
        return _UFUNCS[ufunc.__name__](*(x if type(x) is Dim else int(x) for x in sizes))
    return _array_ufunc(core.as_array(self), ufunc, method, *inputs, **kwargs)


def _swapped(of_sizes):
    return None if of_sizes is None else lambda self, other: of_sizes(other, self)


def _round(self, ndigits=None):
    """Returns: the array rounded to this many decimals; without them, as in NumPy, still floats."""
    return wnp.round(self, ndigits or 0)


def _reshape(self, *shape, order="C"):
    """Returns: the elements in another shape; one size may be -1."""
    return wnp.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)


def _transpose(self, *axes):
    """Returns: the axes in another order, reversed by default."""
    if not axes:
        return wnp.transpose(self)
    return wnp.transpose(self, axes[0] if len(axes) == 1 else axes)


def _attach():
    for name, function in _BINARY.items():
        setattr(Array, f"__{name}__", _forward(function))
        setattr(Array, f"__r{name}__", _backward(function))
    for name, function in _COMPARISONS.items():
        setattr(Array, f"__{name}__", _forward(function))
    for name, function in _UNARY.items():
        setattr(Array, f"__{name}__", lambda self, function=function: function(self))
    for name in _METHODS:
        setattr(Array, name, getattr(wnp, name))
    for name, function in _BINARY.items():
        of_sizes = dims.ARITHMETIC.get(name)
        setattr(Dim, f"__{name}__", _of_sizes(of_sizes, _forward(function)))
        setattr(Dim, f"__r{name}__", _of_sizes(_swapped(of_sizes), _backward(function)))
    for name, function in _COMPARISONS.items():
        of_sizes = dims.COMPARISONS[name]
        setattr(Dim, f"__{name}__", _of_sizes(of_sizes, _forward(function)))
    Array.__array_ufunc__ = _array_ufunc
    Dim.__array_ufunc__ = _ufunc_of_sizes
    Array.__array_function__ = _array_function
    Array.__round__ = _round
    Array.__getitem__ = indexing.getitem
    Array.at = property(indexing.AtProperty, doc="Updates: `x.at[index].set(value)` and its kind.")
    Array.T = property(wnp.transpose, doc="The array with its axes in reverse order.")
    Array.mT = property(wnp.matrix_transpose, doc="The array with its last two axes exchanged.")
    Array.real = property(wnp.real, doc="The real parts.")
    Array.imag = property(wnp.imag, doc="The imaginary parts.")
    Array.astype = wnp.astype
    Array.reshape = _reshape
    Array.transpose = _transpose
    Array.flatten = wnp.ravel
    Array.conjugate = wnp.conj
    Array.copy = wnp.positive


_attach()
