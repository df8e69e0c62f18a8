"""search_content and search_path_and_content: matches in contents, best first, counted exactly."""

from __future__ import annotations

import os
from dataclasses import astuple, replace
from typing import TYPE_CHECKING

from triseek import config
from triseek.engine.agent_scope import agent_scope
from triseek.engine.ranking.find_files import GLOB_SIGNS
from triseek.engine.ranking.ranked import ranked
from triseek.engine.search.backends.file import detail
from triseek.errors import InvalidQuery
from triseek.files import containment
from triseek.model.search import PatternSpec, SearchRequest
from triseek.search import envelopes, hints, incomplete, reuse
from triseek.search.requests import CONTEXT_MAX, LIMIT_MAX, SearchContentRequest
from triseek.zoekt import configured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.engine.ranking.ranked import Ranked, RankedFile
    from triseek.model.call import Call
    from triseek.model.search import Mode
    from triseek.search.context import SearchContext
    from triseek.search.requests import OutputMode, SearchPathAndContentRequest
    from triseek.search.results import (
        MatchLine,
        Remarks,
        ReusedAnswer,
        SearchAnswer,
        SearchResult,
    )

QUERY_MAX = 16_384
"""Most characters of all patterns of a query: a page of text. Longer ones only take time."""
_MODES: dict[OutputMode, Mode] = {"content": "lines", "files": "files", "count": "count"}


def search_path_and_content(
    context: SearchContext, request: SearchPathAndContentRequest, call: Call
) -> SearchAnswer | ReusedAnswer:
    """Search the files that a glob matches. Raises as `search_content`."""
    if not request.path_query.strip():
        raise InvalidQuery("path_query is empty", next_step="Give a glob such as `src/**/*.rs`.")
    options = {
        name: getattr(request, name)
        for name in request.__dataclass_fields__
        if name not in ("path_query", "content_query") and not name.startswith("_")
    }
    same = SearchContentRequest(query=request.content_query, glob=request.path_query, **options)
    return search_content(context, same, call, tool="search_path_and_content")


def search_content(
    context: SearchContext,
    request: SearchContentRequest,
    call: Call,
    *,
    tool: str = "search_content",
) -> SearchAnswer | ReusedAnswer:
    """Search, or return that the conversation has the answer already.

    Raises:
        InvalidQuery: the query, a glob, a type or a path is invalid.
        RepoNotDetected: the root does not exist any more.
        FallbackFailure: no backend could answer.
        OutOfTime: the pattern could not be compiled in time.
    """
    limit = min(max(request.limit, 1), LIMIT_MAX)
    offset = max(request.offset, 0)
    engine, mode = context.engine, request.output_mode
    settings = config.read(environ=context.host.environ) if request.backend else None
    with envelopes.limited(call) as stop, configured.used(settings):
        search_request = engine_request(engine.root, request)
        question = (tool, astuple(replace(request, force_refresh=False)))
        forced, scope = request.force_refresh, search_request.scope
        turn = reuse.begin(context, call, question, scope, forced=forced)
        reused = turn.known(lambda: reuse.of_contents(engine.root, search_request))
        if reused is not None:
            return reused
        ranking = ranked(
            engine,
            search_request,
            limit=limit,
            offset=offset,
            scores=context.scores((tool, search_request), offset),
            stop=stop,
            seconds=envelopes.DEADLINE_S,
        )
        totals = ranking.search.totals
        results = list(_results(ranking.files, mode))
        facts = turn.answer(
            ranking.search.route,
            totals.freshness,
            matched=ranking.matched,
            shown=(file.path for file in ranking.files),
            files=totals.files_matched,
            lines=totals.lines,
            counts_lines=mode != "files",  # there a file is left at its first match
            complete=not totals.incomplete,
        )
        answer: SearchAnswer = {
            **facts,
            "results": results,
            "truncated": ranking.more,
            **_remarks(ranking, context),
        }
        if not totals.files_matched and not totals.incomplete:
            narrowing = [name for name in ("glob", "type", "path") if getattr(request, name)]
            nothing = hints.for_nothing(engine, tool, search_request, narrowing, ranking, call)
            answer = {**answer, **nothing}
        count = envelopes.count_listed(results)

        def page(most: int) -> SearchAnswer:
            if most == count and not ranking.more:
                return answer
            shown = list(_results(ranking.shorter(most), mode))
            return {**answer, "results": shown, "truncated": True, "next_offset": offset + most}

        return envelopes.fit_page(page, count, request.token_budget)


