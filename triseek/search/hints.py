r"""Explains an answer without results: what was searched, and what would have matched.

An agent that is told "no matches" without a reason doubts the tool, or trusts it too much. So the
question is repeated in the ways people may mean it: with grep's `\|`, in any case, as a regex, as
plain text, in all files. If none of these matches, names are looked for that differ from the query
by a typing error. Suggestions are counted, not guessed.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections import Counter
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from triseek.engine.agent_scope import GIT_FOLDER
from triseek.engine.left_out import counted, left_out_entries
from triseek.errors import TriseekError
from triseek.model import budget
from triseek.model.search import PatternSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from triseek.engine.engine import Engine
    from triseek.engine.ranking.ranked import Ranked
    from triseek.model.call import Call
    from triseek.model.search import LeftOut, SearchRequest
    from triseek.query.globs.scope import Excluded
    from triseek.search.results import ChangedArguments, Nothing, WouldMatch

PATIENCE_S = 1.0
"""For all suggestions: an answer without results must not take long."""
LEFT_OUT_PATIENCE_S = 0.25
"""For searching what was left out: it may be as large as `node_modules`."""
_SIGNS = re.compile(r"[\\.^$|?*+()\[\]{}]")
_NAME = re.compile(r"[A-Za-z_]\w{5,63}", re.ASCII)
"""Names that others can be near to."""
NEAR_MAX = 3
"""Most near names that are suggested."""
NEAR_RATIO = 0.8
"""How alike two names have to be, as `difflib` measures it."""
NEAR_LINES_MAX = 2_000
"""Lines with such names that are looked at."""


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
    entries: list[Excluded] = []
    with budget.limited(PATIENCE_S):  # compiling a pattern may take longer, too
        suggestions = list(_would_match(engine, _readings(tool, request, narrowing), call))
        with contextlib.suppress(TriseekError):
            entries = left_out_entries(engine, request.scope, request.paths)
        out = counted(entries, request.scope)
        if not suggestions and any(out) and _may_match(engine, request, entries):
            suggestions = list(_would_match(engine, [_widened(request, out)], call))
        if not suggestions:
            suggestions = list(_would_match(engine, _near(engine, tool, request), call))
    return {
        "searched": {
            "files": ranking.search.totals.files_searched,
            "skipped": len(ranking.search.totals.skipped),
            "freshness": ranking.search.totals.freshness,
            "hidden": out.hidden,
            "ignored": out.ignored,
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


def _may_match(engine: Engine, request: SearchRequest, entries: Sequence[Excluded]) -> bool:
    """Return whether anything that was left out may match; False if that takes too long to say.

    Only these entries are searched, as paths, for which ignore rules do not hold: no index holds
    them, and a search of the whole tree would read all of it.
    """
    globs = (*request.scope.globs, GIT_FOLDER)
    scope = replace(request.scope, hidden=True, also=frozenset(), no_ignore=True, globs=globs)
    paths = tuple(os.fsdecode(entry.path) for entry in entries)
    wide = replace(request, scope=scope, paths=paths, mode="lines", before=0, after=0)
    try:
        with (
            budget.limited(LEFT_OUT_PATIENCE_S),
            contextlib.closing(engine.search(wide)) as search,
        ):
            return any(batch.paths for batch in search)
    except TriseekError:
        return False


def _readings(tool: str, request: SearchRequest, narrowing: Sequence[str]) -> Iterator[Reading]:
    """Yield other interpretations, the likeliest first, each with a single change."""
    pattern, scope = request.pattern, request.scope
    if len(pattern.patterns) == 1 and r"\|" in pattern.patterns[0]:
        yield _asking(tool, request, pattern.patterns[0].replace(r"\|", "|"))
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


def _widened(request: SearchRequest, out: LeftOut) -> Reading:
    """Return the reading that searches what was left out, too."""
    change: ChangedArguments = {}
    scope = request.scope
    if out.hidden:
        change["hidden"] = True
        scope = replace(scope, hidden=True, also=frozenset(), globs=(*scope.globs, GIT_FOLDER))
    if out.ignored:
        change["ignored"] = True
        scope = replace(scope, no_ignore=True)
    return Reading(change, replace(request, scope=scope))


def _asking(tool: str, request: SearchRequest, text: str) -> Reading:
    """Return the reading with another pattern, which is a regex if it holds any signs."""
    name = "content_query" if tool == "search_path_and_content" else "query"
    change = cast("ChangedArguments", {name: text})
    fixed = request.pattern.fixed and not _SIGNS.search(text)
    if fixed != request.pattern.fixed:
        change["mode"] = "regex"
    pattern = replace(request.pattern, patterns=(text,), fixed=fixed)
    return Reading(change, replace(request, pattern=pattern))


def _near(engine: Engine, tool: str, request: SearchRequest) -> Iterator[Reading]:
    """Yield readings with names of the searched files that are like the one in the query."""
    if len(request.pattern.patterns) > 1:
        return
    [text] = request.pattern.patterns
    if not _NAME.fullmatch(text):
        return
    names: Counter[str] = Counter()
    alike = re.compile(_alike(text), re.ASCII | re.IGNORECASE)
    pattern = PatternSpec(patterns=(_alike(text),), unicode=False, case="insensitive")
    counting = replace(request, pattern=pattern, mode="lines", before=0, after=0)
    with contextlib.suppress(TriseekError):
        search = engine.search(counting)
        with contextlib.closing(search):
            for batch in search:
                names.update(alike.findall(batch.text.decode(errors="replace")))
                if names.total() > NEAR_LINES_MAX:
                    break
    spellings = {name.lower(): name for name, _ in reversed(names.most_common())}
    for near in get_close_matches(text.lower(), spellings, NEAR_MAX, NEAR_RATIO):
        if near != text.lower():
            yield _asking(tool, request, spellings[near])


def _alike(name: str) -> str:
    """Return a regex for names that share the first or the second half of a name.

    A name that differs by one typing error shares one of them whole, at about the same place.
    """
    half = len(name) // 2
    begin, end = name[:half], name[half:]
    others = rf"\w{{{max(len(end) - 2, 0)},{len(end) + 2}}}"
    before = rf"\w{{{max(half - 2, 0)},{half + 2}}}"
    return rf"\b(?:{begin}{others}|{before}{end})\b"


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
    if search.totals.incomplete:
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
