"""Derivatives by the user's own rules: `custom_vjp`, `custom_jvp`, `stop_gradient`.

Each leaves a `Scope` in what is recorded. Differentiating it uses up its rule: what the rule
computes consists of ordinary operations, which are differentiated as such once more.
"""

import functools
import inspect

from weir import core, dims, errors, location, trace as tracing, tree
from weir.autodiff import replay
from weir.autodiff.replay import with_environment
from weir.autodiff.rules import filled, zeros_like
from weir.autodiff.transposing import of_linear
from weir.eager import operation
from weir.recording import Scope


class _Stopped:
    """Lets nothing through."""

    spreads = False


@operation
def stop_gradient(x):
    """Returns: `x`, a pytree, as a constant: derivatives take no notice of what it depends on."""
    return tree.map(_stopped, x)


def _stopped(x):
    x = core.as_array(x)
    if not replay.is_inexact(x.value):
        return x
    trace = tracing.current()
    body = trace.body_of(trace.region)
    with body.apart() as nodes:
        out = core.apply("reshape", [x], {"shape": x.shape}, x.weak_type)
    place = location.of_caller()
    body.nodes.append(Scope("stop_gradient", [x.value], [out.value], nodes, _Stopped(), place))
    return out


class _Custom:
    """A function with a rule.

    Args:
      function: from pytrees of arrays to a pytree of arrays.
      nondiff_argnums: positions of arguments that are no arrays, or that nothing is
        differentiated by.
    """

    def __init__(self, function, nondiff_argnums=()):
        functools.update_wrapper(self, function)
        self._function = function
        self._fixed = tuple(nondiff_argnums)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args, **kwargs):
        args = self._positional(args, kwargs)
        return _call_custom(self, args)

    def _positional(self, args, kwargs):
        if not kwargs:
            return args
        bound = inspect.signature(self._function).bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"{self._name()} has a derivative of its own and takes no keyword-only arguments"
                f" ({location.text()})"
            )
        return bound.args

    def _name(self):
        return f"{type(self).__name__} {getattr(self._function, '__name__', 'function')}"

    def _split(self, args):
        """Returns: (fixed arguments, the others)."""
        fixed = {i % len(args) for i in self._fixed if -len(args) <= i < len(args)}
        return (
            [arg for i, arg in enumerate(args) if i in fixed],
            [arg for i, arg in enumerate(args) if i not in fixed],
            fixed,
        )

    def _joined(self, args, fixed, others):
        """Returns: all arguments, of which the others are replaced."""
        others = iter(others)
        return [arg if i in fixed else next(others) for i, arg in enumerate(args)]

    def _trace(self, args):
        trace = tracing.current()
        _, others, fixed = self._split(args)
        leaves, structure = tree.flatten(others)
        arrays = [core.as_array(leaf, f"an argument of {self._name()}") for leaf in leaves]
        body = trace.body_of(trace.region)
        with body.apart() as nodes:
            given = self._joined(args, fixed, tree.unflatten(structure, arrays))
            out, out_structure = tree.flatten(self._function(*given))
            outs = [core.as_array(leaf, f"a result of {self._name()}") for leaf in out]
            # What it hands on as it is becomes a value of its own.
            outs = [core.apply("reshape", [x], {"shape": x.shape}, x.weak_type) for x in outs]
        rule = self._rule(args, structure, out_structure)
        scope = Scope(
            self._name(),
            [x.value for x in arrays],
            [x.value for x in outs],
            nodes,
            rule,
            location.of_caller(),
        )
        body.nodes.append(scope)
        return tree.unflatten(out_structure, outs)


@operation
def _call_custom(custom, args):
    return custom._trace(args)