def engine_request(root: str, request: SearchContentRequest) -> SearchRequest:
    """Return the engine's request for a tool's request.

    Raises:
        InvalidQuery: the query is empty, or a path does not exist.
        PathRefused: a path leads out of the root, or is neither a regular file nor a folder.
        RepoNotDetected: the root does not exist any more.
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
        scope=agent_scope(
            root,
            globs,
            tuple(request.type.replace(",", " ").split()),
            hidden=request.hidden,
            ignored=request.ignored,
        ),
        paths=paths,
        mode=_MODES[request.output_mode],
        before=context,
        after=context,
        opening="inside",
        engine=request.backend or "auto",
    )


def narrowed(root: str, text: str, path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the globs and the paths that a line of globs and a path stand for.

    A glob for all of a folder becomes that folder: given the glob, ripgrep would also search what
    is ignored or hidden below. A plain name stands for any file or folder of that name.

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
    """Return the folder that a glob matches as a whole; None if there is none."""
    if word in ("**", "**/*"):
        return "."
    name = word.removesuffix("/*").removesuffix("/**").rstrip("/")
    whole = name != word or "/" in word
    is_plain = whole and not GLOB_SIGNS & set(name) and not word.endswith(f"{name}/*")
    if not (is_plain and name) or name.startswith("/"):  # a leading / anchors it to the root
        return None
    inside = containment.locate(root, name)
    return inside.real if inside.kind == "folder" else None


def _globs(word: str) -> Iterator[str]:
    """Yield the globs that a word stands for."""
    if word.startswith("!") or GLOB_SIGNS & set(word):
        yield word
        return
    name = word.rstrip("/")
    yield name
    yield f"{name}/**" if "/" in name else f"**/{name}/**"


def below(root: str, path: str) -> str:
    """Return a path relative to the root, links resolved.

    Raises:
        InvalidQuery: the path does not exist.
        PathRefused: it leads out of the root, or is neither a regular file nor a folder.
        RepoNotDetected: the root does not exist any more.
    """
    inside = containment.locate(root, path)
    # Nothing can be found there, and "no matches" would not say why.
    if inside.kind == "missing":
        raise InvalidQuery(
            f"there is no file or folder {path!r} in {root!r}",
            next_step="Look for it with find_files; a pattern of paths is the glob's.",
        )
    return inside.real


def _results(files: Sequence[RankedFile], mode: OutputMode) -> Iterator[SearchResult]:
    for file in files:
        path = envelopes.shown(file.path)
        if mode == "files":
            yield {"path": path, "reason": "path_only"}
        elif mode == "count":
            yield {"path": path, "count": file.count, "reason": "content_match"}
        else:
            yield _content(path, file)


def _content(path: str, file: RankedFile) -> SearchResult:
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


def _remarks(ranking: Ranked, context: SearchContext) -> Remarks:
    """Return the notes about an answer, and why it is incomplete if it is."""
    remarks: Remarks = {}
    binary = (f"{envelopes.shown(path)}: {detail(nul)}" for path, nul in ranking.binary.items())
    if notes := [*ranking.search.query.pattern.notes, *binary]:
        remarks["notes"] = notes
    if ranking.search.totals.incomplete:
        reason = ranking.search.totals.incomplete
        remarks["incomplete"] = f"{reason}; {incomplete.way_on(context)}"
    return remarks
