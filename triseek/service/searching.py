"""search_content and search_path_and_content: contents, best first, exactly counted."""

from __future__ import annotations

import os
from dataclasses import astuple, replace
from typing import TYPE_CHECKING

from triseek.engine.backends.file import detail
from triseek.engine.find_files import GLOB_SIGNS
from triseek.engine.ranked import ranked
from triseek.errors import InvalidQuery
from triseek.files import containment
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest
from triseek.model.tools import CONTEXT_MAX, LIMIT_MAX, SearchContentRequest
from triseek.query.scope import Scope
from triseek.service import desk as desks
from triseek.service import envelopes, hints, reuse
from triseek.service.desk import patience, working
from triseek.service.pages import fit, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.engine.ranked import File, Ranked
    from triseek.model.results import (
        MatchCounts,
        MatchLine,
        Remarks,
        ReusedAnswer,
        SearchAnswer,
        SearchResult,
    )
    from triseek.model.search import Mode
    from triseek.model.tools import OutputMode, SearchPathAndContentRequest
    from triseek.service.desk import Call, Desk

QUERY_MAX = 16_384
"""Characters of all patterns of a query: a page of text. Longer ones only take time."""
_MODES: dict[OutputMode, Mode] = {"content": "lines", "files": "files", "count": "count"}


def search_path_and_content(
    desk: Desk, request: SearchPathAndContentRequest, call: Call
) -> SearchAnswer | ReusedAnswer:
    """Search the files a glob takes. Raises as `search_content`."""
    if not request.path_query.strip():
        raise InvalidQuery("path_query is empty", next_step="Give a glob such as `src/**/*.rs`.")
    options = {
        name: getattr(request, name)
        for name in request.__dataclass_fields__
        if name not in ("path_query", "content_query") and not name.startswith("_")
    }
    same = SearchContentRequest(query=request.content_query, glob=request.path_query, **options)
    return search_content(desk, same, call, tool="search_path_and_content")


def search_content(
    desk: Desk, request: SearchContentRequest, call: Call, *, tool: str = "search_content"
) -> SearchAnswer | ReusedAnswer:
    """Search, or say that the conversation has the answer already.

    Raises:
        InvalidQuery: the query, a glob, a type or a path cannot be understood.
        RepoNotDetected: the root is gone.
        FallbackFailure: no road could answer.
        OutOfTime: the pattern was not understood in time.
    """
    with working(call):
        return _answer(desk, request, call, tool)


def _answer(
    desk: Desk, request: SearchContentRequest, call: Call, tool: str
) -> SearchAnswer | ReusedAnswer:
    limit = min(max(request.limit, 1), LIMIT_MAX)
    offset = max(request.offset, 0)
    engine = desk.engine
    asked = engine_request(engine.root, request)
    question = (tool, astuple(replace(request, force_refresh=False)))
    turn = reuse.begin(desk, call, question, forced=request.force_refresh)
    known = turn.known(engine.root, lambda: reuse.of_contents(engine.root, asked))
    if known is not None:
        return known
    scores = desk.scores((tool, asked), offset)
    found = ranked(
        engine,
        asked,
        limit=limit,
        offset=offset,
        scores=scores,
        stop=patience(call),
        seconds=desks.DEADLINE_S,
    )
    results = list(_results(found.files, request.output_mode))
    answer: SearchAnswer = {
        **envelopes.head(engine.root),
        **envelopes.routed(found.route, force_refreshed=request.force_refresh),
        **_counted(found, request.output_mode),
        **turn.executed(_outcome(found, asked.scope)),
        "results": results,
        "truncated": found.more,
        **_remarks(found),
    }
    if not found.totals.files_matched and not found.totals.incomplete:
        narrowing = [name for name in ("glob", "type", "path") if getattr(request, name)]
        nothing = hints.for_nothing(engine, tool, asked, narrowing, found, call)
        answer = {**answer, **nothing}
    count = listed(results)

    def page(most: int) -> SearchAnswer:
        if most == count and not found.more:
            return answer
        shown = list(_results(found.shorter(most), request.output_mode))
        return {**answer, "results": shown, "truncated": True, "next_offset": offset + most}

    return fit(page, count, request.token_budget)


def engine_request(root: str, request: SearchContentRequest) -> SearchRequest:
    """What the engine is asked.

    Raises:
        InvalidQuery: the query is empty, or there is nothing where a path leads.
        PathRefused: a path leads out of the root, or is neither a regular file nor a folder.
        RepoNotDetected: the root is gone.
    """
    patterns = tuple(dict.fromkeys((request.query, *request.patterns)))
    if not all(patterns):
        raise InvalidQuery("the query is empty", next_step="Give a text to find.")
    size = sum(map(len, patterns))
    if size > QUERY_MAX:
        raise InvalidQuery(
            f"the query has {size:,} characters, and {QUERY_MAX:,} are allowed",
            next_step="Search for one distinctive line of it.",
        )
    context = min(max(request.context, 0), CONTEXT_MAX) if request.output_mode == "content" else 0
    globs, paths = narrowed(root, request.glob, request.path)
    return SearchRequest(
        pattern=PatternSpec(
            patterns=patterns,
            fixed=request.mode == "literal",
            case=request.case,
            word=request.word,
            multiline=request.multiline,
            dotall=request.multiline,
        ),
        scope=ScopeSpec(
            globs=globs,
            types=tuple(request.type.replace(",", " ").split()),
            allowlist=True,
        ),
        paths=paths,
        mode=_MODES[request.output_mode],
        before=context,
        after=context,
        opening="inside",
    )


