"""Functions that read, move and lay out elements.

Origin: section 2.3, the tests of TensorFlow's array_test.py.
"""

import numpy as np
import pytest
from oracle import agree, integers, numbers, positive

import weir
import weir.numpy as wnp
from weir import nn

# --- Reading.


PLACES = {
    "known": lambda xp, i: 1,
    "scalar": lambda xp, i: i,
    "one": lambda xp, i: xp.stack([i]),
    "two": lambda xp, i: xp.stack([i, xp.array(2)]),
    "matrix": lambda xp, i: xp.stack([xp.stack([xp.array(2), i]), xp.stack([i, xp.array(1)])]),
}


@pytest.mark.parametrize("source", ["shared", "own", "made"])
@pytest.mark.parametrize("axis", [0, 2, -1])
@pytest.mark.parametrize("places", PLACES)
def test_gather(places, axis, source):
    def body(xp, i, x):
        table = {"shared": x[0], "own": x[i], "made": x[i] * x[0] + i}[source]
        return xp.take(table, PLACES[places](xp, i), axis=axis)

    agree(body, numbers(3, 3, 3, 3, dtype=np.float64))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_of_dynamic_shape(axis):
    def gathered(x, at):
        return weir.pfor(lambda i: wnp.take(x[i], at[i], axis), x.shape[0], strict=True)

    function = weir.jit(gathered, shapes=("n, k, m", "n, r"))
    for n, k, m, r in [(3, 4, 5, 2), (1, 1, 1, 3), (0, 2, 3, 1), (2, 3, 2, 0)]:
        x = numbers(n, k, m)
        at = (np.arange(n)[:, None] + np.arange(r)) % (k if axis == 0 else m)
        want = [np.take(x[i], at[i], axis) for i in range(n)]
        got = function(x, at)
        assert got.shape == ((n, r, m) if axis == 0 else (n, k, r))
        assert len(got) == 0 or np.array_equal(got, np.stack(want))


@pytest.mark.parametrize("axis", [1, -1])
def test_gather_batch_dims(axis):
    def body(xp, i, x, at):
        return xp.take_along_axis(x[i], at[i], axis), xp.take_along_axis(x[0], at[i], axis)

    agree(body, numbers(3, 3, 4), integers(3, 3, 2, low=0, high=4))


def test_gather_nd():
    def body(xp, i, x, at):
        row, column = at[i, :, 0], at[i, :, 1]
        return x[i][row, column], x[0][row, column], x[i][at[0, :, 0]], x[row, column, i]

    agree(body, numbers(3, 4, 4, 4), integers(3, 5, 2, low=0, high=3))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side):
    def body(xp, i, lines, values):
        return (
            xp.searchsorted(lines[i], values[i], side),
            xp.searchsorted(lines[i], values[0], side),
            xp.searchsorted(lines[0], values[i], side),
        )

    lines = np.sort(integers(3, 10, low=0, high=6))
    agree(body, lines, integers(3, 2, 5, low=-1, high=7))


def test_slice():
    agree(
        lambda xp, i, x: x[i, :2, 1:3],
        numbers(3, 3, 4, 5),
    )


def test_slice_of_variant_begin():
    def body(xp, i, x):
        if xp is wnp:
            return weir.lax.dynamic_slice_in_dim(x[i], i, 2, axis=1)
        return x[i][:, i : i + 2]

    agree(body, numbers(3, 3, 4))


def test_strided_slice():
    agree(
        lambda xp, i, x: (
            x[i][::2, None, ..., ::-1],
            x[i][-1, ..., None, 1:4:2],
            x[i][..., 1],
            x[None, i, :, None, 3:0:-2],
            x[i][2:1],
        ),
        numbers(3, 4, 5, 6),
    )


@pytest.mark.parametrize("loop", [weir.pfor, weir.for_loop])
def test_strided_slice_of_variant_bounds(loop):
    x = numbers(3, 4)
    message = r"bounds of a slice must be known .* found i64\[\] .*py:\d+\).*dynamic_slice"
    with pytest.raises(TypeError, match=message):
        loop(lambda i: wnp.array(x)[0, i : i + 2], 3)


# --- Shapes.


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_shape(dtype):
    got = agree(lambda xp, i, x: xp.array(xp.shape(x[i]), dtype) + i, numbers(3, 4, 5))
    assert got[0].tolist() == [4, 5]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_size(dtype):
    agree(lambda xp, i, x: xp.array(x[i].size, dtype) + i, numbers(3, 4, 5))


def test_rank():
    agree(lambda xp, i, x: xp.array(x[i].ndim) + i, numbers(3, 4, 5))


