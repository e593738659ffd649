"""From a Python function to a program: one trace, whose inputs and results are the leaves of
pytrees.
"""

import numpy as np

from weir import _native, core, dims, dtypes, location, session, trace as tracing, tree
from weir.array import Array


class InputType:
    """Element type, shape and weakness of one input; hashable, so that it tells programs apart."""

    __slots__ = ("dtype_name", "shape", "weak_type")

    def __init__(self, dtype_name, shape, weak_type=False):
        self.dtype_name = dtype_name
        self.shape = tuple(shape)
        self.weak_type = weak_type

    @classmethod
    def of(cls, leaf):
        """Returns: the type of a NumPy array or Python number."""
        dtype_name, weak_type = core.type_of(leaf)
        return cls(dtype_name, getattr(leaf, "shape", ()), weak_type)

    def key(self):
        """Returns: what two equal types have in common."""
        return self.dtype_name, self.shape, self.weak_type

    def to_numpy(self, leaf):
        """Returns: the leaf as the NumPy array that the program takes."""
        return np.asarray(leaf, dtype=dtypes.to_numpy(self.dtype_name))


class TracedProgram:
    """A function that has been traced for one set of input types."""

    def __init__(self, trace, name, input_names, input_shapes, structure):
        self.text = trace.builder.text()
        self.structure = structure
        self._input_shapes = input_shapes
        self._has_open_structure = structure.has_fixed(_is_open)
        self.hoisted = [array for _, array in trace.hoisted]
        self.num_results = structure.num_leaves
        # The program takes the values of variables behind its inputs and gives new ones behind its
        # results, in the order of their names. They stay on the cluster.
        self.variables = [variable for _, variable in sorted(trace.variables.items())]
        self.written = [trace.variables[written] for written in sorted(trace.written)]
        names = list(input_names) + [hoisted for hoisted, _ in trace.hoisted]
        variable_names = sorted(trace.variables)
        self.native = _native.Program(
            source=self.text.encode(),
            name=name,
            inputs=names,
            strict=trace.strict,
            prints=trace.prints,
            variables=variable_names,
            written=[variable_names.index(written) for written in sorted(trace.written)],
            results=self.num_results,
        )

    def __call__(self, arrays):
        """Runs the program on the current session. Returns: a tree of NumPy arrays."""
        here = session.current()
        outputs = here.run(self.native, [*arrays, *self.hoisted], self._variables_on(here))
        return self._finish(arrays, outputs)

    def run_with_report(self, arrays):
        """The same. Returns: (tree of NumPy arrays, report, whose to_dict() is a dictionary)."""
        here = session.current()
        outputs, report = here.run_with_report(
            self.native, [*arrays, *self.hoisted], self._variables_on(here)
        )
        return self._finish(arrays, outputs), report

    def _variables_on(self, here):
        return [variable._place_on(here) for variable in self.variables]

    def _finish(self, arrays, outputs):
        structure = self.structure
        if self._has_open_structure:
            structure = self._closed_structure(arrays)
        return tree.unflatten(structure, outputs)

    def _closed_structure(self, arrays):
        """Returns: the structure with the sizes that these inputs have."""
        values = {}
        for shape, array in zip(self._input_shapes, arrays):
            for size, found in zip(shape, array.shape):
                values.update(dict.fromkeys(dims.given_by([size]), found))

        def close(fixed):
            if isinstance(fixed, tuple):
                return tuple(close(each) for each in fixed)
            return fixed if dims.known(fixed) else fixed._substituted(values)

        return self.structure.map_fixed(close)


def _is_open(fixed):
    return any(map(_is_open, fixed)) if isinstance(fixed, tuple) else not dims.known(fixed)


def trace_function(function, name, input_names, input_types, symbols=()):
    """Traces `function(*arrays)`, called with one array for each input.

    Args:
      symbols: of sizes in the types that are no size themselves. For each of them the program takes
        one more input behind the others, an empty array i8[symbol, 0].

    Returns: the program; its results are the leaves of what the function returns.
    """
    trace = tracing.Trace()
    with tracing.activated(trace):
        arrays = []
        for input_name, kind in zip(input_names, input_types):
            trace.unique_name(input_name)
            value = trace.add_argument(trace.main, kind.dtype_name, kind.shape, input_name)
            origin = (f"argument {input_name}", *location.of_caller())
            arrays.append(Array(trace, value, weak_type=kind.weak_type, origin=origin))
        carriers = [trace.add_carrier(symbol) for symbol in symbols]
        shapes = [kind.shape for kind in input_types]
        shapes += [trace.carriers[symbol].shape for symbol in symbols]
        leaves, structure = tree.flatten(function(*arrays))
        results = [core.as_array(leaf, "a result") for leaf in leaves]
        trace.yield_(trace.main, [result.value for result in results])
        trace.builder.set_result_names(trace.main, [f"result{i}" for i in range(len(results))])
    return TracedProgram(trace, name, [*input_names, *carriers], shapes, structure)
