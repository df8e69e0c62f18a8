"""What to say when nothing was found: what was searched, and what would have matched.

An agent that is told "no matches" without a reason doubts the tool, or believes it too much. So the
same question is asked again in the ways people mean it: in any case, as a regex, as plain text,
in all files. What is suggested is counted, not guessed.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.errors import TriseekError
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from triseek.engine.engine import Engine
    from triseek.engine.ranked import Ranked
    from triseek.model.results import Nothing, WouldMatch
    from triseek.model.search import SearchRequest
    from triseek.service.desk import Call

PATIENCE_S = 1.0
"""For all of it: an answer of nothing is not to take long."""
_SIGNS = re.compile(r"[\\.^$|?*+()\[\]{}]")


class Reading(NamedTuple):
    """Another way to mean a question."""

    change: dict[str, Any]
    """Arguments to pass instead."""
    request: SearchRequest


def for_nothing(
    engine: Engine,
    tool: str,
    request: SearchRequest,
    narrowing: Sequence[str],
    found: Ranked,
    call: Call,
) -> Nothing:
    """Fields for an envelope of a tool without results.

    narrowing: which of the arguments glob, type and path were given.
    """
    with budget.limited(PATIENCE_S):  # compiling a pattern may take longer, too
        would = list(_would_match(engine, _readings(tool, request, narrowing), call))
    return {
        "searched": {
            "files": found.totals.files_searched,
            "skipped": len(found.totals.skipped),
            "freshness": found.totals.freshness,
        },
        "would_match": would,
        "next_step": _next_step(request, would),
    }


def _would_match(engine: Engine, readings: Iterable[Reading], call: Call) -> Iterator[WouldMatch]:
    until = time.monotonic() + PATIENCE_S

    def stop() -> bool:
        return call.cancelled() or time.monotonic() > until

    for reading in readings:
        if stop():
            return
        lines, files = _count(engine, reading.request, stop)
        if lines:
            yield {"change": reading.change, "files": files, "lines": lines}


def _readings(tool: str, request: SearchRequest, narrowing: Sequence[str]) -> Iterator[Reading]:
    """Other meanings, the likeliest first, each a single change."""
    pattern, scope = request.pattern, request.scope
    has_capitals = any(text != text.lower() for text in pattern.patterns)
    if pattern.case == "sensitive" or (pattern.case == "smart" and has_capitals):
        yield _with(request, {"case": "insensitive"}, case="insensitive")
    if pattern.word:
        yield _with(request, {"word": False}, word=False)
    if any(_SIGNS.search(text) for text in pattern.patterns):
        if pattern.fixed:
            yield _with(request, {"mode": "regex"}, fixed=False)
        else:
            yield _with(request, {"mode": "literal"}, fixed=True)
    spans = any(r"\n" in text or r"\s" in text for text in pattern.patterns)
    if spans and not pattern.fixed and not pattern.multiline:
        yield _with(request, {"multiline": True}, multiline=True, dotall=True)
    if narrowing:
        wide = replace(request, scope=replace(scope, globs=(), types=()), paths=())
        change = dict.fromkeys(narrowing, "")
        if tool == "search_path_and_content":  # which cannot do without its glob
            change["tool"] = "search_content"
            del change["glob"]
        yield Reading(change, wide)


def _with(request: SearchRequest, change: dict[str, Any], **pattern: Any) -> Reading:  # noqa: ANN401
    return Reading(change, replace(request, pattern=replace(request.pattern, **pattern)))


def _count(engine: Engine, request: SearchRequest, stop: Callable[[], bool]) -> tuple[int, int]:
    """Lines and files that match; none where it makes no sense, or is not known in time."""
    counting = replace(request, mode="lines", before=0, after=0)
    try:
        search = engine.search(counting)
        for _ in search:
            if stop():
                search.close()
                return 0, 0
    except TriseekError:
        return 0, 0
    return search.totals.lines, search.totals.files_matched


def _next_step(request: SearchRequest, would: list[WouldMatch]) -> str:
    if would:
        return (
            "Ask again with the arguments under `change` (`tool`: by that tool instead); the "
            "counts are of what they match."
        )
    if len(request.pattern.patterns) == 1 and " " not in request.pattern.patterns[0]:
        return "Try a shorter part of the name, or find_files if it may be a file's."
    return "Try one distinctive word of it."