def test_shape_n():
    def body(xp, i, x, y):
        return [xp.array(xp.shape(a)) for a in (x[i], x, y[i], y)]

    agree(body, numbers(3, 4, 5), numbers(3, 2))


def test_reshape():
    agree(lambda xp, i, x: (x[i].reshape(-1), x[i].reshape(3, -1, 2)), numbers(3, 3, 2, 4))


def test_fill():
    agree(lambda xp, i, x: (xp.full((2, 3), i), xp.full((2, 3), x[i])), numbers(3))


def test_broadcast_to():
    def body(xp, i, x):
        return xp.broadcast_to(x[i], (2, 3, 4)), xp.broadcast_to(x[i][:, :1], (3, 4))

    agree(body, numbers(3, 3, 4))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_expand_dims(axis):
    agree(lambda xp, i, x: xp.expand_dims(x[i], axis), numbers(3, 3, 4))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_one_hot(axis):
    def body(xp, i, labels):
        if xp is wnp:
            return nn.one_hot(labels[i], 4, axis=axis)
        hot = (labels[i][:, None] == np.arange(4)).astype(np.float32)
        return np.moveaxis(hot, -1, axis)

    agree(body, np.int32([[0, 2, 3], [-1, 4, 1], [1, 1, 1]]))


def test_squeeze():
    def body(xp, i, x):
        row = x[i]
        return xp.squeeze(row), xp.squeeze(row, 0), xp.squeeze(row, -1), xp.squeeze(row, (0, 3))

    agree(body, numbers(3, 1, 2, 3, 1))


# --- Moving.


def test_tile():
    agree(lambda xp, i, x: (xp.tile(x[i], (2, 1)), xp.tile(x[i], (2, 1, 3))), numbers(3, 3, 2))


def test_tile_of_variant_multiples():
    x = numbers(3, 3, 2)
    with pytest.raises(TypeError, match=r"shape must be known .* found i64\[\] .*array.py:\d+"):
        weir.pfor(lambda i: wnp.tile(wnp.array(x)[i], (i, 1)), 3)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_stack(axis):
    def body(xp, i, x):
        return xp.stack([x[i], x[0], x[i] * i], axis)

    agree(body, numbers(3, 2, 4))
    agree(body, numbers(1, 2, 4), n=1)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unstack(axis):
    def body(xp, i, x):
        return [xp.take(x[i], k, axis) for k in range(x.shape[axis if axis < 0 else axis + 1])]

    agree(body, numbers(3, 3, 2, 4))


def test_pad():
    def body(xp, i, x):
        return (
            xp.pad(x[i], ((1, 2), (0, 3))),
            xp.pad(x[i], ((1, 0), (2, 1)), constant_values=np.float32(7)),
            xp.pad(x[i], 1, mode="edge"),
        )

    agree(body, numbers(3, 3, 2))


@pytest.mark.parametrize("axis", [0, -1])
def test_split(axis):
    agree(lambda xp, i, x: list(xp.split(x[i], 2, axis)), numbers(3, 6, 4))


@pytest.mark.parametrize("axis", [0, -1])
def test_split_v(axis):
    agree(lambda xp, i, x: list(xp.split(x[i], [1, 3], axis)), numbers(3, 6, 4))


@pytest.mark.parametrize("axis", [0, 1, -1, (0, -1), None])
def test_reverse(axis):
    agree(lambda xp, i, x: xp.flip(x[i], axis), numbers(3, 4, 3, 2))


@pytest.mark.parametrize("order", [None, (1, 0, 2), (2, 0, 1), (0, -1, 1)])
def test_transpose(order):
    agree(lambda xp, i, x: xp.transpose(x[i], order), numbers(3, 4, 3, 2))


def test_conjugate_transpose():
    def body(xp, i, x):
        return xp.conj(xp.transpose(x[i], (1, 0, 2)))

    agree(body, numbers(3, 4, 3, 2, dtype=np.complex64))


def test_zeros_like():
    def body(xp, i, x):
        return xp.zeros_like(x[i]), xp.ones_like(x[i]), xp.full_like(x[i], 3)

    agree(body, numbers(3, 4))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concat(axis):
    agree(lambda xp, i, x: xp.concatenate([x[i], x[0], x[i] * i], axis), numbers(3, 2, 4))


def test_identity():
    agree(lambda xp, i, x: (x[i], x, i), numbers(3, 2))


def test_identity_n():
    agree(lambda xp, i, x: (x[i], (x[0], [x, i])), numbers(3, 2))


