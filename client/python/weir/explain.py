"""`weir.explain`: what the compiler makes of a function, and what a run of it costs."""

from weir import session
from weir.jit import jit


class Explanation:
    """What became of a function.

    Attributes:
      stages: names of the compiler's passes, in order.
      fallbacks: one dictionary (op, node, location, reason) for each operation that runs one
        iteration after the other.
      notes: further remarks of the compiler.
      counters: of one run, summed over workers: kernel_launches, chunks, arena_bytes, run_ns,
        bytes_gathered, ...; `elements` and `op_launches` are dictionaries by operation. An element
        counts each time that it is computed; operations that are fused share a launch. `op_ns`
        has nanoseconds of all threads together: a launch counts for the first of its operations, a
        loop or branch for what it does between them.
      steps: one dictionary for each step of that run: how many iterations it had, how many ran at
        once (chunk), and what of memory was predicted and measured.
      report: the whole report of that run.
    """

    def __init__(self, stages, fallbacks, notes, report):
        self._stages = stages
        self.stages = [stage["name"] for stage in stages]
        self.fallbacks = fallbacks
        self.notes = notes
        self.report = report
        counters = dict(report.get("counters") or {})
        ops = counters.pop("ops", [])
        self.steps = [_as_numbers(step) for step in counters.pop("steps", [])]
        self.counters = {name: int(value) for name, value in counters.items()}
        launched = [each for each in ops if int(each["launches"])]
        self.counters["elements"] = {each["op"]: int(each["elements"]) for each in launched}
        self.counters["op_launches"] = {each["op"]: int(each["launches"]) for each in launched}
        self.counters["op_ns"] = {each["op"]: int(each["ns"]) for each in ops if int(each["ns"])}

    def text(self, stage=None):
        """Returns: the program after a stage, or all of them with the reason for each.

        Raises: ValueError for a name that is no stage.
        """
        if stage is None:
            return "\n".join(f"// stage {s['name']}: {s['why']}\n{s['text']}" for s in self._stages)
        for each in self._stages:
            if each["name"] == stage:
                return each["text"]
        raise ValueError(f"there is no stage '{stage}'; the stages are {', '.join(self.stages)}")

    def __str__(self):
        """A summary of a few lines: what falls back and why, what the run cost, which stages there
        are.
        """
        count = len(self.fallbacks)
        lines = [f"{count or 'no'} fallback{'' if count == 1 else 's'}"]
        lines += [
            f"  {each['op']} at {each['location'] or each['node']} runs one iteration after the"
            f" other: {each['reason']}"
            for each in self.fallbacks
        ]
        lines += [f"note: {note}" for note in self.notes]
        lines.append(
            f"one run: {int(self.report.get('run_ns', 0)) / 1e6:.3g} ms, compiled in"
            f" {int(self.report.get('compile_ns', 0)) / 1e6:.3g} ms"
        )
        lines += [
            f"  {name}: {count}" for name, count in self.counters.items() if isinstance(count, int)
        ]
        lines += [
            f"  {op}: {count} elements in {self.counters['op_launches'][op]} launches"
            for op, count in self.counters["elements"].items()
        ]
        slowest = sorted(self.counters["op_ns"].items(), key=lambda each: -each[1])
        lines += [f"  {op}: {ns / 1e3:.3g} us" for op, ns in slowest]
        lines += [_step_text(step) for step in self.steps]
        return "\n".join(lines + [f"stages, for text(stage): {' '.join(self.stages)}"])

    def __repr__(self):
        return (
            f"weir.Explanation({len(self.stages)} stages, {len(self.fallbacks)} fallbacks, "
            f"{self.counters.get('kernel_launches', 0)} kernel launches)"
        )


def _as_numbers(step):
    return {name: value if name == "function" else int(value) for name, value in step.items()}


def _step_text(step):
    text = f"  step {step['function']}: "
    if step["iterations"]:
        text += (
            f"{step['iterations']} iterations, {step['chunk']} at once on {step['threads']} threads"
            f" a worker, {step['bytes_per_iteration']} bytes an iteration, "
        )
    return text + f"{step['predicted_bytes']} bytes predicted, {step['arena_bytes']} measured"


def explain(function, *args, **kwargs):
    """Compiles a function for these arguments and runs it once, so that variables take new values.

    Args:
      function: as for `weir.jit`, or what that returned.
      *args, **kwargs: its arguments.

    Returns: an `Explanation`; `print` shows a summary of it.
    """
    compiled = function if hasattr(function, "run_with_report") else jit(function)
    traced = compiled.lower(*args, **kwargs)
    stages, fallbacks, notes = session.current().explain(traced.native)
    _, report = compiled.run_with_report(*args, **kwargs)
    return Explanation(stages, fallbacks, notes, report)
