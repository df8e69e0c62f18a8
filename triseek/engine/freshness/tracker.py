"""Track one root by file-system events: find what changed since its index without a sweep.

Tracking an index generation starts with one full sweep, made once its folders are watched. After
that, only what events named is compared with the index, by the rules of the sweep
(`engine.freshness.sweep`). `sync` ensures that all events older than the query have been processed
(Watchman's cookies), so the answer equals that of a sweep made now. Changes without events are
checked each time: ignore files outside the tree, and files with several names, which may be edited
through a name elsewhere.

An error costs a sweep, never an answer:

- If the event queue overflowed or a cookie did not come back, the next answer takes a sweep.
- If a file or folder cannot be examined, each answer takes a sweep until it can be.
- On a watch limit or any other error, the tracker ends and releases its watches. The root is swept
  until it is tracked again.

So noted events are never needed twice: a follow counts as complete only when all of them have been
processed, and never during the processing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek import errors
from triseek.engine.freshness.journal import Trouble
from triseek.engine.freshness.sweep import SPECIAL, TreePart
from triseek.files.watch.inotify import WatchLimit
from triseek.files.watch.pending import Changes
from triseek.files.watch.watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from triseek.engine.freshness.journal import What
    from triseek.engine.freshness.sweep import Sweeper
    from triseek.engine.freshness.tree_diff import TreeDiff

Array: TypeAlias = np.ndarray[Any, Any]
Happened: TypeAlias = "dict[bytes, What]"
"""What happened to each path."""

logger = logging.getLogger(__name__)

ROUNDS_MAX = 20
"""Most rounds of watching and listing new folders; after them the whole tree is swept."""
HAND_OVER_LOOKS_MAX = 8
"""Most looks of two generations at changes that happen during a hand-over."""


class Tracker:
    """Tracks one root; safe to share between threads.

    Raises on creation:
        WatchLimit: The system allows no more watches.
    """

    def __init__(
        self, root: str, cookies: str, folders_max: int, report: Callable[[Happened | None], None]
    ) -> None:
        """Call `report` with each batch of changes, or with None if anything may have changed."""
        self.watcher = Watcher(os.fsencode(root), cookies, budget=folders_max)
        self.lock = threading.RLock()
        self._report = report
        self._follows: list[Follow] = []
        self._reporter: Follow | None = None
        self._ended: Trouble | None = None
        self._last: Trouble | None = None

    def follow(self, sweeper: Sweeper) -> Follow:
        """Start to follow an index generation: watch every folder, then sweep.

        No later event is missed. If a file or folder cannot be examined now, the first answer tries
        again.

        Raises:
            WatchLimit: The tree has more folders than may be watched. The tracker has ended.
        """
        follow = Follow(self, sweeper)
        with self.lock:
            if not self.alive:
                raise WatchLimit(self.trouble.reason if self.trouble else "the watcher has ended")
            self._drain()
            self._follows.append(follow)
        try:
            sweeper.prepare()
            with contextlib.suppress(OSError):
                follow.sweep()
        except WatchLimit as error:
            self._end(error)
            raise
        except BaseException:
            self._leave(follow)
            raise
        with self.lock:
            self._reporter = self._reporter or follow
        return follow

    def hand_over(self, old: Follow | None, new: Follow) -> None:
        """Make the new generation report changes from now on, and stop following the old one.

        The new one does not report again what the old one reports. Changes between the looks of
        the two would be reported by neither, so both look again until there are none. If there are
        always some, every earlier clock becomes unknown.
        """
        follows = [new] if old is None else [old, new]
        try:
            for looks in range(HAND_OVER_LOOKS_MAX + 1):
                synced = self.watcher.sync()
                with self.lock:
                    self._reporter = old
                    self._drain()
                    if looks and synced and not any(follow.has_news for follow in follows):
                        self._replace(old, new)
                        return
                    for follow in follows:
                        self._answer(follow, synced=synced)
                if not synced:
                    break
        except BaseException:
            self._leave(new)
            raise
        with self.lock:
            self._replace(old, new)
            self._report(None)

    def _replace(self, old: Follow | None, new: Follow) -> None:
        self._leave(old)
        self._reporter = new

    def tree_diff(self, follow: Follow) -> TreeDiff | None:
        """Return the difference between the current tree and a generation.

        None if the tracker cannot determine it, for any reason; a sweep can.

        Raises:
            TriseekError: The index cannot be read.
        """
        synced = self.watcher.sync()
        with self.lock:
            return self._answer(follow, synced=synced)

    def _answer(self, follow: Follow, *, synced: bool) -> TreeDiff | None:
        self._drain()
        by_events = synced and follow.complete
        diff = self._looked(follow, follow.now if by_events else follow.anew)
        if diff is not None:
            self._last = self._trouble_of(follow, diff, synced=synced)
        return diff

    def _looked(self, follow: Follow, look: Callable[[], TreeDiff]) -> TreeDiff | None:
        """Run `look` for a followed generation; return None if that fails."""
        if follow not in self._follows or not self.alive:
            return None
        try:
            return look()
        except errors.TriseekError:
            self._report(None)
            raise
        except OSError as error:
            self._last = Trouble(f"the tree could not be looked at: {error}")
            self._report(None)
            return None
        except Exception as error:  # noqa: BLE001 - an edge: a sweep answers, whatever failed here
            self._end(error)
            return None

    def _trouble_of(self, follow: Follow, diff: TreeDiff, *, synced: bool) -> Trouble | None:
        if diff.problem:
            return Trouble(f"the tree could not be looked at: {diff.problem}")
        if not synced:
            return Trouble(self.watcher.failure or "its events come late")
        return None if follow.complete else Trouble("the tree changes too quickly to be watched")

    def _end(self, error: Exception) -> None:
        """Release all watches; every later answer takes a sweep."""
        if not isinstance(error, WatchLimit):
            logger.error("tracker ended", exc_info=error)
        reason = str(error) if isinstance(error, WatchLimit) else f"tracking failed: {error!r}"
        with self.lock:
            self._ended = Trouble(reason, getattr(error, "fix", ""))
            self._follows.clear()
        self.watcher.close()
        self._report(None)

    def _leave(self, follow: Follow | None) -> None:
        with self.lock:
            self._follows = [other for other in self._follows if other is not follow]

    def reconcile(self, follow: Follow) -> bool:
        """Sweep to check the events. Return whether they had missed nothing."""
        synced = self.watcher.sync()
        with self.lock:
            before = self._answer(follow, synced=synced)
            if before is None or before.freshness != "synced":
                return True  # a sweep was made, or will be
            after = self._looked(follow, follow.sweep)
            if after is None or after.freshness == "unverified" or before.same_files(after):
                return True
            self._report(None)
            # The tree may have changed between the two looks. Then events name what differs.
            synced = self.watcher.sync()
            self._drain()
            return not synced or follow.explains(before, after)

    @property
    def alive(self) -> bool:
        """Whether events are still received."""
        return self._ended is None and self.watcher.alive

    @property
    def trouble(self) -> Trouble | None:
        """Why the last answer took a sweep or the next one will; None if events suffice."""
        if self._ended is not None:
            return self._ended
        if not self.watcher.alive:
            return Trouble(self.watcher.failure or "the watcher has ended")
        return self._last

    def close(self) -> None:
        """Stop watching."""
        self.watcher.close()
        with self.lock:
            self._follows.clear()

    def report(self, follow: Follow, happened: Happened | None) -> None:
        """Report changes, if there are any, but only from the one follow that reports for all."""
        if follow is self._reporter and (happened is None or happened):
            self._report(happened)

    def _drain(self) -> None:
        changes = self.watcher.take()
        for follow in self._follows:
            follow.add(changes)


class Follow:
    """The tracking state of one index generation, guarded by its tracker's lock."""

    def __init__(self, tracker: Tracker, sweeper: Sweeper) -> None:
        self.lost = False
        """Whether events were lost since the last sweep began."""
        self._looked = False
        """Whether everything before the pending events is processed and new folders are watched."""
        self._tracker = tracker
        self._sweeper = sweeper
        self._diff: TreeDiff | None = None
        self._files: list[set[int]] = []
        self._folders: set[int] = set()
        self._linked: list[Array] = []
        self._rules = False
        self._outer: tuple[tuple[int, ...], ...] = ()
        self._news = Changes()

    @property
    def complete(self) -> bool:
        """Whether the changes can be found without a sweep."""
        return self._looked and not self.lost

    @property
    def has_news(self) -> bool:
        """Whether something was noted that has not been looked at."""
        return self.lost or len(self._news) > 0

    def add(self, changes: Changes) -> None:
        """Add the changes that the watcher noted."""
        news = self._news
        self._news = Changes(
            news.files | changes.files, news.folders | changes.folders, news.trees | changes.trees
        )
        self.lost = self.lost or changes.lost or changes.gone

    def anew(self) -> TreeDiff:
        """Sweep because the changes are not known.

        The loss is reported before the sweep, for queries to the journal meanwhile, and after it: a
        change may have come before its folder was watched, and no clock older than the sweep
        covers it.

        Raises:
            OSError: A file or folder cannot be examined.
            WatchLimit: A folder cannot be watched.
        """
        self._tracker.report(self, None)
        diff = self.sweep()
        self._tracker.report(self, None)
        return diff

    def sweep(self) -> TreeDiff:
        """Sweep and restart tracking. Events that arrive meanwhile are added and processed later.

        Only the first sweep of a generation runs without the tracker's lock.

        Raises: as `anew`.
        """
        self._news, self.lost, self._looked = Changes(), False, False
        # Watch all folders: after an overflow there are no watches left.
        self._tracker.watcher.watch(self._sweeper.folders)
        self._outer = self._sweeper.outer_rules()
        diff = self._sweeper.sweep()
        if diff.freshness != "swept":
            return diff
        self._linked = self._sweeper.linked()
        self._files = _changed(diff)
        self._folders = {self._sweeper.folder_of(folder) for folder in diff.suspect}
        self._rules = diff.ruled
        if self._watch_new(diff):
            updated = self._look()
            if updated is None:
                return self._sweeper.sweep()
            diff = updated
        # Later answers rely on events to know that nothing has changed since.
        self._diff, self._looked = replace(diff, freshness="synced"), True
        return diff

    def now(self) -> TreeDiff:
        """Return the tree diff after processing the pending events."""
        assert self._diff is not None  # noqa: S101 - not complete until the first sweep
        before, news, outer = self._diff, self._news, self._sweeper.outer_rules()
        if not len(news) and outer == self._outer and not any(map(len, self._linked)):
            return before
        ruled = _has_rules(news) or outer != self._outer
        self._looked = False
        self._news, self._outer, self._rules = Changes(), outer, self._rules or ruled
        self._absorb(news)
        diff = self._look()
        if diff is None:
            return self.anew()
        # Changed rules list other files, for which there are no events.
        changes = None if ruled else self._happened(news, before, diff)
        self._tracker.report(self, changes)
        self._diff, self._looked = diff, True
        return diff

    def _absorb(self, news: Changes) -> None:
        """Add what events named to the files and folders to examine."""
        sweeper = self._sweeper
        for path in news.files | news.trees:
            position = sweeper.number_of(path)
            if position is not None:
                self._files[position[0]].add(position[1])
        for tree in news.trees:
            below = sweeper.below(tree)
            for pending, numbers in zip(self._files, below.files, strict=True):
                pending.update(numbers.tolist())
            self._folders.update(below.folders.tolist())
            self._folders.add(sweeper.folder_of(tree.rpartition(b"/")[0]))
        self._folders.update(map(sweeper.folder_of, news.folders))

    def _look(self) -> TreeDiff | None:
        """Compare what was named with the index, until every new folder is watched.

        None if new folders keep appearing for `ROUNDS_MAX` rounds.
        """
        for _ in range(ROUNDS_MAX):
            diff = self._sweeper.look(self._place(), rules=self._rules)
            if not self._watch_new(diff):
                self._rules = diff.ruled
                self._files = _changed(diff)
                return diff
        return None

    def _watch_new(self, diff: TreeDiff) -> bool:
        """Watch new folders. Return whether there were any, so that they must be listed again."""
        watcher = self._tracker.watcher
        folders = (*diff.suspect, *diff.appeared, *diff.directories)
        new = [folder for folder in folders if not watcher.is_watched(folder)]
        watcher.watch(new)
        return any(map(watcher.is_watched, new))

    def _place(self) -> TreePart:
        files = [
            np.union1d(np.fromiter(numbers, np.int64, len(numbers)), linked)
            for numbers, linked in zip(self._files, self._linked, strict=True)
        ]
        return TreePart(files, np.array(sorted(self._folders), np.int64))

    def _happened(self, news: Changes, before: TreeDiff, after: TreeDiff) -> Happened:
        """Return what happened to files that events named, or that appeared or went.

        The event of a file that was removed just before a look is read after it, when the file is
        in neither of the two diffs.
        """
        was_seen, is_seen = self._seen_in(before), self._seen_in(after)
        paths = set(news.files) | self._below(news.trees, (before, after))
        paths |= self._maybe_edited((before, after))
        paths |= {path for path in self._differ(before, after) if was_seen(path) != is_seen(path)}
        changes = ((path, _what(was_seen(path), is_seen(path))) for path in paths)
        return {path: what for path, what in changes if what is not None}

    def _differ(self, before: TreeDiff, after: TreeDiff) -> set[bytes]:
        """Return files that are scanned, or masked, in one of the diffs only."""
        paths = set(before.scan) ^ set(after.scan)
        masks = zip(self._sweeper.views, before.masks, after.masks, strict=True)
        for view, mask_before, mask_after in masks:
            if mask_before is not mask_after:
                paths.update(view.names.take(np.flatnonzero(mask_before ^ mask_after)))
        return paths

    def _maybe_edited(self, diffs: Sequence[TreeDiff]) -> set[bytes]:
        """Return files with several names that differ from the index; some edits make no event."""
        paths: set[bytes] = set()
        masks = zip(*(diff.masks for diff in diffs), strict=True)
        for view, numbers, both in zip(self._sweeper.views, self._linked, masks, strict=True):
            differ = np.logical_or.reduce([mask[numbers] for mask in both])
            paths.update(view.names.take(numbers[differ]))
        return paths

    def explains(self, before: TreeDiff, after: TreeDiff) -> bool:
        """Return whether events, not yet looked at, name every file in which two diffs differ."""
        diffs, news = (before, after), self._news
        named = news.files | self._below(news.trees, diffs) | self._maybe_edited(diffs)
        return self.lost or _has_rules(news) or self._differ(before, after) <= named

    def _seen_in(self, diff: TreeDiff) -> Callable[[bytes], bool]:
        """Return a function that says whether a search with that tree diff would read a path."""
        scanned = set(diff.scan)

        def seen(path: bytes) -> bool:
            position = self._sweeper.number_of(path)
            return path in scanned or (
                position is not None and not diff.masks[position[0]][position[1]]
            )

        return seen

    def _below(self, trees: Iterable[bytes], diffs: Sequence[TreeDiff]) -> set[bytes]:
        """Return every file that was or is below some folders."""
        paths: set[bytes] = set()
        for tree in trees:
            prefix = tree + b"/" if tree else b""
            paths.update(path for diff in diffs for path in diff.scan if path.startswith(prefix))
            below = self._sweeper.below(tree).files
            for view, numbers in zip(self._sweeper.views, below, strict=True):
                paths.update(view.names.take(numbers[view.alive[numbers]]))
        return paths


def _has_rules(news: Changes) -> bool:
    """Return whether the changes include an ignore file or a repository marker."""
    return any(path.rpartition(b"/")[2] in SPECIAL for path in (*news.files, *news.trees))


def _changed(diff: TreeDiff) -> list[set[int]]:
    """Return per view the files to examine again with the next event.

    Files found to be as indexed, even by their content, are left out: an event will report their
    next change. Otherwise a tree that was indexed as soon as it was created, and so is all racy,
    would be read again with every edit.
    """
    return [set(np.flatnonzero(mask).tolist()) for mask in diff.masks]


def _what(before: bool, after: bool) -> What | None:
    if after:
        return "modified" if before else "created"
    return "removed" if before else None
