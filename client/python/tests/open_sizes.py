"""Every call of an operation that a test makes is made once more, with open sizes.

The size of the leading axis of each array becomes a symbol, wherever it stands, except for 1. The
program of symbols has to give what the one of numbers gives, or to refuse, and what
refuses stands in `REFUSED` with its reason.
"""

import contextlib

import numpy as np

import weir
import weir.numpy as wnp
from weir import core, dims, eager, errors, location, program, tree

# By function: why it needs numbers, and a call with x [n, 4] and y [m, 4] that refuses.
REFUSED = {
    "__matmul__": (
        "a sparse matrix has a shape of its own",
        lambda x, y: weir.Sparse.of(np.eye(3), 3) @ x,
    ),
    "__rmatmul__": (
        "a sparse matrix has a shape of its own",
        lambda x, y: x[:, 0] @ weir.Sparse.of(np.eye(3), 3),
    ),
    "array_equiv": (
        "whether shapes broadcast is a result",
        wnp.array_equiv,
    ),
    "binomial": (
        "parameters of an open size only broadcast to that",
        lambda x, y: weir.random.binomial(3, x[:, 0], (2, 4), seed=1),
    ),
    "broadcast_to": (
        "an axis of an open size only becomes one of the same size",
        lambda x, y: wnp.broadcast_to(x, (2, 4, 4)),
    ),
    "conv": (
        "groups share channels, so their numbers decide",
        lambda x, y: weir.nn.conv(wnp.ones((1, 4, 5)), wnp.ones((4, x.shape[0], 2)), groups=2),
    ),
    "conv_general_dilated": (
        "the window becomes padding",
        lambda x, y: weir.lax.conv_general_dilated(
            wnp.ones((1, 2, 5)), wnp.ones((3, 2, x.shape[0])), (1,), "SAME"
        ),
    ),
    "convolve": (
        "which vector is longer decides the size of modes other than 'full'",
        lambda x, y: wnp.convolve(x[:, 0], y[:, 0], "same"),
    ),
    "correlate": (
        "which vector is longer decides the size and the order",
        lambda x, y: wnp.correlate(x[:, 0], y[:, 0]),
    ),
    "conv_transpose": (
        "groups share channels, and the window becomes padding",
        lambda x, y: weir.nn.conv_transpose(wnp.ones((1, 4, 5)), wnp.ones((4, 2, x.shape[0]))),
    ),
    "cross": (
        "vectors have three elements",
        lambda x, y: wnp.cross(x.T, x.T),
    ),
    "dot_product_attention": (
        "the groups must divide the heads",
        lambda x, y: weir.nn.dot_product_attention(x[None, None], y[None, None], y[None, None]),
    ),
    "gamma": (
        "parameters of an open size only broadcast to that",
        lambda x, y: weir.random.gamma(x[:, 0], (2, 4), seed=1),
    ),
    "group_norm": (
        "channels must come out even",
        lambda x, y: weir.nn.group_norm(x.T, 2),
    ),
    "gru_cell": (
        "the columns of the weights must be three times the hidden size",
        lambda x, y: weir.nn.gru_cell(x.T, y.T, wnp.ones((2, 6)), wnp.ones((x.shape[0], 6))),
    ),
    "lstm_cell": (
        "the columns of the weights must be four times the hidden size",
        lambda x, y: weir.nn.lstm_cell((y, y), y, x, x),
    ),
    "multinomial": (
        "parameters of an open size only broadcast to that",
        lambda x, y: weir.random.multinomial(3, x, (2, 4), seed=1),
    ),
    "piecewise": (
        "each condition has a function",
        lambda x, y: wnp.piecewise(x[0], x > 0, [1, 2]),
    ),
    "poisson": (
        "parameters of an open size only broadcast to that",
        lambda x, y: weir.random.poisson(x[:, 0] ** 2, (2, 4), seed=1),
    ),
    "poly": (
        "factors are multiplied one by one",
        lambda x, y: wnp.poly(x[:, 0]),
    ),
    "polydiv": (
        "coefficients are found one by one",
        lambda x, y: wnp.polydiv(x[:, 0], y[:, 0]),
    ),
    "polyint": (
        "there is one constant, or one for each integral",
        lambda x, y: wnp.polyint(x[:, 0], 2, y[:, 0]),
    ),
    "polyval": (
        "coefficients are added one by one",
        lambda x, y: wnp.polyval(x[:, 0], 2.0),
    ),
    "repeat": (
        "repeats that differ come with the number of elements",
        lambda x, y: wnp.repeat(x, [1, 2, 0, 1], 0),
    ),
    "roll": (
        "shifts are made one by one",
        lambda x, y: wnp.roll(x, x[:, 0].astype(int), 0),
    ),
    "segment_max": (
        "each row has the number of its segment",
        lambda x, y: weir.segment_max(x, y[:, 0].astype(int), 3),
    ),
    "segment_mean": (
        "each row has the number of its segment",
        lambda x, y: weir.segment_mean(x, y[:, 0].astype(int), 3),
    ),
    "segment_min": (
        "each row has the number of its segment",
        lambda x, y: weir.segment_min(x, y[:, 0].astype(int), 3),
    ),
    "segment_prod": (
        "each row has the number of its segment",
        lambda x, y: weir.segment_prod(x, y[:, 0].astype(int), 3),
    ),
    "segment_sum": (
        "each row has the number of its segment",
        lambda x, y: weir.segment_sum(x, y[:, 0].astype(int), 3),
    ),
    "tensorinv": (
        "there are as many rows as columns",
        lambda x, y: wnp.linalg.tensorinv(x, 1),
    ),
    "tensorsolve": (
        "there are as many rows as columns",
        lambda x, y: wnp.linalg.tensorsolve(x, y[:, 0]),
    ),
    "tril_indices_from": (
        "the indices are listed one by one",
        lambda x, y: wnp.tril_indices_from(x),
    ),
    "triu_indices_from": (
        "the indices are listed one by one",
        lambda x, y: wnp.triu_indices_from(x),
    ),
    "unstack": (
        "the slices are a tuple",
        lambda x, y: wnp.unstack(x),
    ),
}


