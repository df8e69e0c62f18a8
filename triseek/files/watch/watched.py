"""The mapping between folders and their watches, and the budget of watches of the process.

A watch follows its inode, a path does not. So a path and a watch are tied together only until an
event says that they no longer belong together.
"""

from __future__ import annotations

import threading

from triseek.files.watch import inotify
from triseek.files.watch.inotify import WatchLimit

WATCHES_MAX = 65_536
"""The most watches of the process; never more than a quarter of the user's limit."""


class Watched:
    """The watched folders of one root, as a tree: all folders above a watched one are watched.

    One inode can have two paths, permanently (a bind mount) or for a moment (a folder that was
    watched again at its new path before the event of its move was read). Then an event is reported
    for both paths, and the watch ends with the last of them.
    """

    def __init__(self) -> None:
        self._watches: dict[bytes, int] = {}
        self._paths: dict[int, tuple[bytes, ...]] = {}
        self._children: dict[bytes, set[bytes]] = {}

    def __contains__(self, path: bytes) -> bool:
        return path in self._watches

    def __len__(self) -> int:
        """The number of watches, not of paths."""
        return len(self._paths)

    def paths(self, watch: int) -> tuple[bytes, ...]:
        """Return the paths of the watched folder; empty for a watch that has ended."""
        return self._paths.get(watch, ())

    def holds(self, watch: int) -> bool:
        """Return whether any path has this watch."""
        return watch in self._paths

    def add(self, path: bytes, watch: int) -> None:
        """Tie a path to a watch; the path must not have one yet."""
        self._watches[path] = watch
        self._paths[watch] = (*self._paths.get(watch, ()), path)
        if path:
            self._children.setdefault(above(path), set()).add(path)

    def drop(self, path: bytes) -> list[int]:
        """Remove a path and all below it; return the watches that no path needs any more."""
        unused: list[int] = []
        if path not in self._watches:
            return unused
        self._children.get(above(path), set()).discard(path)
        pending = [path]
        while pending:
            folder = pending.pop()
            pending.extend(self._children.pop(folder, ()))
            watch = self._watches.pop(folder)
            left = tuple(other for other in self._paths.pop(watch) if other != folder)
            if left:
                self._paths[watch] = left
            else:
                unused.append(watch)
        return unused


class Budget:
    """Counts the watches of all watchers of the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.used = 0

    def take(self, most: int) -> None:
        """Take one watch from the budget.

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
        """Return `count` watches to the budget."""
        with self._lock:
            self.used -= count


PROCESS = Budget()


def _larger_budget(most: int) -> str:
    """Return the command that raises the binding limit: the kernel's, or triseek's own setting."""
    users = inotify.limit("max_user_watches")
    if users is not None and most >= users // 4:
        return inotify.raising("max_user_watches")
    return f"export TRISEEK_WATCH_MAX_FOLDERS={4 * most}; triseek daemon restart"


def allowance(budget: int) -> int:
    """Return the most watches a process may have: `budget`, or a quarter of the user's if less."""
    users = inotify.limit("max_user_watches")
    return budget if users is None else min(budget, users // 4)


def above(path: bytes) -> bytes:
    """Return the folder a path is in; empty for a name in the root."""
    return path.rpartition(b"/")[0]
