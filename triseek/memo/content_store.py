"""Contents that agents were shown, stored so that a change can be reported as a diff.

There is one zlib file per content, named by its digest, in a folder that only the user may enter.
Nothing here has to survive: a file whose content does not match its name counts as missing.
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
from triseek.files.tree import secret_files
from triseek.memo import difference

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from triseek.memo.look import FileText
    from triseek.memo.output_match import ToolRead

FILE_MAX = 100 * 1024
TOTAL_MAX = 16 * 1024 * 1024
"""Of compressed bytes."""
_FOLDER = "kept"
_SUFFIX = ".z"
_DIGITS = 32


class ContentStore:
    """A bounded store of contents by digest. Thread-safe. What cannot be written is not kept."""

    def __init__(self, folder: str) -> None:
        """Load the list of stored contents from `folder`."""
        self._folder = Path(folder)
        self._lock = threading.Lock()
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._total = 0
        self._take_up()

    def __contains__(self, digest: str) -> bool:
        return digest in self._sizes

    def keep(self, look: FileText) -> None:
        """Store a content unless it is too large; evict the least recently used if need be."""
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
        """Return a content; None if it is not stored or is damaged."""
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
        """Remove contents with other digests, which nothing can ask for any more."""
        with self._lock:
            for digest in [stored for stored in self._sizes if stored not in digests]:
                self._drop(digest)

    def remove(self, digest: str) -> None:
        """Remove a content that should not have been stored, or should be no longer."""
        with self._lock:
            if digest in self._sizes:
                self._drop(digest)

    def _path(self, digest: str) -> Path:
        return self._folder / (digest + _SUFFIX)

    def _take_up(self) -> None:
        try:
            with os.scandir(self._folder) as entries:
                files = [
                    (status.st_mtime_ns, entry.name, status.st_size)
                    for entry in entries
                    if entry.is_file(follow_symlinks=False) and (status := entry.stat())
                ]
        except OSError:
            return
        for _, name, size in sorted(files):
            digest = name.removesuffix(_SUFFIX)
            if name != digest and len(digest) == _DIGITS:
                self._add(digest, size)
                continue
            with suppress(OSError):  # a partial file of a process that died
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


class ShownChanges:
    """Contents that agents were shown, kept to diff files against them. Thread-safe."""

    def __init__(self, folder: str | None) -> None:
        """Keep contents in a subfolder of `folder`; None: keep none."""
        self._kept = None if folder is None else ContentStore(str(Path(folder) / _FOLDER))

    def keep(self, root: str, read: Iterable[ToolRead]) -> None:
        """Keep the contents of files that were shown whole, to diff against them later."""
        if self._kept is None:
            return
        for file_read in read:
            seen = file_read.look
            if file_read.shown != seen.whole or seen.digest in self._kept:
                continue
            if secret_files.may_keep(root, seen.path, seen.data):
                self._kept.keep(seen)

    def since(self, digest: str, now: FileText, root: str, name: str) -> str | None:
        """Return a diff from an earlier content to the file now; None if there is none to give.

        Args:
            digest: Of the earlier content.
            now: The file now.
            root: Where the agent works.
            name: The file's name, for the diff's header.
        """
        old = self._kept.get(digest) if self._kept else None
        if self._kept is None or old is None:
            return None
        if not secret_files.may_keep(root, now.path, now.data):
            self._kept.remove(digest)  # the file has become a secret since
            return None
        return difference.between(old, now.data, name.removeprefix(root.rstrip("/") + "/"))

    def keep_only(self, digests: Collection[str]) -> None:
        """Remove contents with other digests, which nothing can ask for any more."""
        if self._kept is not None:
            self._kept.keep_only(digests)
