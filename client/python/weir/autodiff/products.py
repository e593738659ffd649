"""Derivatives of products and convolutions, which are products and convolutions again."""

from weir import core, dims, errors, location
from weir.autodiff.rules import RULES, Bilinear


def _free(ndim, batch, contract):
    return [i for i in range(ndim) if i not in batch and i not in contract]


def _dot_operand(ct, this, other, numbers, leading=0):
    """The cotangent of one operand.

    Args:
      leading: how many axes `ct` and `other` have in front, over which it is summed.
      numbers: (batch axes of this, of the other, contracted ones of this, of the other, where the
        free axes of this and of the other begin in the result).
    """
    batch, other_batch, contract, other_contract, own_at, other_at = numbers
    by_place = sorted(range(len(contract)), key=lambda k: other_contract[k])
    contracted = [contract[k] for k in by_place]
    own_free = _free(this.ndim, batch, contract)
    other_free = _free(other.ndim - leading, other_batch, other_contract)
    behind = other_at + len(other_free)
    of_ct = [leading + i for i in range(len(batch))]
    of_other = [leading + i for i in other_batch]
    summed_ct = [*range(leading), *range(leading + other_at, leading + behind)]
    summed_other = [*range(leading), *(leading + i for i in other_free)]
    # The factor comes first whose axes do in the operand, which need not be transposed then.
    if own_at < other_at:
        factors, axes = (ct, other), [*batch, *own_free, *contracted]
        numbers = (of_ct, of_other, summed_ct, summed_other)
    else:
        factors, axes = (other, ct), [*batch, *contracted, *own_free]
        numbers = (of_other, of_ct, summed_other, summed_ct)
    names = ("lhs_batch", "rhs_batch", "lhs_contract", "rhs_contract")
    out = core.apply("dot_general", list(factors), dict(zip(names, numbers)))
    return core.transpose(out, [axes.index(i) for i in range(this.ndim)])


def _numbers(call):
    names = ("lhs_batch", "rhs_batch", "lhs_contract", "rhs_contract")
    lb, rb, lc, rc = (list(call.attrs[name]) for name in names)
    lhs, _ = call.ins
    rhs_at = len(lb) + len(_free(lhs.ndim, lb, lc))
    return (lb, rb, lc, rc, len(lb), rhs_at), (rb, lb, rc, lc, rhs_at, len(lb))


def _dot_lhs(call, ct):
    return _dot_operand(ct, *call.ins, _numbers(call)[0])


def _dot_rhs(call, ct):
    lhs, rhs = call.ins
    return _dot_operand(ct, rhs, lhs, _numbers(call)[1])


def operand_over_trips(call, which, ct, other):
    """Returns: the sum of the cotangents of operand `which` (0 or 1) of several products.

    Args:
      call: one of them; of the other operand only the type is used.
      ct, other: those of the results, and the other operands, stacked.
    """
    return _dot_operand(ct, call.ins[which], other, _numbers(call)[which], 1)


class _Window:
    """Sizes of a convolution along its axes in space."""

    def __init__(self, call):
        x, kernel = call.ins
        (out,) = call.outs
        attrs = call.attrs
        self.strides = list(attrs["window_strides"])
        self.low = list(attrs["padding_low"])
        self.base = list(attrs["lhs_dilation"])
        self.dilation = list(attrs["rhs_dilation"])
        self.features = _count(attrs, "feature_group_count")
        self.batches = _count(attrs, "batch_group_count")
        self._x = [dilated(n, d) for n, d in zip(x.shape[2:], self.base)]
        self._kernel = [dilated(n, d) for n, d in zip(kernel.shape[2:], self.dilation)]
        self._out = [dilated(n, s) for n, s in zip(out.shape[2:], self.strides)]

        require_known(call.op, self._x + self._kernel + self._out)

    def of_input(self):
        """Returns: attributes of the convolution that gives the cotangent of the input."""
        low = [k - p - 1 for k, p in zip(self._kernel, self.low)]
        high = [
            x + k - 1 - o - p for x, k, o, p in zip(self._x, self._kernel, self._out, low)
        ]
        return {
            "window_strides": self.base,
            "padding_low": low,
            "padding_high": high,
            "lhs_dilation": self.strides,
            "rhs_dilation": self.dilation,
        }

    def of_kernel(self):
        """The same for the kernel."""
        high = [
            o - x + k - p - 1
            for x, k, o, p in zip(self._x, self._kernel, self._out, self.low)
        ]
        return {
            "window_strides": self.dilation,
            "padding_low": self.low,
            "padding_high": high,
            "lhs_dilation": self.base,
            "rhs_dilation": self.strides,
        }


def require_known(op, sizes):
    """Raises: NotDifferentiable for windows along axes of open size, whose padding on the way back
    would depend on the run.
    """
    if not dims.known(*sizes):
        raise errors.NotDifferentiable(
            f"{op} at {location.text()} has no derivative where windows run along axes of open"
            " size; give the size in shapes= of weir.jit"
        )


def _count(attrs, name):
    count = attrs.get(name, 1)
    return count[0] if isinstance(count, (tuple, list)) else count


def dilated(extent, dilation):
    """Returns: a size with gaps between the elements."""
    if not dims.known(extent):
        return extent if dilation == 1 else (extent - 1) * dilation + 1
    return 0 if extent == 0 else (extent - 1) * dilation + 1


def _swap_groups(kernel, groups):
    """[g o, i, ...] as [g i, o, ...]."""
    outputs, inputs, *space = kernel.shape
    parts = core.reshape(kernel, (groups, outputs // groups, inputs, *space))
    order = [0, 2, 1, *range(3, parts.ndim)]
    return core.reshape(
        core.transpose(parts, order), (groups * inputs, outputs // groups, *space)
    )


def _swap_leading(x):
    return core.transpose(x, [1, 0, *range(2, x.ndim)])


def _convolve(x, kernel, attrs, features=1, batches=1):
    groups = {"feature_group_count": (features,), "batch_group_count": (batches,)}
    return core.apply("convolution", [x, kernel], attrs | groups)


def _conv_input(call, ct):
    x, kernel = call.ins
    window = _Window(call)
    groups = window.batches if window.batches != 1 else window.features
    turned = core.reverse(kernel, list(range(2, kernel.ndim)))
    out = _convolve(ct, _swap_groups(turned, groups), window.of_input(), groups)
    if window.batches != 1:
        rows, channels, *space = out.shape
        parts = core.reshape(out, (rows, groups, channels // groups, *space))
        out = core.transpose(parts, [1, 0, *range(2, parts.ndim)])
    return core.reshape(out, x.shape)


def _conv_kernel(call, ct):
    x, kernel = call.ins
    window = _Window(call)
    out = _convolve(
        _swap_leading(x),
        _swap_leading(ct),
        window.of_kernel(),
        features=window.batches,
        batches=window.features,
    )
    return core.reshape(_swap_leading(out), kernel.shape)


RULES["dot_general"] = Bilinear(_dot_lhs, _dot_rhs)
RULES["convolution"] = Bilinear(_conv_input, _conv_kernel)
