"""Statistics for renderers that show less than lines: -c, -l and -q with --stats or --json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli.render.found import located

if TYPE_CHECKING:
    from triseek.cli.render.found import Found, Renderer
    from triseek.cli.render.look import Look


class Tallied:
    """Counts what is in the rows, then passes the file on with the count it is to show."""

    def __init__(self, renderer: Renderer, look: Look, *, matches: bool) -> None:
        self.counts = renderer.counts
        self._renderer = renderer
        self._look = look
        self._matches = matches
        """Show matches, not lines."""

    def file(self, found: Found) -> None:
        """Count, and pass on."""
        matches = lines = rows = 0
        for _, offset, begin, end, context in found.rows:
            if context:
                continue
            line = found.text[begin:end]
            lines += line.count(b"\n") + (not line.endswith(b"\n"))
            spans = located(found, line, offset, line_end=self._look.line_end)
            # What ripgrep does not find again where it counts is one match all the same.
            matches += max(1, len(spans))
            rows += 1
        self.counts.matches += matches
        self.counts.matched_lines += lines
        if found.nul is not None and found.nul.stopped:
            self.counts.files_matched += 1
            return
        shown = matches if self._matches or found.multiline else rows
        self._renderer.file(found._replace(hits=shown))
