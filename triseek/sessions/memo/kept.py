"""Contents that agents were shown, kept so that a change can be told as a diff.

One zlib file per content, named by its digest, in a folder only the user may enter. Nothing here
has to survive: a file that is not what its name says is none.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections import OrderedDict
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from triseek import private

if TYPE_CHECKING:
    from collections.abc import Collection

    from triseek.sessions.memo.look import Look

FILE_MAX = 100 * 1024
TOTAL_MAX = 16 * 1024 * 1024
"""Of compressed bytes."""
_SUFFIX = ".z"
_DIGITS = 32


class Kept:
    """Thread-safe. What cannot be written is not kept."""

    def __init__(self, folder: str) -> None:
        """Take up what is there."""
        self._folder = Path(folder)
        self._lock = threading.Lock()
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._total = 0
        self._take_up()

    def __contains__(self, digest: str) -> bool:
        return digest in self._sizes

    def keep(self, look: Look) -> None:
        """Keep a content, if it is not too large; the one not used for longest goes."""
        if len(look.data) > FILE_MAX:
            return
        with self._lock:
            if look.digest in self._sizes:
                self._sizes.move_to_end(look.digest)
                return
            packed = zlib.compress(look.data, 6)
            try:
                self._write(look.digest, packed)
            except OSError:
                return
            self._add(look.digest, len(packed))
            while self._total > TOTAL_MAX:
                self._drop(next(iter(self._sizes)))

    def get(self, digest: str) -> bytes | None:
        """A content; None if it is not kept, or was damaged."""
        with self._lock:
            if digest not in self._sizes:
                return None
            self._sizes.move_to_end(digest)
            try:
                packed = self._path(digest).read_bytes()
            except OSError:
                return None
        unpack = zlib.decompressobj()
        try:
            data = unpack.decompress(packed, FILE_MAX + 1)
        except zlib.error:
            return None
        return data if blake2b(data, digest_size=16).hexdigest() == digest else None

    def keep_only(self, digests: Collection[str]) -> None:
        """Remove what nobody can ask for any more."""
        with self._lock:
            for digest in [one for one in self._sizes if one not in digests]:
                self._drop(digest)

    def remove(self, digest: str) -> None:
        """It should not have been kept, or should be no longer."""
        with self._lock:
            if digest in self._sizes:
                self._drop(digest)

    def _path(self, digest: str) -> Path:
        return self._folder / (digest + _SUFFIX)

    def _take_up(self) -> None:
        try:
            with os.scandir(self._folder) as entries:
                found = [
                    (status.st_mtime_ns, entry.name, status.st_size)
                    for entry in entries
                    if entry.is_file(follow_symlinks=False) and (status := entry.stat())
                ]
        except OSError:
            return
        for _, name, size in sorted(found):
            digest = name.removesuffix(_SUFFIX)
            if name != digest and len(digest) == _DIGITS:
                self._add(digest, size)
                continue
            with suppress(OSError):  # written aside by a process that died
                (self._folder / name).unlink(missing_ok=True)

    def _write(self, digest: str, packed: bytes) -> None:
        path = self._path(digest)
        private.make(self._folder)
        aside = path.with_suffix(".partial")
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(packed)
        aside.replace(path)

    def _add(self, digest: str, size: int) -> None:
        self._sizes[digest] = size
        self._total += size

    def _drop(self, digest: str) -> None:
        self._total -= self._sizes.pop(digest)
        with suppress(OSError):
            self._path(digest).unlink(missing_ok=True)