@contextlib.contextmanager
def checked():
    """Inside, operations outside of traced functions run with open sizes too."""
    plain = eager.run_once

    def run_both(function, args, kwargs):
        found = plain(function, args, kwargs)
        check(function, args, kwargs, found)
        return found

    passed = location._PASSED
    eager.run_once = run_both
    location._PASSED = (*passed, __file__)  # This file is not where the user's code stands.
    try:
        yield
    finally:
        eager.run_once = plain
        location._PASSED = passed


def check(function, args, kwargs, found):
    """Compares with what the call finds with open sizes."""
    try:
        again = run_open(function, args, kwargs)
    except (errors.InconclusiveDimension, errors.InvalidArgument) as error:
        name = getattr(error, "function", None) or function.__name__
        assert name in REFUSED, f"{name} refuses open sizes: {error}"
        return
    if again is None:
        return
    got, structure = tree.flatten(again)
    want, wanted = tree.flatten(found)
    assert structure == wanted
    for a, b in zip(got, want):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def run_open(function, args, kwargs):
    """Returns: what a program of symbols gives for the call; None if it would write variables."""
    leaves, structure = tree.flatten((args, kwargs))
    positions = [i for i, leaf in enumerate(leaves) if core.is_numpy(leaf)]
    types = [program.InputType.of(leaves[i]) for i in positions]
    leading = {kind.shape[0] for kind in types if kind.shape} - {1}
    symbols = {size: dims.Dim._parse(f"n{size}") for size in leading}
    for kind in types:
        kind.shape = tuple(symbols.get(size, size) for size in kind.shape)

    def with_arrays(*arrays):
        filled = list(leaves)
        for position, array in zip(positions, arrays):
            filled[position] = array
        call_args, call_kwargs = tree.unflatten(structure, filled)
        return function(*call_args, **call_kwargs)

    names = [f"x{i}" for i in range(len(positions))]
    try:
        traced = program.trace_function(with_arrays, "open", names, types)
    except errors.InconclusiveDimension as error:
        error.blame(function)
        raise
    if traced.written:
        return None
    return traced([kind.to_numpy(leaves[i]) for kind, i in zip(types, positions)])
