"""ONNX models as functions."""

import os

from weir import _native, core, location, trace as tracing
from weir.eager import operation


def load_onnx(path):
    """Reads an ONNX model.

    Args:
      path: of the file.

    Returns: a `Model`, which is called like a function.

    Raises: FileNotFoundError; InvalidArgument for a file that is no model; Unimplemented naming an
    operator that has no
      translation.
    """
    with open(path, "rb") as file:
        source = file.read()
    return Model(_native.import_onnx(source, os.path.basename(os.fspath(path))))


class Model:
    """An imported model. Called with arrays for its inputs, by position or by name, it returns its
    output, or a tuple of outputs if it has several.

    Inside of traced functions it takes traced arrays and becomes part of the program, so
    `weir.vmap(model)` maps it over axes that it does not know.

    Attributes:
      inputs, outputs: lists of (name, element type, shape); sizes that the model leaves open are
        texts.
    """

    def __init__(self, native):
        self._native = native
        self.inputs = native.inputs()
        self.outputs = native.outputs()

    def __call__(self, *args, **kwargs):
        return _call(self, *args, **kwargs)

    @property
    def text(self):
        """The model as a program in text form."""
        return self._native.text()

    def __repr__(self):
        def texts(values):
            return ", ".join(
                f"{name}: {dtype}[{','.join(map(str, shape))}]" for name, dtype, shape in values
            )

        return f"weir.onnx.Model(({texts(self.inputs)}) -> ({texts(self.outputs)}))"

    def _bind(self, args, kwargs):
        """Returns: the arguments in the order of the inputs."""
        names = [name for name, _, _ in self.inputs]
        given = dict(zip(names, args))
        if len(args) > len(names):
            raise TypeError(
                f"the model takes {len(names)} inputs, found {len(args)} ({location.text()})"
            )
        for name, value in kwargs.items():
            if name not in names or name in given:
                reason = (
                    "given twice"
                    if name in given
                    else f"no input; the inputs are {', '.join(names)}"
                )
                raise TypeError(f"'{name}' is {reason} ({location.text()})")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"the model lacks its inputs {', '.join(missing)} ({location.text()})")
        return [given[name] for name in names]

    def apply(self, *args, **kwargs):
        """The call inside of a trace."""
        arrays = [
            core.to_dtype(x, dtype) if core.is_scalar(x) else core.as_array(x, f"input {name}")
            for x, (name, dtype, _) in zip(self._bind(args, kwargs), self.inputs)
        ]
        name, constants = self._function_of(tracing.current())
        outputs = core.apply_all(
            "call", arrays + [core.constant(c) for c in constants], {"callee": name}
        )
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _function_of(self, trace):
        """Returns: (function of this model, what it takes besides the inputs)."""
        if id(self) not in trace.models:
            name = trace.unique_name(f"model{len(trace.models)}")
            constants = trace.add_model(self._native, name)
            trace.models[id(self)] = (name, constants, self)
        return trace.models[id(self)][:2]


@operation
def _call(model, *args, **kwargs):
    return model.apply(*args, **kwargs)
