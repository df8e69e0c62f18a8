"""Renderers that write less than lines: a count, the path, or nothing; and their statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli.render.file_matches import SearchCounts, located

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.cli.command_context import Output
    from triseek.cli.render.file_matches import FileMatches, Renderer
    from triseek.cli.render.style import OutputStyle
    from triseek.engine.search.backends.base import Batch


class _Lines:
    """Common part of the renderers that write a line for each file."""

    is_plain = True
    """Files stand for themselves."""

    def __init__(self, look: OutputStyle, out: Output) -> None:
        self.counts = SearchCounts()
        self._look = look
        self._out = out


class CountLines(_Lines):
    """Renderer for -c and --count-matches: writes `path:count`."""

    def file(self, file: FileMatches) -> None:
        """Write the count of a file."""
        self._out.write(self._line(file.path, file.hits))
        self.counts.files_matched += file.hits > 0

    def batch(self, batch: Batch, shown: Callable[[bytes], bytes]) -> None:
        """Write the counts of many files."""
        counts = batch.counts.tolist()
        lines = [self._line(shown(path), n) for path, n in zip(batch.paths, counts, strict=True)]
        self._out.write(b"".join(lines))
        self.counts.files_matched += int((batch.counts > 0).sum())

    def _line(self, path: bytes, hits: int) -> bytes:
        look = self._look
        named = b""
        if look.path:
            named = look.colored_path(path) + (look.path_terminator or b":")
        return named + b"%d" % hits + look.line_end


class PathLines(_Lines):
    """Renderer for -l, --files-without-match and --files: writes the path."""

    def file(self, file: FileMatches) -> None:
        """Write the path of a file."""
        self.counts.files_matched += file.hits > 0
        self.paths([file.path])

    def batch(self, batch: Batch, shown: Callable[[bytes], bytes]) -> None:
        """Write the paths of many files."""
        self.counts.files_matched += int((batch.counts > 0).sum())
        self.paths(list(map(shown, batch.paths)))

    def paths(self, paths: list[bytes]) -> None:
        """Write paths."""
        look = self._look
        end = look.path_terminator or look.line_end
        if look.palette or look.path_separator:
            paths = list(map(look.colored_path, paths))
        if paths:
            self._out.write(end.join(paths) + end)


class Silence:
    """Renderer for -q: writes nothing."""

    def __init__(self) -> None:
        self.counts = SearchCounts()

    def file(self, file: FileMatches) -> None:
        """Count a file that has matches."""
        self.counts.files_matched += file.hits > 0


class Tallied:
    """Counts the matches in the rows, then passes the file on with the count to show."""

    def __init__(self, renderer: Renderer, look: OutputStyle, *, matches: bool) -> None:
        self.counts = renderer.counts
        self._renderer = renderer
        self._look = look
        self._matches = matches
        """Show the number of matches, not of lines."""

    def file(self, file: FileMatches) -> None:
        """Count the matches of a file, and pass it on."""
        matches = lines = rows = 0
        for _, offset, begin, end, context in file.rows:
            if context:
                continue
            line = file.text[begin:end]
            lines += line.count(b"\n") + (not line.endswith(b"\n"))
            spans = located(file, line, offset, line_end=self._look.line_end)
            # A row in which ripgrep finds no match again while counting still counts as one match.
            matches += max(1, len(spans))
            rows += 1
        self.counts.matches += matches
        self.counts.matched_lines += lines
        if file.nul is not None and file.nul.stopped:
            self.counts.files_matched += 1
            return
        shown = matches if self._matches or file.multiline else rows
        self._renderer.file(file._replace(hits=shown))
