"""Writes the files of this folder: python3 make.py (NumPy 1.24 wrote the present ones)."""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
CODES = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def values(code):
    """A 2x3 array with the extremes of the type in it."""
    if code == "b1":
        return np.array([[True, False, False], [True, True, False]])
    if code[0] in "iu":
        info = np.iinfo(code)
        return np.array([[0, 1, 2], [3, info.max, info.min]], dtype=code)
    if code[0] == "f":
        return np.array([[0.5, -1.25, 0.0], [np.inf, np.finfo(code).max, -0.0]], dtype=code)
    return np.array([[1 + 2j, -0.5j, 0], [3, np.inf, -4.25 + 8j]], dtype=code)


def save(name, array, version=None):
    with open(HERE / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version)


for code in CODES:
    save(code, values(code))
for code in ["i2", "f4", "c16"]:
    save(f"big_{code}", values(code).astype(">" + code))
count = np.arange(24, dtype="f8").reshape(2, 3, 4)
save("fortran_f8", np.asfortranarray(count))
save("fortran_big_u2", np.asfortranarray(count.astype(">u2")))
save("version2", count.astype("i4"), (2, 0))
save("version3", count.astype("i4"), (3, 0))
save("scalar", np.float32(2.5).reshape(()))
save("empty", np.zeros((3, 0, 2), "f4"))
save("vector", np.arange(5, dtype="i8"))
save("object", np.array([{"a": 1}, None], dtype=object))
save("text", np.array(["weir", "dam"]))
save("structured", np.zeros(2, dtype=[("x", "f4"), ("y", "i4")]))
save("time", np.array(["2020-01-01"], dtype="M8[s]"))
np.savez(HERE / "stored.npz", image=count.astype("f4"), label=np.arange(5, dtype="i8"))
np.savez_compressed(HERE / "deflated.npz", image=count.astype("f4"), zeros=np.zeros((256, 64)))
