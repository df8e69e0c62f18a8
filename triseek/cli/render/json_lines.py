"""`--json`: ripgrep's JSON Lines messages begin, match, context, end and summary.

Messages are formatted piece by piece, because the order of keys is ripgrep's and the volume is
large. Times differ from run to run; everything else is equal to ripgrep's output, byte for byte.
"""

from __future__ import annotations

from base64 import b64encode
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from triseek.cli.render.file_matches import (
    Renderer,
    line_count,
    located,
    may_hold_matches,
    seen_with,
)
from triseek.model import budget

if TYPE_CHECKING:
    from triseek.cli.render.file_matches import FileMatches, SearchCounts
    from triseek.cli.render.replace import Replacer
    from triseek.cli.render.report import SearchReport
    from triseek.cli.render.style import OutputStyle
    from triseek.terminal.command_context import Output


class JsonLines(Renderer):
    """Renderer that writes JSON Lines messages."""

    def __init__(self, look: OutputStyle, out: Output, replacer: Replacer | None = None) -> None:
        super().__init__()
        self._replacer = replacer
        self._look = look
        self._out = out

    def file(self, file: FileMatches) -> None:
        """Write begin, a message per row, and end."""
        if not len(file.rows):
            return
        path = data(file.path)
        before = self._out.written
        self._out.write(_line(f'{{"type":"begin","data":{{"path":{path}}}}}'))
        matches, lines = self._rows(file, path)
        printed = self._out.written - before
        self._out.write(_line(self._end(file, path, printed, matches, lines)))
        counts = self.counts
        counts.matches += matches
        counts.matched_lines += lines
        super().file(file)  # --passthru shows files without a match
        counts.bytes_printed += printed

    def _rows(self, file: FileMatches, path: str) -> tuple[int, int]:
        """Write the rows; return how many matches and how many matching lines there were."""
        rows, text, pieces = file.rows, file.text, []
        matches = lines = 0
        for number, offset, begin, end, context in rows:
            budget.check()
            line = text[begin:end]
            spans, replacements = [], None
            if may_hold_matches(context=context, invert=self._look.invert):
                line_end = self._look.line_end
                spans = located(file, line, offset, line_end=line_end, context=context)
                if self._replacer and spans:
                    window = seen_with(file, line, offset, line_end=line_end, context=context)
                    known_spans = None if file.multiline else spans
                    replaced, places = self._replacer.replaced(window, known_spans)
                    replacements = [replaced[first:last] for first, last in places]
            if not context:
                matches += len(spans)
                lines += line_count(line)
            kind = "context" if context else "match"
            figure = number if self._look.line_number else "null"
            pieces.append(
                f'{{"type":"{kind}","data":{{"path":{path},"lines":{data(line)},'
                f'"line_number":{figure},"absolute_offset":{offset},'
                f'"submatches":[{_submatches(line, spans, replacements)}]}}}}\n'
            )
        self._out.write("".join(pieces).encode())
        return matches, lines

    def _end(self, file: FileMatches, path: str, printed: int, matches: int, lines: int) -> str:
        binary = "null" if file.nul is None else str(file.nul.offset)
        return (
            f'{{"type":"end","data":{{"path":{path},"binary_offset":{binary},"stats":{{'
            f'"elapsed":{_elapsed(0)},"searches":1,"searches_with_match":{int(file.hits > 0)},'
            f'"bytes_searched":{file.size},"bytes_printed":{printed},'
            f'"matched_lines":{lines},"matches":{matches}}}}}}}'
        )


def _submatches(line: bytes, spans: list[tuple[int, int]], replacements: list[bytes] | None) -> str:
    if replacements is None:
        fields = [""] * len(spans)
    else:
        fields = [f'"replacement":{data(replacement)},' for replacement in replacements]
    return ",".join(
        f'{{"match":{data(line[begin:end])},{field}"start":{begin},"end":{end}}}'
        for (begin, end), field in zip(spans, fields, strict=True)
    )


def summary(counts: SearchCounts, report: SearchReport, seconds: float) -> bytes:
    """Return the last message."""
    nanos, totals = round(seconds * 1e9), report.totals
    return _line(
        f'{{"data":{{"elapsed_total":{_elapsed(nanos, by_name=True)},"stats":{{'
        f'"bytes_printed":{counts.bytes_printed},"bytes_searched":{totals.bytes_searched},'
        f'"elapsed":{_elapsed(nanos, by_name=True)},"matched_lines":{counts.matched_lines},'
        f'"matches":{counts.matches},"searches":{totals.files_searched},'
        f'"searches_with_match":{counts.files_matched}}}}},"type":"summary"}}'
    )


def data(raw: bytes) -> str:
    """Return text as `{"text": …}`, and what is not UTF-8 as `{"bytes": …}` in base64."""
    try:
        return f'{{"text":{encode_basestring(raw.decode())}}}'
    except UnicodeDecodeError:
        return f'{{"bytes":"{b64encode(raw).decode()}"}}'


def _elapsed(nanos: int, *, by_name: bool = False) -> str:
    seconds, rest = divmod(nanos, 1_000_000_000)
    human = f"{nanos / 1e9:.6f}s"
    if by_name:
        return f'{{"human":"{human}","nanos":{rest},"secs":{seconds}}}'
    return f'{{"secs":{seconds},"nanos":{rest},"human":"{human}"}}'


def _line(message: str) -> bytes:
    return message.encode() + b"\n"
