"""Branches of a program: `cond` and `switch`."""

from weir import core, dims, dtypes, location, trace as tracing, tree
from weir.eager import operation


@operation
def cond(predicate, true_function, false_function, *operands):
    """Runs one of two functions.

    Args:
      predicate: scalar; a number counts as true unless it is 0.
      true_function, false_function: take the operands; return pytrees of one structure, with equal
        shapes and types.
      *operands: pytrees of arrays.

    Returns: what the chosen function returns.

    Raises: TypeError where the results of the two differ in structure, shape or type.
    """
    chosen = core.as_array(predicate, "the predicate of cond")
    _check_scalar("cond", "predicate", chosen)
    if chosen.dtype_name != "bool":
        chosen = core.compare("not_equal", chosen, 0)
    return _branch("cond", "if", chosen, [true_function, false_function], operands)


@operation
def switch(index, branches, *operands):
    """Runs the function of this position; positions outside count as the first or the last one.

    Args:
      index: integer scalar.
      branches: sequence of functions, as for `cond`.
      *operands: pytrees of arrays.

    Returns: what the chosen function returns.
    """
    if not branches:
        raise ValueError(f"switch needs at least one branch ({location.text()})")
    number = core.as_array(index, "the index of switch")
    _check_scalar("switch", "index", number)
    if number.dtype_name not in dtypes.INTEGERS:
        raise TypeError(f"the index of switch must be an integer, found {number.describe()}")
    if len(branches) == 1:
        return branches[0](*operands)
    clamped = core.elementwise("maximum", core.cast(number, "i64"), 0)
    return _branch("switch", "case", clamped, list(branches), operands)


def _check_scalar(what, role, x):
    if x.shape:
        raise TypeError(
            f"the {role} of {what} must be a scalar, found {x.describe()}; weir.numpy.where chooses"
            f" element by element ({location.text()})"
        )


def _branch(name, op, selector, functions, operands):
    trace = tracing.current()
    operands = tree.map(
        lambda x: core.as_array(x) if core.is_scalar(x) or core.is_numpy(x) else x, operands
    )
    regions, results, structures, paths = [], [], [], []
    captured = set()
    unknown = None
    for function in functions:
        region = trace.new_region()
        regions.append(region)
        try:
            with trace.inside(region):
                result = function(*operands)
                leaves, structure = tree.flatten(result)
                paths = tree.paths(result, "the result")
                what = f"a result of a {name} branch"
                results.append([core.as_array(leaf, what) for leaf in leaves])
            structures.append(structure)
        except tracing.UnknownResults as error:
            unknown = error
        captured |= trace.last_used
    if unknown is not None:
        return _of_known_branches(name, unknown, paths, results, structures)
    _check_structures(name, structures)
    types = [_common_type(name, path, column) for path, column in zip(paths, zip(*results))]
    for region, leaves in zip(regions, results):
        with trace.inside(region):
            cast = [core.cast(x, *kind) for x, kind in zip(leaves, types)]
            trace.yield_(region, [x.value for x in cast])
        captured |= {x.value for x in leaves}
    outputs = core.apply_all(op, [selector], {}, regions, captured)
    for output, (_, weak_type) in zip(outputs, types):
        output.weak_type = weak_type
    return tree.unflatten(structures[0], outputs)


def _of_known_branches(name, unknown, paths, results, structures):
    """Returns: values of the types of those branches that do not wait for a recursive call."""
    if not results:
        raise unknown
    _check_structures(name, structures)
    types = [_common_type(name, path, column) for path, column in zip(paths, zip(*results))]
    outputs = []
    for first, (dtype_name, weak_type) in zip(results[0], types):
        output = core.full(first.shape, 0, dtype_name)
        output.weak_type = weak_type
        outputs.append(output)
    return tree.unflatten(structures[0], outputs)


def _check_structures(name, structures):
    for i, structure in enumerate(structures):
        if structure != structures[0]:
            raise TypeError(
                f"the branches of {name} return different structures: {structures[0]} (branch 0)"
                f" and {structure} (branch {i}) ({location.text()})"
            )


def _common_type(name, path, leaves):
    """Returns: (element type, weak) of one leaf over all branches; only weak types bend."""
    texts = " and ".join(f"{x.describe()} (branch {i})" for i, x in enumerate(leaves))
    if not all(dims.same_shape(leaf.shape, leaves[0].shape) for leaf in leaves):
        raise TypeError(
            f"the branches of {name} return different shapes for {path}: {texts}"
            f" ({location.text()})"
        )
    strong = {x.dtype_name for x in leaves if not x.weak_type}
    if len(strong) > 1:
        raise TypeError(
            f"the branches of {name} return different element types for {path}: {texts}; convert"
            f" with .astype ({location.text()})"
        )
    met = dtypes.promote([(x.dtype_name, x.weak_type) for x in leaves])
    if strong and met[0] not in strong:
        raise TypeError(
            f"the branches of {name} return different element types for {path}: {texts}"
            f" ({location.text()})"
        )
    return met
