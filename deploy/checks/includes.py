#!/usr/bin/env python3
"""Checks that includes run one way and that vendor headers stay behind their interfaces.

usage: deploy/checks/includes.py [--self-test]
"""

import re
import sys

import sources

COMMON = (
    "common/flow",
    "common/plan",
    "common/interp",
    "common/ops",
    "common/ir",
    "common/tensor",
    "common/base",
    "proto",
)
# Folder -> the folders that it may include besides itself. The longest folder around a file counts.
ALLOWED = {
    "common/base": ("proto",),
    "common/tensor": ("common/base", "proto"),
    "common/ir": ("common/tensor", "common/base", "proto"),
    "common/ops": ("common/ir", "common/tensor", "common/base", "proto"),
    "common/interp": ("common/ops", "common/ir", "common/tensor", "common/base", "proto"),
    "common/flow": (
        "common/plan",
        "common/timely",
        "common/interp",
        "common/ops",
        "common/ir",
        "common/tensor",
        "common/base",
        "proto",
    ),
    "common/plan": ("common/tensor", "common/net", "common/timely", "common/base", "proto"),
    "common/timely": ("common/base", "proto"),
    "common/net": ("common/base", "proto"),
    "server": COMMON + ("common/timely", "common/net"),
    "worker": COMMON + ("common/timely", "common/net"),
    "client": COMMON + ("common/timely", "common/net"),
    # The all-in-one launchers link a coordinator and workers into one process.
    "client/cli": COMMON + ("common/timely", "common/net", "server", "worker", "client"),
    "client/embedded": COMMON + ("common/timely", "common/net", "server", "worker", "client/api"),
    "client/python": COMMON + ("common/timely", "common/net", "server", "worker", "client"),
    "tests": COMMON + ("common/timely", "common/net", "server", "worker", "client"),
}

DEVICE = ("worker/device", "worker/jit", "worker/collective", "tests/bench")
# Pattern of a header -> (what it is, the folders where it may appear).
VENDOR = {
    r"(oneapi/|dnnl|mkldnn)": ("oneDNN", DEVICE),
    r"(llvm|llvm-c)/": ("LLVM", DEVICE),
    r"(cu(da|blas|dnn|solver|sparse|rand|fft)|nvrtc|nvToolsExt|driver_types)": ("CUDA", DEVICE),
    r"nccl": ("NCCL", DEVICE),
    r"onnx/": ("ONNX", ("server/compiler/import", "tests/fuzz", "tests/conformance")),
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path):
    """The longest key of ALLOWED that holds `path`; generated protobuf headers belong to proto."""
    if path.startswith(("weir/", "proto/", "google/rpc/")):
        return "proto"
    matching = [folder for folder in ALLOWED if path.startswith(folder + "/")]
    return max(matching, key=len, default=None)


def inside(path, folder):
    return path.startswith(folder + "/")


def violation(path, header, quoted):
    """Why `path` must not include `header`, or None."""
    for pattern, (what, folders) in VENDOR.items():
        if re.match(pattern, header) and not any(inside(path, folder) for folder in folders):
            return f"{what} headers belong under {', '.join(folders)}"
    source, target = folder_of(path), folder_of(header)
    if (
        quoted
        and target is None
        and header.split("/")[0] in ("common", "server", "worker", "client")
    ):
        return "this folder is not part of the layout"
    if target == "tests" and source != "tests":
        return "only tests include tests"
    if source is None or target is None or source == target:
        return None
    if any(target == allowed or inside(target, allowed) for allowed in ALLOWED[source]):
        return None
    # A sub-folder with rights of its own keeps those of the folder around it.
    if inside(source, target):
        return None
    return f"{source} must not include {target}"


def check(files, read):
    """Yields one line for each include that breaks a rule."""
    for path in files:
        for number, line in enumerate(read(path), start=1):
            match = INCLUDE.match(line)
            reason = match and violation(path, match.group(2), match.group(1) == '"')
            if reason:
                yield f"{path}:{number}: #include {match.group(2)}: {reason}"


def self_test():
    bad = [
        ("common/base/a.cc", '#include "common/tensor/tensor.h"'),
        ("common/tensor/a.h", '#include "common/ir/graph.h"'),
        ("common/ir/a.h", '#include "common/ops/registry.h"'),
        ("common/ops/reduce/a.cc", '#include "common/interp/interpreter.h"'),
        ("common/timely/a.h", '#include "common/tensor/tensor.h"'),
        ("common/net/a.h", '#include "common/timely/antichain.h"'),
        ("common/interp/a.cc", '#include "server/jobs/job.h"'),
        ("server/jobs/a.cc", '#include "worker/executor/executor.h"'),
        ("worker/main/a.cc", '#include "client/api/session.h"'),
        ("client/api/a.cc", '#include "server/api/service.h"'),
        ("client/api/a.cc", '#include "client/cli/launcher.h"'),
        ("client/api/a.cc", '#include "client/embedded/embedded_cluster.h"'),
        ("client/embedded/a.cc", '#include "client/python/native/session.h"'),
        ("server/api/a.cc", '#include "tests/data/paths.h"'),
        ("server/api/a.cc", '#include "common/utils/strings.h"'),
        ("server/compiler/a.cc", '#include "dnnl.hpp"'),
        ("server/compiler/a.cc", "#include <oneapi/dnnl/dnnl.hpp>"),
        ("worker/executor/a.cc", "#  include <cuda_runtime.h>"),
        ("common/net/a.cc", "#include <nccl.h>"),
        ("common/ops/a.cc", '#include "llvm/IR/Module.h"'),
        ("server/compiler/pfor/a.cc", "#include <onnx/onnx_pb.h>"),
    ]
    good = [
        ("common/base/a.cc", '#include "common/base/status.h"'),
        ("common/base/a.cc", "#include <vector>"),
        ("common/net/a.cc", '#include "weir/v1/service.pb.h"'),
        ("common/ops/reduce/a.cc", '#include "common/ir/graph.h"'),
        ("server/jobs/a.cc", '#include "common/timely/antichain.h"'),
        ("server/compiler/import/a.cc", "#include <onnx/onnx_pb.h>"),
        ("worker/device/cpu/a.cc", '#include "dnnl.hpp"'),
        ("tests/bench/a.cc", '#include "dnnl.hpp"'),
        ("tests/sim/a.cc", '#include "server/jobs/job.h"'),
        ("client/cli/a.cc", '#include "worker/executor/executor.h"'),
        ("client/cli/a.cc", '#include "client/api/session.h"'),
        ("client/embedded/a.cc", '#include "server/jobs/coordinator.h"'),
        ("client/python/native/a.cc", '#include "client/embedded/embedded_cluster.h"'),
        ("client/cli/a.cc", '// #include "dnnl.hpp"'),
    ]
    outcomes = []
    for samples, wanted in ((bad, 1), (good, 0)):
        for path, line in samples:
            found = list(check([path], lambda _: [line]))
            wrong = len(found) != wanted
            outcomes.append(f"{path}: {line}: {found or 'accepted'}" if wrong else None)
    return sources.tell("includes", outcomes)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    files = sources.listed("*.cc", "*.h", "*.cu", "*.inc")
    found = list(check(files, lambda path: sources.read(path).splitlines()))
    print("\n".join(found + [f"includes: {len(files)} files, {len(found)} against the rules"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
