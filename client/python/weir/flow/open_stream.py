"""Streams whose records are said later, so that cycles can go through them."""

from weir import errors, location
from weir.flow import columns
from weir.flow.stream import Stream


class OpenStream(Stream):
    """A stream that is there before its records are: `set` says once which those are."""

    def __init__(self, flow, vertex, name):
        super().__init__(flow, vertex, name)
        self._is_open = True

    def _set(self, stream, attrs):
        """Says which records come, and further attributes of the vertex."""
        if not self._is_open:
            raise errors.FailedPrecondition(
                f"something comes to '{self.name}' already ({location.text()})"
            )
        if not isinstance(stream, Stream) or stream.flow is not self.flow:
            raise errors.InvalidArgument(
                f"'{self.name}' is set to a stream of flow '{self.flow.name}', found {stream!r}"
                f" ({location.text()})"
            )
        if tuple(stream.types) != tuple(self.types):
            raise errors.InvalidArgument(
                f"'{self.name}' takes {columns.text(self.types)} and is set to '{stream.name}',"
                f" {columns.text(stream.types)} ({location.text()})"
            )
        self.flow._close(self._port[0], stream, attrs)
        self._is_open = False


class Delayed(OpenStream):
    """A stream of records that come from an earlier epoch."""

    def set(self, stream):
        """Says which records are brought into a later epoch; once. They have the same columns."""
        self._set(stream, {})
