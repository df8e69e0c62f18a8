"""Which folder has which watch, both ways, and how many the process may have.

A watch follows its inode, a path does not. So the two are tied together for as long as it is
known that they belong together, and cut at the event that says they no longer do.
"""

from __future__ import annotations

import threading

from triseek.files import inotify
from triseek.files.inotify import WatchLimit

WATCHES_MAX = 65_536
"""Watches of the whole process; never more than a quarter of what the user may have."""


class Watched:
    """The watched folders of one root, as a tree: above a watched folder, all are watched.

    One inode can have two paths, for good (a bind mount) or for a moment (a folder that was
    watched again at its new place before the event of its move was read). Then an event is told
    of both, and the watch ends with the last of them.
    """

    def __init__(self) -> None:
        self._watches: dict[bytes, int] = {}
        self._paths: dict[int, tuple[bytes, ...]] = {}
        self._children: dict[bytes, set[bytes]] = {}

    def __contains__(self, path: bytes) -> bool:
        return path in self._watches

    def __len__(self) -> int:
        """Number of watches, not of paths."""
        return len(self._paths)

    def paths(self, watch: int) -> tuple[bytes, ...]:
        """Where the watched folder is; empty for a watch that is no longer ours."""
        return self._paths.get(watch, ())

    def holds(self, watch: int) -> bool:
        """Whether any path has this watch."""
        return watch in self._paths

    def add(self, path: bytes, watch: int) -> None:
        """Tie a path that has none to a watch."""
        self._watches[path] = watch
        self._paths[watch] = (*self._paths.get(watch, ()), path)
        if path:
            self._children.setdefault(above(path), set()).add(path)

    def drop(self, path: bytes) -> list[int]:
        """Cut off a path and all below it; the watches that no path needs any more."""
        unused: list[int] = []
        if path not in self._watches:
            return unused
        self._children.get(above(path), set()).discard(path)
        waiting = [path]
        while waiting:
            folder = waiting.pop()
            waiting.extend(self._children.pop(folder, ()))
            self._cut(folder, unused)
        return unused

    def _cut(self, path: bytes, unused: list[int]) -> None:
        watch = self._watches.pop(path)
        left = tuple(other for other in self._paths[watch] if other != path)
        if left:
            self._paths[watch] = left
        else:
            del self._paths[watch]
            unused.append(watch)


class Budget:
    """Counts watches over all watchers of the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.used = 0

    def take(self, most: int) -> None:
        """Count one more.

        Raises:
            WatchLimit: There would be more than `most`.
        """
        with self._lock:
            if self.used >= most:
                raise WatchLimit(
                    f"the budget of {most:,} watched folders is used up", _larger_budget(most)
                )
            self.used += 1

    def give_back(self, count: int) -> None:
        """Count fewer."""
        with self._lock:
            self.used -= count


PROCESS = Budget()


def _larger_budget(most: int) -> str:
    """The setting that allows more: the kernel's if that is what bounds the budget, else ours."""
    users = inotify.limit("max_user_watches")
    if users is not None and most >= users // 4:
        return inotify.raising("max_user_watches")
    return f"export TRISEEK_WATCH_MAX_FOLDERS={4 * most}; triseek daemon restart"


def allowance(budget: int) -> int:
    """The watches a process may have: `budget`, and no more than a quarter of the user's."""
    users = inotify.limit("max_user_watches")
    return budget if users is None else min(budget, users // 4)


def above(path: bytes) -> bytes:
    """The folder a path is in; that of a name in the root is empty."""
    return path.rpartition(b"/")[0]
