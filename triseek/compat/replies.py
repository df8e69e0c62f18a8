"""Answers of Zoekt's JSON interface, made from those of a source of code."""

from __future__ import annotations

import base64
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from triseek import __version__
from triseek.compat.go_json import encode, number, text_of
from triseek.compat.matches import Content, chunk_matches, limited, line_matches
from triseek.files.checksum import crc64

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from triseek.compat.matches import Document
    from triseek.compat.options import Options
    from triseek.model.code_search import CodeFile, CodeLine, CodeResult, Repository

    Read = Callable[[CodeFile], bytes | None]
    """Returns a file's content; None if it cannot be read any more."""

_NO_TIME = "0001-01-01T00:00:00Z"
"""Go's zero time."""
_FORMAT, _FEATURES, _READER = 16, 12, 10
"""Versions of Zoekt's index whose answers these are."""


def search(result: CodeResult, options: Options, read: Read) -> Iterator[bytes]:
    """Yield the body of an answer to `/api/search`, piece by piece."""
    yield b'{"Result":'
    yield from bare_search(result, options, read)
    yield b"}\n"


def bare_search(result: CodeResult, options: Options, read: Read) -> Iterator[bytes]:
    """Yield a SearchResult, as `/healthz` answers it."""
    figures = stats(result)
    if options.chunks:  # Zoekt counts lines in one form, and each match in the other
        more = (len(line.spans) - 1 for file in result.files for line in file.lines)
        figures["MatchCount"] += sum(more)
    yield encode(figures)[:-1] + b',"Files":'
    # Without templates a client links to `/print` here.
    names = {text_of(name): "" for name in result.counts}
    for at, (file, lines) in enumerate(shown(result.files, options)):
        names[text_of(file.repository)] = ""
        content = contents(file, read)
        yield (b"," if at else b"[") + encode(_file(file, lines, content, options))
    templates = encode(names)
    yield (b"]" if result.files else b"null") + b',"RepoURLs":' + templates
    yield b',"LineFragments":' + templates + b"}"


def shown(
    files: Sequence[CodeFile], options: Options
) -> Iterator[tuple[CodeFile, Sequence[CodeLine]]]:
    """Yield the files that the options let pass, and the lines shown of each."""
    most = options.max_files or len(files)
    chosen: Iterable[CodeFile] = files[:most]
    if options.matches_of_repository:
        chosen = _few_of_each(chosen, options.matches_of_repository)
    return limited(list(chosen), options.max_matches)


def _few_of_each(files: Iterable[CodeFile], most: int) -> Iterator[CodeFile]:
    """Yield the files of each repository until they have `most` matches."""
    matches: Counter[str] = Counter()
    for file in files:
        if matches[file.repository] < most:
            matches[file.repository] += max(1, file.match_count)
            yield file


def contents(file: CodeFile, read: Read) -> bytes | None:
    """Return the content of a file, from the answer or from the disk."""
    return file.content if file.content is not None else read(file)


def checksum(file: CodeFile, content: bytes | None) -> bytes:
    """Return a file's checksum; b"" if it is not known."""
    return file.checksum or (b"" if content is None else crc64(content))


def stats(result: CodeResult) -> Document:
    """Return Zoekt's Stats. What could not be searched counts as a shard that was skipped."""
    nanoseconds = int(result.elapsed_ms * 1e6)
    return {
        "ContentBytesLoaded": 0,
        "IndexBytesLoaded": 0,
        "Crashes": 0,
        "Duration": nanoseconds,
        "FileCount": result.file_count,
        "ShardFilesConsidered": 0,
        "FilesConsidered": result.file_count,
        "FilesLoaded": len(result.files),
        "FilesSkipped": result.files_skipped,
        "ShardsScanned": len({file.repository for file in result.files}),
        "ShardsSkipped": len(result.partial),
        "ShardsSkippedFilter": 0,
        "MatchCount": result.match_count,
        "NgramMatches": 0,
        "NgramLookups": 0,
        "Wait": 0,
        "MatchTreeConstruction": 0,
        "MatchTreeSearch": nanoseconds,
        "RegexpsConsidered": 0,
        "FlushReason": 0,
    }