class _Rule:
    """The rule of one call.

    Attributes:
      spreads: results depend on arguments.
    """

    spreads = True

    def __init__(self, custom, args, structure, out_structure):
        self._custom = custom
        self._args = args
        self._structure = structure
        self._out_structure = out_structure

    def _arguments(self, scope, environment, active):
        for value in scope.used():
            if value in active and value not in scope.inputs:
                raise errors.NotDifferentiable(
                    f"{scope.op} at {replay.place_of(scope)} uses an array"
                    f" ({replay.array_of(value).type_text}) of the functions around it, by which"
                    " it is differentiated; make it an argument"
                )
        return tree.unflatten(self._structure, environment.all(scope.inputs))

    def _results(self, scope, environment, out):
        leaves, structure = tree.flatten(out)
        if structure != self._out_structure:
            raise TypeError(
                f"the rule of {scope.op} gives results of structure {structure}, the function of"
                f" {self._out_structure} ({replay.place_of(scope)})"
            )
        arrays = []
        for leaf, value in zip(leaves, scope.outputs):
            like = replay.array_of(value)
            arrays.append(_of_type(leaf, like, f"a result of the rule of {scope.op}"))
        environment.put(scope.outputs, arrays)


def _of_type(leaf, like, what):
    array = core.as_array(leaf, what)
    if not dims.same_shape(array.shape, like.shape):
        raise TypeError(
            f"{what} must have the type {like.type_text}, found {array.describe()}"
            f" ({location.text()})"
        )
    return core.cast(array, like.dtype_name)


def _given(what, leaves, likes):
    """Returns: leaves that a rule gave, None for those that are None or have no derivative."""
    return [
        None if leaf is None or not replay.is_inexact(like.value) else _of_type(leaf, like, what)
        for leaf, like in zip(leaves, likes)
    ]


class _JvpRule(_Rule):
    def forward(self, scope, environment, tangents):
        others = self._arguments(scope, environment, set(tangents))
        moved = [tangents.get(value) for value in scope.inputs]
        out, changes = self._both(scope, environment, others, moved)
        self._results(scope, environment, out)
        pairs = zip(scope.outputs, self._changes(scope, changes))
        return {value: t for value, t in pairs if t is not None}

    def _both(self, scope, environment, others, moved):
        inputs = environment.all(scope.inputs)
        tangents = [filled(t, x) for t, x in zip(moved, inputs)]
        fixed_args, _, _ = self._custom._split(self._args)
        changes = tuple(tree.unflatten(self._structure, tangents))
        with with_environment(environment):
            returned = self._custom._jvp(*fixed_args, tuple(others), changes)
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise TypeError(
                f"the rule of {scope.op} must return (result, tangent), found"
                f" {type(returned).__name__} ({location.text()})"
            )
        return returned

    def _changes(self, scope, changes):
        leaves, structure = tree.flatten(changes)
        if structure != self._out_structure:
            raise TypeError(
                f"the rule of {scope.op} gives tangents of structure {structure}, the function"
                f" results of {self._out_structure} ({location.text()})"
            )
        likes = [replay.array_of(value) for value in scope.outputs]
        return _given(f"a tangent that the rule of {scope.op} gives", leaves, likes)

    def backward(self, scope, environment, active):
        others = self._arguments(scope, environment, active)
        places = [i for i, value in enumerate(scope.inputs) if value in active]
        inputs = environment.all(scope.inputs)
        # The result is that of the rule where nothing changes.
        out, _ = self._both(scope, environment, others, [None] * len(inputs))
        self._results(scope, environment, out)

        def linear(*arrays):
            moved = [None] * len(inputs)
            for i, array in zip(places, arrays):
                moved[i] = array
            return self._changes(scope, self._both(scope, environment, others, moved)[1])

        def step(cts):
            found = of_linear(linear, [inputs[i] for i in places], cts)
            pairs = zip((scope.inputs[i] for i in places), found)
            return [(value, ct) for value, ct in pairs if ct is not None]

        return step


class custom_vjp(_Custom):
    """A function with a rule for reverse mode, as `jax.custom_vjp`.

    `f.defvjp(fwd, bwd)` gives the rule: `fwd(*args)` returns (result, residuals); `bwd(residuals,
    ct)` returns a tuple with the cotangent of each argument, None for zero. Arguments at
    `nondiff_argnums` are handed to `bwd` in front. Forward mode refuses it, unless `f.defjvp(rule)`
    gives that a rule too, as for `custom_jvp`.
    """

    def defvjp(self, fwd, bwd):
        """Sets the rule. Args: as described above. Returns: `bwd`."""
        self._forward, self._backward = fwd, bwd
        return bwd

    def defjvp(self, rule):
        """Sets the rule for forward mode. Args: as for `custom_jvp`. Returns: `rule`."""
        self._jvp = rule
        return rule

    def _rule(self, args, structure, out_structure):
        if not hasattr(self, "_forward"):
            raise errors.FailedPrecondition(
                f"{self._name()} has no rule yet: call its defvjp(fwd, bwd) first"
                f" ({location.text()})"
            )
        return _VjpRule(self, args, structure, out_structure)


