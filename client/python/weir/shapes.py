"""The sizes that `weir.jit` leaves open: what its `shapes` says, and what a call makes of it."""

import functools
import inspect

from weir import dims, errors, location, program, tree
from weir.dims import Dim


class Shapes:
    """The `shapes` of one jitted function: a pytree of texts for each argument."""

    def __init__(self, function, shapes):
        self._by_position = shapes if isinstance(shapes, (tuple, list)) else None
        self._by_name = shapes if isinstance(shapes, dict) else None
        self._for_all = shapes if isinstance(shapes, str) else None
        if (self._by_position, self._by_name, self._for_all) == (None, None, None):
            raise TypeError(
                "shapes must be a text such as 'n, ...', a tuple with one entry for each argument,"
                f" or a dictionary by the names of arguments, found {shapes!r} ({location.text()})"
            )
        for text in tree.leaves(shapes):
            if not isinstance(text, str):
                raise TypeError(
                    f"shapes must hold texts such as 'n, ...' and None, found {text!r}"
                    f" ({location.text()})"
                )
            _parsed(text)
        self._parameters = _parameters(function)
        self._check_names(function)

    def _check_names(self, function):
        if self._by_name is None or self._parameters is None:
            return
        unknown = [name for name in self._by_name if name not in self._parameters]
        if unknown:
            name = getattr(function, "__name__", "function")
            raise TypeError(
                f"shapes names {unknown[0]!r}, but the arguments of {name} are"
                f" {', '.join(self._parameters)} ({location.text()})"
            )

    def open(self, arguments, types):
        """Puts the symbols into the types of the leaves of a call.

        Returns: (types, values of the symbols that are no size of an argument themselves).

        Raises: InvalidArgument naming arguments, axes and sizes where the call does not fit.
        """
        texts = self._texts(arguments)
        opened = []
        sizes = _Sizes(arguments.function_name)
        for text, kind, name in zip(texts, types, arguments.names):
            if text is None:
                opened.append(kind)
                continue
            shape = _shape(text, kind.shape, name, arguments.function_name)
            opened.append(program.InputType(kind.dtype_name, shape, kind.weak_type))
            for axis, (size, found) in enumerate(zip(shape, kind.shape)):
                sizes.add(size, found, name, axis)
        values = sizes.solve()
        given = dims.given_by([size for kind in opened for size in kind.shape])
        return opened, {name: values[name] for name in sorted(values) if name not in given}

    def _texts(self, arguments):
        """Returns: the text for each leaf, or None."""
        if self._for_all is not None:
            return [self._for_all] * len(arguments.names)
        positional, keywords = arguments.parts(arguments.names)
        texts = []
        if self._by_position is not None:
            count = max((position for position, _ in positional), default=-1) + 1
            if len(self._by_position) < count:
                raise ValueError(
                    f"shapes has {len(self._by_position)} entries and the call of"
                    f" {arguments.function_name} {count} arguments ({location.text()})"
                )
        for position, each in positional:
            texts += tree.broadcast_prefix(self._entry(position), each, "shapes: the entry")
        for name in sorted(keywords):
            entry = (self._by_name or {}).get(name)
            if self._by_position is not None and name in (self._parameters or ()):
                entry = self._entry(self._parameters.index(name))
            texts += tree.broadcast_prefix(entry, keywords[name], f"shapes: {name}")
        return texts

    def _entry(self, position):
        if self._by_position is not None:
            return self._by_position[position] if position < len(self._by_position) else None
        names = self._parameters or ()
        return self._by_name.get(names[position]) if position < len(names) else None