@pytest.mark.parametrize("block", [1, 2])
def test_depth_to_space(block):
    """Channels last: [n, h, w, block * block * c] becomes [n, h * block, w * block, c]."""

    def body(xp, i, x):
        n, h, w, c = x.shape[1:]
        parts = x[i].reshape(n, h, w, block, block, c // block**2)
        return xp.transpose(parts, (0, 1, 3, 2, 4, 5)).reshape(n, h * block, w * block, -1)

    agree(body, numbers(3, 2, 2, 3, 12))


@pytest.mark.parametrize("block", [1, 2])
def test_space_to_depth(block):
    def body(xp, i, x):
        n, h, w, c = x.shape[1:]
        parts = x[i].reshape(n, h // block, block, w // block, block, c)
        return xp.transpose(parts, (0, 1, 3, 2, 4, 5)).reshape(n, h // block, w // block, -1)

    agree(body, numbers(3, 2, 4, 6, 3))


def test_batch_to_space():
    """[b0 * b1 * n, h, w, c] becomes [n, h * b0, w * b1, c], with a border cut away."""

    def body(xp, i, x):
        parts = x[i].reshape(2, 3, 2, 3, 4, 1)
        joined = xp.transpose(parts, (2, 3, 0, 4, 1, 5)).reshape(2, 6, 12, 1)
        return joined[:, 1:, :-2]

    agree(body, numbers(3, 12, 3, 4, 1))


def test_space_to_batch():
    def body(xp, i, x):
        padded = xp.pad(x[i], ((0, 0), (1, 0), (0, 2), (0, 0)))
        parts = padded.reshape(2, 3, 2, 4, 3, 1)
        return xp.transpose(parts, (2, 4, 0, 1, 3, 5)).reshape(12, 3, 4, 1)

    agree(body, numbers(3, 2, 5, 10, 1))


def test_check_numerics():
    x = positive(4, 3)

    def body(i, x):
        row = wnp.log(x[i])
        weir.check(wnp.all(wnp.isfinite(row)), "not a number")
        return row

    for loop in (weir.pfor, weir.for_loop):
        run = weir.jit(lambda x, loop=loop: loop(lambda i: body(i, x), 4))
        np.testing.assert_allclose(run(x), np.log(x), rtol=1e-5)
        broken = x.copy()
        broken[2, 1] = -1
        with pytest.raises(weir.FailedPrecondition, match="iteration 2: not a number"):
            run(broken)


# --- Diagonals.


@pytest.mark.parametrize("lower", [-1, 0, 1, 3])
@pytest.mark.parametrize("upper", [-1, 0, 1, 4])
def test_matrix_band_part(lower, upper):
    def body(xp, i, x):
        banded = x[i] if lower < 0 else xp.triu(x[i], -lower)
        return banded if upper < 0 else xp.tril(banded, upper)

    agree(body, numbers(3, 2, 3, 4))


OFFSETS = pytest.mark.parametrize("offset", [0, 1, -2])


def _set_diagonal(xp, x, values, offset):
    """x [..., m, n] with `values` [..., k] on a diagonal."""
    rows = np.arange(values.shape[-1]) + max(-offset, 0)
    columns = rows + offset
    if xp is wnp:
        return x.at[..., rows, columns].set(values)
    out = x.copy()
    out[..., rows, columns] = values
    return out


@OFFSETS
def test_matrix_diag(offset):
    def body(xp, i, x):
        size = 3 + abs(offset)
        return _set_diagonal(xp, xp.zeros((2, size, size), np.float32), x[i], offset)

    agree(body, numbers(3, 2, 3))


@OFFSETS
def test_matrix_diag_part(offset):
    agree(lambda xp, i, x: xp.diagonal(x[i], offset, -2, -1), numbers(3, 2, 3, 4))


@OFFSETS
@pytest.mark.parametrize("vary", ["left", "right", "both"])
def test_matrix_set_diag(vary, offset):
    def body(xp, i, x, values):
        table = x[0 if vary == "right" else i]
        return _set_diagonal(xp, table, values[0 if vary == "left" else i], offset)

    count = len(np.diagonal(np.zeros((3, 4)), offset))
    agree(body, numbers(3, 2, 3, 4), numbers(3, 2, count, seed=8))


@OFFSETS
def test_diag(offset):
    agree(lambda xp, i, x: xp.diag(x[i], offset), numbers(3, 4))


def test_diag_of_higher_rank():
    """From [a, b] to [a, b, a, b]."""

    def body(xp, i, x):
        eye = xp.eye(6, dtype=np.float32).reshape(2, 3, 2, 3)
        return eye * x[i][:, :, None, None]

    agree(body, numbers(3, 2, 3))


@OFFSETS
def test_diag_part(offset):
    agree(lambda xp, i, x: xp.diag(x[i], offset), numbers(3, 4, 4))


def test_diag_part_of_higher_rank():
    agree(lambda xp, i, x: xp.einsum("abab->ab", x[i]), numbers(3, 2, 3, 2, 3))
