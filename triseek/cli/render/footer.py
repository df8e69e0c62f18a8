"""The line that ends triseek's view on a terminal: totals, road and time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triseek.cli.report import Report

ROADS = {"indexed": "index", "direct_scan": "scan", "ripgrep": "rg"}


def footer(report: Report, seconds: float, *, colored: bool) -> bytes:
    """`12 lines in 3 files · index (reason) · synced · 4 ms`, dimmed where colours are allowed."""
    totals = report.totals
    parts = [_found(totals.lines, totals.files_matched)]
    if totals.truncated:
        parts[0] += ", more were left out by --limit"
    if report.route:
        road = f"{ROADS[report.route.backend]} ({report.route.reason})"
        if report.route.fell_back:
            road += f", after another failed: {report.route.fell_back}"
        parts.append(road)
        parts.append(report.freshness + (f", {totals.dirty:,} dirty" if totals.dirty else ""))
    parts.append(f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms")
    text = " · ".join(parts)
    lead = "\n" if totals.lines else ""
    return (f"{lead}\x1b[2m{text}\x1b[0m\n" if colored else f"{lead}{text}\n").encode()


def _found(lines: int, files: int) -> str:
    if not lines:
        return "no matching lines"
    return f"{lines:,} {_many('line', lines)} in {files:,} {_many('file', files)}"


def _many(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
