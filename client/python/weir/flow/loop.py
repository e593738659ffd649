"""Loops of a flow: what enters one goes round, trip after trip, and leaves it."""

from weir import errors, location
from weir.flow import columns
from weir.flow.open_stream import OpenStream
from weir.flow.stream import Stream


class Loop:
    """A loop of a flow, and a context manager: loops that are made inside are inside of it.

    Records that enter come into a trip, 0 by default; what is fed back comes into the next one;
    what leaves has the time that it had outside, whatever its trip was.

    Attributes:
      flow: the `Flow` that it is part of.
      name: of the loop.
    """

    def __init__(self, flow, name, number):
        self.flow = flow
        self.name = name
        self._number = number
        self._entered = []
        self._open = {}

    def enter(self, stream, trip=0, name=None):
        """Returns: the records of a stream outside of the loop, inside of it in this trip."""
        attrs = {"loop": self.name, "trip": trip} if trip else {"loop": self.name}
        entered = self.flow._add("enter", [stream], attrs, name)
        self._entered.append(entered.types)
        return entered

    def leave(self, stream, name=None):
        """Returns: the records of a stream inside of the loop, outside of it. Those of all trips
        come out.
        """
        return self.flow._add("leave", [stream], {}, name)

    def feedback(self, like=None, name=None):
        """Makes a stream whose records are fed back: they are said later, by its `set`.

        Args:
          like: a stream with the same columns, or a list of the columns as `Flow.input` takes
            them. By default they are those of what has entered the loop.

        Returns: a `Feedback`.

        Raises: InvalidArgument where streams with different columns, or none, have entered and
        `like` is missing.
        """
        if isinstance(like, Stream):
            types = like.types
        elif like is not None:
            types = tuple(map(columns.parse_column, like))
        elif len(set(self._entered)) == 1:
            types = self._entered[0]
        else:
            what = "several kinds of records have" if self._entered else "nothing has"
            raise errors.InvalidArgument(
                f"feedback in loop '{self.name}' needs like=: {what} entered the loop"
                f" ({location.text()})"
            )
        made = self.flow._add_open("feedback", self._number, types, {}, name)
        feedback = Feedback(self, *made)
        self._open[feedback.name] = location.text()
        return feedback

    def __enter__(self):
        self.flow._loops.append(self)
        return self

    def __exit__(self, kind, error, traceback):
        self.flow._loops.remove(self)
        if kind is None and self._open:
            name, place = next(iter(self._open.items()))
            raise errors.FailedPrecondition(
                f"nothing is fed back to '{name}' of loop '{self.name}', made at {place}; use set"
            )

    def __repr__(self):
        return f"weir.flow.Loop({self.name})"


class Feedback(OpenStream):
    """A stream of records that come from the trip before."""

    def __init__(self, loop, vertex, name):
        super().__init__(loop.flow, vertex, name)
        self._loop = loop

    def set(self, stream, bound=None):
        """Says which records are fed back; once.

        Args:
          stream: inside of the loop, with the same columns.
          bound: how many trips there are at most. What would begin another one is dropped. Without
            it the loop ends when nothing goes round any more.
        """
        self._set(stream, {} if bound is None else {"bound": bound})
        del self._loop._open[self.name]
