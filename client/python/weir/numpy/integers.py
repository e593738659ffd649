"""Divisors and multiples of integers."""

from weir import carried, core, dtypes, location
from weir.eager import operation
from weir.numpy import elementwise, reductions


def _integers(what, x, y):
    first, second = core.broadcast(*core.promote(x, y))
    if first.dtype_name not in dtypes.INTEGERS:
        raise TypeError(f"{what} takes integers, found {first.describe()} ({location.text()})")
    return elementwise.abs(first), elementwise.abs(second)


@operation
def gcd(x, y):
    """Returns: the greatest common divisor of each pair of integers."""

    def step(pair):
        divisor, rest = pair
        is_done = rest == 0
        left = core.apply("remainder", [divisor, elementwise.where(is_done, 1, rest)])
        return elementwise.where(is_done, divisor, rest), elementwise.where(is_done, rest, left)

    pair = _integers("gcd", x, y)
    return carried.while_loop(lambda pair: reductions.any(pair[1] != 0), step, pair)[0]


@operation
def lcm(x, y):
    """Returns: the least common multiple of each pair of integers, 0 where one is 0."""
    first, second = _integers("lcm", x, y)
    divisor = elementwise.maximum(gcd(first, second), 1)
    return elementwise.floor_divide(first, divisor) * second
