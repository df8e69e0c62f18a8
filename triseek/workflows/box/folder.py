"""The script's folder: watched while it runs, removed whatever has been made in it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

MAX_BYTES = 64 << 20
MAX_ENTRIES = 2000
_MAX_DEPTH = 16


class Folder:
    """An empty temporary folder of this user alone, which ends with the `with` block."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="triseek-box-")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._remove()

    def is_full(self) -> bool:
        """Whether it holds more than a script may write, or a folder that cannot be measured."""
        total = entries = 0
        folders = [(Path(self.path), 0)]
        while folders:
            folder, depth = folders.pop()
            try:
                with os.scandir(folder) as listing:
                    for entry in listing:
                        entries += 1
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                        if total > MAX_BYTES or entries > MAX_ENTRIES or depth > _MAX_DEPTH:
                            return True
                        if entry.is_dir(follow_symlinks=False):
                            folders.append((Path(entry.path), depth + 1))
            except FileNotFoundError:
                pass
            except PermissionError:
                return True
        return False

    def _remove(self) -> None:
        """Remove all. Folders in folders are moved up first: their depth has no bound."""
        top = Path(self.path)
        with contextlib.suppress(OSError):
            while folders := [item for item in top.iterdir() if item.is_dir()]:
                for folder in folders:
                    if folder.is_symlink():
                        folder.unlink()
                        continue
                    folder.chmod(0o700)
                    for item in folder.iterdir():
                        if item.is_dir() and not item.is_symlink():
                            item.chmod(0o700)  # a folder that is closed cannot be moved
                        item.rename(tempfile.mktemp(dir=top))  # noqa: S306 - nobody else writes here
                    folder.rmdir()
        shutil.rmtree(top, ignore_errors=True)
