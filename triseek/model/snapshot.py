"""A snapshot of work: what its files say, field by field, as the reference has them.

Every `read` takes a document from outside and raises `ValueError` for what is none; fields that
are not ours are passed over, so that a later version may add some.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, TypeAlias, cast, get_args

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
        if not is_id(told.get("snapshot_id")) or not is_id(told.get("session_id")):
            raise ValueError("an id of the manifest is none")
        found = cls(
            snapshot_id=_text(told["snapshot_id"]),
            session_id=_text(told["session_id"]),
            created_at=_number(told["created_at"]),
            repo_root=_text(told["repo_root"]),
            repo_commit=_text_or_none(told["repo_commit"]),
            repo_dirty_files=[_text(path) for path in _list(told["repo_dirty_files"])],
            source_harness=_text_or_none(told["source_harness"]),
            source_model=_text_or_none(told["source_model"]),
            generation=_number(told["generation"]),
            context_epoch=_number(told["context_epoch"]),
            goal=_text(told.get("goal", "")),
            session_status=_text(told.get("session_status", "open")),
            repo_branch=_text_or_none(told.get("repo_branch")),
            repo_identity=_text(told.get("repo_identity", "")),
            triseek_version=_text(told.get("triseek_version", "")),
            action_log_omitted=_number(told.get("action_log_omitted", 0)),
            trigger=_trigger(told.get("trigger", "asked")),
        )
        if not found.repo_root.startswith("/") or "\0" in found.repo_root:
            raise ValueError("repo_root is not absolute")
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
        sha = _text(told["sha"])
        if sha and not _SHA.fullmatch(sha):
            raise ValueError("a sha of the working set is none")
        return cls(
            path=inner_path(told["path"]),
            sha=sha,
            line_start=_number_or_none(told["line_start"]),
            line_end=_number_or_none(told["line_end"]),
            last_read_at=_number(told["last_read_at"]),
            reads=_number(told.get("reads", 1)),
            edits=_number(told.get("edits", 0)),
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
            raise ValueError("arguments of a search are none")
        return cls(
            search_id=_text(told["search_id"]),
            query=_text(told["query"]),
            kind=_text(told["kind"]),
            result_paths=[_text(path) for path in _list(told["result_paths"])],
            arguments=arguments,
            matches=_number_or_none(told.get("matches")),
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
            files_read=[FileSeen.read(each) for each in _list(told["files_read"])],
            searches_run=[SearchRun.read(each) for each in _list(told["searches_run"])],
            frecency_top_n=[_score(each) for each in _list(told["frecency_top_n"])],
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
        first, last = _number(told["line_start"]), _number(told["line_end"])
        sha = _text(told["sha"])
        if not 1 <= first <= last or not _SHA.fullmatch(sha):
            raise ValueError("a pinned snippet makes no sense")
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
        lines = _object(told["hunk_summary"])
        return cls(
            commit=_text_or_none(told["commit"]),
            branch=_text_or_none(told["branch"]),
            dirty_files=[_text(path) for path in _list(told["dirty_files"])],
            hunk_summary={_text(path): _number(count) for path, count in lines.items()},
        )


def inner_path(value: object) -> str:
    """A path below a root, spelled so that it stays there.

    Raises:
        ValueError: it is none.
    """
    path = _text(value)
    parts = path.split("/")
    if not path or len(path) > PATH_MAX or "\0" in path or not {"", ".", ".."}.isdisjoint(parts):
        raise ValueError("a path does not stay below the root")
    return path


def versioned(body: object) -> dict[str, Any]:
    """A document of our schema; a field that is missing is an error of the same kind.

    Raises:
        ValueError: it is none.
    """
    told = _object(body)
    if not is_ours(version := told.get("schema_version")):
        shown = repr(version)[:40] if isinstance(version, (int, str)) else type(version).__name__
        raise ValueError(f"unsupported schema version {shown}")
    return told


def _object(body: object) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - one kind of error for all
    return _Fields(body)


class _Fields(dict[str, Any]):
    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - never returns
        raise ValueError(f"{name} is missing")


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list is none")  # noqa: TRY004
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > TEXT_MAX:
        raise ValueError("a text is none")
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _trigger(value: object) -> Trigger:
    if value not in get_args(Trigger):
        raise ValueError("why the snapshot was made makes no sense")
    return cast("Trigger", value)


def _number(value: object) -> int:
    if not is_count(value):
        raise ValueError("a number is none")
    return value


def _number_or_none(value: object) -> int | None:
    return None if value is None else _number(value)


def _score(value: object) -> tuple[str, float]:
    path, score = (*_list(value), None, None)[:2]
    if type(score) not in (int, float) or not 0 <= score <= SCORE_MAX:
        raise ValueError("a score is none")
    return inner_path(path), float(score)
