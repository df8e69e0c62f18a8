"""A snapshot of work: what its files say, field by field, as the reference has them.

Every `read` takes a document from outside and raises `ValueError` for what is none; fields that
are not ours are passed over, so that a later version may add some.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, TypeAlias, cast, get_args

from triseek.model.plain_text import is_encodable
from triseek.model.session import SCHEMA_VERSION, is_count, is_id, is_ours, is_tellable

Trigger: TypeAlias = Literal["asked", "handoff", "compaction"]
"""Why a snapshot was made."""
_SHA = re.compile(r"[0-9a-f]{64}")
PATH_MAX = 4_096
SCORE_MAX = 1e15
"""Of a file; a whole number up to it is the same as a float."""
TEXT_MAX = 64 << 10
"""Characters of a path, and of any other text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Which session, which repository, which commit, which harness."""

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
    """What the repository is recognised by elsewhere; see `files.git_state.identity`."""
    triseek_version: str = ""
    action_log_omitted: int = 0
    """Older entries of the session that are not in the snapshot's log."""
    trigger: Trigger = "asked"

    def document(self) -> dict[str, Any]:
        """As it is written and told."""
        return asdict(self)

    @classmethod
    def read(cls, body: object) -> Self:
        """The manifest a document holds."""
        told = versioned(body)
        for name in ("snapshot_id", "session_id"):
            if not is_id(told.get(name)):
                raise ValueError(f"{name} is not an id")
        found = cls(
            snapshot_id=told.text("snapshot_id"),
            session_id=told.text("session_id"),
            created_at=told.number("created_at"),
            repo_root=told.text("repo_root"),
            repo_commit=told.text_or_none("repo_commit"),
            repo_dirty_files=[
                _text(path, "repo_dirty_files") for path in told.items_of("repo_dirty_files")
            ],
            source_harness=told.text_or_none("source_harness"),
            source_model=told.text_or_none("source_model"),
            generation=told.number("generation"),
            context_epoch=told.number("context_epoch"),
            goal=told.text("goal", ""),
            session_status=told.text("session_status", "open"),
            repo_branch=told.text_or_none("repo_branch", None),
            repo_identity=told.text("repo_identity", ""),
            triseek_version=told.text("triseek_version", ""),
            action_log_omitted=told.number("action_log_omitted", 0),
            trigger=_trigger(told.get("trigger", "asked")),
        )
        if not found.repo_root.startswith("/") or "\0" in found.repo_root:
            raise ValueError("repo_root is not an absolute path")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSeen:
    """A file the work went through; its content is not here."""

    path: str
    """Below the root."""
    sha: str
    """SHA-256 of the whole file as it was read last, in hex; "" if that is not known."""
    line_start: int | None
    """The first line that was read, from 1; None: all of the file."""
    line_end: int | None
    last_read_at: int
    reads: int = 1
    edits: int = 0

    @classmethod
    def read(cls, body: object) -> Self:
        """The file a document tells of."""
        told = _object(body)
        sha = told.text("sha")
        if sha and not _SHA.fullmatch(sha):
            raise ValueError("files_read: sha is not a SHA-256")
        return cls(
            path=inner_path(told["path"]),
            sha=sha,
            line_start=told.number_or_none("line_start"),
            line_end=told.number_or_none("line_end"),
            last_read_at=told.number("last_read_at"),
            reads=told.number("reads", 1),
            edits=told.number("edits", 0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRun:
    """A search, and the first of what it found."""

    search_id: str
    query: str
    kind: str
    result_paths: list[str]
    arguments: dict[str, Any] = field(default_factory=dict)
    """As the tool was called."""
    matches: int | None = None
    """Lines, or files, that matched; None if that was not told."""

    def document(self) -> dict[str, Any]:
        """As it is written and told."""
        return asdict(self)

    @classmethod
    def read(cls, body: object) -> Self:
        """The search a document tells of."""
        told = _object(body)
        arguments = told.get("arguments", {})
        if not isinstance(arguments, dict) or not is_tellable(arguments):
            raise ValueError("searches_run: arguments are not a JSON object within bounds")
        return cls(
            search_id=told.text("search_id"),
            query=told.text("query"),
            kind=told.text("kind"),
            result_paths=[_text(path, "result_paths") for path in told.items_of("result_paths")],
            arguments=arguments,
            matches=told.number_or_none("matches", None),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingSet:
    """What is primed when the work is resumed."""

    schema_version: int = SCHEMA_VERSION
    files_read: list[FileSeen]
    searches_run: list[SearchRun]
    frecency_top_n: list[tuple[str, float]]
    """Path below the root and score, highest first."""

    def document(self) -> dict[str, Any]:
        """As it is written and told."""
        return asdict(self)

    @classmethod
    def read(cls, body: object) -> Self:
        """The working set a document holds."""
        told = versioned(body)
        return cls(
            files_read=[FileSeen.read(each) for each in told.items_of("files_read")],
            searches_run=[SearchRun.read(each) for each in told.items_of("searches_run")],
            frecency_top_n=[_score(each) for each in told.items_of("frecency_top_n")],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """Quoted lines of a file, whose text is in `pinned_snippets/<sha>.txt`."""

    path: str
    line_start: int
    line_end: int
    sha: str
    """SHA-256 of the text."""

    def document(self) -> dict[str, Any]:
        """As it is written and told."""
        return asdict(self)

    @classmethod
    def read(cls, body: object) -> Self:
        """The pin a document tells of."""
        told = _object(body)
        first, last = told.number("line_start"), told.number("line_end")
        sha = told.text("sha")
        if not 1 <= first <= last:
            raise ValueError("entries: line_start and line_end are not a range of lines")
        if not _SHA.fullmatch(sha):
            raise ValueError("entries: sha is not a SHA-256")
        return cls(path=inner_path(told["path"]), line_start=first, line_end=last, sha=sha)


@dataclass(frozen=True, slots=True, kw_only=True)
class GitState:
    """The working tree beside its commit."""

    schema_version: int = SCHEMA_VERSION
    commit: str | None
    branch: str | None
    dirty_files: list[str]
    hunk_summary: dict[str, int]
    """Path below the root to lines added and removed since the commit."""

    def document(self) -> dict[str, Any]:
        """As it is written and told."""
        return asdict(self)

    @classmethod
    def read(cls, body: object) -> Self:
        """The state a document holds."""
        told = versioned(body)
        lines = _object(told["hunk_summary"], "hunk_summary")
        return cls(
            commit=told.text_or_none("commit"),
            branch=told.text_or_none("branch"),
            dirty_files=[_text(path, "dirty_files") for path in told.items_of("dirty_files")],
            hunk_summary={
                _text(path, "hunk_summary"): _number(count, "hunk_summary")
                for path, count in lines.items()
            },
        )


def inner_path(value: object, name: str = "path") -> str:
    """A path below a root, spelled so that it stays there.

    name: of the field, for the error.

    Raises:
        ValueError: it is none.
    """
    path = _text(value, name)
    parts = path.split("/")
    is_bad = not path or len(path) > PATH_MAX or "\0" in path or not is_encodable(path)
    if is_bad or not {"", ".", ".."}.isdisjoint(parts):
        raise ValueError(f"{name}: {path!r:.80} does not stay below the repository's root")
    return path


def versioned(body: object) -> _Fields:
    """A document of our schema; a field that is missing is an error of the same kind.

    Raises:
        ValueError: it is none.
    """
    told = _object(body)
    if not is_ours(version := told.get("schema_version")):
        shown = repr(version)[:40] if isinstance(version, (int, str)) else type(version).__name__
        raise ValueError(f"unsupported schema version {shown}")
    return told


class _Fields(dict[str, Any]):
    """A JSON object whose fields are read by name and type; an error names the field."""

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - never returns
        raise ValueError(f"{name} is missing")

    def text(self, name: str, *default: str) -> str:
        return _text(self.get(name, *default) if default else self[name], name)

    def text_or_none(self, name: str, *default: None) -> str | None:
        value = self.get(name) if default else self[name]
        return None if value is None else _text(value, name)

    def number(self, name: str, *default: int) -> int:
        return _number(self.get(name, *default) if default else self[name], name)

    def number_or_none(self, name: str, *default: None) -> int | None:
        value = self.get(name) if default else self[name]
        return None if value is None else _number(value, name)

    def items_of(self, name: str) -> list[Any]:
        return _list(self[name], name)


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


def _trigger(value: object) -> Trigger:
    if value not in get_args(Trigger):
        raise ValueError(f"trigger: not one of {', '.join(get_args(Trigger))}")
    return cast("Trigger", value)


def _number(value: object, name: str) -> int:
    if not is_count(value):
        raise ValueError(f"{name}: not a whole number from 0 to 2^63-1")
    return value


def _score(value: object) -> tuple[str, float]:
    path, score = (*_list(value, "frecency_top_n"), None, None)[:2]
    if type(score) not in (int, float) or not 0 <= score <= SCORE_MAX:
        raise ValueError("frecency_top_n: a score is not a number from 0 to 10^15")
    return inner_path(path, "frecency_top_n"), float(score)
