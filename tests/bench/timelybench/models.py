"""Models that are called with one example, as flows."""

import re

import numpy as np

import weir
import weir.numpy as wnp

INPUTS, STATE, STEPS = 128, 256, 10


def lstm():
    """The last state of an LSTM over one sequence, f32[10,128] -> f32[256]."""
    random = np.random.default_rng(0)
    weights = (random.standard_normal((INPUTS + STATE, 4 * STATE)) / 20).astype(np.float32)

    def last(sequence):
        hidden, cell = wnp.zeros((STATE,), "f32"), wnp.zeros((STATE,), "f32")
        for step in range(STEPS):
            gates = wnp.concatenate([sequence[step], hidden]) @ weights
            into, forget, out, new = (gates[k * STATE : (k + 1) * STATE] for k in range(4))
            cell = weir.nn.sigmoid(forget) * cell + weir.nn.sigmoid(into) * wnp.tanh(new)
            hidden = weir.nn.sigmoid(out) * wnp.tanh(cell)
        return hidden

    return last


# By name: the function, and the shape of what it takes.
MODELS = {"empty": (lambda x: x, str(INPUTS)), "lstm": (lstm(), f"{STEPS},{INPUTS}")}


def flow_text(model, max_batch):
    function, shape = MODELS[model]
    flow = weir.Flow("calls")
    flow.input("records", f"f32[{shape}]").map(function).output("answers")
    return re.sub(r"(= input\(\) \{)", rf"\1max_batch = {max_batch}, ", flow.text())
