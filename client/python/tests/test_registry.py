"""Every element-wise op of the registry, called by its name: what vmap runs on the workers has the
bits of the loop, for every type that the op takes and every way in which operands vary.
"""

import itertools
import keyword

import numpy as np
import pytest
from conftest import assert_same_bits

import weir

TYPES = [np.bool_, np.int32, np.int64, np.uint8, np.float32, np.float64, np.complex64]
OPS = [op for op in weir.ops() if op["elementwise"] and not any(must for *_, must in op["attrs"])]
N = 5


def _operands(dtype, count):
    """Returns: `count` arrays [N, 7] with the corner cases of the type among their numbers."""
    rng = np.random.default_rng(11)
    rows = rng.normal(size=(count, N, 7)) * 3
    if dtype == np.complex64:
        rows = rows + 1j * rng.normal(size=rows.shape)
    if np.issubdtype(dtype, np.floating):
        rows[:, :, 0], rows[:, 1, 1], rows[:, 2, 1] = 0, np.inf, np.nan
    if np.issubdtype(dtype, np.unsignedinteger):
        rows = np.abs(rows)
    return list((rows > 0 if dtype == np.bool_ else rows).astype(dtype))


def _accepted(function, count):
    """Returns: the lists of operand types that the op takes: one type for all of them, or that of
    masks or random keys first.
    """
    found = []
    for dtype in TYPES:
        for first in {dtype, np.bool_, np.uint64}:
            types = [first] + [dtype] * (count - 1)
            if count == 1 and first != dtype:
                continue
            rows = [_operands(kind, 1)[0] for kind in types]
            try:
                weir.jit(function).lower(*rows)
            except (weir.InvalidArgument, TypeError):
                continue
            found.append(types)
    return found


def test_the_registry_has_its_elementwise_ops():
    assert len(OPS) > 60
    assert {op["min_inputs"] for op in OPS} >= {1, 2, 3}


@pytest.mark.parametrize("op", OPS, ids=lambda op: op["name"])
def test_vmap_has_the_bits_of_the_loop(op):
    count = op["min_inputs"]
    name = op["name"]
    function = getattr(weir.lax, name + "_" if keyword.iskeyword(name) else name)
    accepted = _accepted(function, count)
    assert accepted
    for types in accepted:
        rows = [_operands(kind, count)[k] for k, kind in enumerate(types)]
        for varies in itertools.product((True, False), repeat=count):
            if any(varies):
                _check(function, rows, varies)


def _check(function, rows, varies):
    @weir.jit
    def both(*rows):
        def body(i):
            return function(*(x[i] if v else x[1] for x, v in zip(rows, varies)))

        return weir.pfor(body, N, strict=True), weir.for_loop(body, N)

    together, one_by_one = both(*rows)
    assert_same_bits(together, one_by_one)
