"""Answers of Zoekt's JSON interface, decoded: `/api/search` and `/api/list`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from triseek.model.code_search import CodeFile, CodeLine, Repository
from triseek.zoekt import fields, file_url
from triseek.zoekt.lines import Chunk, ChunkMatch, code_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.zoekt.fields import AnswerFields


class AnswerCounts(NamedTuple):
    """The figures of an answer that tell how complete it is."""

    files: int = 0
    matches: int = 0
    crashes: int = 0
    """Shards that could not be searched; one more while the host still loads shards."""
    files_skipped: int = 0
    shards_skipped: int = 0


class HostAnswer(NamedTuple):
    """What one host returned."""

    files: tuple[CodeFile, ...] = ()
    repositories: tuple[Repository, ...] = ()
    counts: AnswerCounts = AnswerCounts()
    formats: tuple[str, ...] = ()
    """The versions of Zoekt's index format in which the host has repositories."""


def search_answer(body: bytes, host: str, context_lines: int, *, whole: bool = False) -> HostAnswer:
    """Decode an answer of `/api/search`, with LineMatches or ChunkMatches.

    Args:
        body: The JSON document.
        host: The host's name, for the results.
        context_lines: Lines of context that were asked for.
        whole: Whether the content of the files was asked for.

    Raises:
        HostFailure: The document is malformed; the message names the field.
    """
    document = fields.document(body)
    result = document.required("Result")
    templates = result.child("RepoURLs")
    return HostAnswer(
        files=tuple(
            _file(entry, templates, host, context_lines, whole=whole)
            for entry in result.objects("Files")
        ),
        counts=counts(result),
    )


def list_answer(body: bytes, host: str) -> HostAnswer:
    """Decode an answer of `/api/list`.

    Raises:
        HostFailure: As `search_answer`.
    """
    document = fields.document(body)
    result = document.required("List")
    entries = list(result.objects("Repos"))
    repositories = tuple(_repository(entry, host) for entry in entries)
    formats = {_format(entry.child("IndexMetadata")) for entry in entries} - {""}
    return HostAnswer(
        repositories=tuple(sorted(repositories, key=lambda repository: repository.name)),
        counts=AnswerCounts(crashes=result.integer("Crashes")),
        formats=tuple(sorted(formats)),
    )


def counts(stats: AnswerFields) -> AnswerCounts:
    """Return the figures of the object that holds Zoekt's `Stats`."""
    return AnswerCounts(
        stats.integer("FileCount"),
        stats.integer("MatchCount"),
        stats.integer("Crashes"),
        stats.integer("FilesSkipped"),
        stats.integer("ShardsSkipped"),
    )


def unix_time(text: str) -> float:
    """Return the Unix time of a text as RFC 3339 has it; 0 if it is invalid, or of year 1."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return max(0.0, moment.timestamp())
    except (OverflowError, ValueError):
        return 0.0


def _file(
    entry: AnswerFields, templates: AnswerFields, host: str, context_lines: int, *, whole: bool
) -> CodeFile:
    repository, path = entry.text("Repository"), entry.text("FileName")
    lines: dict[int, CodeLine] = {}
    name_spans: list[tuple[int, int]] = []
    name = path.encode()
    for is_name, matched in (*_chunk_matches(entry, context_lines), *_line_matches(entry)):
        if is_name:
            name_spans += [span for line in matched for span in line.spans if span[1] <= len(name)]
        else:
            for line in matched:
                lines.setdefault(line.number, line)
    return CodeFile(
        repository=repository,
        path=name,
        lines=tuple(lines[number] for number in sorted(lines)),
        name_spans=tuple(sorted(set(name_spans))),
        match_count=len(lines) or int(bool(name_spans)),
        version=entry.text("Version"),
        branches=entry.texts("Branches"),
        language=entry.text("Language"),
        checksum=entry.data("Checksum"),
        score=entry.number("Score"),
        host=host,
        url=_url(entry, templates, repository, path),
        content=entry.data("Content") if whole else None,
    )


def _url(entry: AnswerFields, templates: AnswerFields, repository: str, path: str) -> str:
    """Return the URL of a file; that of a submodule's is by the submodule's template."""
    if submodule := entry.text("SubRepositoryName"):
        repository = submodule
        path = path.removeprefix(entry.text("SubRepositoryPath")).lstrip("/")
    branch = next(iter(entry.texts("Branches")), "")
    return file_url.expanded(templates.text(repository), path, entry.text("Version"), branch)


def _line_matches(entry: AnswerFields) -> Iterator[tuple[bool, list[CodeLine]]]:
    """Yield whether a match is one of the file's name, and its lines.

    A match that crosses line ends makes Zoekt return all its lines as one.
    """
    for match in entry.objects("LineMatches"):
        begin, score = match.integer("LineStart"), match.number("Score")
        number, is_name = match.integer("LineNumber"), match.boolean("FileName")
        ranges = []
        for fragment in match.objects("LineFragments"):
            start = fragment.integer("LineOffset")
            end = start + fragment.integer("MatchLength")
            ranges.append(ChunkMatch(start, end, _symbol(fragment, "SymbolInfo")))
        chunk = Chunk(match.data("Line"), begin, max(1, number), ranges, score)
        before, after = match.data("Before"), match.data("After")
        yield is_name, code_lines(chunk, before=before, after=after)


def _chunk_matches(entry: AnswerFields, context: int) -> Iterator[tuple[bool, list[CodeLine]]]:
    for match in entry.objects("ChunkMatches"):
        start, is_name = match.child("ContentStart"), match.boolean("FileName")
        begin = start.integer("ByteOffset")
        symbols = list(match.objects("SymbolInfo"))
        ranges = []
        for position, entry_range in enumerate(match.objects("Ranges")):
            first = entry_range.child("Start").integer("ByteOffset") - begin
            last = entry_range.child("End").integer("ByteOffset") - begin
            symbol = _names(symbols[position]) if position < len(symbols) else None
            ranges.append(ChunkMatch(first, last, symbol))
        content, number = match.data("Content"), max(1, start.integer("LineNumber"))
        chunk = Chunk(content, begin, number, ranges, match.number("Score"))
        yield is_name, code_lines(chunk, context=0 if is_name else context)


def _symbol(fragment: AnswerFields, name: str) -> tuple[str, str, str, str] | None:
    return _names(fragment.child(name)) if name in fragment else None


def _names(symbol: AnswerFields) -> tuple[str, str, str, str] | None:
    """Return the name, kind, parent and the parent's kind of a symbol; None if there is none."""
    name = symbol.text("Sym")
    others = symbol.text("Kind"), symbol.text("Parent"), symbol.text("ParentKind")
    return (name, *others) if name else None


def _repository(entry: AnswerFields, host: str) -> Repository:
    repository, stats = entry.child("Repository"), entry.child("Stats")
    branches = repository.objects("Branches")
    return Repository(
        name=repository.text("Name"),
        url=file_url.web_url(repository.text("URL")),
        branches=tuple((branch.text("Name"), branch.text("Version")) for branch in branches),
        files=stats.integer("Documents"),
        content_bytes=stats.integer("ContentBytes"),
        index_bytes=stats.integer("IndexBytes"),
        indexed_at=unix_time(entry.child("IndexMetadata").text("IndexTime")),
        has_symbols=repository.boolean("HasSymbols"),
        host=host,
    )


def _format(metadata: AnswerFields) -> str:
    version = metadata.integer("IndexFormatVersion")
    return f"{version}.{metadata.integer('IndexFeatureVersion')}" if version else ""