def _parameters(function):
    """Returns: the names of the parameters, or None where any name may be one."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return None
    return [each.name for each in parameters if each.kind is not each.VAR_POSITIONAL]


@functools.lru_cache(maxsize=1024)
def _parsed(text):
    """Returns: a tuple of sizes, "_" for one as it is found, "..." for the axes that are left."""
    entries = [part.strip() for part in _split(text)]
    if entries.count("...") > 1:
        raise ValueError(f"shapes: '{text}' has more than one ellipsis ({location.text()})")
    return tuple(
        entry if entry in ("_", "...") else _parsed_size(entry, text) for entry in entries
    )


def _parsed_size(entry, text):
    try:
        size = Dim._parse(entry)
    except errors.InvalidArgument as error:
        raise ValueError(f"shapes: '{text}': {error} ({location.text()})") from None
    if not dims.known(size) and size._is_unknown:
        raise ValueError(f"shapes: '{text}' has an unknown size ({location.text()})")
    return size


def _split(text):
    """Splits at the commas outside of parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts if len(parts) > 1 or parts[0].strip() else []


def _shape(text, found, name, function_name):
    """Returns: the shape of an argument with the sizes of a text."""
    entries = list(_parsed(text))
    wanted = len(entries)
    if "..." in entries:
        at = entries.index("...")
        wanted -= 1
        entries[at : at + 1] = ["_"] * (len(found) - wanted)
    if len(entries) != len(found):
        raise errors.InvalidArgument(
            f"argument {name} of {function_name} has {len(found)} axes {tuple(found)}, but shapes"
            f" says '{text}' ({location.text()})"
        )
    return tuple(size if entry == "_" else entry for entry, size in zip(entries, found))


class _Sizes:
    """Pairs of what a size is to be and what a call has, and the values that follow."""

    def __init__(self, function_name):
        self._function_name = function_name
        self._open = []  # (size, number, place)
        self._values = {}
        self._places = {}  # which axis gave a symbol its value

    def add(self, size, found, name, axis):
        """Notes one axis of one argument."""
        if type(size) is Dim or size != found:
            self._open.append((size, found, f"axis {axis} of {name}"))

    def solve(self):
        """Returns: the values of the symbols. Raises: InvalidArgument."""
        while self._open:
            left = [each for each in self._open if not self._settle(*each)]
            if len(left) == len(self._open):
                size, _, place = left[0]
                raise errors.InvalidArgument(
                    f"the arguments of {self._function_name} do not tell the symbols of {size},"
                    f" {place} ({location.text()}); each symbol needs an axis that is the symbol,"
                    " or a multiple of it with a number added"
                )
            self._open = left
        return self._values

    def _settle(self, size, found, place):
        """Returns: whether all symbols of the size are known, or it gives the one that is not."""
        if type(size) is Dim and size._is_symbol and str(size) not in self._values:
            return self._take(str(size), found, found, place)
        wanted = size if dims.known(size) else size._substituted(self._values)
        if dims.known(wanted):
            if wanted != found:
                raise self._misfit(size, found, place, wanted)
            return True
        unknown = sorted(dims.symbols(wanted))
        if len(unknown) > 1:
            return False
        (symbol,) = unknown
        base = wanted._substituted({symbol: 0})
        step = wanted._substituted({symbol: 1}) - base
        if step < 1 or not dims.same(wanted, Dim._parse(symbol) * step + base):
            return False
        value, rest = divmod(found - base, step)
        if rest or value < 0:
            raise errors.InvalidArgument(
                f"{place} of {self._function_name} has size {found}, which {size} is for no"
                f" {symbol} of 0 or more{self._known_text(size)} ({location.text()})"
            )
        return self._take(symbol, value, found, place)

    def _take(self, symbol, value, found, place):
        self._values[symbol] = value
        self._places[symbol] = f"{place} has size {found}"
        return True

    def _misfit(self, size, found, place, wanted):
        if dims.known(size):
            return errors.InvalidArgument(
                f"{place} of {self._function_name} has size {found}, but shapes says {size}"
                f" ({location.text()})"
            )
        return errors.InvalidArgument(
            f"{place} of {self._function_name} has size {found}, but {size} is {wanted}"
            f"{self._known_text(size)} ({location.text()})"
        )

    def _known_text(self, size):
        told = [f"{symbol} = {self._values[symbol]} as {self._places[symbol]}"
                for symbol in sorted(dims.symbols(size)) if symbol in self._values]
        return f" ({', '.join(told)})" if told else ""
