"""Recurrent cells, for `weir.scan`."""

from weir import core, location
from weir.eager import operation
from weir.nn import activations
from weir.numpy import elementwise, products


def _gates(x, h, w_input, w_hidden, bias, count):
    total = products.matmul(x, w_input) + products.matmul(h, w_hidden)
    if bias is not None:
        total = total + bias
    size = total.shape[-1]
    if size % count:
        raise ValueError(
            f"the weights give {size} columns, which {count} gates do not share ({location.text()})"
        )
    axis, width = total.ndim - 1, size // count
    return [core.slice_axis(total, axis, i * width, (i + 1) * width) for i in range(count)]


@operation
def lstm_cell(state, x, w_input, w_hidden, bias=None):
    """One step of an LSTM.

    Args:
      state: (h, c), each [..., hidden].
      x: [..., features].
      w_input: [features, 4 * hidden], for the gates input, forget, cell, output, in this order.
      w_hidden: [hidden, 4 * hidden].
      bias: [4 * hidden], or None.

    Returns: ((h, c), h), as `weir.scan` takes it.
    """
    h, c = state
    into, forget, cell, out = _gates(x, h, w_input, w_hidden, bias, 4)
    sigmoid, tanh = activations.sigmoid, elementwise.tanh
    c = sigmoid(forget) * c + sigmoid(into) * tanh(cell)
    h = sigmoid(out) * tanh(c)
    return (h, c), h


@operation
def gru_cell(h, x, w_input, w_hidden, bias_input=None, bias_hidden=None):
    """One step of a GRU whose reset gate works on the hidden product.

    Args:
      h: [..., hidden].
      x: [..., features].
      w_input, w_hidden: [features, 3 * hidden] and [hidden, 3 * hidden], for reset, update, new.
      bias_input, bias_hidden: [3 * hidden], or None.

    Returns: (h, h), as `weir.scan` takes it.
    """
    inputs = products.matmul(x, w_input)
    hidden = products.matmul(h, w_hidden)
    inputs = inputs if bias_input is None else inputs + bias_input
    hidden = hidden if bias_hidden is None else hidden + bias_hidden
    axis, width = hidden.ndim - 1, hidden.shape[-1] // 3
    parts = [
        [core.slice_axis(total, axis, i * width, (i + 1) * width) for i in range(3)]
        for total in (inputs, hidden)
    ]
    reset = activations.sigmoid(parts[0][0] + parts[1][0])
    update = activations.sigmoid(parts[0][1] + parts[1][1])
    new = elementwise.tanh(parts[0][2] + reset * parts[1][2])
    h = (1 - update) * new + update * h
    return h, h


@operation
def rnn_cell(h, x, w_input, w_hidden, bias=None):
    """Returns: (h, h) with h = tanh(x w_input + h w_hidden + bias), as `weir.scan` takes it."""
    (total,) = _gates(x, h, w_input, w_hidden, bias, 1)
    h = elementwise.tanh(total)
    return h, h
