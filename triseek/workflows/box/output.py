"""What a script prints, as it comes: capped, with the line of the result kept apart."""

from __future__ import annotations

from triseek.workflows.execution import MARKER

MAX_OUTPUT_BYTES = 16 << 20
"""A script that prints more, on both streams, is ended."""
_MARKER = MARKER.encode()


class Output:
    """One stream of a script. Its memory is bounded by the caps, whatever is printed.

    Args:
        name: `stdout` or `stderr`, for the note on what was cut.
        cap: bytes that are kept.
        result_cap: bytes of a result that are kept; None if results are not looked for.
    """

    def __init__(self, name: str, cap: int, result_cap: int | None = None) -> None:
        self._name = name
        self._cap = cap
        self._result_cap = result_cap
        self._text = bytearray()
        self._begin = bytearray()
        """The line's first bytes, as long as it may be that of a result."""
        self._in_marker = False
        self._in_line = result_cap is None
        self._result: bytearray | None = None
        self.bytes_seen = 0
        self.truncated = False
        self.result_too_long = False

    @property
    def result(self) -> bytes | None:
        """The last result that was printed, as JSON; None if there is none, or it is too long."""
        return None if self._result is None or self.result_too_long else bytes(self._result)

    @property
    def has_marker(self) -> bool:
        """Whether a result was printed, whatever its length."""
        return self._result is not None

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self.bytes_seen += len(data)
        if self._result_cap is None:
            self._keep(data)
            return
        for piece in data.splitlines(keepends=True) if b"\r" not in data else _lines(data):
            self._take(piece)

    def text(self) -> str:
        """What was kept, with a note if there was more."""
        if self._begin:
            self._keep(bytes(self._begin))
            self._begin.clear()
        text = self._text.decode("utf-8", "replace")
        if self.truncated:
            text += f"\n[{self._name} truncated at {self._cap} bytes]"
        return text

    def _take(self, piece: bytes) -> None:
        """Take a line, or a part of one."""
        if not self._in_line and not self._in_marker:
            self._begin += piece[: len(_MARKER)]
            rest = piece[len(_MARKER) :]
            # The line may come in parts, each shorter than the marker.
            if len(self._begin) > len(_MARKER):
                rest = bytes(self._begin[len(_MARKER) :]) + rest
                del self._begin[len(_MARKER) :]
            if self._begin == _MARKER:
                self._begin.clear()
                self._in_marker, self._result, self.result_too_long = True, bytearray(), False
                if self._text == b"\n" or self._text.endswith(b"\n\n"):
                    del self._text[-1]  # of the box: what was printed need not end a line
            elif _MARKER.startswith(self._begin):
                return
            else:
                self._in_line = True
                rest = bytes(self._begin) + rest
                self._begin.clear()
            piece = rest
        if self._in_marker:
            self._keep_result(piece)
        else:
            self._keep(piece)
        if piece.endswith(b"\n"):
            self._in_line = self._in_marker = False

    def _keep(self, data: bytes) -> None:
        room = self._cap - len(self._text)
        self._text += data[:room]
        self.truncated |= len(data) > room

    def _keep_result(self, data: bytes) -> None:
        assert self._result is not None and self._result_cap is not None  # noqa: PT018, S101
        room = self._result_cap - len(self._result)
        if len(data.rstrip(b"\n")) > room:
            self.result_too_long = True
            self._result.clear()
        elif not self.result_too_long:
            self._result += data


def _lines(data: bytes) -> list[bytes]:
    """Lines that end at line feeds; `bytes.splitlines` ends them at carriage returns too."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return [line for line in lines if line]
