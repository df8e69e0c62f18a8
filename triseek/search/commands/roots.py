"""`triseek roots`: the indexed repositories of this machine, and one query over all of them.

It runs without Typer, in the daemon if there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from triseek.errors import IndexUnavailable, InvalidQuery
from triseek.model.code_search import CodeRequest
from triseek.model.plain_text import counted, visible_line
from triseek.search.commands.opening import opened
from triseek.terminal import code_text, plain_words, report_text, status
from triseek.terminal.plain_words import Argument, Json, Option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import typer

    from triseek.model.code_search import CodeFile, CodeResult, Repository
    from triseek.terminal.command_context import CommandContext

LINES, LINES_MAX = 100, 10_000
CONTEXT_MAX = 10
SECONDS = 30.0


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    import typer

    from triseek.terminal import options
    from triseek.terminal.command_context import CommandContext
    from triseek.terminal.typer_command import typer_command

    group = typer.Typer(invoke_without_command=True, add_completion=False)

    def list_alone(context: typer.Context, json: options.Json = False) -> int | None:
        return None if context.invoked_subcommand else roots(CommandContext.here(), json)

    list_alone.__doc__ = roots.__doc__
    list_alone.__annotations__ = {"context": typer.Context, "json": options.Json}
    group.callback()(list_alone)
    group.command("search")(typer_command(search))
    app.add_typer(group, name="roots")


def perform(words: Sequence[str], context: CommandContext) -> int | None:
    """Run the verb with its arguments; return None if they are left to Typer.

    Raises:
        TriseekError: As the verb.
    """
    command = search if words[:1] == ["search"] else roots
    values = plain_words.read(command, words[1:] if command is search else words)
    return None if values is None else command(context, **values)


def roots(command: CommandContext, json: Json = False) -> int:
    """List the indexed repositories of this machine, or search them all by one query.

    Examples: triseek roots · triseek roots search 'lang:go sym:Serve -f:_test'
    """
    from triseek.engine.repositories.local import LocalRepositories
    from triseek.engine.repositories.roots import indexed_roots

    indexed = indexed_roots()
    with opened(command) as service:
        listed = LocalRepositories(service, indexed.roots).repositories()
    partial = (*indexed.broken, *listed.partial)
    document = {"roots": list(map(_root, listed.repositories)), "partial": partial}
    _print(command, document, _listing(listed.repositories, partial), as_json=json)
    return status.of_search(bool(listed.repositories), bool(partial))


def search(
    command: CommandContext,
    query: Annotated[str, Argument("QUERY", "In Zoekt's language.")],
    repos: Annotated[bool, Option("", "List the repositories with a match, and no lines.")] = False,
    limit: Annotated[int, Option("N", "At most so many lines.", least=1, most=LINES_MAX)] = LINES,
    context: Annotated[
        int, Option("N", "Lines around each.", least=0, most=CONTEXT_MAX, short="-C")
    ] = 0,
    json: Json = False,
) -> int:
    r"""Search all indexed repositories by one query; the best files of each come first.

    Every repository with a match is listed with its counts, whatever the limit. Words must all
    occur in a file; fields: r: repository, f: file, c: content, lang:, sym: definition, case:yes,
    -x not x, or, ( ). Exit status 1: nothing was found; 2: and not everything was searched.

    Examples: triseek roots search 'retry budget lang:go' · triseek roots search --repos 'r:api
    sym:NewClient' · triseek roots search 'f:\.proto$ (Order or Invoice) -deprecated' -C 1
    """
    from triseek.engine.repositories.local import LocalRepositories
    from triseek.engine.repositories.roots import indexed_roots

    if not query.strip():
        raise InvalidQuery("the query is empty", next_step="Pass a text to search for.")
    indexed = indexed_roots()
    if not (indexed.roots or indexed.broken):
        raise IndexUnavailable(
            "no repository is indexed here", next_step="Run `triseek build PATH` for each."
        )
    request = CodeRequest(
        query=query, max_files=limit, max_matches=limit, context_lines=context, seconds=SECONDS
    )
    with opened(command) as service:
        source = LocalRepositories(service, indexed.roots)
        result = source.repositories(query) if repos else source.search(request)
    partial = (*indexed.broken, *result.partial)
    if repos or result.repositories:
        document = {"roots": list(map(_root, result.repositories)), "partial": partial}
        _print(command, document, _listing(result.repositories, partial), as_json=json)
        return status.of_search(bool(result.repositories), bool(partial))
    _print(command, _document(query, result, partial), _groups(result, partial), as_json=json)
    return status.of_search(bool(result.file_count), bool(partial))


def _print(
    command: CommandContext, document: dict[str, Any], lines: Iterable[str], *, as_json: bool
) -> None:
    text = report_text.as_json(document) if as_json else report_text.readable("\n".join(lines))
    command.print(text)


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
        files = counted(repository.files, "file")
        yield f"  {files}, {text} of text, index {index}, written {indexed}"
    if not (repositories or partial):
        yield "no repository; `triseek build PATH` indexes one"
    yield from _incomplete(partial)


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
        lines, in_files = counted(count.matches, "line"), counted(count.files, "file")
        yield visible_line(f"{name}: {lines} in {in_files}")
        for file in files:
            yield from code_text.file_lines(file)
    if not (result.file_count or partial):
        yield "no matches"
    if result.file_count > len(result.files):
        yield (
            f"{len(result.files):,} of {counted(result.file_count, 'file')} shown; "
            "--limit shows more"
        )
    yield from _incomplete(partial)


def _document(query: str, result: CodeResult, partial: tuple[str, ...]) -> dict[str, Any]:
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
