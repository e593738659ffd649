"""What a trace keeps of the program under construction, so that it can be walked and run again.

The program itself is in C++; here stands what was asked of it, in order: nodes by region, with the
values that they take and give. Values are the integers of the builder.
"""

import contextlib


class Node:
    """One operation.

    Attributes:
      op: its name in the registry.
      inputs, outputs: values.
      attrs: as they were given.
      bodies: `Body` of each of its regions.
      location: (file, line) of the user's code.
    """

    __slots__ = ("op", "inputs", "outputs", "attrs", "bodies", "location")

    def __init__(self, op, inputs, outputs, attrs, bodies, location):
        self.op = op
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = attrs
        self.bodies = bodies
        self.location = location

    def used(self):
        """Returns: the values that it takes, those that its regions capture included."""
        found = dict.fromkeys(self.inputs)
        for body in self.bodies:
            found.update(dict.fromkeys(body.free()))
        return found


class Scope(Node):
    """Operations that are differentiated as one, by a rule of their own.

    Attributes:
      op: what errors call it.
      nodes: what they are.
      rule: how it is differentiated, see `autodiff/custom.py`.
    """

    __slots__ = ("nodes", "rule")

    def __init__(self, op, inputs, outputs, nodes, rule, location):
        super().__init__(op, inputs, outputs, {}, (), location)
        self.nodes = nodes
        self.rule = rule

    def used(self):
        """Returns: the values of other operations that it takes."""
        return dict.fromkeys([*self.inputs, *_free_of(self.nodes, ())])


class Body:
    """A region: arguments, nodes in order, and, once it is complete, results."""

    __slots__ = ("args", "nodes", "results", "_free")

    def __init__(self):
        self.args = []
        self.nodes = []
        self.results = None
        self._free = None

    @classmethod
    def of_contents(cls, contents):
        """Returns: a body that the builder tells of, see `ProgramBuilder::Contents`."""
        made = cls()
        made.args, nodes, made.results = contents
        for op, inputs, outputs, attrs, bodies, *location in nodes:
            bodies = [cls.of_contents(each) for each in bodies]
            made.nodes.append(Node(op, inputs, outputs, attrs, bodies, tuple(location)))
        return made

    def free(self):
        """Returns: the values of regions around that it uses, of a complete region."""
        if self._free is None:
            self._free = _free_of(self.nodes, self.args, self.results)
        return self._free

    @contextlib.contextmanager
    def apart(self):
        """Nodes go to a list of their own, which is what this gives."""
        before = self.nodes
        self.nodes = []
        try:
            yield self.nodes
        finally:
            self.nodes = before


def all_nodes(nodes):
    """Yields nodes, and those inside of them."""
    for node in nodes:
        yield node
        if isinstance(node, Scope):
            yield from all_nodes(node.nodes)
        for body in node.bodies:
            yield from all_nodes(body.nodes)


def _free_of(nodes, args, results=()):
    own = set(args)
    found = {}
    for node in nodes:
        found.update((value, None) for value in node.used() if value not in own)
        own.update(node.outputs)
        if isinstance(node, Scope):
            own.update(value for inner in node.nodes for value in inner.outputs)
    found.update((value, None) for value in results if value not in own)
    return tuple(found)
