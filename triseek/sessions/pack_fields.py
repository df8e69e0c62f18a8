"""Checks of a pack's documents, field by field, before the pack is imported or written.

The readers of `model.snapshot` check types and sizes, and read the snapshots that are kept here. A
pack comes from elsewhere, so it is checked against all of docs/reference/pack-format.md: text that
every reader can encode, paths that stay below the repository, commits that are hashes.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from triseek.model.plain_text import is_encodable
from triseek.model.session import DEPTH_MAX, NUMBER_MAX, LogEntry
from triseek.model.snapshot import TEXT_MAX, inner_path
from triseek.sessions import snapshot_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LINE_MAX = 256 << 10
"""Bytes of a line of the log; triseek writes at most 64 KiB."""
_DEPTH_MAX = DEPTH_MAX + 8
"""Maximum nesting of lists and objects, including those around a tool's arguments."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def check(files: Mapping[str, bytes]) -> None:
    """Check the documents of a pack, which `snapshot_files.read` has accepted, against the format.

    Args:
        files: the snapshot's files, by name.

    Raises:
        ValueError: a field is not what the format says; the message names document and field.
    """
    for name, fields in _FIELDS.items():
        _named(name, _check_document, json.loads(files[name]), fields)
    _check_log(files[snapshot_files.LOG])
    try:
        files.get(snapshot_files.BRIEFING, b"").decode("utf-8")
    except ValueError as error:
        raise ValueError(f"{snapshot_files.BRIEFING}: not UTF-8") from error


def _named(name: str, act: Callable[..., None], *arguments: object) -> None:
    try:
        act(*arguments)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _check_document(body: dict[str, Any], fields: Mapping[str, Callable[[str, Any], None]]) -> None:
    for name, value in body.items():
        _check_value(name, value, _DEPTH_MAX)
    for path, check_field in fields.items():
        outer, _, inner = path.partition(".")
        if outer not in body:
            continue
        for value in body[outer] if inner else (body,):
            if (inner or outer) in value:
                check_field(path, value[inner or outer])


def _check_value(name: str, value: object, depth: int) -> None:
    """Check any JSON value against the limits that all values have."""
    if isinstance(value, str):
        _check_text(name, value)
    elif isinstance(value, dict):
        for key in value:
            _check_text(name, key)
    elif isinstance(value, (int, float)) and not abs(value) <= NUMBER_MAX:  # NaN as well
        raise ValueError(f"{name}: a number out of bounds")
    if not isinstance(value, (dict, list)):
        return
    if depth == 0:
        raise ValueError(f"{name}: more than {_DEPTH_MAX} lists and objects in each other")
    for item in value.values() if isinstance(value, dict) else value:
        _check_value(name, item, depth - 1)


def _check_text(name: str, text: str) -> None:
    if len(text) > TEXT_MAX:
        raise ValueError(f"{name}: a text of more than {TEXT_MAX:,} characters")
    if not is_encodable(text):
        raise ValueError(f"{name}: not UTF-8 (a lone surrogate)")


def _word(name: str, value: object) -> None:
    if isinstance(value, str) and "\0" in value:
        raise ValueError(f"{name}: holds a NUL character")


def _root(name: str, value: str) -> None:
    _word(name, value)
    if value.startswith("//") or os.path.normpath(value) != value or not os.path.isabs(value):  # noqa: PTH117
        raise ValueError(f"{name}: {value!r:.80} is not an absolute path without `.` and `..`")


def _commit(name: str, value: str | None) -> None:
    if value is not None and not _COMMIT.fullmatch(value):
        raise ValueError(f"{name}: {value!r:.80} is not the hash of a commit")


def _paths(name: str, value: list[str] | dict[str, int]) -> None:
    for path in value:
        inner_path(path.removesuffix("/"), name)  # git gives a nested repository a `/` at the end


def _line(name: str, value: int | None) -> None:
    if value == 0:
        raise ValueError(f"{name}: lines count from 1")


_WORDS_OF_MANIFEST = (
    "source_harness", "source_model", "session_status", "repo_branch", "repo_identity",
    "triseek_version",
)  # fmt: skip
_FIELDS: dict[str, dict[str, Callable[[str, Any], None]]] = {
    snapshot_files.MANIFEST: {
        "repo_root": _root,
        "repo_commit": _commit,
        "repo_dirty_files": _paths,
        **dict.fromkeys(_WORDS_OF_MANIFEST, _word),
    },
    snapshot_files.WORKING_SET: {
        "files_read.line_start": _line,
        "files_read.line_end": _line,
        "searches_run.search_id": _word,
        "searches_run.kind": _word,
        "searches_run.result_paths": _paths,
    },
    snapshot_files.PINS: {},
    snapshot_files.GIT: {
        "commit": _commit,
        "branch": _word,
        "dirty_files": _paths,
        "hunk_summary": _paths,
    },
}
"""The check of each field; `a.b` is the field `b` of each object in the list `a`."""


def _check_log(content: bytes) -> None:
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        _named(f"{snapshot_files.LOG}: line {number}", _check_line, line)


def _check_line(line: bytes) -> None:
    if len(line) > LINE_MAX:
        raise ValueError(f"more than {LINE_MAX >> 10} KiB")
    body = snapshot_files.parsed_line(line)
    _word("kind", LogEntry.read(body).kind)
    _check_document(body, {})
