"""The documents of a snapshot, field by field, as the reference describes them.

`Document.read` takes a document from outside, checks each field by its declared type, and raises
`ValueError` if it is not valid. Unknown fields are ignored, so that a later version may add some.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, partial
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

from triseek.model.plain_text import is_encodable
from triseek.model.session import (
    SCHEMA_VERSION,
    StoredRecord,
    is_count,
    is_id,
    is_ours,
    is_tellable,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Trigger: TypeAlias = Literal["asked", "handoff", "compaction"]
"""Why a snapshot was made."""
_SHA = re.compile(r"[0-9a-f]{64}")
PATH_MAX = 4_096
SCORE_MAX = 1e15
"""The highest score of a file; a float holds integers up to it exactly."""
TEXT_MAX = 64 << 10
"""Characters of a path, and of any other text."""


@dataclass(frozen=True, slots=True)
class Document(StoredRecord):
    """A stored record that is read by the declared types of its fields."""

    @classmethod
    def read(cls, body: object) -> Self:
        """Read the record from a document.

        Raises:
            ValueError: the document is not valid; the message names the field.
        """
        readers = _readers(cls)  # type: ignore[arg-type]  # mypy: type[Self] is hashable
        values = versioned(body) if "schema_version" in readers else _object(body)
        optional = {
            each.name
            for each in fields(cls)
            if each.default is not MISSING or each.default_factory is not MISSING
        }
        record = cls(
            **{
                name: read(values[name], name)
                for name, read in readers.items()
                if name in values or name not in optional
            }
        )
        record.check()
        return record

    def check(self) -> None:
        """Raise `ValueError` if a value is not valid although its type is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotManifest(Document):
    """The origin of a snapshot: its session, repository, commit and harness."""

    schema_version: int = SCHEMA_VERSION
    snapshot_id: str
    session_id: str
    created_at: int
    """Unix seconds."""
    repo_root: str
    repo_commit: str | None
    repo_dirty_files: list[str]
    source_harness: str | None
    source_model: str | None
    generation: int
    context_epoch: int
    goal: str = ""
    session_status: str = "open"
    repo_branch: str | None = None
    repo_identity: str = ""
    """Identifies the repository in other places; see `files.tree.git.identity`."""
    triseek_version: str = ""
    action_log_omitted: int = 0
    """Number of older entries of the session that are not in the snapshot's log."""
    trigger: Trigger = "asked"

    def check(self) -> None:
        """Check the ids and the root."""
        for name in ("snapshot_id", "session_id"):
            if not is_id(getattr(self, name)):
                raise ValueError(f"{name} is not an id")
        if not self.repo_root.startswith("/") or "\0" in self.repo_root:
            raise ValueError("repo_root is not an absolute path")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSeen(Document):
    """A file that the work used, without its content."""

    path: str
    """Relative to the root."""
    sha: str
    """SHA-256 of the whole file as last read, in hex; "" if not known."""
    line_start: int | None
    """The first line that was read, counted from 1; None: the whole file."""
    line_end: int | None
    last_read_at: int
    reads: int = 1
    edits: int = 0

    def check(self) -> None:
        """Check the path and the hash."""
        inner_path(self.path)
        if self.sha and not _SHA.fullmatch(self.sha):
            raise ValueError("files_read: sha is not a SHA-256")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRun(Document):
    """A search, and its first results."""

    search_id: str
    query: str
    kind: str
    result_paths: list[str]
    arguments: dict[str, Any] = field(default_factory=dict)
    """The arguments of the tool call."""
    matches: int | None = None
    """Number of lines or files that matched; None if not recorded."""

    def check(self) -> None:
        """Check that all readers can take the arguments."""
        if not is_tellable(self.arguments):
            raise ValueError("arguments are not within bounds")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingSet(Document):
    """The files, searches and scores that a resume primes."""

    schema_version: int = SCHEMA_VERSION
    files_read: list[FileSeen]
    searches_run: list[SearchRun]
    frecency_top_n: list[tuple[str, float]]
    """Path relative to the root and score, highest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin(Document):
    """Quoted lines of a file; their text is in `pinned_snippets/<sha>.txt`."""

    path: str
    line_start: int
    line_end: int
    sha: str
    """SHA-256 of the text."""

    def check(self) -> None:
        """Check the path, the lines and the hash."""
        inner_path(self.path)
        if not 1 <= self.line_start <= self.line_end:
            raise ValueError("entries: line_start and line_end are not a range of lines")
        if not _SHA.fullmatch(self.sha):
            raise ValueError("entries: sha is not a SHA-256")


@dataclass(frozen=True, slots=True, kw_only=True)
class GitState(Document):
    """The state of the working tree relative to its commit."""

    schema_version: int = SCHEMA_VERSION
    commit: str | None
    branch: str | None
    dirty_files: list[str]
    hunk_summary: dict[str, int]
    """Number of lines added and removed since the commit, by path relative to the root."""


def inner_path(value: object, name: str = "path") -> str:
    """Return `value` if it is a path that stays below a root.

    name: the name of the field, for the error.

    Raises:
        ValueError: it is not such a path.
    """
    path = _text(value, name)
    parts = path.split("/")
    is_bad = not path or len(path) > PATH_MAX or "\0" in path or not is_encodable(path)
    if is_bad or not {"", ".", ".."}.isdisjoint(parts):
        raise ValueError(f"{name}: {path!r:.80} does not stay below the repository's root")
    return path


def versioned(body: object) -> _Fields:
    """Return a document of our schema; reading a missing field raises `ValueError` too.

    Raises:
        ValueError: it is not a document of our schema.
    """
    fields = _object(body)
    if not is_ours(version := fields.get("schema_version")):
        shown = repr(version)[:40] if isinstance(version, (int, str)) else type(version).__name__
        raise ValueError(f"unsupported schema version {shown}")
    return fields


class _Fields(dict[str, Any]):
    """A JSON object; reading a missing field raises `ValueError`."""

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - never returns
        raise ValueError(f"{name} is missing")


@cache
def _readers(record: type[Document]) -> dict[str, Callable[[object, str], object]]:
    """Return, by name, the functions `read(value, name)` of a record's fields.

    They return the field's value, or raise `ValueError`.
    """
    return {name: _reader(hint) for name, hint in get_type_hints(record).items()}


def _reader(hint: Any) -> Callable[[object, str], object]:  # noqa: ANN401 - any type
    """Return the function that reads a value of a type, see `_readers`."""
    arguments = get_args(hint)
    match get_origin(hint):
        case None if issubclass(hint, Document):
            return lambda value, _name: hint.read(value)
        case None:
            return {str: _text, int: _number}[hint]
        case kind if kind is Literal:
            return partial(_choice, arguments)
        case kind if kind is UnionType:
            (inner,) = (_reader(each) for each in arguments if each is not NoneType)
            return lambda value, name: None if value is None else inner(value, name)
        case kind if kind is list:
            item = _reader(arguments[0])
            return lambda value, name: [item(each, name) for each in _list(value, name)]
        case kind if kind is dict and arguments[1] is int:
            return lambda value, name: {
                _text(key, name): _number(count, name)
                for key, count in _object(value, name).items()
            }
        case kind if kind is dict:
            return lambda value, name: dict(_object(value, name))
        case _:
            return _score


def _object(body: object, name: str = "") -> _Fields:
    if not isinstance(body, dict):
        raise ValueError(f"{name}: not a JSON object".removeprefix(": "))  # noqa: TRY004 - as all
    return _Fields(body)


def _list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name}: not a list")  # noqa: TRY004
    return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or len(value) > TEXT_MAX:
        raise ValueError(f"{name}: not a text of at most {TEXT_MAX:,} characters")
    return value


def _choice(choices: tuple[str, ...], value: object, name: str) -> str:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: not one of {', '.join(choices)}")
    return value


def _number(value: object, name: str) -> int:
    if not is_count(value):
        raise ValueError(f"{name}: not a whole number from 0 to 2^63-1")
    return value


def _score(value: object, name: str) -> tuple[str, float]:
    path, score = (*_list(value, name), None, None)[:2]
    if type(score) not in (int, float) or not 0 <= score <= SCORE_MAX:
        raise ValueError(f"{name}: a score is not a number from 0 to 10^15")
    return inner_path(path, name), float(score)
