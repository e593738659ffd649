"""The samples of every op through the package: as programs and called by name, the numbers of the
reference interpreter; for the rows of many the same bits on 1, 2 and 3 workers and one after the
other.
"""

import keyword

import numpy as np
import pytest
from conftest import assert_same_bits

import weir
import weir.numpy as wnp
from weir import _native

# More than there are workers, and not a multiple of any number of them.
LANES = 7
OPS = [op["name"] for op in weir.ops() if op["name"] != "constant"]  # NumPy arrays are constants.


@pytest.fixture(scope="module")
def sessions():
    """Clusters of 1, 2 and 3 workers."""
    opened = [_native.start_embedded(workers=n, threads_per_worker=1) for n in (1, 2, 3)]
    yield opened
    for each in opened:
        each.close()


def _function(op, sample):
    """Returns: the op with the attributes of a sample, as a function of NumPy's arrays."""

    def call(*operands):
        typed = [
            wnp.astype(x, weir.bfloat16) if dtype == "bf16" else x
            for x, dtype in zip(operands, sample["dtypes"])
        ]
        public = op + "_" * keyword.iskeyword(op)
        return getattr(weir.lax, public)(*typed, **sample["attrs"])

    return call


def _check_numbers(got, sample):
    for a, b in zip(weir.tree.leaves(got), sample["want"]):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        is_exact = not (np.issubdtype(b.dtype, np.inexact) or "bf16" in sample["dtypes"])
        if is_exact or sample["ulp"] == sample["absolute"] == 0:
            np.testing.assert_array_equal(a, b)
            continue
        is_half = b.dtype == np.float16 or "bf16" in sample["dtypes"]
        digits = 2.0**-7 if is_half else np.finfo(b.dtype).eps
        np.testing.assert_allclose(
            a, b, rtol=(sample["ulp"] + 1) * digits, atol=max(sample["absolute"], digits)
        )


def _check_workers(function, sample, sessions):
    axes = tuple(0 if varies else None for varies in sample["may_vary"])
    mapped = weir.jit(weir.vmap(function, in_axes=axes))
    traced = mapped.lower(*sample["rows"])
    found = []
    for workers, session in enumerate(sessions, start=1):
        outputs, _ = session.run_with_report(traced.native, sample["rows"], workers)
        found.append(list(outputs))
        assert_same_bits(found[-1], found[0])

    def row(i):
        return function(*(wnp.array(x)[i] if a == 0 else x for x, a in zip(sample["rows"], axes)))

    in_turn = weir.jit(lambda: weir.for_loop(row, LANES))()
    assert_same_bits(weir.tree.leaves(in_turn), found[0])


def _check_program(op, sample, sessions):
    program = _native.Program(
        source=sample["text"].encode(), name=op, inputs=sample["inputs"], strict=False
    )
    found = []
    for workers, session in enumerate(sessions, start=1):
        outputs, _ = session.run_with_report(program, sample["operands"], workers)
        found.append(list(outputs))
        assert_same_bits(found[-1], found[0])
    _check_numbers(found[0], sample)


@pytest.mark.parametrize("op", OPS)
def test_samples(op, sessions):
    samples = _native.op_samples(op, LANES)
    assert samples
    for sample in samples:
        if not sample["is_call"]:
            _check_program(op, sample, sessions)
            continue
        function = _function(op, sample)
        _check_numbers(weir.jit(function)(*sample["operands"]), sample)
        if any(sample["may_vary"]):
            _check_workers(function, sample, sessions)


def test_samples_of_no_op():
    with pytest.raises(weir.InvalidArgument, match="there is no op 'nothing'"):
        _native.op_samples("nothing", 1)
