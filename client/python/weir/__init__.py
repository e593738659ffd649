"""Weir: programs for one example, run on many at once, on a cluster.

    import weir
    import weir.numpy as wnp

    @weir.jit
    def distances(rows, point):
        return weir.vmap(lambda row: wnp.sqrt(wnp.sum((row - point) ** 2)))(rows)

Functions are traced into programs, which a coordinator vectorizes and workers run: a cluster inside
this process, or one that `weir.connect` names.
"""

import numpy as _np

if int(_np.__version__.split(".")[0]) > 1:
    raise ImportError(
        f"weir is built for NumPy 1.x and would misread arrays of NumPy {_np.__version__}: install"
        " 'numpy<2'"
    )

from weir import errors, flow, lax, nn, numpy, random, special, tree
from weir import methods as _methods  # attaches the operators of Array
from weir._native import __version__
from weir.array import Array
from weir.autodiff import (
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)
from weir.branches import cond, switch
from weir.carried import fori_loop, scan, while_loop
from weir.checks import check
from weir.collectives import all_gather, pmax, pmean, pmin, psum
from weir.dims import Dim
from weir.dtypes import bfloat16, promote_types
from weir.errors import *  # noqa: F403  the exception classes
from weir.explain import explain
from weir.flow import Flow
from weir.functions import function
from weir.jit import jit
from weir.lax import ops
from weir.lists import List
from weir.onnx import load_onnx
from weir.optional import Optional
from weir.parallel import for_loop, pfor
from weir.printing import print
from weir.segments import segment_max, segment_mean, segment_min, segment_prod, segment_sum
from weir.session import Session, connect
from weir.sparse import Sparse
from weir.variables import Variable
from weir.vectorize import vmap

__all__ = (
    "Array Dim Flow List Optional Session Sparse Variable all_gather bfloat16 check cond connect"
    " custom_jvp custom_vjp explain flow for_loop fori_loop function grad hessian jacfwd jacobian"
    " jacrev jit jvp lax linearize load_onnx nn numpy ops pfor pmax pmean pmin print promote_types"
    " psum random scan segment_max segment_mean segment_min segment_prod segment_sum special"
    " stop_gradient switch tree value_and_grad vjp vmap while_loop"
).split() + list(errors.__all__)
