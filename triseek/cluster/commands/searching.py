"""`triseek cluster status`, `list` and `search`: what the hosts are, hold and find.

They run without Typer, in the daemon if there is one, whose connections are open already.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

from triseek import config
from triseek.model.code_search import CodeRequest
from triseek.model.plain_text import counted, visible_line
from triseek.terminal import code_text, plain_words, report_text, status
from triseek.terminal.plain_words import Argument, Json, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from triseek.model.code_search import CodeFile, CodeResult, Repository
    from triseek.terminal.command_context import CommandContext
    from triseek.zoekt.cluster import Cluster
    from triseek.zoekt.host_status import HostStatus

LINES, LINES_MAX = 100, 10_000
CONTEXT_MAX = 10


def show_status(command: CommandContext, json: Json = False) -> int:
    """Show whether each host is up, what it holds, and how much memory its index takes.

    Exit status 2: a host is not up.

    Example: triseek cluster status
    """
    from triseek.zoekt.host_status import host_statuses

    with _cluster(command) as cluster:
        hosts = host_statuses(cluster)
    documents = [{**dataclasses.asdict(host), "ratio": round(host.ratio, 2)} for host in hosts]
    _print(command, {"hosts": documents}, _status_lines(hosts), as_json=json)
    return status.FOUND if all(host.state == "ok" for host in hosts) else status.ERROR


def list_repositories(
    command: CommandContext,
    query: Annotated[str, Argument("QUERY", "Only repositories in which it matches.")] = "",
    json: Json = False,
) -> int:
    """List the repositories on all hosts, once for each host that holds a copy.

    Examples: triseek cluster list · triseek cluster list 'r:api lang:go'
    """
    with _cluster(command) as cluster:
        result = cluster.copies(query)
    return _print_repositories(command, result, as_json=json)


def search(
    command: CommandContext,
    query: Annotated[str, Argument("QUERY", "In Zoekt's language.")],
    context: Annotated[
        int, Option("N", "Lines around each.", least=0, most=CONTEXT_MAX, short="-C")
    ] = 0,
    limit: Annotated[int, Option("N", "At most so many lines.", least=1, most=LINES_MAX)] = LINES,
    repos: Annotated[bool, Option("", "List the repositories with a match, and no lines.")] = False,
    json: Json = False,
) -> int:
    r"""Search all hosts by one query; the best files come first, grouped by repository.

    Exit status 2: nothing was found, and not everything was searched. Fields: r: repository,
    f: file, c: content, lang:, sym: definition, case:yes, -x not x, or, ( ).

    Examples: triseek cluster search 'retry budget lang:go' · triseek cluster search --repos
    'r:api sym:NewClient' · triseek cluster search -C 2 'f:\.proto$ Order'
    """
    seconds = config.read(environ=command.environ).zoekt_timeout_s
    request = CodeRequest(
        query=query, max_files=limit, max_matches=limit, context_lines=context, seconds=seconds
    )
    with _cluster(command) as cluster:
        result = cluster.copies(query) if repos else cluster.search(request)
    if repos or result.repositories:
        return _print_repositories(command, result, as_json=json)
    groups: dict[str, list[CodeFile]] = {}
    for file in result.files:
        groups.setdefault(file.repository, []).append(file)
    document = {
        "query": query,
        "files": result.file_count,
        "matches": result.match_count,
        "repositories": [
            {"name": name, "results": list(map(_file, files))} for name, files in groups.items()
        ],
        **_about(result),
    }
    _print(command, document, _groups(result, groups), as_json=json)
    return status.of_search(bool(result.files), bool(result.partial))


VERBS: dict[str, Callable[..., int]] = {
    "status": show_status,
    "list": list_repositories,
    "search": search,
}
"""`app.wings.QUICK` has the same names."""


def perform(words: Sequence[str], context: CommandContext) -> int | None:
    """Run a verb with its arguments; return None if they are left to Typer.

    Raises:
        TriseekError: As the verb.
    """
    command = VERBS[words[0]]
    values = plain_words.read(command, words[1:])
    return None if values is None else command(context, **values)


@contextlib.contextmanager
def _cluster(command: CommandContext) -> Iterator[Cluster]:
    """Yield the cluster of the command's settings: the daemon's, or one of this command.

    Raises:
        InvalidRequest: As `Cluster.of`.
    """
    from triseek.zoekt.cluster import Cluster

    settings = config.read(environ=command.environ)
    if command.kept is not None and settings.zoekt_api_url:
        yield command.kept(settings)
        return
    with Cluster.of(settings) as cluster:
        yield cluster


def _print_repositories(command: CommandContext, result: CodeResult, *, as_json: bool) -> int:
    copies = [dataclasses.asdict(copy) for copy in result.repositories]
    _print(command, {"repositories": copies, **_about(result)}, _listing(result), as_json=as_json)
    return status.of_search(bool(result.repositories), bool(result.partial))


def _print(
    command: CommandContext, document: dict[str, Any], lines: Iterable[str], *, as_json: bool
) -> None:
    text = report_text.as_json(document) if as_json else report_text.readable("\n".join(lines))
    command.print(text)


def _about(result: CodeResult) -> dict[str, Any]:
    return {
        "partial": result.partial,
        "hosts": [dataclasses.asdict(report) for report in result.hosts],
        "elapsed_ms": round(result.elapsed_ms, 1),
    }


def _file(file: CodeFile) -> dict[str, Any]:
    where = {"host": file.host, "version": file.version, "branches": file.branches}
    return {**code_text.file_document(file), **where, "url": file.url}


def _status_lines(hosts: Sequence[HostStatus]) -> Iterator[str]:
    width = max(len("host"), *(len(host.host) for host in hosts))
    yield f"{'host':{width}}  state    repos      files       text      index  format  ms"
    for host in hosts:
        state = "up" if host.state == "ok" else host.state
        text, index = map(report_text.human_size, (host.content_bytes, host.index_bytes))
        yield (
            f"{visible_line(host.host):{width}}  {state:7} {host.repositories:6,} {host.files:10,}"
            f" {text:>10} {index:>10}  {', '.join(host.formats) or '-':6}"
            f"  {host.ms:.0f}"
        )
        if host.detail:
            yield f"{'':{width}}  {visible_line(host.detail)}"


def _listing(result: CodeResult) -> Iterator[str]:
    for repository in result.repositories:
        yield from _repository(repository)
    if not (result.repositories or result.partial):
        yield "no repository"
    yield from _host_lines(result)


def _repository(repository: Repository) -> Iterator[str]:
    yield visible_line(f"{repository.name}  {repository.host}")
    text, index = map(report_text.human_size, (repository.content_bytes, repository.index_bytes))
    branches = ", ".join(f"{name} {commit[:12]}".rstrip() for name, commit in repository.branches)
    written = report_text.local_time(repository.indexed_at)
    yield visible_line(
        f"  {counted(repository.files, 'file')}, {text} of text, index {index}, written {written}"
        + (f", {branches}" if branches else "")
    )


def _groups(result: CodeResult, groups: dict[str, list[CodeFile]]) -> Iterator[str]:
    for name, files in groups.items():
        lines = sum(len(file.lines) for file in files)
        yield visible_line(
            f"{name}: {counted(lines, 'line')} in {counted(len(files), 'file')} shown"
        )
        for file in files:
            yield from code_text.file_lines(file)
    if not (result.files or result.partial):
        yield "no matches"
    shown = len(result.files)
    if result.file_count > shown:
        yield f"{shown:,} of {result.file_count:,} files shown; --limit shows more"
    yield from _host_lines(result)


def _host_lines(result: CodeResult) -> Iterator[str]:
    for report in result.hosts:
        detail = f": {report.detail}" if report.detail else ""
        yield visible_line(f"host {report.host}: {report.state}, {report.ms:.0f} ms{detail}")
    for reason in result.partial:
        yield visible_line(f"incomplete: {reason}")
