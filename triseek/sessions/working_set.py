"""What a session's log says it worked with: the files, the searches, and what led nowhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.model.snapshot import FileSeen, SearchRun, WorkingSet, inner_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.model.session import Entry

FILES_MAX, SEARCHES_MAX, FRECENCY_MAX = 500, 300, 50
RESULTS_MAX = 20
QUERY_MAX = 500


class Search(NamedTuple):
    """A search, and the entry that tells of it last."""

    run: SearchRun
    entry_id: int


@dataclass(slots=True)
class Trail:
    """One file, as the log goes on."""

    path: str
    sha: str = ""
    first: int | None = None
    last: int | None = None
    whole: bool = False
    at: int = 0
    reads: int = 0
    edits: int = 0
    entry_id: int = 0
    """The last entry that tells of it."""
    edited_id: int = 0
    """The last that edited it."""
    left: str = ""
    """What it held after that; "" if there was none, or that is not known."""
    contents: list[str] = field(default_factory=list)
    """What it held, one after the other."""

    @property
    def reverted(self) -> bool:
        """Whether it was edited, and then held again what it had held before.

        By another edit, or by what is none, such as `git restore`.
        """
        again = len(self.contents) > 2 and self.contents[-1] in self.contents[:-2]
        otherwise = self.left != "" and self.contents[-1:] != [self.left]
        return again and (self.edits > 1 or otherwise)

    def seen(self) -> FileSeen:
        """As it is kept."""
        known = self.first is not None and not self.whole
        return FileSeen(
            path=self.path,
            sha=self.sha,
            line_start=self.first if known else None,
            line_end=self.last if known else None,
            last_read_at=self.at,
            reads=self.reads,
            edits=self.edits,
        )


class Work(NamedTuple):
    """What a log says was done."""

    files: list[Trail]
    """Those used last first."""
    searches: list[Search]
    """Each question once, the last asked first."""
    prompts: list[tuple[int, str]]
    """Entry and text, oldest first."""

    @property
    def dead_ends(self) -> list[Search]:
        """Searches that found nothing."""
        return [search for search in self.searches if search.run.matches == 0]

    def working_set(self, frecency: Sequence[tuple[str, float]]) -> WorkingSet:
        """As a snapshot keeps it."""
        return WorkingSet(
            files_read=[trail.seen() for trail in self.files[:FILES_MAX]],
            searches_run=[search.run for search in self.searches[:SEARCHES_MAX]],
            frecency_top_n=list(frecency[:FRECENCY_MAX]),
        )


def gather(entries: Iterable[Entry]) -> Work:
    """Read a log, oldest entry first; what makes no sense is passed over."""
    files: dict[str, Trail] = {}
    searches: dict[tuple[str, str], Search] = {}
    prompts = []
    for entry in entries:
        if entry.kind in ("read", "edit", "read_denied", "memo_check"):
            used(files, entry)
        elif entry.kind == "search":
            search = search_of(entry)
            if search is not None:
                searches.pop((search.kind, search.query), None)
                searches[search.kind, search.query] = Search(search, entry.entry_id)
        elif entry.kind == "prompt":
            prompts.append((entry.entry_id, _text(entry.payload.get("prompt"))))
    return Work(
        sorted(files.values(), key=lambda trail: trail.entry_id, reverse=True),
        list(reversed(searches.values())),
        prompts,
    )


def used(files: dict[str, Trail], entry: Entry) -> None:
    """Take in an entry of a file; one whose path makes no sense is passed over."""
    try:
        path = inner_path(entry.payload.get("path"))
    except ValueError:
        return
    trail = files.setdefault(path, Trail(path))
    sha = _text(entry.payload.get("sha"))
    if sha and [sha] != trail.contents[-1:]:
        trail.contents.append(sha)
    asked = entry.kind == "memo_check"
    if asked and (trail.reads or trail.edits):
        return  # what is known of it is what was seen of it, not what the memo was asked about
    trail.entry_id, trail.at = entry.entry_id, entry.ts
    if entry.kind == "edit":
        trail.edits += 1
        trail.edited_id = entry.entry_id
        trail.left = sha
    elif not asked:
        trail.reads += 1
        _widen(trail, entry.payload, anew=sha != trail.sha)
    trail.sha = sha or trail.sha


def _widen(trail: Trail, payload: dict[str, Any], *, anew: bool) -> None:
    """The lines that were read, from the first of them to the last."""
    first, last = payload.get("line_start"), payload.get("line_end")
    if anew:
        trail.first = trail.last = None
        trail.whole = False
    if type(first) is not int or type(last) is not int or not 1 <= first <= last:
        trail.whole = True
        return
    trail.first = first if trail.first is None else min(first, trail.first)
    trail.last = last if trail.last is None else max(last, trail.last)


def search_of(entry: Entry) -> SearchRun | None:
    """The search that an entry tells of; None if it tells of none, or of one that failed."""
    payload = entry.payload
    given = payload.get("arguments")
    arguments: dict[str, Any] = given if isinstance(given, dict) else {}
    texts = (
        *(arguments.get(name) for name in ("query", "content_query", "path_query")),
        payload.get("query"),
    )
    query = next(filter(None, map(_text, texts)), "")
    if not query or "error" in payload:
        return None
    results = payload.get("result_paths")
    counts = (payload.get(name) for name in ("total_line_matches", "files_with_matches"))
    return SearchRun(
        search_id=_text(payload.get("search_id")) or f"action-{entry.entry_id}",
        query=query[:QUERY_MAX],
        kind=_kind(payload, arguments),
        result_paths=[path for path in results if isinstance(path, str)][:RESULTS_MAX]
        if isinstance(results, list)
        else [],
        arguments=arguments,
        matches=next((count for count in counts if type(count) is int and count >= 0), None),
    )


def _kind(payload: dict[str, Any], arguments: dict[str, Any]) -> str:
    if payload.get("tool") == "find_files":
        return "path"
    return _text(arguments.get("mode")) or "literal"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
