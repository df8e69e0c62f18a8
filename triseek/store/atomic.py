"""Atomic, durable writes of files and folders, and small JSON files with a checksum.

The data is written under a temporary name, fsynced and renamed, and the folder that holds the name
is fsynced too: without that last step a power failure may undo the rename (RocksDB issue #10573).

A sealed file holds data that may be lost but must not be read when damaged. It is one JSON
document, `{"xxh3": "<16 hex digits>", "body": …}`; the checksum is of the body's bytes as they are
in the file. It detects damage, not malice: the reader must validate every value as well.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash

from triseek import errors, private

if TYPE_CHECKING:
    from collections.abc import Iterable

_HEAD = b'{"xxh3":"%s","body":'
_HEAD_BYTES = len(_HEAD % (b"0" * 16))
_TAIL = b"}\n"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def sync(path: str | os.PathLike[str]) -> None:
    """Fsync a file, or a folder so that the names in it are durable.

    A file system's refusal to sync a folder is ignored.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:  # some network and FUSE file systems refuse to sync folders
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise
    finally:
        os.close(descriptor)


def write(path: str | os.PathLike[str], data: bytes, *, mode: int = 0o600) -> None:
    """Atomically replace the file at `path` with one that holds `data`.

    Readers see the old file or the new one. A link at `path` is replaced, not followed.

    mode: of the new file, before the umask; by default only its owner may read and write it.
    """
    target = Path(path)
    aside = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        # Create it anew: an existing file may be a link that somebody else has placed there.
        aside.unlink(missing_ok=True)
        with open(os.open(aside, _FLAGS, mode), "wb") as file:  # noqa: PTH123
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    sync(target.parent)


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Atomically replace the file at `path` with one of these lines, that only this user can read.

    The lines have their line ends, and may be more than memory holds.
    """
    target = Path(path)
    aside = target.with_name(f"{target.name}.{secrets.token_hex(4)}.partial")
    try:
        with open(aside, "w", encoding="utf-8", opener=private.opener) as file:
            file.writelines(lines)
        publish(aside, target)
    finally:
        aside.unlink(missing_ok=True)


def publish(partial: str | os.PathLike[str], final: str | os.PathLike[str]) -> None:
    """Rename a file, or a folder of synced files, durably to its final name."""
    sync(partial)
    Path(partial).replace(final)
    sync(Path(final).parent)


def write_sealed(path: str | os.PathLike[str], body: Any) -> None:  # noqa: ANN401 - whatever JSON can say
    """Replace the sealed file at `path` with `body` and its checksum; creates the folder.

    Raises:
        StateUnwritable: the folder or the file cannot be written.
    """
    text = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
    data = _HEAD % xxhash.xxh3_64_hexdigest(text).encode() + text + _TAIL
    try:
        private.make(Path(path).parent)
        try:
            write(path, data)
        except FileNotFoundError:  # an index writer's `manifest.sweep` removed the partial file
            write(path, data)
    except OSError as error:
        raise errors.StateUnwritable(f"cannot write {path}: {error.strerror}") from error


def read_sealed(path: str | os.PathLike[str], *, most_bytes: int) -> Any:  # noqa: ANN401 - JSON
    """Return a sealed file's body; None if it is missing, too large, unreadable or damaged."""
    try:
        with Path(path).open("rb") as file:
            if os.fstat(file.fileno()).st_size > most_bytes:
                return None
            data = file.read(most_bytes + 1)
        text = data[_HEAD_BYTES : -len(_TAIL)]
        if data != _HEAD % xxhash.xxh3_64_hexdigest(text).encode() + text + _TAIL:
            return None
        return json.loads(text)
    except (OSError, ValueError, RecursionError):  # RecursionError: brackets without end
        return None


def with_checksum(body: bytes) -> bytes:
    """Return a line of JSON and the line of its checksum, as in `CURRENT`."""
    return body + b"\n" + xxhash.xxh3_64_hexdigest(body).encode() + b"\n"


def split_checksum(data: bytes) -> tuple[bytes, bool]:
    """Return the first line of such a file, and whether the checksum is right."""
    body, _, digest = data.rstrip(b"\n").partition(b"\n")
    return body, xxhash.xxh3_64_hexdigest(body).encode() == digest