class _VjpRule(_JvpRule):
    def forward(self, scope, environment, tangents):
        if hasattr(self._custom, "_jvp"):
            return super().forward(scope, environment, tangents)
        raise errors.NotDifferentiable(
            f"{scope.op} at {replay.place_of(scope)} has a rule for reverse mode only; give it one"
            " by weir.custom_jvp for forward mode (weir.jvp, weir.jacfwd), which serves both"
        )

    def backward(self, scope, environment, active):
        custom = self._custom
        fixed_args, _, fixed = custom._split(self._args)
        others = self._arguments(scope, environment, active)
        inputs = environment.all(scope.inputs)
        with with_environment(environment):
            returned = custom._forward(*custom._joined(self._args, fixed, others))
            if not isinstance(returned, tuple) or len(returned) != 2:
                raise TypeError(
                    f"fwd of {scope.op} must return (result, residuals), found"
                    f" {type(returned).__name__} ({location.text()})"
                )
            out, residuals = returned
            self._results(scope, environment, out)
        outputs = environment.all(scope.outputs)

        def step(cts):
            filled_cts = [filled(ct, x) for ct, x in zip(cts, outputs)]
            ct = tree.unflatten(self._out_structure, filled_cts)
            with with_environment(environment):
                found = custom._backward(*fixed_args, residuals, ct)
            return self._pairs(scope, inputs, found, active)

        return step

    def _pairs(self, scope, inputs, found, active):
        if not isinstance(found, (tuple, list)) or len(found) != len(self._structure.children):
            raise TypeError(
                f"bwd of {scope.op} must return a tuple of {len(self._structure.children)}, one"
                f" cotangent for each argument, found {type(found).__name__} ({location.text()})"
            )
        leaves = []
        for child, each in zip(self._structure.children, found):
            if each is None:
                leaves += [None] * child.num_leaves
                continue
            own, structure = tree.flatten(each)
            if structure != child:
                raise TypeError(
                    f"bwd of {scope.op} gives a cotangent of structure {structure} for an argument"
                    f" of structure {child} ({location.text()})"
                )
            leaves += own
        cts = _given(f"a cotangent that bwd of {scope.op} gives", leaves, inputs)
        triples = zip(scope.inputs, cts)
        return [(value, ct) for value, ct in triples if ct is not None and value in active]


class custom_jvp(_Custom):
    """A function with a rule for both modes, as `jax.custom_jvp`.

    `f.defjvp(rule)` gives it: `rule(primals, tangents)`, tuples of the arguments and of how they
    change, returns (result, its tangent), which must be linear in the tangents. `f.defjvps(...)`
    takes one function (tangent, result, *arguments) for each argument instead, None for zero.
    Arguments at `nondiff_argnums` are handed to the rule in front.
    """

    def defjvp(self, rule):
        """Sets the rule. Args: as described above. Returns: `rule`."""
        self._jvp = rule
        return rule

    def defjvps(self, *rules):
        """Sets a rule for each argument. Args: as described above."""

        def both(primals, tangents):
            out = self(*primals)
            parts = [
                rule(tangent, out, *primals)
                for rule, tangent in zip(rules, tangents)
                if rule is not None
            ]
            if not parts:
                return out, tree.map(zeros_like, out)
            return out, functools.reduce(lambda a, b: tree.map(lambda x, y: x + y, a, b), parts)

        self._jvp = both

    def _rule(self, args, structure, out_structure):
        if not hasattr(self, "_jvp"):
            raise errors.FailedPrecondition(
                f"{self._name()} has no rule yet: call its defjvp(rule) first ({location.text()})"
            )
        return _JvpRule(self, args, structure, out_structure)
