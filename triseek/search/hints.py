"""Explains an answer without results: what was searched, and what would have matched.

An agent that is told "no matches" without a reason doubts the tool, or trusts it too much. So the
question is repeated in the ways people may mean it: in any case, as a regex, as plain text, in all
files. Suggestions are counted, not guessed.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from triseek.errors import TriseekError
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from triseek.engine.engine import Engine
    from triseek.engine.ranking.ranked import Ranked
    from triseek.model.call import Call
    from triseek.model.search import SearchRequest
    from triseek.search.results import ChangedArguments, Nothing, WouldMatch

PATIENCE_S = 1.0
"""For all suggestions: an answer without results must not take long."""
_SIGNS = re.compile(r"[\\.^$|?*+()\[\]{}]")


class Reading(NamedTuple):
    """Another interpretation of a question."""

    change: ChangedArguments
    """Arguments to pass instead."""
    request: SearchRequest


def for_nothing(
    engine: Engine,
    tool: str,
    request: SearchRequest,
    narrowing: Sequence[str],
    ranking: Ranked,
    call: Call,
) -> Nothing:
    """Return the fields for an envelope of a tool without results.

    narrowing: which of the arguments glob, type and path were passed.
    """
    with budget.limited(PATIENCE_S):  # compiling a pattern may take longer, too
        suggestions = list(_would_match(engine, _readings(tool, request, narrowing), call))
    return {
        "searched": {
            "files": ranking.search.totals.files_searched,
            "skipped": len(ranking.search.totals.skipped),
            "freshness": ranking.search.totals.freshness,
        },
        "would_match": suggestions,
        "next_step": _next_step(request, suggestions),
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
    """Yield other interpretations, the likeliest first, each with a single change."""
    pattern, scope = request.pattern, request.scope
    has_capitals = any(text != text.lower() for text in pattern.patterns)
    if pattern.case == "sensitive" or (pattern.case == "smart" and has_capitals):
        yield _with(request, {"case": "insensitive"}, case="insensitive")
    if pattern.word:
        yield _with(request, {"word": False}, word=False)
    if any(_SIGNS.search(text) for text in pattern.patterns):
        mode: Literal["literal", "regex"] = "regex" if pattern.fixed else "literal"
        yield _with(request, {"mode": mode}, fixed=not pattern.fixed)
    spans = any(r"\n" in text or r"\s" in text for text in pattern.patterns)
    if spans and not pattern.fixed and not pattern.multiline:
        yield _with(request, {"multiline": True}, multiline=True, dotall=True)
    if narrowing:
        wide = replace(request, scope=replace(scope, globs=(), types=()), paths=())
        change = cast("ChangedArguments", dict.fromkeys(narrowing, ""))
        if tool == "search_path_and_content":  # this tool requires its glob
            change["tool"] = "search_content"
            del change["glob"]
        yield Reading(change, wide)


def _with(request: SearchRequest, change: ChangedArguments, **pattern: Any) -> Reading:  # noqa: ANN401
    return Reading(change, replace(request, pattern=replace(request.pattern, **pattern)))


def _count(engine: Engine, request: SearchRequest, stop: Callable[[], bool]) -> tuple[int, int]:
    """Return the lines and files that match; 0 if the search is invalid or not done in time."""
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


def _next_step(request: SearchRequest, suggestions: list[WouldMatch]) -> str:
    if suggestions:
        return (
            "Ask again with the arguments under `change` (`tool`: by that tool instead); the "
            "counts are of what they match."
        )
    if len(request.pattern.patterns) == 1 and " " not in request.pattern.patterns[0]:
        return "Try a shorter part of the name, or find_files if it may be a file's."
    return "Try one distinctive word of it."
