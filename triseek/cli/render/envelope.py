"""`--envelope`: the result as agents get it, one JSON document.

The documented search envelope (docs of the MCP tools): version, repo_root, strategy,
fallback_used, cache, routing_reason, results, search_id, truncated; and beside them what
triseek adds: freshness, generation, exact totals, notes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triseek.cli.render.found import Counts, located
from triseek.model.plain_text import json_text
from triseek.service.envelopes import STRATEGIES, preview, shown

if TYPE_CHECKING:
    from triseek.cli.render.found import Found
    from triseek.model.search import Route, Totals


class Envelope:
    """Collects results."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.results: list[dict[str, Any]] = []

    def file(self, found: Found) -> None:
        """Collect the matching lines of one file."""
        matches = [
            self._match(found, number, offset, found.text[begin:end])
            for number, offset, begin, end, context in found.rows
            if not context
        ]
        self.counts.files_matched += 1
        self.results.append(
            {"path": shown(found.path), "matches": matches, "reason": "content_match"}
        )

    def _match(self, found: Found, number: int, offset: int, line: bytes) -> dict[str, Any]:
        spans = located(found, line, offset, line_end=b"\n")
        column = spans[0][0] + 1 if spans else 1
        if found.multiline:  # the row may begin above the match: say where the match begins
            above = line[: column - 1]
            number += above.count(b"\n")
            column -= above.rfind(b"\n") + 1
            line = line[above.rfind(b"\n") + 1 :].split(b"\n", 1)[0]
        return {"line": number, "column": column, "preview": preview(line, column)}

    def document(
        self,
        *,
        root: bytes,
        route: Route | None,
        totals: Totals,
        freshness: str,
        generation: int | None,
        notes: tuple[str, ...],
    ) -> bytes:
        """The finished document, indented by two."""
        backend = route.backend if route else "direct_scan"
        fallback = backend != "indexed"
        document: dict[str, Any] = {
            "version": "1",
            "repo_root": shown(root),
            "strategy": STRATEGIES[backend],
            "fallback_used": fallback,
            "cache": "bypass" if fallback else "miss",
            "routing_reason": route.reason if route else "",
            "files_with_matches": totals.files_matched,
            "total_line_matches": totals.lines,
            "results": self.results,
            "search_id": "search-0001",
            "truncated": totals.truncated,
            "freshness": freshness,
            "generation": generation,
            "dirty": totals.dirty,
            "totals": {
                "files_searched": totals.files_searched,
                "files_matched": totals.files_matched,
                "lines": totals.lines,
                "bytes_searched": totals.bytes_searched,
                "skipped": len(totals.skipped),
                "elapsed_ms": round(totals.elapsed_ms, 3),
            },
        }
        if route and route.fell_back:
            document["fell_back"] = route.fell_back
        if totals.incomplete:
            document["incomplete"] = totals.incomplete
        if notes:
            document["notes"] = list(notes)
        return (json_text(json.dumps(document, indent=2, ensure_ascii=False)) + "\n").encode()
