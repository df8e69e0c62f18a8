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

    def __init__(self, look: Look, out: Output, *, zero: bool = False) -> None:
        self.counts = Counts()
        self._look = look
        self._out = out
        self._zero = zero
        """Count matches in lines that have none: ripgrep says 0."""

    def file(self, found: Found) -> None:
        """Write how often a file matched."""
        look = self._look
        count = 0 if self._zero else found.hits
        named = b""
        if look.path:
            named = look.colored_path(found.path) + (look.path_terminator or b":")
        self._out.write(named + b"%d" % count + look.line_end)
        self.counts.files_matched += found.hits > 0


class PathLines:
    """-l, --files-without-match and --files: the path."""

    def __init__(self, look: Look, out: Output) -> None:
        self.counts = Counts()
        self._look = look
        self._out = out

    def file(self, found: Found) -> None:
        """Write the path of a file."""
        self.counts.files_matched += found.hits > 0
        self.path(found.path)

    def path(self, path: bytes) -> None:
        """Write a path."""
        look = self._look
        self._out.write(look.colored_path(path) + (look.path_terminator or look.line_end))


class Silence:
    """-q: nothing at all."""

    def __init__(self) -> None:
        self.counts = Counts()

    def file(self, found: Found) -> None:
        """Remember that there was something."""
        self.counts.files_matched += found.hits > 0