def narrowed(root: str, text: str, path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The globs and the paths that are meant by a line of globs and by a path.

    A glob for all of a folder is that folder: to ripgrep it would also ask for whatever is ignored
    or hidden below. A plain name is meant as any file or folder that has it.

    Raises:
        InvalidQuery: as `below`.
    """
    words = [word.removeprefix(root + os.sep).removeprefix("./") for word in text.split()]
    wanted = [word for word in words if not word.startswith("!")]
    folders = [_folder(root, word) for word in wanted]
    if not path and folders and None not in folders:
        named = tuple(dict.fromkeys(folder for folder in folders if folder is not None))
        unwanted = tuple(word for word in words if word.startswith("!"))
        return unwanted, () if "." in named else named
    globs = tuple(glob for word in words for glob in _globs(word))
    return globs, (below(root, path),) if path else ()


def _folder(root: str, word: str) -> str | None:
    """The folder all of which a glob takes, if there is one."""
    if word in ("**", "**/*"):
        return "."
    name = word.removesuffix("/*").removesuffix("/**").rstrip("/")
    whole = name != word or "/" in word
    is_plain = whole and not GLOB_SIGNS & set(name) and not word.endswith(f"{name}/*")
    if not (is_plain and name) or name.startswith("/"):  # which anchors a glob to the root
        return None
    inside = containment.locate(root, name)
    return inside.real if inside.kind == "folder" else None


def _globs(word: str) -> Iterator[str]:
    """A word as globs."""
    if word.startswith("!") or GLOB_SIGNS & set(word):
        yield word
        return
    name = word.rstrip("/")
    yield name
    yield f"{name}/**" if "/" in name else f"**/{name}/**"


def below(root: str, path: str) -> str:
    """A path as it counts from the root, links resolved.

    Raises:
        InvalidQuery: there is nothing.
        PathRefused: it leads out of the root, or is neither a regular file nor a folder.
        RepoNotDetected: the root is gone.
    """
    inside = containment.locate(root, path)
    # Nothing can be found there, and "no matches" would not say why.
    if inside.kind == "missing":
        raise InvalidQuery(
            f"there is no file or folder {path!r} in {root!r}",
            next_step="Look for it with find_files; a pattern of paths is the glob's.",
        )
    return inside.real


def _outcome(found: Ranked, scope: ScopeSpec) -> reuse.Outcome:
    complete = not found.totals.incomplete
    return reuse.Outcome(
        freshness=found.totals.freshness,
        indexed=found.route.backend == "indexed" and complete,
        told=not Scope.compile(scope).brings_back,
        matched=found.matched,
        shown=frozenset(file.path for file in found.files),
        files=found.totals.files_matched,
        lines=found.totals.lines,
    )


def _counted(found: Ranked, mode: OutputMode) -> MatchCounts:
    counted: MatchCounts = {"files_with_matches": found.totals.files_matched}
    if mode != "files":  # there a file is left at its first match
        counted["total_line_matches"] = found.totals.lines
    return counted


def _results(files: Sequence[File], mode: OutputMode) -> Iterator[SearchResult]:
    for file in files:
        path = envelopes.shown(file.path)
        if mode == "files":
            yield {"path": path, "reason": "path_only"}
        elif mode == "count":
            yield {"path": path, "count": file.count, "reason": "content_match"}
        else:
            yield _content(path, file)


def _content(path: str, file: File) -> SearchResult:
    matches: list[MatchLine] = []
    for line in file.lines:
        preview = envelopes.preview(line.text, line.column)
        shown: MatchLine
        if line.context:
            shown = {"line": line.number, "context": True, "preview": preview}
        else:
            shown = {"line": line.number, "column": line.column, "preview": preview}
        if line.definition:
            shown["definition"] = True
        matches.append(shown)
    result: SearchResult = {"path": path, "matches": matches, "reason": "content_match"}
    if file.count > sum(not line.context for line in file.lines):
        result["line_matches"] = file.count
    return result


def _remarks(found: Ranked) -> Remarks:
    """What else is to be known of the answer."""
    remarks: Remarks = {}
    binary = (f"{envelopes.shown(path)}: {detail(nul)}" for path, nul in found.binary.items())
    if notes := [*found.notes, *binary]:
        remarks["notes"] = notes
    if found.totals.incomplete:
        remarks["incomplete"] = found.totals.incomplete
    return remarks
