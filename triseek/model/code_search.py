"""Searches of many repositories by Zoekt's query language: requests, results, their source.

The same nouns serve local indexes and hosts that run Zoekt, so that what shows or combines results
does not depend on where they come from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from triseek.model.symbol import Symbol

HostState: TypeAlias = Literal["ok", "timeout", "down", "loading", "wrong", "error"]
"""wrong: something answered that is no Zoekt server with its RPC interface. error: the host
answered that it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRequest:
    """A query and how much of its answer is wanted."""

    query: str
    max_files: int = 50
    max_matches: int = 200
    """Most matching lines, over all files."""
    max_counted: int = 0
    """Matching lines counted in one repository before its search ends; 0 for the source's limit."""
    context_lines: int = 0
    seconds: float = 5.0
    """Time limit; what was not searched by then is reported as partial."""
    whole: bool = False
    """Whether each file's content is returned too."""


class CodeLine(NamedTuple):
    """A matching line."""

    number: int
    """Line number, from 1."""
    text: bytes
    """Without its line end."""
    spans: tuple[tuple[int, int], ...]
    """Byte offsets in `text` of the matches, in ascending order."""
    offset: int = 0
    """Byte offset of the line in the file."""
    before: tuple[bytes, ...] = ()
    after: tuple[bytes, ...] = ()
    symbol: Symbol | None = None
    """The definition in whose name the first match lies, if it is known."""
    score: float = 0.0


@dataclass(slots=True, kw_only=True)
class CodeFile:
    """A file with its matches."""

    repository: str
    path: bytes
    """Relative to the repository, `/`-separated."""
    lines: tuple[CodeLine, ...] = ()
    """In ascending order; fewer than `match_count` matches if limits cut them."""
    name_spans: tuple[tuple[int, int], ...] = ()
    """Byte offsets in `path` of matches in the file's name; empty if the content matched."""
    match_count: int = 0
    """Matching lines that were counted, or 1 for a match in the name."""
    version: str = ""
    """Commit of the content that was searched; "" if there is none (files on disk)."""
    branches: tuple[str, ...] = ()
    language: str = ""
    checksum: bytes = b""
    """CRC-64 (ISO) of the content, 8 bytes (`files.checksum`); b"" if it is not known."""
    score: float = 0.0
    host: str = ""
    """The host that returned it; "" for a local index."""
    url: str = ""
    content: bytes | None = None
    """Only if the request asked for the whole file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository that can be searched."""

    name: str
    url: str = ""
    branches: tuple[tuple[str, str], ...] = ()
    """Name and commit of each indexed branch."""
    files: int = 0
    content_bytes: int = 0
    index_bytes: int = 0
    indexed_at: float = 0.0
    """Unix time in seconds of the index; 0 if it is not known."""
    has_symbols: bool = False
    host: str = ""
    root: str = ""
    """The folder on this machine; "" if it is elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReport:
    """What one host contributed to an answer."""

    host: str
    state: HostState
    ms: float = 0.0
    files: int = 0
    crashes: int = 0
    """Parts of the host's index that it could not search."""
    detail: str = ""
    """What went wrong, and what can be done about it."""


class RepositoryCount(NamedTuple):
    """What was counted in one repository, whether or not it is shown."""

    files: int
    matches: int
    """Matching lines; 1 for a file of which only the name matches."""


@dataclass(slots=True, kw_only=True)
class CodeResult:
    """The answer to a query."""

    files: list[CodeFile] = field(default_factory=list)
    """Best first."""
    repositories: list[Repository] = field(default_factory=list)
    """The answer of a query with `type:repo`, by name."""
    file_count: int = 0
    """Matching files that were counted; at least `len(files)`."""
    match_count: int = 0
    """Matching lines that were counted."""
    files_skipped: int = 0
    """Files that may match and were not looked at, because enough matches were counted."""
    counts: dict[str, RepositoryCount] = field(default_factory=dict)
    """By repository, every one with a match; empty if the source does not count by repository."""
    partial: tuple[str, ...] = ()
    """Why the answer may be incomplete, a sentence each; empty if it is complete."""
    at_limits: tuple[str, ...] = ()
    """Those of `partial` by which a limit of the request ended the search; all else was searched.
    """
    hosts: tuple[HostReport, ...] = ()
    elapsed_ms: float = 0.0


class CodeSource(Protocol):
    """Repositories that can be searched: local indexes, or hosts that run Zoekt."""

    name: str
    """`local` or `zoekt`."""

    def search(self, request: CodeRequest) -> CodeResult:
        """Answer a query.

        Raises:
            InvalidQuery: The query cannot be understood.
            BackendFailure: Nothing could be searched.
        """

    def repositories(self, query: str = "") -> CodeResult:
        """Return all repositories, or those in which a query matches, by name.

        Raises:
            InvalidQuery, BackendFailure: As `search`.
        """

    def read(self, repository: str, path: bytes) -> bytes:
        """Return the content of a file.

        Raises:
            InvalidRequest: There is no such repository or file.
            BackendFailure: It could not be read.
        """
