"""What changed in a file since an agent was shown it, as far as that may be kept and is short."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from triseek.sessions.memo import difference, secret
from triseek.sessions.memo.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from triseek.sessions.memo.look import Look
    from triseek.sessions.memo.reading import Read

_FOLDER = "kept"


class Changes:
    """Thread-safe."""

    def __init__(self, folder: str | None) -> None:
        """Keep contents in a folder of this one; None: keep none."""
        self._kept = None if folder is None else Kept(str(Path(folder) / _FOLDER))

    def keep(self, root: str, read: Iterable[Read]) -> None:
        """Keep what was shown whole, for a diff when it has changed."""
        if self._kept is None:
            return
        for one in read:
            seen = one.look
            if one.shown != seen.whole or seen.digest in self._kept:
                continue
            if secret.may_keep(root, seen.path, seen.data):
                self._kept.keep(seen)

    def since(self, digest: str, now: Look, root: str, name: str) -> str | None:
        """A diff; None if none can be given.

        Args:
            digest: Of the content before.
            now: The file now.
            root: Where the agent works.
            name: The file's, for the diff's head.
        """
        old = self._kept.get(digest) if self._kept else None
        if self._kept is None or old is None:
            return None
        if not secret.may_keep(root, now.path, now.data):
            self._kept.remove(digest)  # it has become a secret since
            return None
        return difference.between(old, now.data, name.removeprefix(root.rstrip("/") + "/"))

    def keep_only(self, digests: Collection[str]) -> None:
        """Remove what nobody can ask for any more."""
        if self._kept is not None:
            self._kept.keep_only(digests)
