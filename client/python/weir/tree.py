"""Pytrees: arrays inside nested tuples, lists, dictionaries, named tuples and instances of classes
that are registered. None is a tree without leaves.
"""

import dataclasses

from weir import location

__all__ = "broadcast_prefix flatten leaves map paths register unflatten".split()

_registered = {}  # for a class: (names of attributes that are trees, names of fixed ones)


def register(kind, fields=None, fixed=()):
    """Makes the instances of a class trees.

    Args:
      kind: a class; `kind(**attributes)` makes an instance, with whatever stands in for arrays.
      fields: names of its attributes that are trees; of a dataclass by default all that are not
        fixed.
      fixed: names of those that are part of the structure: hashable, known while tracing, and equal
        where two trees are to have one structure.

    Returns: `kind`.

    Raises: TypeError without fields for what is no dataclass.
    """
    if fields is None:
        if not dataclasses.is_dataclass(kind):
            raise TypeError(f"name the fields of {kind.__name__}, which is no dataclass")
        fields = [each.name for each in dataclasses.fields(kind) if each.name not in fixed]
    _registered[kind] = (tuple(fields), tuple(fixed))
    return kind


class Structure:
    """What is left of a tree without its leaves. Hashable; equal structures compare equal."""

    __slots__ = ("kind", "keys", "children", "fixed")

    def __init__(self, kind, keys=(), children=(), fixed=()):
        self.kind = kind
        self.keys = tuple(keys)
        self.children = tuple(children)
        self.fixed = tuple(fixed)

    def __eq__(self, other):
        return isinstance(other, Structure) and self._identity() == other._identity()

    def __hash__(self):
        return hash(self._identity())

    def _identity(self):
        return (self.kind, self.keys, self.children, self.fixed)

    @property
    def num_leaves(self):
        """How many arrays a tree of this structure has."""
        if self.kind is LEAF:
            return 1
        return sum(child.num_leaves for child in self.children)

    def has_fixed(self, predicate):
        """Returns: whether the predicate holds for a fixed attribute of a registered class."""
        in_children = (child.has_fixed(predicate) for child in self.children)
        return any(predicate(each) for each in self.fixed) or any(in_children)

    def map_fixed(self, function):
        """Returns: the structure with other fixed attributes of registered classes."""
        children = [child.map_fixed(function) for child in self.children]
        return Structure(self.kind, self.keys, children, [function(each) for each in self.fixed])

    def __repr__(self):
        if self.kind is LEAF:
            return "*"
        if self.kind is type(None):
            return "None"
        if self.kind is dict:
            pairs = zip(self.keys, self.children)
            return "{" + ", ".join(f"{key!r}: {child!r}" for key, child in pairs) + "}"
        parts = ", ".join([repr(child) for child in self.children] + [repr(x) for x in self.fixed])
        if self.kind is list:
            return f"[{parts}]"
        name = "" if self.kind is tuple else self.kind.__name__
        return f"{name}({parts}{',' if len(self.children) == 1 else ''})"


LEAF = "leaf"
_LEAF_STRUCTURE = Structure(LEAF)


def _parts(tree):
    """Returns: (kind, keys, children), or None for a leaf."""
    if tree is None:
        return type(None), (), ()
    if type(tree) is dict:
        try:
            keys = sorted(tree)
        except TypeError:
            keys = sorted(tree, key=lambda key: (type(key).__name__, repr(key)))
        return dict, keys, [tree[key] for key in keys]
    if type(tree) in (tuple, list):
        return type(tree), (), list(tree)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree), tree._fields, list(tree)
    if type(tree) in _registered:
        fields, _ = _registered[type(tree)]
        return type(tree), fields, [getattr(tree, name) for name in fields]
    return None


def flatten(tree):
    """Returns: (leaves, structure), with dictionaries in the order of their keys."""
    leaves = []
    return leaves, _collect(tree, leaves)


def _collect(tree, leaves):
    parts = _parts(tree)
    if parts is None:
        leaves.append(tree)
        return _LEAF_STRUCTURE
    kind, keys, children = parts
    fixed = _registered[kind][1] if kind in _registered else ()
    children = [_collect(child, leaves) for child in children]
    return Structure(kind, keys, children, [getattr(tree, name) for name in fixed])


def unflatten(structure, leaves):
    """Returns: the tree of this structure with these leaves, in the order of `flatten`."""
    return _rebuild(structure, iter(leaves))


def _rebuild(structure, leaves):
    kind = structure.kind
    if kind is LEAF:
        return next(leaves)
    if kind is type(None):
        return None
    children = [_rebuild(child, leaves) for child in structure.children]
    if kind is dict:
        return dict(zip(structure.keys, children))
    if kind in (tuple, list):
        return kind(children)
    if kind in _registered:
        fields, fixed = _registered[kind]
        return kind(**dict(zip(fields, children)), **dict(zip(fixed, structure.fixed)))
    return kind(*children)


def leaves(tree):
    """Returns: the leaves of `tree` in the order of `flatten`."""
    return flatten(tree)[0]


def map(function, tree, *rest):  # pylint: disable=redefined-builtin
    """Applies `function` to each leaf, together with the leaves of further trees of the same
    structure.

    Raises: ValueError where structures differ.
    """
    first, structure = flatten(tree)
    columns = [first]
    for other in rest:
        values, found = flatten(other)
        if found != structure:
            raise ValueError(
                f"trees have different structures: {structure} and {found} ({location.text()})"
            )
        columns.append(values)
    return unflatten(structure, [function(*row) for row in zip(*columns)])


def paths(tree, prefix):
    """Returns: one name for each leaf, such as `params['w'][0]`."""
    parts = _parts(tree)
    if parts is None:
        return [prefix]
    kind, keys, children = parts
    if kind is dict:
        steps = [f"[{key!r}]" for key in keys]
    elif kind in (tuple, list):
        steps = [f"[{i}]" for i in range(len(children))]
    else:
        steps = [f".{key}" for key in keys]
    return [path for step, child in zip(steps, children) for path in paths(child, prefix + step)]


def broadcast_prefix(prefix, tree, what):
    """Returns: for each leaf of `tree` the leaf of `prefix` above it; None counts as a leaf of
    `prefix`.

    Raises: ValueError naming `what` where `prefix` is no tree above `tree`.
    """
    if prefix is None or _parts(prefix) is None:
        return [prefix] * len(leaves(tree))
    ours, theirs = _parts(prefix), _parts(tree)
    fits = (
        theirs is not None and len(ours[2]) == len(theirs[2]) and list(ours[1]) == list(theirs[1])
    )
    if not fits:
        raise ValueError(
            f"{what} {prefix!r} does not fit the structure {flatten(tree)[1]} ({location.text()})"
        )
    out = []
    for ours_child, theirs_child in zip(ours[2], theirs[2]):
        out.extend(broadcast_prefix(ours_child, theirs_child, what))
    return out
