"""What the second half of a session needed, and how much of it a text holds.

A text holds a file if it names its whole path, a search if one line of it has the query and a right
answer (a file that has it, or that there is none), a dead end if it says of it that it leads
nowhere. Nothing is counted for a file that is not there when the work is handed over: nobody can
name what has yet to be made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.model import token_estimate

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from triseek.model.session import LogEntry

ANSWERS_MAX = 5
"""Files of a search's answer that count: those one would look at."""
_PATH_LIKE = re.compile(r"[^\s`'\"()\[\]{}<>,;|=*]+")
_LINES = re.compile(r"(?::\d+(?:-\d+)?)?[:.]*$")
_NOWHERE = re.compile(
    r"(?i)\bfinds? nothing\b|-> nothing\b|\bno (?:match|result|hit)|\btaken back\b|\breverted\b"
)
_RULED_OUT = re.compile(r"(?i)^#+ .*\b(?:ruled out|dead ends?)\b")


class Asked(NamedTuple):
    """A search, and what it found."""

    query: str
    paths: tuple[str, ...]
    nothing: bool
    """Whether it is known to have found nothing."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What the second half used."""

    files: frozenset[str]
    """Read or edited, and there at the cut."""
    edited: frozenset[str]
    asked: tuple[Asked, ...]
    """Its searches whose answer is known, each once."""
    dead_queries: frozenset[str]
    """What it looks for again that the first half had not found, and is still not there."""
    dead_files: frozenset[str]
    """What it edits again where the first half had taken an edit back."""
    met: frozenset[str] = frozenset()
    """Files that the first half had read, edited or found: all that a record of it can name."""


class Held(NamedTuple):
    """How much of it a text holds; None where there was nothing to hold, or nothing was said."""

    tokens: int
    files: float | None
    edited: float | None
    precision: float | None
    searches: float | None
    answers: float | None
    """Mean share of the files that a search finds that are named, whatever for."""
    dead_ends: float | None
    per_1000: float | None
    """Needed files that are named, for each 1,000 tokens."""


def needs(
    before: Sequence[LogEntry],
    after: Sequence[LogEntry],
    files: Collection[str],
    openings: Iterable[Asked] = (),
) -> Needs:
    """What the entries after a cut used.

    Args:
        before: entries of the first half.
        after: entries of the second.
        files: paths that are there at the cut.
        openings: searches that whoever goes on begins with.
    """
    edited = frozenset(_paths(after, "edit")) & frozenset(files)
    read = frozenset(_paths(after, "read", "read_denied")) & frozenset(files)
    asked = {one.query: one for one in searches(after)}
    gone = {one.query for one in searches(before) if one.nothing}
    found = {one.query for one in searches(before) if one.paths}
    again = {one.query for one in (*asked.values(), *openings) if one.nothing}
    hits = {path for one in searches(before) for path in one.paths}
    return Needs(
        files=read | edited,
        edited=edited,
        asked=tuple(one for one in asked.values() if one.nothing or one.paths),
        dead_queries=frozenset((gone - found) & again),
        dead_files=frozenset(_taken_back(before)) & edited,
        met=frozenset({*_paths(before, "read", "edit", "read_denied"), *hits}),
    )


def searches(entries: Iterable[LogEntry]) -> Iterator[Asked]:
    """The searches of a log."""
    for entry in entries:
        if entry.kind != "search" or "error" in entry.payload:
            continue
        payload = entry.payload
        arguments: dict[str, Any] = payload.get("arguments") or {}
        query = arguments.get("query") or payload.get("query")
        if isinstance(query, str) and query:
            paths = tuple(dict.fromkeys(payload.get("result_paths") or ()))
            counts = [payload.get(name) for name in ("files_with_matches", "total_line_matches")]
            yield Asked(query, paths, not paths and 0 in counts)


def named(text: str, files: Collection[str]) -> frozenset[str]:
    """The files of a tree that a text names by their whole path."""
    found = set()
    for word in _PATH_LIKE.findall(text):
        plain = _LINES.sub("", word).removeprefix("./")
        found.update({plain, plain[2:]} if plain[:2] in ("a/", "b/") else {plain})
    return frozenset(found) & frozenset(files)


def held(text: str, wanted: Needs, files: Collection[str]) -> Held:
    """How much of what was needed a text holds."""
    tokens = token_estimate.of_text(text)
    said = named(text, files)
    right = said & wanted.files
    lines = text.splitlines()
    nowhere = "\n".join(_nowhere(lines))
    dead = [*wanted.dead_queries, *wanted.dead_files]
    return Held(
        tokens=tokens,
        files=_share(right, wanted.files),
        edited=_share(said & wanted.edited, wanted.edited),
        precision=_share(right, said),
        searches=_mean([float(_is_answered(one, lines, files)) for one in wanted.asked]),
        answers=_mean(
            [
                _part(said, one.paths[:ANSWERS_MAX], files)
                for one in wanted.asked
                if set(one.paths[:ANSWERS_MAX]) & set(files)
            ]
        ),
        dead_ends=_mean([float(_holds(nowhere, one)) for one in dead]),
        per_1000=1_000 * len(right) / tokens if tokens else None,
    )


def _paths(entries: Iterable[LogEntry], *kinds: str) -> Iterator[str]:
    for entry in entries:
        path = entry.payload.get("path")
        if entry.kind in kinds and isinstance(path, str):
            yield path


def _taken_back(entries: Iterable[LogEntry]) -> Iterator[str]:
    """Files that were edited, and hold again what they held before."""
    contents: dict[str, list[str]] = {}
    edits: set[str] = set()
    for entry in entries:
        path, sha = entry.payload.get("path"), entry.payload.get("sha")
        if entry.kind in ("read", "edit") and isinstance(path, str) and sha:
            held_before = contents.setdefault(path, [])
            if not held_before or held_before[-1] != sha:
                held_before.append(str(sha))
            if entry.kind == "edit":
                edits.add(path)
    for path in edits:
        if contents[path][-1] in contents[path][:-1]:
            yield path


def _nowhere(lines: Iterable[str]) -> Iterator[str]:
    """The lines that say what leads nowhere."""
    below = False
    for line in lines:
        if line.startswith("#"):
            below = bool(_RULED_OUT.match(line))
        elif below or _NOWHERE.search(line):
            yield line


def _is_answered(one: Asked, lines: Sequence[str], files: Collection[str]) -> bool:
    telling = [line for line in lines if _holds(line, one.query)]
    if one.nothing:
        return any(_NOWHERE.search(line) for line in telling)
    return any(named(line, files) & set(one.paths) for line in telling)


def _holds(text: str, query: str) -> bool:
    """Whether a query stands in a text as a whole, not as a part of a longer word."""
    at = text.find(query)
    while at >= 0:
        around = text[max(0, at - 1) : at], text[at + len(query) : at + len(query) + 1]
        if not any(char.isalnum() or char == "_" for char in around):
            return True
        at = text.find(query, at + 1)
    return False


def _part(said: frozenset[str], paths: Iterable[str], files: Collection[str]) -> float:
    there = set(paths) & set(files)
    return len(said & there) / len(there)


def _share(some: frozenset[str], of: frozenset[str]) -> float | None:
    return len(some) / len(of) if of else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
