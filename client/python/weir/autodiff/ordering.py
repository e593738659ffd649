"""Derivatives of sorting: what is moved where stays as it is."""

from weir import core
from weir import numpy as wnp
from weir.autodiff.rules import rule, zero


@rule("sort")
def _sort(call, tangents):
    axis = call.attrs["axis"]
    places = core.iota(call.ins[0].shape, axis, "i64")
    order = core.apply_all("sort", [*call.ins, places], call.attrs)[-1]
    return [
        None if tangent is None else wnp.take_along_axis(tangent, order, axis=axis)
        for tangent in tangents
    ]


@rule("top_k")
def _top_k(call, tangents):
    return [wnp.take_along_axis(tangents[0], call.outs[1], axis=-1), None]


zero("searchsorted", "its results are places")
