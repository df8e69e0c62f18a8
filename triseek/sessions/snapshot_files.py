"""The files of a snapshot: written once, read and checked ever after.

    manifest.json  working_set.json  action_log.jsonl  pinned_snippets.json  git_state.json
    pinned_snippets/<sha>.txt   briefing.md (optional)

A folder is built aside and renamed, so that it is there whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.model.session import SCHEMA_VERSION, Entry
from triseek.model.snapshot import GitState, Manifest, Pin, WorkingSet, versioned

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
"""Values in a document, counted by its commas and brackets: two bytes of JSON can be a hundred in
memory. Of a log, which has lines of its own: a value in eight bytes."""

_SNIPPET = re.compile(rf"{SNIPPETS}/([0-9a-f]{{64}})\.txt")


class Snapshot(NamedTuple):
    """Everything a snapshot holds."""

    manifest: Manifest
    working_set: WorkingSet
    entries: tuple[Entry, ...]
    pins: tuple[Pin, ...]
    git: GitState
    snippets: Mapping[str, str]
    """Text by its SHA-256."""
    briefing: str | None = None

    def document(self) -> dict[str, Any]:
        """As `session_snapshot_get` tells it."""
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
    """The most bytes of a file of this name; 0 of a folder."""
    return LIMITS.get(name, SNIPPET_MAX if name else 0)


def sha(text: bytes) -> str:
    """What a text is called by."""
    return hashlib.sha256(text).hexdigest()


def write(
    folder: Path,
    manifest: Manifest,
    working_set: WorkingSet,
    log: Iterable[bytes],
    pins: Sequence[Pin],
    git: GitState,
    snippets: Mapping[str, bytes],
) -> None:
    """Write all files into a folder that is not there yet; raises `OSError`.

    log: lines of the action log, their ends included.
    """
    folder.mkdir(mode=0o700)
    (folder / SNIPPETS).mkdir(mode=0o700)
    documents = {
        MANIFEST: manifest.document(),
        WORKING_SET: working_set.document(),
        PINS: {"schema_version": SCHEMA_VERSION, "entries": [pin.document() for pin in pins]},
        GIT: git.document(),
    }
    for name, document in documents.items():
        _write(folder / name, [json.dumps(document, indent=1).encode("ascii"), b"\n"])
    _write(folder / LOG, log)
    for name, text in snippets.items():
        _write(folder / SNIPPETS / f"{name}.txt", [text])


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files that have been checked into a folder that is not there yet; raises `OSError`."""
    folder.mkdir(mode=0o700)
    (folder / SNIPPETS).mkdir(mode=0o700)
    for name, held in files.items():
        _write(folder / name, [held])


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())


def read_folder(folder: Path) -> Snapshot:
    """Read a snapshot's folder.

    Raises:
        ValueError: it is damaged, or of another schema.
        OSError: it cannot be read; `FileNotFoundError` if it is not there.
    """
    return read_files(folder)[0]


def read_files(folder: Path) -> tuple[Snapshot, dict[str, bytes]]:
    """A snapshot, and what each of its files holds; raises as `read_folder`."""
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


def read_manifest(folder: Path) -> Manifest:
    """Only the manifest; raises as `read_folder`."""
    manifest: Manifest = _within(
        MANIFEST, Manifest.read, _json(MANIFEST, _content(folder, MANIFEST))
    )
    return manifest


def read(content: Callable[[str], bytes | None]) -> Snapshot:
    """Put a snapshot together out of its files.

    Args:
        content: What the file of a name holds; None if it is not there.

    Raises:
        ValueError: a file is missing, damaged or of another schema.
    """
    files = {name: content(name) for name in REQUIRED}
    missing = [name for name, held in files.items() if held is None]
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    told = {name: _json(name, files[name] or b"") for name in (MANIFEST, WORKING_SET, PINS, GIT)}
    pins = _pins(told[PINS])
    snippets = {pin.sha: _snippet(pin.sha, content) for pin in pins}
    briefing = content(BRIEFING)
    return Snapshot(
        _within(MANIFEST, Manifest.read, told[MANIFEST]),
        _within(WORKING_SET, WorkingSet.read, told[WORKING_SET]),
        tuple(_entries(files[LOG] or b"")),
        pins,
        _within(GIT, GitState.read, told[GIT]),
        snippets,
        None if briefing is None else briefing.decode("utf-8", "replace"),
    )


def _content(folder: Path, name: str) -> bytes:
    """A regular file of ours, opened so that nothing else is waited for."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(folder / name, flags)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > limit(name):
            raise ValueError(f"{name} is too large, or no file")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(limit(name))
    finally:
        os.close(descriptor)


def _json(name: str, held: bytes) -> Any:  # noqa: ANN401 - JSON
    if sum(map(held.count, (b",", b"[", b"{"))) > VALUES_MAX:
        raise ValueError(f"{name} holds too many values")
    try:
        return json.loads(held.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: not JSON") from error


def _within(name: str, read_body: Callable[[object], Any], body: object) -> Any:  # noqa: ANN401
    try:
        return read_body(body)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _pins(body: object) -> tuple[Pin, ...]:
    told = _within(PINS, versioned, body)
    entries = told.get("entries")
    if not isinstance(entries, list):
        raise ValueError(f"{PINS}: entries: not a list")  # noqa: TRY004 - one kind of error
    return tuple(_within(PINS, Pin.read, each) for each in entries)


def _snippet(name: str, content: Callable[[str], bytes | None]) -> str:
    held = content(f"{SNIPPETS}/{name}.txt")
    if held is None or sha(held) != name:
        raise ValueError(f"the snippet {name} is missing or another")
    return held.decode("utf-8", "replace")


def _entries(held: bytes) -> list[Entry]:
    """The entries of a log; blank lines and a torn last one are passed over."""
    if sum(map(held.count, (b",", b"[", b"{"))) > LIMITS[LOG] // 8:
        raise ValueError(f"{LOG} holds too many values")
    lines = held.split(b"\n")
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(_entry(line))
        except ValueError as error:
            if number == len(lines):
                break
            raise ValueError(f"{LOG}: line {number}: {error}") from error
    return found


def _entry(line: bytes) -> Entry:
    try:
        body = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError("not a JSON object in UTF-8") from error
    return Entry.read(body)
