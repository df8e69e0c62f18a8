"""Compares answers of two servers: shapes always, values where both can know them."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.compat.asked import Asked

OWN = frozenset((
    # Scores and their order within a level are each engine's own.
    "Score", "BestLineMatch", "Debug",
    # Words of ctags for kinds differ from language to language.
    "Kind", "Parent", "ParentKind",
    # What it cost.
    "Duration", "Wait", "MatchTreeConstruction", "MatchTreeSearch", "ContentBytesLoaded",
    "IndexBytesLoaded", "NgramMatches", "NgramLookups", "RegexpsConsidered", "FilesConsidered",
    "FilesLoaded", "FilesSkipped", "ShardsScanned", "ShardsSkippedFilter",
    "ShardFilesConsidered",
    # Properties of the index.
    "ContentBytes", "Size",  # Zoekt counts names, too
    "Source", "IndexOptions", "IndexTime", "PlainASCII", "LanguageMap", "ZoektVersion", "ID",
    "IndexBytes", "MemorySize", "NewLinesCount", "HasSymbols",
    "FlushReason",
))  # fmt: skip
"""Fields whose values may differ; their types may not."""


class Answer(NamedTuple):
    """A status, a type of content and a body."""

    status: int
    content_type: str
    body: bytes

    @property
    def document(self) -> Any:
        """The body as JSON, or as text if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return self.body.decode("utf-8", "surrogateescape")


def ask(url: str, asked: Asked, headers: dict[str, str] | None = None) -> Answer:
    """Send a request."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    try:
        body = None if asked.body is None else asked.body.encode("utf-8", "surrogatepass")
        connection.request(asked.method, asked.path, body, headers or {})
        response = connection.getresponse()
        kind = response.getheader("Content-Type", "")
        return Answer(response.status, kind, response.read())
    finally:
        connection.close()


def differences(theirs: Answer, ours: Answer, *, values: bool) -> list[str]:
    """Return how an answer differs from Zoekt's, a line each."""
    different = [
        f"{name}: {getattr(theirs, name)!r} is {getattr(ours, name)!r} here"
        for name in ("status", "content_type")
        if getattr(theirs, name) != getattr(ours, name)
    ]
    return different + list(
        _compared(_ordered(theirs.document), _ordered(ours.document), "", values)
    )


def _ordered(document: Any) -> Any:
    """Put files and repositories in the order of their names: ranking is each engine's own."""
    if isinstance(document, list):
        parts = [_ordered(part) for part in document]
        if parts and isinstance(parts[0], dict):
            return sorted(parts, key=_name)
        return parts
    if isinstance(document, dict):
        return {key: _ordered(value) for key, value in document.items()}
    return document


def _name(part: dict[str, Any]) -> str:
    repository = part.get("Repository", part.get("Repo", ""))
    name = repository.get("Name", "") if isinstance(repository, dict) else repository
    return f"{name}/{part['FileName']}" if isinstance(part.get("FileName"), str) else name


def _compared(theirs: Any, ours: Any, place: str, values: bool) -> Iterator[str]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if set(theirs) != set(ours) and (values or not _is_map(place)):
            yield f"{place}: fields {sorted(theirs)} are {sorted(ours)} here"
        for key in theirs:
            if key in ours:
                yield from _compared(
                    theirs[key], ours[key], f"{place}.{key}", values and key not in OWN
                )
    elif isinstance(theirs, list) and isinstance(ours, list):
        if values and len(theirs) != len(ours):
            yield f"{place}: {len(theirs)} are {len(ours)} here: {_short(theirs)} {_short(ours)}"
        for at, (each, own) in enumerate(zip(theirs, ours, strict=False)):
            yield from _compared(each, own, f"{place}[{at}]", values)
    elif _kind(theirs) != _kind(ours) or (values and theirs != ours):
        yield f"{place}: {_short(theirs)} is {_short(ours)} here"


def _is_map(place: str) -> bool:
    return place.endswith(("LanguageMap", "RepoURLs", "LineFragments"))


def _kind(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if is_number else type(value).__name__


def _short(value: Any) -> str:
    return repr(value)[:120]
