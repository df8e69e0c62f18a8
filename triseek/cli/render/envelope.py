"""`--envelope`: the result as agents get it, in one JSON document.

It has the fields of the documented search envelope (docs of the MCP tools): version, repo_root,
strategy, fallback_used, cache, routing_reason, results, search_id, truncated; and those that
triseek adds: freshness, generation, exact totals, notes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from triseek.cli.render.file_matches import Renderer, located
from triseek.model.plain_text import json_text
from triseek.search.envelopes import STRATEGIES, preview, shown

if TYPE_CHECKING:
    from triseek.cli.render.file_matches import FileMatches
    from triseek.cli.render.report import SearchReport
    from triseek.search.results import MatchLine, SearchResult


class Envelope(Renderer):
    """Renderer that collects results for one document."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[SearchResult] = []

    def file(self, file: FileMatches) -> None:
        """Collect the matching lines of one file."""
        matches = [
            self._match(file, number, offset, file.text[begin:end])
            for number, offset, begin, end, context in file.rows
            if not context
        ]
        self.counts.files_matched += 1
        self.results.append(
            {"path": shown(file.path), "matches": matches, "reason": "content_match"}
        )

    def _match(self, file: FileMatches, number: int, offset: int, line: bytes) -> MatchLine:
        spans = located(file, line, offset, line_end=b"\n")
        column = spans[0][0] + 1 if spans else 1
        if file.multiline:  # the row may begin above the match: report where the match begins
            above = line[: column - 1]
            number += above.count(b"\n")
            column -= above.rfind(b"\n") + 1
            line = line[above.rfind(b"\n") + 1 :].split(b"\n", 1)[0]
        return {"line": number, "column": column, "preview": preview(line, column)}

    def document(self, report: SearchReport) -> bytes:
        """Return the finished document, indented by two."""
        route, totals = report.route, report.totals
        backend = route.backend if route else "direct_scan"
        fallback = backend != "indexed"
        document = {
            "version": "1",
            "repo_root": shown(report.root),
            "strategy": STRATEGIES[backend],
            "fallback_used": fallback,
            "cache": "bypass" if fallback else "miss",
            "routing_reason": route.reason if route else "",
            "files_with_matches": totals.files_matched,
            "total_line_matches": totals.lines,
            "results": self.results,
            "search_id": "search-0001",
            "truncated": totals.truncated,
            "freshness": totals.freshness,
            "generation": totals.generation,
            "dirty": totals.dirty,
            "totals": {
                "files_searched": totals.files_searched,
                "files_matched": totals.files_matched,
                "lines": totals.lines,
                "bytes_searched": totals.bytes_searched,
                "skipped": len(totals.skipped),
                "elapsed_ms": round(totals.elapsed_ms, 3),
            },
            **({"fell_back": route.fell_back} if route and route.fell_back else {}),
            **({"incomplete": totals.incomplete} if totals.incomplete else {}),
            **({"notes": list(report.notes)} if report.notes else {}),
        }
        return (json_text(json.dumps(document, indent=2, ensure_ascii=False)) + "\n").encode()
