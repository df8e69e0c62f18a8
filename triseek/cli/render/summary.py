"""One line a file: counts, or just the path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli.render.found import Counts

if TYPE_CHECKING:
    from triseek.cli.render.found import Found
    from triseek.cli.render.look import Look
    from triseek.cli.render.output import Output


class CountLines:
    """-c and --count-matches: `path:count`."""

    def __init__(self, look: Look, out: Output) -> None:
        self.counts = Counts()
        self._look = look
        self._out = out

    def file(self, found: Found) -> None:
        """Write how often a file matched."""
        look = self._look
        before = self._out.written
        named = b""
        if look.path:
            named = look.colored_path(found.path) + (look.path_terminator or b":")
        self._out.write(named + b"%d" % found.count + look.line_end)
        self.counts.files_matched += found.count > 0
        self.counts.bytes_printed += self._out.written - before


class PathLines:
    """-l, --files-without-match and --files: the path."""

    def __init__(self, look: Look, out: Output) -> None:
        self.counts = Counts()
        self._look = look
        self._out = out

    def file(self, found: Found) -> None:
        """Write the path of a file."""
        self.counts.files_matched += found.count > 0
        self.path(found.path)

    def path(self, path: bytes) -> None:
        """Write a path."""
        look = self._look
        line = look.colored_path(path) + (look.path_terminator or look.line_end)
        self._out.write(line)
        self.counts.bytes_printed += len(line)


class Silence:
    """-q: nothing at all."""

    def __init__(self) -> None:
        self.counts = Counts()

    def file(self, found: Found) -> None:
        """Remember that there was something."""
        self.counts.files_matched += found.count > 0
