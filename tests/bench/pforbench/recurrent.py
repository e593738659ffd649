"""Rows with an LSTM of 128 inputs and a state of 256."""

import numpy as np

from pforbench.row import Row

INPUTS, STATE = 128, 256


class Lstm(Row):
    """Sequences of 10 steps."""

    name = "lstm"
    sizes = (1, 16, 256)
    quick_sizes = (1, 3)
    steps = 10

    def build(self):
        self.mapped = [self.normal(self.n, self.steps, 1, INPUTS)]
        self.shared = [
            self.weights(INPUTS, 4 * STATE),
            self.weights(STATE, 4 * STATE),
            self.normal(4 * STATE, scale=0.1),
        ]
        self.flops = self.steps * 2 * (INPUTS + STATE) * 4 * STATE

    def step(self, x, h, c, w_input, w_hidden, bias):
        """Returns: the state after `x`."""
        f = self.f
        into, forget, cell, out = f.split(x @ w_input + h @ w_hidden + bias, 4)
        c = f.sigmoid(forget) * c + f.sigmoid(into) * f.tanh(cell)
        return f.sigmoid(out) * f.tanh(c), c

    def example(self, xs, *weights):
        zeros = np.zeros((1, STATE), np.float32)
        return self.f.scan(lambda x, h, c: self.step(x, h, c, *weights), (zeros, zeros), xs)[0]


class RaggedLstm(Lstm):
    """Sequences of 1 to 100 steps; each example stops after its own."""

    name = "ragged-lstm"
    sizes = (256,)
    quick_sizes = (5,)
    steps = 100

    def build(self):
        super().build()
        self.bound = self.steps
        self.flops = 0  # it differs by example
        lengths = self.random.randint(1, self.steps + 1, self.n).astype(np.int32)
        self.mapped.append(lengths)

    def example(self, xs, length, *weights):
        def body(t, h, c):
            return self.step(self.f.at(xs, t), h, c, *weights)

        zeros = np.zeros((1, STATE), np.float32)
        return self.f.fori(length, body, (zeros, zeros), self.bound)[0]


ROWS = (Lstm, RaggedLstm)
