"""Flows as pictures, in the language of Graphviz."""

OUTSIDE = -1  # of all loops


class Drawing:
    """The picture of a flow, which grows with it."""

    def __init__(self):
        self._loops = []  # (name, the loop around it)
        self._vertices = {}  # (name, kind, the loop that its records come out in) by number
        self._edges = []  # (from, to, columns, whether it goes back)

    def add_loop(self, name, parent):
        self._loops.append((name, parent))

    def add_vertex(self, number, name, kind, inputs, loop_name=None):
        """Adds a vertex.

        Args:
          inputs: [(number of the vertex that the records come from, their columns)].
          loop_name: of the loop that records enter here, or None.
        """
        loop = self._vertices[inputs[0][0]][2] if inputs else OUTSIDE
        if kind == "enter":
            loop = [each for each, _ in self._loops].index(loop_name)
        elif kind == "leave":
            loop = self._loops[loop][1]
        self._vertices[number] = (name, kind, loop)
        self._edges += [(each, number, columns, False) for each, columns in inputs]

    def add_open(self, number, name, kind, loop):
        self._vertices[number] = (name, kind, loop)

    def close(self, number, source, columns):
        self._edges.append((source, number, columns, True))

    def text(self, name):
        """Returns: the picture, with a frame around each loop and the columns at each stream."""
        lines = [f"digraph {_quoted(name)} {{", "  node [shape=box];"]
        lines += self._inside(OUTSIDE, "  ")
        for source, target, columns, goes_back in self._edges:
            # What goes back does not decide which vertex is above which.
            style = ", style=dashed, constraint=false" if goes_back else ""
            lines.append(f"  v{source} -> v{target} [label={_quoted(columns)}{style}];")
        return "\n".join([*lines, "}"]) + "\n"

    def _inside(self, loop, indent):
        lines = []
        for number, (name, kind, place) in self._vertices.items():
            if place == loop:
                lines.append(f"{indent}v{number} [label={_quoted(name, kind)}];")
        for number, (name, parent) in enumerate(self._loops):
            if parent == loop:
                lines += [
                    f"{indent}subgraph cluster_{number} {{",
                    f"{indent}  label={_quoted(name)};",
                    *self._inside(number, indent + "  "),
                    f"{indent}}}",
                ]
        return lines


def _quoted(*lines):
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
