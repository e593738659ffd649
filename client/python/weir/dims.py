"""Sizes that only the run knows: `Dim` stands in a shape where a number would.

Equal expressions are equal sizes: the C++ library keeps them in one form. Comparisons are decided
where they hold for all values of the symbols, each of which is 0 or more; where they do not, a
condition of Python raises, and the functions of this package ask `same` and its like, which say
what is sure.
"""

import numpy as np

from weir import errors, location
from weir._native import Dim

Dim.__module__ = "weir"
Dim.__doc__ = """A size that is not known while tracing: a symbol such as `n`, or an expression.

`weir.jit(f, shapes=...)` puts them into the shapes of arguments. Sizes may be added, multiplied,
divided by // and % and compared, with one another and with integers. Together with arrays and
floats, and by /, a size is a value, i64 like the index of a loop. Where Python needs its number
(range(), int(), a condition that depends on it) it raises `weir.InconclusiveDimension`.
"""


def is_size(x):
    """True for integers and for sizes that only the run knows."""
    return type(x) is Dim or (isinstance(x, (int, np.integer)) and not isinstance(x, bool))


def known(*sizes):
    """True if all of them are numbers."""
    return Dim not in map(type, sizes)


def example(size):
    """Returns: a number that a size may be, to compare costs by."""
    return size if known(size) else size._substituted(dict.fromkeys(size._symbols, 1000))


def gathered(size):
    """Returns: the size in the form in which more equal ones are the same: n - min(n, 1) is
    max(n - 1, 0).
    """
    return size if known(size) else size._gathered()


def symbols(size):
    """Returns: the names of the symbols in a size."""
    return size._symbols if type(size) is Dim else set()


def given_by(shape):
    """Returns: the names of the symbols that are sizes of a shape themselves."""
    return {str(size) for size in shape if type(size) is Dim and size._is_symbol}


# --- What is sure.


def _difference(a, b):
    """Returns: (least, greatest) of a - b; None where it has no bound that is known."""
    difference = a - b if known(a, b) else Dim._subtract(a, b)
    return difference._bounds() if type(difference) is Dim else (difference, difference)


def same(a, b):
    """True if two sizes are equal in every run."""
    if type(a) is Dim and type(b) is Dim:
        return a._same(b)
    return known(a, b) and a == b


def same_shape(a, b):
    """True if two shapes are equal in every run."""
    return len(a) == len(b) and all(same(i, j) for i, j in zip(a, b))


def differ(a, b):
    """True if two sizes are equal in no run."""
    low, high = _difference(a, b)
    return (low is not None and low > 0) or (high is not None and high < 0)


def below(a, b):
    """True if a < b in every run."""
    high = _difference(a, b)[1]
    return high is not None and high < 0


def at_most(a, b):
    """True if a <= b in every run."""
    high = _difference(a, b)[1]
    return high is not None and high <= 0


def smaller(a, b):
    """Returns: the smaller one of two sizes."""
    return min(a, b) if known(a, b) else Dim._minimum(a, b)


def larger(a, b):
    """Returns: the larger one of two sizes."""
    return max(a, b) if known(a, b) else Dim._maximum(a, b)


def unequal(a, b, message):
    """Returns: the error for two sizes that have to be the same and are not."""
    if differ(a, b):
        return ValueError(f"{message} ({location.text()})")
    return errors.InconclusiveDimension(
        f"{message}: whether {a} is {b}", "give equal sizes one name in shapes= of weir.jit"
    )


# --- What Python asks.


def _compared(text, decide):
    def method(self, other):
        if not is_size(other):
            return NotImplemented
        found = decide(*_difference(self, other))
        if found is None:
            raise errors.InconclusiveDimension(
                f"{self} {text} {other}",
                "use weir.Dim.min and weir.Dim.max for the smaller and the larger of two sizes,"
                " weir.cond(wnp.array(size) < .., ..) for a branch of the program, or tell more in"
                " shapes= of weir.jit: 'n+1' is 1 or more, '4*n' a multiple of 4",
            )
        return found

    return method


def _equal(low, high):
    if low == high == 0:
        return True
    return False if (low or 0) > 0 or (high or 0) < 0 else None


def _less(low, high):
    if high is not None and high < 0:
        return True
    return False if low is not None and low >= 0 else None


def _less_equal(low, high):
    return _less(None if low is None else low - 1, None if high is None else high - 1)


def _negated(decide):
    def negated(low, high):
        found = decide(low, high)
        return None if found is None else not found

    return negated


def _power(size, exponent):
    if type(exponent) is Dim or exponent < 0:
        raise errors.InconclusiveDimension(
            f"{size} ** {exponent}", "the exponent of a size is an integer of 0 or more"
        )
    out = 1
    for _ in range(exponent):
        out = Dim._multiply(out, size)
    return out


def _divmod(a, b):
    return Dim._floor_divide(a, b), Dim._mod(a, b)


# What operators of Python do with two sizes; with anything else they are those of arrays.
ARITHMETIC = {
    "add": Dim._add,
    "sub": Dim._subtract,
    "mul": Dim._multiply,
    "floordiv": Dim._floor_divide,
    "mod": Dim._mod,
    "divmod": _divmod,
    "pow": _power,
}
COMPARISONS = {
    "eq": _compared("==", _equal),
    "ne": _compared("!=", _negated(_equal)),
    "lt": _compared("<", _less),
    "le": _compared("<=", _less_equal),
    "gt": _compared(">", _negated(_less_equal)),
    "ge": _compared(">=", _negated(_less)),
}


def _number(asked, instead):
    def method(self):
        raise errors.InconclusiveDimension(f"{asked} of {self}", instead)

    return method


_IN_PROGRAM = "wnp.array(size) makes an array of a size"


def _attach():
    Dim.__hash__ = lambda self: hash(str(self))
    Dim.__repr__ = Dim.__str__
    Dim.__format__ = lambda self, spec: format(str(self), spec)
    Dim.__deepcopy__ = lambda self, memo: self
    Dim.__copy__ = lambda self: self
    Dim.__pos__ = lambda self: self
    Dim.__neg__ = lambda self: Dim._multiply(self, -1)
    Dim.__abs__ = lambda self: Dim._maximum(self, -self)
    Dim.__bool__ = lambda self: self != 0
    Dim.__index__ = _number(
        "a Python index, range() or int()",
        f"use weir.fori_loop or weir.scan in place of range(), wnp.arange(size) for numbers, and"
        f" {_IN_PROGRAM}",
    )
    Dim.__int__ = Dim.__index__
    Dim.__float__ = _number("float()", _IN_PROGRAM)
    Dim.__complex__ = _number("complex()", _IN_PROGRAM)
    for name, method in COMPARISONS.items():
        setattr(Dim, f"__{name}__", method)
    Dim.min = staticmethod(smaller)
    Dim.max = staticmethod(larger)


_attach()
