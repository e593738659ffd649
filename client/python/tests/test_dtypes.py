"""Element types: the promotion table of JAX, weak numbers, conversions."""

import itertools

import numpy as np
import pytest

import weir
import weir.numpy as wnp
from weir import _native, dtypes

NAMES = list(dtypes.SIGNED + dtypes.UNSIGNED + dtypes.FLOATS + dtypes.COMPLEXES + dtypes.BOOLS)

# The rows of JAX's table: b1 u1 u2 u4 u8 i1 i2 i4 i8 bf f2 f4 f8 c8 c16; a star is the weak float,
# which is f32.
_ORDER = "bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128".split()
_TABLE = """
bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
u8 u8 u16 u32 u64 i16 i16 i32 i64 bf16 f16 f32 f64 c64 c128
u16 u16 u16 u32 u64 i32 i32 i32 i64 bf16 f16 f32 f64 c64 c128
u32 u32 u32 u32 u64 i64 i64 i64 i64 bf16 f16 f32 f64 c64 c128
u64 u64 u64 u64 u64 f32 f32 f32 f32 bf16 f16 f32 f64 c64 c128
i8 i16 i32 i64 f32 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
i16 i16 i32 i64 f32 i16 i16 i32 i64 bf16 f16 f32 f64 c64 c128
i32 i32 i32 i64 f32 i32 i32 i32 i64 bf16 f16 f32 f64 c64 c128
i64 i64 i64 i64 f32 i64 i64 i64 i64 bf16 f16 f32 f64 c64 c128
bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32 f32 f64 c64 c128
f16 f16 f16 f16 f16 f16 f16 f16 f16 f32 f16 f32 f64 c64 c128
f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f64 c64 c128
f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128
c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c128 c64 c128
c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
"""


def test_the_table():
    rows = [line.split() for line in _TABLE.split("\n") if line]
    for (i, a), (j, b) in itertools.product(enumerate(_ORDER), enumerate(_ORDER)):
        assert dtypes.promote([(a, False), (b, False)])[0] == rows[i][j], (a, b)


def test_the_table_is_that_of_the_library():
    for a, b in itertools.product(NAMES, NAMES):
        met, weak = dtypes.promote([(a, False), (b, False)])
        # The library resolves the weak float to f64.
        assert _native.promote(a, b) == ("f64" if weak else met), (a, b)


@pytest.mark.parametrize(
    "dtype, number, want",
    [
        ("i8", 1, "i8"),
        ("u8", 1, "u8"),
        ("i64", 1, "i64"),
        ("f16", 1, "f16"),
        ("f64", 1, "f64"),
        ("bool", 1, "i32"),
        ("i8", 1.0, "f32"),
        ("i64", 1.0, "f32"),
        ("f16", 1.0, "f16"),
        ("f64", 1.0, "f64"),
        ("bool", 1.0, "f32"),
        ("i32", 1j, "c64"),
        ("f32", 1j, "c64"),
        ("f64", 1j, "c128"),
        ("c64", 1.0, "c64"),
        ("bool", True, "bool"),
        ("i16", True, "i16"),
    ],
)
def test_numbers_are_weak(dtype, number, want):
    x = np.ones(2, dtypes.to_numpy(dtype))
    got = weir.jit(lambda x: wnp.multiply(x, number))(x)
    assert got.dtype == dtypes.to_numpy(want)
    assert weir.jit(wnp.multiply)(x, number).dtype == got.dtype


def test_arrays_keep_their_types():
    for name in NAMES:
        if name != "bf16":
            x = np.ones(3, dtypes.to_numpy(name))
            assert weir.jit(lambda x: x[::-1])(x).dtype == x.dtype
    assert wnp.zeros(2).dtype == np.float32 and wnp.arange(3).dtype == np.int32


def test_bfloat16():
    @weir.jit
    def function(x):
        y = x.astype(weir.bfloat16)
        assert y.dtype is weir.bfloat16 and (y + 1).dtype is weir.bfloat16
        return y * y

    x = np.array([1.0, 1.00390625, 3.14159], np.float32)
    bits = ((x.view(np.uint32) + 0x7FFF + ((x.view(np.uint32) >> 16) & 1)) >> 16 << 16).view(
        np.float32
    )
    got = function(x)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, bits * bits, rtol=2**-8)


def test_conversions():
    x = np.array([-1.7, 0.0, 2.5, 300.0], np.float32)
    for dtype in (np.int32, np.float64, np.complex64, bool, int, float, "i16", "float16"):
        got = wnp.astype(x, dtype)
        assert got.dtype == dtypes.to_numpy(dtypes.name_of(dtype))
    assert wnp.astype(x, np.int32).tolist() == [-1, 0, 2, 300]
    assert wnp.astype(x, np.uint8).tolist() == [0, 0, 2, 255]
    with pytest.raises(OverflowError, match="300 is out of range for u8"):
        weir.jit(lambda x: x + 300)(np.ones(2, np.uint8))
    with pytest.raises(weir.InvalidArgument, match="no element type"):
        wnp.zeros(2, "f8x")


def test_where_types_meet():
    assert weir.promote_types("i32", np.float16) == np.float16
    assert wnp.result_type(np.int8(1), 2.0) == np.float32