def _file(
    file: CodeFile, lines: Sequence[CodeLine], content: bytes | None, options: Options
) -> Document:
    kind, of = ("ChunkMatches", chunk_matches) if options.chunks else ("LineMatches", line_matches)
    document: Document = {
        "FileName": text_of(file.path),
        "Repository": text_of(file.repository),
        "Version": file.version,
        "Language": file.language,
        "Branches": list(file.branches),
        kind: of(file, lines, Content(content), options.context_lines),
        "Content": _base64(content) if options.whole and content else "",
        "Checksum": _base64(checksum(file, content)),
        "Score": number(file.score),
    }
    for name in ("Version", "Branches", "Content", "Score"):  # Go's `omitempty`
        if not document[name]:
            del document[name]
    return document


def estimate(repositories: Sequence[Repository]) -> bytes:
    """Return the answer of a search that only estimates how many files it would look at."""
    from triseek.model.code_search import CodeResult

    figures = stats(CodeResult())
    figures["ShardFilesConsidered"] = sum(repository.files for repository in repositories)
    nothing: Document = {"Files": None, "RepoURLs": {}, "LineFragments": {}}
    return encode({"Result": {**figures, **nothing}}) + b"\n"


def listed(result: CodeResult) -> bytes:
    """Return the body of an answer to `/api/list`."""
    return encode({"List": {
        "Repos": [_entry(repository) for repository in result.repositories],
        "ReposMap": {},  # of repositories with an identifier: ours have none
        "Crashes": len(result.partial),
        "Stats": repository_stats(result.repositories),
    }}) + b"\n"  # fmt: skip


def _entry(repository: Repository) -> Document:
    return {
        "Repository": {
            "TenantID": 0,
            "ID": 0,
            "Name": text_of(repository.name),
            "URL": text_of(repository.url),
            "Metadata": None,
            "Source": text_of(repository.root),
            "Branches": branches(repository, {}),
            "SubRepoMap": {},
            "CommitURLTemplate": "",
            "FileURLTemplate": "",
            "LineFragmentTemplate": "",
            "RawConfig": None,
            "Rank": 0,
            "IndexOptions": "",
            "HasSymbols": repository.has_symbols,
            "Tombstone": False,
            "LatestCommitDate": _NO_TIME,
        },
        "IndexMetadata": {
            "IndexFormatVersion": _FORMAT,
            "IndexFeatureVersion": _FEATURES,
            "IndexMinReaderVersion": _READER,
            "IndexTime": time(repository.indexed_at),
            "PlainASCII": False,
            "LanguageMap": {},
            "ZoektVersion": f"triseek {__version__}",
            "ID": "",
        },
        "Stats": {**repository_stats([repository]), "Repos": 0},
    }


def branches(repository: Repository, more: Document) -> list[Document] | None:
    """Return the branches of a repository, each with further fields; None if it has none."""
    return [
        {"Name": text_of(name), "Version": version, **more} for name, version in repository.branches
    ] or None


def repository_stats(repositories: Sequence[Repository]) -> Document:
    """Return Zoekt's RepoStats of repositories. Lines are not counted."""
    return {
        "Repos": len(repositories),
        "Shards": len(repositories),
        "Documents": sum(repository.files for repository in repositories),
        "IndexBytes": sum(repository.index_bytes for repository in repositories),
        "ContentBytes": sum(repository.content_bytes for repository in repositories),
        "NewLinesCount": 0,
        "DefaultBranchNewLinesCount": 0,
        "OtherBranchesNewLinesCount": 0,
    }


def time(seconds: float) -> str:
    """Return a Unix time as Go writes it; its zero time if it is not known."""
    if not seconds:
        return _NO_TIME
    text = datetime.fromtimestamp(seconds, UTC).isoformat()
    return text.replace("+00:00", "Z")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
