"""The files of a snapshot: written once, and checked whenever they are read.

    manifest.json  working_set.json  action_log.jsonl  pinned_snippets.json  git_state.json
    pinned_snippets/<sha>.txt   briefing.md (optional)

A folder is built under another name and then renamed, so that it is complete or absent.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.model.session import SCHEMA_VERSION, LogEntry
from triseek.model.snapshot import GitState, Pin, SnapshotManifest, WorkingSet, versioned
from triseek.redaction import redact, redact_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

MANIFEST, WORKING_SET, LOG = "manifest.json", "working_set.json", "action_log.jsonl"
PINS, GIT, BRIEFING = "pinned_snippets.json", "git_state.json", "briefing.md"
SNIPPETS = "pinned_snippets"
REQUIRED = (MANIFEST, WORKING_SET, LOG, PINS, GIT)
LIMITS = {
    MANIFEST: 4 << 20, WORKING_SET: 8 << 20, LOG: 12 << 20, PINS: 8 << 20, GIT: 8 << 20,
    BRIEFING: 64 << 10,
}  # fmt: skip
"""Bytes of each file."""
SNIPPET_MAX = 512 << 10
"""Bytes of a pinned snippet."""
VALUES_MAX = 200_000
"""Values in a document, counted by its commas and brackets: two bytes of JSON can take a hundred in
memory. A log, which has lines of its own, may have one value in eight bytes."""

_SNIPPET = re.compile(rf"{SNIPPETS}/([0-9a-f]{{64}})\.txt")


class Snapshot(NamedTuple):
    """The content of a snapshot."""

    manifest: SnapshotManifest
    working_set: WorkingSet
    entries: tuple[LogEntry, ...]
    pins: tuple[Pin, ...]
    git: GitState
    snippets: Mapping[str, str]
    """Text by its SHA-256."""
    briefing: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the JSON document that `session_snapshot_get` answers with."""
        return {
            "manifest": self.manifest.document(),
            "working_set": self.working_set.document(),
            "action_log": [entry.document() for entry in self.entries],
            "pinned_snippets": [
                {**pin.document(), "text": self.snippets[pin.sha]} for pin in self.pins
            ],
            "git_state": self.git.document(),
            **({} if self.briefing is None else {"briefing": self.briefing}),
        }


def is_name(name: str) -> bool:
    """Whether a file of this name, with `/` between folders, can be part of a snapshot."""
    return name in (*REQUIRED, BRIEFING) or _SNIPPET.fullmatch(name) is not None


def limit(name: str) -> int:
    """Return the maximum size in bytes of a file of this name; 0 for a folder."""
    return LIMITS.get(name, SNIPPET_MAX if name else 0)


def sha(text: bytes) -> str:
    """Return the name of a text: its SHA-256, in hex."""
    return hashlib.sha256(text).hexdigest()


def encoded(
    manifest: SnapshotManifest,
    working_set: WorkingSet,
    log: Iterable[bytes],
    pins: Sequence[Pin],
    git: GitState,
    snippets: Mapping[str, bytes],
) -> dict[str, bytes]:
    """Return the files of a snapshot, by name.

    log: lines of the action log, their ends included.
    """
    documents = {
        MANIFEST: manifest.document(),
        WORKING_SET: working_set.document(),
        PINS: {"schema_version": SCHEMA_VERSION, "entries": [pin.document() for pin in pins]},
        GIT: git.document(),
    }
    return {
        **{name: _encoded(document) for name, document in documents.items()},
        LOG: b"".join(log),
        **{f"{SNIPPETS}/{name}.txt": text for name, text in snippets.items()},
    }


def renamed(files: Mapping[str, bytes], snapshot_id: str) -> dict[str, bytes]:
    """Return the files of a snapshot under another id; unknown fields of its manifest are kept."""
    manifest = {**json.loads(files[MANIFEST]), "snapshot_id": snapshot_id}
    return {**files, MANIFEST: _encoded(manifest)}


