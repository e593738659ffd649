"""What tests/bench/pfor.py runs: rows, each one program for one example, in the words of several
frameworks.
"""

FRAMEWORKS = ("weir", "numpy", "jax", "tensorflow", "torch")
