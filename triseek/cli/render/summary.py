"""Renderers that write less than lines: a count or the path; and their statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli.render.file_matches import Renderer, line_count, located

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.cli.render.file_matches import FileMatches
    from triseek.cli.render.style import OutputStyle
    from triseek.engine.search.backends.base import Batch
    from triseek.terminal.command_context import Output


class _Lines(Renderer):
    """Writes a line for each file."""

    is_plain = True

    def __init__(self, look: OutputStyle, out: Output) -> None:
        super().__init__()
        self._look = look
        self._out = out

    def file(self, file: FileMatches) -> None:
        """Write the line of a file."""
        super().file(file)
        self._write([file.path], [file.hits])

    def batch(self, batch: Batch, shown: Callable[[bytes], bytes]) -> None:
        """Write the lines of many files."""
        super().batch(batch, shown)
        self._write(list(map(shown, batch.paths)), batch.counts.tolist())

    def _write(self, paths: list[bytes], counts: list[int]) -> None:
        raise NotImplementedError


class CountLines(_Lines):
    """Renderer for -c and --count-matches: writes `path:count`."""

    def _write(self, paths: list[bytes], counts: list[int]) -> None:
        look, leads = self._look, [b""] * len(paths)
        if look.path:
            leads = [look.colored_path(path) + (look.path_terminator or b":") for path in paths]
        lines = (b"%b%d%b" % (*line, look.line_end) for line in zip(leads, counts, strict=True))
        self._out.write(b"".join(lines))


class PathLines(_Lines):
    """Renderer for -l, --files-without-match and --files: writes the path."""

    def _write(self, paths: list[bytes], counts: list[int]) -> None:  # noqa: ARG002
        self.paths(paths)

    def paths(self, paths: list[bytes]) -> None:
        """Write paths."""
        look = self._look
        end = look.path_terminator or look.line_end
        if look.palette or look.path_separator:
            paths = list(map(look.colored_path, paths))
        if paths:
            self._out.write(end.join(paths) + end)


class Tallied(Renderer):
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
            lines += line_count(line)
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