def redacted(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a snapshot without secrets; those without any stay byte by byte.

    A pinned snippet that holds one gets another name, by which the pins are changed, too.
    """
    without = {name: _redacted(name, content) for name, content in files.items()}
    names = {
        found[1]: sha(content)
        for name, content in without.items()
        if content != files[name] and (found := _SNIPPET.fullmatch(name))
    }
    for old, new in names.items():
        without[f"{SNIPPETS}/{new}.txt"] = without.pop(f"{SNIPPETS}/{old}.txt")
        without[PINS] = without[PINS].replace(old.encode(), new.encode())
    return without


def _redacted(name: str, content: bytes) -> bytes:
    """Return the content of one file without secrets."""
    if name == LOG:
        lines = content.splitlines(keepends=True)
        return b"".join(_redacted_document(line, None) for line in lines)
    return _redacted_document(content, 1) if name.endswith(".json") else _redacted_text(content)


def _redacted_document(line: bytes, indent: int | None) -> bytes:
    try:
        document = json.loads(line)
    except ValueError:  # the last line of a log may be torn
        return _redacted_text(line)
    without = redact_json(document)
    if without == document:
        return line
    return json.dumps(without, indent=indent).encode("ascii") + b"\n"


def _redacted_text(content: bytes) -> bytes:
    text = content.decode("utf-8", "surrogateescape")
    return redact(text).encode("utf-8", "surrogateescape")


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a snapshot into a folder that does not exist yet; raises `OSError`."""
    folder.mkdir(mode=0o700)
    (folder / SNIPPETS).mkdir(mode=0o700)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    for name, content in files.items():
        descriptor = os.open(folder / name, flags, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def _encoded(document: Mapping[str, object]) -> bytes:
    return json.dumps(document, indent=1).encode("ascii") + b"\n"


def read_folder(folder: Path) -> Snapshot:
    """Read a snapshot's folder.

    Raises:
        ValueError: it is damaged, or of another schema.
        OSError: it cannot be read; `FileNotFoundError` if it is missing.
    """
    return read_files(folder)[0]


def read_files(folder: Path) -> tuple[Snapshot, dict[str, bytes]]:
    """Read a snapshot, and the content of each of its files; raises as `read_folder`."""
    files: dict[str, bytes] = {}

    def content(name: str) -> bytes | None:
        try:
            files[name] = _content(folder, name)
        except FileNotFoundError:
            if name in REQUIRED:
                raise
            return None
        return files[name]

    return read(content), files


def read_manifest(folder: Path) -> SnapshotManifest:
    """Read only the manifest; raises as `read_folder`."""
    manifest: SnapshotManifest = _within(
        MANIFEST, SnapshotManifest.read, _json(MANIFEST, _content(folder, MANIFEST))
    )
    return manifest


def read_pins(folder: Path) -> dict[Pin, bytes]:
    """Read only the pins and the lines that they quote; raises as `read_folder`."""
    quoted = {}
    for pin in _pins(_json(PINS, _content(folder, PINS))):
        text = _content(folder, f"{SNIPPETS}/{pin.sha}.txt")
        if sha(text) != pin.sha:
            raise ValueError(f"the snippet {pin.sha} is another")
        quoted[pin] = text
    return quoted


def read(content: Callable[[str], bytes | None]) -> Snapshot:
    """Build a snapshot from its files.

    Args:
        content: Returns the content of the file with a name; None if it is missing.

    Raises:
        ValueError: a file is missing, damaged or of another schema.
    """
    files: dict[str, bytes] = {}
    for name in REQUIRED:
        data = content(name)
        if data is None:
            raise ValueError(f"{name} is missing")
        files[name] = data
    contents = {name: _json(name, files[name]) for name in (MANIFEST, WORKING_SET, PINS, GIT)}
    pins = _pins(contents[PINS])
    snippets = {pin.sha: _snippet(pin.sha, content) for pin in pins}
    briefing = content(BRIEFING)
    return Snapshot(
        _within(MANIFEST, SnapshotManifest.read, contents[MANIFEST]),
        _within(WORKING_SET, WorkingSet.read, contents[WORKING_SET]),
        tuple(_entries(files[LOG])),
        pins,
        _within(GIT, GitState.read, contents[GIT]),
        snippets,
        None if briefing is None else briefing.decode("utf-8", "replace"),
    )


def _content(folder: Path, name: str) -> bytes:
    """Read a regular file; it is opened such that no other kind of file can block."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(folder / name, flags)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or info.st_size > limit(name):
            raise ValueError(f"{name} is too large, or no file")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(limit(name))
    finally:
        os.close(descriptor)


def _json(name: str, data: bytes) -> Any:  # noqa: ANN401 - JSON
    if sum(map(data.count, (b",", b"[", b"{"))) > VALUES_MAX:
        raise ValueError(f"{name} holds too many values")
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: not JSON") from error


def _within(name: str, read_body: Callable[[object], Any], body: object) -> Any:  # noqa: ANN401
    try:
        return read_body(body)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _pins(body: object) -> tuple[Pin, ...]:
    contents = _within(PINS, versioned, body)
    entries = contents.get("entries")
    if not isinstance(entries, list):
        raise ValueError(f"{PINS}: entries: not a list")  # noqa: TRY004 - one kind of error
    return tuple(_within(PINS, Pin.read, entry) for entry in entries)


def _snippet(name: str, content: Callable[[str], bytes | None]) -> str:
    data = content(f"{SNIPPETS}/{name}.txt")
    if data is None or sha(data) != name:
        raise ValueError(f"the snippet {name} is missing or another")
    return data.decode("utf-8", "replace")


def _entries(data: bytes) -> list[LogEntry]:
    """Read the entries of a log; ignore blank lines and a torn last one."""
    if sum(map(data.count, (b",", b"[", b"{"))) > LIMITS[LOG] // 8:
        raise ValueError(f"{LOG} holds too many values")
    lines = data.split(b"\n")
    entries = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entries.append(LogEntry.read(parsed_line(line)))
        except ValueError as error:
            if number == len(lines):
                break
            raise ValueError(f"{LOG}: line {number}: {error}") from error
    return entries


def parsed_line(line: bytes) -> Any:  # noqa: ANN401 - JSON
    """Return the JSON value of a line of the log; raises `ValueError` if it is none."""
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError("not a JSON object in UTF-8") from error
