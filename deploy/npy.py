#!/usr/bin/env python3
"""Compares, scores and cuts .npy files with nothing but Python's standard library.

  npy.py within TOLERANCE A B               largest |a - b|, at most TOLERANCE
  npy.py accuracy FLOOR FIRST LOGITS LABELS share of rows FIRST.. that fit the label, at least FLOOR
  npy.py same A B                           same dtype, shape and bits
  npy.py rows COUNT IN OUT                  the first COUNT rows, starting again where IN ends

`within` and `accuracy` print the figure alone on stdout.
Exit 0: holds; 1: does not hold; 2: wrong usage or a bad file.
"""

import ast
import math
import struct
import sys

FORMATS = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q"}


class BadFile(Exception):
    pass


def read(path):
    """Returns (descr, shape, payload bytes) of a C-ordered file."""
    with open(path, "rb") as file:
        blob = file.read()
    if blob[:6] != b"\x93NUMPY" or len(blob) < 12:
        raise BadFile(f"{path}: not a .npy file")
    wide = blob[6] >= 2
    start = 12 if wide else 10
    (length,) = struct.unpack("<I" if wide else "<H", blob[8:start])
    header = ast.literal_eval(blob[start : start + length].decode("latin-1").strip())
    if header["fortran_order"]:
        raise BadFile(f"{path}: Fortran order is not read here")
    payload = blob[start + length :]
    if header["descr"] in FORMATS:
        item = struct.calcsize(FORMATS[header["descr"]])
        if len(payload) != item * math.prod(header["shape"]):
            raise BadFile(f"{path}: {len(payload)} bytes for shape {header['shape']}")
    return header["descr"], header["shape"], payload


def numbers(path):
    """Returns (shape, flat tuple of numbers)."""
    descr, shape, payload = read(path)
    if descr not in FORMATS:
        raise BadFile(f"{path}: dtype {descr} is not read here, only {', '.join(FORMATS)}")
    return shape, struct.unpack(f"<{math.prod(shape)}{FORMATS[descr]}", payload)


def write(path, descr, shape, payload):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    magic = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
    with open(path, "wb") as file:
        file.write(magic + header.encode() + payload)


def within(tolerance, got, expected):
    shape, a = numbers(got)
    expected_shape, b = numbers(expected)
    if shape != expected_shape:
        raise BadFile(f"shapes differ: {got} {shape}, {expected} {expected_shape}")
    gaps = [abs(x - y) for x, y in zip(a, b)]
    worst = math.nan if any(map(math.isnan, gaps)) else max(gaps, default=0.0)
    print(f"{worst:.3g}")
    return worst <= float(tolerance)


def same(got, expected):
    a, b = read(got), read(expected)
    if a[:2] != b[:2]:
        raise BadFile(f"{got} is {a[0]} {a[1]}, {expected} is {b[0]} {b[1]}")
    if a[2] != b[2]:
        rows = max(a[1][0], 1)
        size = len(a[2]) // rows
        cuts = [slice(row * size, (row + 1) * size) for row in range(rows)]
        bad = [row for row, cut in enumerate(cuts) if a[2][cut] != b[2][cut]]
        print(f"{len(bad)} of {rows} rows differ, the first is row {bad[0]}")
    return a[2] == b[2]


def accuracy(floor, first, logits, labels):
    shape, values = numbers(logits)
    _, wanted = numbers(labels)
    if not shape or shape[0] != len(wanted):
        raise BadFile(f"{logits} {shape} does not have one row per label ({len(wanted)})")
    width = math.prod(shape[1:])
    rows = range(int(first), len(wanted))
    hits = 0
    for row in rows:
        scores = values[row * width : (row + 1) * width]
        hits += scores.index(max(scores)) == wanted[row]
    share = hits / len(rows)
    print(f"{share:.4f}")
    return share >= float(floor)


def rows(count, source, target):
    descr, shape, payload = read(source)
    count = int(count)
    row = len(payload) // shape[0]
    repeats = -(-count // shape[0])
    write(target, descr, (count, *shape[1:]), (payload * repeats)[: count * row])
    return True


def main(argv):
    commands = {
        "within": (within, 3),
        "accuracy": (accuracy, 4),
        "same": (same, 2),
        "rows": (rows, 3),
    }
    command, arity = commands.get(argv[1] if len(argv) > 1 else "", (None, 0))
    if command is None or len(argv) - 2 != arity:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        return 0 if command(*argv[2:]) else 1
    except (BadFile, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
