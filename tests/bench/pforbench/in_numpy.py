"""Rows in the words of NumPy, which has no `vmap`: only those whose functions take leading axes."""

import numpy as np


class Framework:
    """The words of rows, and how programs run."""

    name = "numpy"
    channels_last = False
    version = np.__version__
    linalg = np.linalg
    fft = np.fft

    def __init__(self, threads):
        """NumPy runs these functions on one thread."""

    def close(self):
        pass

    def solve_triangular(self, a, b):
        """NumPy has nothing that knows of the triangle."""
        return np.linalg.solve(a, b)

    def compile(self, row):
        """Returns: a `Program`."""
        return Program(row)


class Program:
    """One row as it is."""

    def __init__(self, row):
        self._row = row
        self._arrays = row.mapped + row.shared
        self.notes, self.facts = [], {}

    def run(self):
        return self._row.example(*self._arrays)

    def results(self):
        results = self.run()
        return list(results) if isinstance(results, tuple) else [results]
