"""The files and searches of a session, and its dead ends, gathered from its log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.model.snapshot import FileSeen, SearchRun, WorkingSet, inner_path
from triseek.sessions.command_runs import CommandRuns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.model.session import LogEntry
    from triseek.sessions.command_runs import RunCommand

OF_FILES = frozenset(("read", "edit", "read_denied", "memo_check"))
"""Kinds of entries whose payload names a file."""
FILES_MAX, SEARCHES_MAX, FRECENCY_MAX = 500, 300, 50
RESULTS_MAX = 20
QUERY_MAX = 500


class LoggedSearch(NamedTuple):
    """A search, and the last entry that records it."""

    run: SearchRun
    entry_id: int


@dataclass(slots=True)
class Trail:
    """The history of one file in the log."""

    path: str
    sha: str = ""
    first: int | None = None
    last: int | None = None
    whole: bool = False
    at: int = 0
    reads: int = 0
    edits: int = 0
    entry_id: int = 0
    """The last entry about it."""
    edited_id: int = 0
    """The last entry that edited it."""
    left: str = ""
    """The hash of its content after that edit; "" if there was none, or it is not known."""
    contents: list[str] = field(default_factory=list)
    """The hashes of its contents, in order."""

    @property
    def reverted(self) -> bool:
        """Whether it was edited, and then had an earlier content again.

        That content came from another edit, or from something else, such as `git restore`.
        """
        again = len(self.contents) > 2 and self.contents[-1] in self.contents[:-2]
        otherwise = self.left != "" and self.contents[-1:] != [self.left]
        return again and (self.edits > 1 or otherwise)

    def seen(self) -> FileSeen:
        """Return the file as a snapshot keeps it."""
        has_lines = self.first is not None and not self.whole
        return FileSeen(
            path=self.path,
            sha=self.sha,
            line_start=self.first if has_lines else None,
            line_end=self.last if has_lines else None,
            last_read_at=self.at,
            reads=self.reads,
            edits=self.edits,
        )


class WorkDone(NamedTuple):
    """The work that a log records."""

    files: list[Trail]
    """Last used first."""
    searches: list[LoggedSearch]
    """Each query once, the last one first."""
    prompts: list[tuple[int, str]]
    """Entry and text, oldest first."""
    commands: list[RunCommand]
    """Each command once, the one that ran last first."""

    @property
    def dead_ends(self) -> list[LoggedSearch]:
        """Searches that found nothing."""
        return [search for search in self.searches if search.run.matches == 0]

    def working_set(self, frecency: Sequence[tuple[str, float]]) -> WorkingSet:
        """Return the working set that a snapshot keeps."""
        return WorkingSet(
            files_read=[trail.seen() for trail in self.files[:FILES_MAX]],
            searches_run=[search.run for search in self.searches[:SEARCHES_MAX]],
            frecency_top_n=list(frecency[:FRECENCY_MAX]),
        )


def gather(entries: Iterable[LogEntry]) -> WorkDone:
    """Read a log, oldest entry first; ignore what is not valid."""
    files: dict[str, Trail] = {}
    searches: dict[tuple[str, str], LoggedSearch] = {}
    prompts = []
    runs = CommandRuns()
    for entry in entries:
        if entry.kind in OF_FILES:
            used(files, entry)
        elif entry.kind == "search":
            search = search_of(entry)
            if search is not None:
                searches.pop((search.kind, search.query), None)
                searches[search.kind, search.query] = LoggedSearch(search, entry.entry_id)
        elif entry.kind == "prompt":
            prompts.append((entry.entry_id, text_of(entry.payload.get("prompt"))))
        elif entry.kind in ("command", "command_status"):
            runs.add(entry)
    return WorkDone(
        sorted(files.values(), key=lambda trail: trail.entry_id, reverse=True),
        list(reversed(searches.values())),
        prompts,
        runs.newest_first,
    )


def used(files: dict[str, Trail], entry: LogEntry) -> None:
    """Add an entry to the trail of its file; ignore an entry whose path is not valid."""
    try:
        path = inner_path(entry.payload.get("path"))
    except ValueError:
        return
    trail = files.setdefault(path, Trail(path))
    sha = text_of(entry.payload.get("sha"))
    if sha and [sha] != trail.contents[-1:]:
        trail.contents.append(sha)
    is_check = entry.kind == "memo_check"
    if is_check and (trail.reads or trail.edits):
        return  # the trail keeps what was seen, not what the memo was asked about
    trail.entry_id, trail.at = entry.entry_id, entry.ts
    if entry.kind == "edit":
        trail.edits += 1
        trail.edited_id = entry.entry_id
        trail.left = sha
    elif not is_check:
        trail.reads += 1
        _widen(trail, entry, anew=sha != trail.sha)
    trail.sha = sha or trail.sha


def _widen(trail: Trail, entry: LogEntry, *, anew: bool) -> None:
    """Extend the range of lines that were read; start a new one if `anew`."""
    first, last = entry.payload.get("line_start"), entry.payload.get("line_end")
    if anew:
        trail.first = trail.last = None
        trail.whole = False
    if type(first) is not int or type(last) is not int or not 1 <= first <= last:
        trail.whole = True
        return
    trail.first = first if trail.first is None else min(first, trail.first)
    trail.last = last if trail.last is None else max(last, trail.last)


def search_of(entry: LogEntry) -> SearchRun | None:
    """Return the search that an entry records; None if it records none, or a failed one."""
    payload = entry.payload
    called_with = payload.get("arguments")
    arguments: dict[str, Any] = called_with if isinstance(called_with, dict) else {}
    names = ("query", "content_query", "path_query")
    texts = (*(arguments.get(name) for name in names), payload.get("query"))
    query = next(filter(None, map(text_of, texts)), "")
    if not query or "error" in payload:
        return None
    is_path = payload.get("tool") == "find_files"
    kind = "path" if is_path else text_of(arguments.get("mode")) or "literal"
    results = payload.get("result_paths")
    counts = (payload.get(name) for name in ("total_line_matches", "files_with_matches"))
    return SearchRun(
        search_id=text_of(payload.get("search_id")) or f"action-{entry.entry_id}",
        query=query[:QUERY_MAX],
        kind=kind,
        result_paths=[path for path in results if isinstance(path, str)][:RESULTS_MAX]
        if isinstance(results, list)
        else [],
        arguments=arguments,
        matches=next((count for count in counts if type(count) is int and count >= 0), None),
    )


def text_of(value: object) -> str:
    """Return a value of a log entry if it is a text; "" otherwise."""
    return value if isinstance(value, str) else ""
