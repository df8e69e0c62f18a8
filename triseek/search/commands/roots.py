"""`triseek roots`: the indexed repositories of this machine, and one query over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.model.code_search import CodeRequest
from triseek.model.plain_text import visible_line
from triseek.terminal import code_text, options, report_text, status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.model.code_search import CodeFile, CodeResult, Repository

LINES, LINES_MAX = 100, 10_000
CONTEXT_MAX = 10
SECONDS = 30.0

app = typer.Typer(
    help="The indexed repositories of this machine.",
    invoke_without_command=True,
    add_completion=False,
)


@app.callback()
def roots(context: typer.Context, json: options.Json = False) -> int | None:
    """List the indexed repositories of this machine, or search them all by one query.

    Examples: triseek roots · triseek roots search 'lang:go sym:Serve -f:_test'
    """
    if context.invoked_subcommand is not None:
        return None
    from triseek.engine.repositories.local import LocalRepositories
    from triseek.engine.repositories.roots import indexed_roots
    from triseek.engine.service import Service

    indexed = indexed_roots()
    with Service() as service:
        listed = LocalRepositories(service, indexed.roots).repositories()
    partial = (*indexed.broken, *listed.partial)
    document = {"roots": list(map(_root, listed.repositories)), "partial": partial}
    _print(document, _listing(listed.repositories, partial), as_json=json)
    return status.FOUND if listed.repositories else status.NOTHING


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="In Zoekt's language.")],
    repos: Annotated[
        bool, typer.Option("--repos", help="List the repositories with a match, and no lines.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=LINES_MAX, help="At most so many lines.")
    ] = LINES,
    context: Annotated[
        int, typer.Option("--context", min=0, max=CONTEXT_MAX, help="Lines around each.")
    ] = 0,
    json: options.Json = False,
) -> int:
    r"""Search all indexed repositories by one query; the best files of each come first.

    Every repository with a match is listed with its counts, whatever the limit. Words must all
    occur in a file; fields: r: repository, f: file, c: content, lang:, sym: definition, case:yes,
    -x not x, or, ( ).

    Examples: triseek roots search 'retry budget lang:go' · triseek roots search --repos 'r:api
    sym:NewClient' · triseek roots search 'f:\.proto$ (Order or Invoice) -deprecated' --context 1
    """
    from triseek.engine.repositories.local import LocalRepositories
    from triseek.engine.repositories.roots import indexed_roots
    from triseek.engine.service import Service

    indexed = indexed_roots()
    request = CodeRequest(
        query=query, max_files=limit, max_matches=limit, context_lines=context, seconds=SECONDS
    )
    with Service() as service:
        source = LocalRepositories(service, indexed.roots)
        result = source.repositories(query) if repos else source.search(request)
    partial = (*indexed.broken, *result.partial)
    if repos or result.repositories:
        document = {"roots": list(map(_root, result.repositories)), "partial": partial}
        _print(document, _listing(result.repositories, partial), as_json=json)
        return status.FOUND if result.repositories else status.NOTHING
    _print(_found(query, result, partial), _groups(result, partial), as_json=json)
    return status.FOUND if result.file_count else status.NOTHING


def _print(document: dict[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    text = report_text.as_json(document) if as_json else report_text.readable("\n".join(lines))
    print(text)


def _root(repository: Repository) -> dict[str, Any]:
    return {
        "name": repository.name,
        "folder": repository.root,
        "url": repository.url,
        "files": repository.files,
        "text_bytes": repository.content_bytes,
        "index_bytes": repository.index_bytes,
        "indexed_at": repository.indexed_at,
    }


def _listing(repositories: list[Repository], partial: tuple[str, ...]) -> Iterator[str]:
    for repository in repositories:
        yield visible_line(f"{repository.name}  {repository.root}")
        sizes = (repository.content_bytes, repository.index_bytes)
        text, index = map(report_text.human_size, sizes)
        indexed = report_text.local_time(repository.indexed_at)
        files = _counted(repository.files, "file")
        yield f"  {files}, {text} of text, index {index}, written {indexed}"
    if not repositories:
        yield "no repository; `triseek build PATH` indexes one"
    yield from _incomplete(partial)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _incomplete(partial: tuple[str, ...]) -> Iterator[str]:
    for reason in partial:
        yield visible_line(f"incomplete: {reason}")


def _by_repository(result: CodeResult) -> dict[str, list[CodeFile]]:
    """Return the files by repository, that with the best file first, then those without one."""
    groups: dict[str, list[CodeFile]] = {}
    for file in result.files:
        groups.setdefault(file.repository, []).append(file)
    for name in result.counts:
        groups.setdefault(name, [])
    return groups


def _groups(result: CodeResult, partial: tuple[str, ...]) -> Iterator[str]:
    for name, files in _by_repository(result).items():
        count = result.counts[name]
        lines, in_files = _counted(count.matches, "line"), _counted(count.files, "file")
        yield visible_line(f"{name}: {lines} in {in_files}")
        for file in files:
            yield from code_text.file_lines(file)
    if not result.file_count:
        yield "no matches"
    yield from _incomplete(partial)


def _found(query: str, result: CodeResult, partial: tuple[str, ...]) -> dict[str, Any]:
    return {
        "query": query,
        "files": result.file_count,
        "matches": result.match_count,
        "repositories": [
            {
                "name": name,
                "files": result.counts[name].files,
                "matches": result.counts[name].matches,
                "results": list(map(code_text.file_document, files)),
            }
            for name, files in _by_repository(result).items()
        ],
        "partial": partial,
        "elapsed_ms": round(result.elapsed_ms, 1),
    }
