"""How near a row comes to what the machine can do.

The limit of a row is the time of its floating-point operations at the best rate that any framework
reached in any row of this run, and after that the time to move its inputs and results once at
the speed of memory (Williams, Waterman and Patterson, "Roofline", 2009, without overlap).
"""

import threading
import time

import numpy as np

ENOUGH = 0.6  # of the limit
COPIED_BYTES = 128 << 20
COPIES = 5


class Roofline:
    """The machine's limits.

    Attributes:
      flops: floating-point operations a second in products.
      bytes: read or written a second.
    """

    def __init__(self, flops, bytes):
        self.flops = flops
        self.bytes = bytes

    def seconds(self, flops, bytes):
        """Returns: the shortest time for so many operations, and bytes of inputs and results."""
        return flops / self.flops + bytes / self.bytes

    def __str__(self):
        return f"{self.flops / 1e9:.0f} Gflop/s in products, {self.bytes / 1e9:.1f} GB/s"


def memory_speed(threads):
    """Returns: bytes a second, read and written together, when threads copy what no cache holds."""
    size = COPIED_BYTES // threads
    pairs = [(np.ones(size, np.uint8), np.ones(size, np.uint8)) for _ in range(threads)]
    times = []
    for _ in range(COPIES):
        workers = [threading.Thread(target=np.copyto, args=(to, of)) for to, of in pairs]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        times.append(time.perf_counter() - start)
    return 2 * size * threads / min(times)


def profile_text(run_ns, op_ns, threads):
    """Returns: where the time of a run went: kernels of each op, and all else."""
    whole = run_ns * threads
    shares = sorted(op_ns.items(), key=lambda each: -each[1])
    parts = [f"{op} {100 * ns / whole:.0f} %" for op, ns in shares if ns >= whole / 100]
    outside = max(0, whole - sum(op_ns.values()))
    return f"{', '.join(parts)}, outside of kernels {100 * outside / whole:.0f} %"
