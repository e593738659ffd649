"""Every op of the registry has derivatives, or a reason why not; those that it has are compared
with differences for its samples, in both modes.
"""

import keyword

import numpy as np
import pytest
from differences import Checked, doubled, is_inexact

import weir
import weir.numpy as wnp
from weir import _native
from weir.autodiff.rules import REFUSED, RULES, ZERO
from weir.autodiff.walking import STRUCTURED

OPS = [op["name"] for op in weir.ops()]
# Ops of one node, whose samples are calls.
PLAIN = [op for op in OPS if op in RULES and op != "iteration_reduce"]
# Hermitian matrices of which one triangle is read.
HERMITIAN = ("cholesky", "eigh")
# Operands by which the op cannot be differentiated.
FIXED = {
    "igamma": [0],
    "igammac": [0],
    "polygamma": [0],
    "zeta": [0],
    "betainc": [0, 1],
}
# Numbers for which an op is defined, made of any, where its samples have many for which it is not.
POSITIVE = ("igamma", "igammac", "zeta")
STEPPED = ("remainder", "floor_mod")
MOST_ELEMENTS = 3000
MOST_SAMPLES = 40


def test_each_op_has_a_rule_or_a_reason():
    tables = [RULES, ZERO, REFUSED, STRUCTURED]
    for op in OPS:
        assert sum(op in table for table in tables) == 1, op
    for table in tables:
        assert set(table) <= set(OPS)
    assert all(ZERO.values()) and all(REFUSED.values())


def _hermitian(x):
    return (x + wnp.conj(wnp.swapaxes(x, -1, -2))) / 2


def _is_known_gap(op, sample):
    """Factorizations that are not determined, which errors name."""
    if op in ("qr", "svd") and sample["attrs"]["full_matrices"]:
        m, n = sample["operands"][0].shape[-2:]
        return m != n if op == "svd" and sample["attrs"]["compute_uv"] else op == "qr" and m > n
    return False


def _function(op, sample, fixed):
    """Returns: the op as a function of its operands of floats that are not fixed."""
    attrs = dict(sample["attrs"])
    if "dtype" in attrs:
        attrs["dtype"] = {"f16": "f64", "bf16": "f64", "f32": "f64", "c64": "c128"}.get(
            attrs["dtype"], attrs["dtype"]
        )
    operands = [doubled(x) for x in sample["operands"]]
    if op in POSITIVE:
        operands = [_moderate(np.random.default_rng(3), op, x) + 1 for x in operands]

    def call(*xs):
        rest = iter(xs)
        full = [
            next(rest) if is_inexact(x) and i not in fixed else x for i, x in enumerate(operands)
        ]
        if op in HERMITIAN:
            full = [_hermitian(x) for x in full]
        if op == "cholesky":
            full = [x @ x + wnp.eye(x.shape[-1]) for x in full]
        return getattr(weir.lax, op + "_" * keyword.iskeyword(op))(*full, **attrs)

    xs = [x for i, x in enumerate(operands) if is_inexact(x) and i not in fixed]
    return call, xs


def _distinct_samples(op):
    """Returns: those of different shapes, attributes and ranges that have derivatives."""
    found = {}
    for sample in _native.op_samples(op, 1):
        inexact = [x for x in sample["operands"] if is_inexact(x)]
        if not sample["is_call"] or not inexact or not any(map(is_inexact, sample["want"])):
            continue
        if sum(x.size for x in inexact) > MOST_ELEMENTS:
            continue
        attrs = {k: v for k, v in sample["attrs"].items() if k != "dtype"}
        kinds = [x.dtype.kind for x in sample["operands"]]
        key = (str(attrs), str([x.shape for x in sample["operands"]]), str(kinds))
        # The last of them has the corner cases.
        found.setdefault(key, sample)
    return list(found.values())[:MOST_SAMPLES]


def _moderate(rng, op, x):
    """Returns: numbers away from ties and steps, and of a size that differences can be taken of."""
    with np.errstate(invalid="ignore"):
        x = np.where(np.abs(x) < 100, x, rng.normal(size=x.shape))
    x = x + 0.01 * rng.uniform(0.1, 1, size=x.shape)
    if op in STEPPED:
        return np.where(np.abs(x) < 0.5, x + 2, x)
    return np.abs(x) + 0.1 if op in POSITIVE else x


@pytest.mark.parametrize("op", PLAIN)
def test_derivatives_of_samples(op, rng):
    compared = 0
    samples = _distinct_samples(op)
    for sample in samples:
        function, xs = _function(op, sample, FIXED.get(op, ()))
        xs = [_moderate(rng, op, x) for x in xs]
        if _is_known_gap(op, sample):
            with pytest.raises(weir.NotDifferentiable, match=op):
                weir.jvp(function, tuple(xs), tuple(xs))
            continue
        checked = Checked(rng, function, xs)
        try:
            checked.check()
        except AssertionError as error:
            raise AssertionError(f"{op} {sample['label']} {sample['attrs']}\n{error}") from error
        compared += checked.compared
    assert compared > 0, op


def test_an_op_without_a_rule_is_named_with_its_line(monkeypatch):
    monkeypatch.delitem(RULES, "sin")
    message = r"sin at .*test_derivatives_of_ops.py:\d+ has no derivative: no rule .*custom_vjp"
    for derivative in (weir.grad(wnp.sin), weir.jacfwd(wnp.sin)):
        with pytest.raises(weir.NotDifferentiable, match=message):
            derivative(1.0)
