"""Names that are taken."""


class Names:
    """A set of names, which finds free ones without trying again those that it found taken.

    With `around`, names that are added go into this set only, so that they can be forgotten with
    it, or taken over by `absorb`.
    """

    def __init__(self, around=None):
        self._around = around
        self._own = set()
        self._numbers = {}  # by name: the last one that was given out behind it

    def __contains__(self, name):
        return name in self._own or (self._around is not None and name in self._around)

    def add(self, name):
        self._own.add(name)

    def update(self, names):
        self._own.update(names)

    def discard(self, name):
        self._own.discard(name)

    def absorb(self, inner):
        """Takes over what was added to a set around which this one is."""
        self._own |= inner._own
        for name, number in inner._numbers.items():
            self._numbers[name] = max(number, self._numbers.get(name, 0))

    def free(self, name):
        """Returns: the name, or with a number from 2 on behind it if it is taken."""
        return name if name not in self else self.numbered(name, 2)

    def numbered(self, name, first=1):
        """Returns: the name with a free number behind it, from `first` on."""
        number = max(first, self._last_number(name))
        while (numbered := f"{name}_{number}") in self:
            number += 1
        self._numbers[name] = number
        return numbered

    def _last_number(self, name):
        around = self._around._last_number(name) if self._around is not None else 0
        return max(around, self._numbers.get(name, 0))
