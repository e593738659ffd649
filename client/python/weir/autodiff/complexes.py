"""Derivatives of conversions, and of what takes complex numbers apart and puts them together."""

from weir import core, dtypes
from weir import numpy as wnp
from weir.autodiff.rules import RULES, Pair, filled, zero


def _is_complex(x):
    return x.dtype_name in dtypes.COMPLEXES


def _complex(re, im):
    return core.apply("complex", [re, im])


def _zeros(x):
    return core.full(x.shape, 0, x.dtype_name)



def _direction(z, size):
    """conj(z) / |z|, and 0 for 0."""
    is_zero = core.compare("equal", size, 0)
    scale = wnp.where(is_zero, 0, 1 / wnp.where(is_zero, 1, size))
    return core.apply("conjugate", [z]) * core.cast(scale, z.dtype_name)


def _abs_jvp(call, tangents):
    (z,), (size,) = call.ins, call.outs
    if not _is_complex(z):
        return [tangents[0] * core.apply("sign", [z])]
    return [core.apply("real", [tangents[0] * _direction(z, size)])]


def _abs_vjp(call, cts):
    (z,), (size,) = call.ins, call.outs
    if not _is_complex(z):
        return [cts[0] * core.apply("sign", [z])]
    return [core.cast(cts[0], z.dtype_name) * _direction(z, size)]


def _real_vjp(call, cts):
    (ct,) = cts
    return [_complex(ct, _zeros(ct)) if _is_complex(call.ins[0]) else ct]


def _imag_vjp(call, cts):
    (ct,) = cts
    return [_complex(_zeros(ct), -ct) if _is_complex(call.ins[0]) else None]


def _complex_jvp(call, tangents):
    return [_complex(*(filled(t, x) for t, x in zip(tangents, call.ins)))]


def _complex_vjp(call, cts):
    (ct,) = cts
    return [core.apply("real", [ct]), -core.apply("imag", [ct])]


def _convert_vjp(call, cts):
    return [core.cast(cts[0], call.ins[0].dtype_name)]


def _itself(call, tangents):
    return [call.again(tangents[0])]


RULES["abs"] = Pair(_abs_jvp, _abs_vjp)
RULES["real"] = Pair(_itself, _real_vjp)
RULES["imag"] = Pair(_itself, _imag_vjp)
RULES["complex"] = Pair(_complex_jvp, _complex_vjp)
RULES["conjugate"] = Pair(_itself, lambda call, cts: [call.again(cts[0])])
RULES["convert"] = Pair(_itself, _convert_vjp)
zero("bitcast_convert", "bits have no derivative")
