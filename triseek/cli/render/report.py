"""The report at the end of a command's searches: their sums, and the lines that show these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.model.search import Totals

if TYPE_CHECKING:
    from triseek.cli.render.file_matches import SearchCounts
    from triseek.engine.search.search import Search
    from triseek.model.search import Route

LABELS = {"indexed": "index", "direct_scan": "scan", "ripgrep": "rg", "zoekt": "zoekt"}


class SearchReport:
    """Sums and properties of the searches of one command."""

    def __init__(self) -> None:
        self.totals = Totals()
        self.route: Route | None = None
        self.notes: tuple[str, ...] = ()
        self.root = b""
        self.matched = False
        self.faulty = False
        """A file or operand could not be read."""

    def add(self, search: Search, root: bytes) -> None:
        """Add a finished search."""
        totals, added = self.totals, search.totals
        for name in ("files_searched", "files_matched", "lines", "bytes_searched", "elapsed_ms"):
            setattr(totals, name, getattr(totals, name) + getattr(added, name))
        totals.truncated = totals.truncated or added.truncated
        totals.skipped.extend(added.skipped)
        totals.incomplete = totals.incomplete or added.incomplete
        if added.dirty is not None:
            totals.dirty = (totals.dirty or 0) + added.dirty
        self.route = search.route
        totals.freshness, totals.generation = added.freshness, added.generation
        self.notes += tuple(note for note in search.query.pattern.notes if note not in self.notes)
        self.root = self.root or root


def statistics(counts: SearchCounts, report: SearchReport, seconds: float) -> bytes:
    """Return ripgrep's closing figures (--stats)."""
    return (
        f"\n{counts.matches} matches\n"
        f"{counts.matched_lines} matched lines\n"
        f"{counts.files_matched} files contained matches\n"
        f"{report.totals.files_searched} files searched\n"
        f"{counts.bytes_printed} bytes printed\n"
        f"{report.totals.bytes_searched} bytes searched\n"
        f"{seconds:.6f} seconds spent searching\n"
        f"{seconds:.6f} seconds total\n"
    ).encode()


def footer(report: SearchReport, seconds: float, *, colored: bool) -> bytes:
    """`12 lines in 3 files · index (reason) · synced · 4 ms`, dimmed where colours are allowed."""
    totals = report.totals
    lines, files = totals.lines, totals.files_matched
    parts = ["no matching lines"]
    if lines:
        parts = [f"{lines:,} line{'s' * (lines != 1)} in {files:,} file{'s' * (files != 1)}"]
    if totals.truncated:
        parts[0] += ", more were left out by --limit"
    if report.route:
        backend = f"{LABELS[report.route.backend]} ({report.route.reason})"
        if report.route.fell_back:
            backend += f", after another failed: {report.route.fell_back}"
        parts.append(backend)
        parts.append(totals.freshness + (f", {totals.dirty:,} dirty" if totals.dirty else ""))
    parts.append(f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms")
    text = " · ".join(parts)
    lead = "\n" if totals.lines else ""
    return (f"{lead}\x1b[2m{text}\x1b[0m\n" if colored else f"{lead}{text}\n").encode()
