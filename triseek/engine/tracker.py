"""One root's tree, followed by its events: what changed since its index, without a sweep.

A generation of the index is followed from one whole sweep on, made once its folders are watched.
From then on only what an event named is compared with the index, by the sweep's own rules
(`engine.freshness`). `sync` makes sure that every event older than the question has been taken in
(Watchman's cookies), so the answer is that of a sweep made now. What events do not tell is asked
each time: ignore files outside of the tree, and files with several names, which may be edited
through one that lies elsewhere.

Whatever goes wrong costs a sweep, never an answer:

- A queue that overflowed, or a cookie that did not come back: the next answer takes a sweep.
- A file or folder that could not be looked at: so does each answer, until it can be.
- A limit of watches, or any other error: the tracker ends and gives its watches back. The root is
  swept until somebody tracks it anew.

So what was noted is never needed twice: a follow counts as complete only when all of it has been
looked at, and from the first step of a look to the last it does not.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from triseek import errors
from triseek.engine.freshness import SPECIAL, Place
from triseek.engine.trouble import Trouble
from triseek.files.watcher import Watcher, WatchLimit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from triseek.engine.dirt import Dirt
    from triseek.engine.freshness import Sweeper
    from triseek.files.watcher import Changes

Array: TypeAlias = np.ndarray[Any, Any]
What: TypeAlias = Literal["created", "modified", "removed"]
Happened: TypeAlias = "dict[bytes, What]"
"""Paths, and what became of each."""

logger = logging.getLogger(__name__)

ROUNDS_MAX = 20
"""New folders are watched and listed again at most so often before everything is swept instead."""
HAND_OVER_LOOKS_MAX = 8
"""Two generations look at what happens in the middle of a hand-over at most so often."""


class Tracker:
    """Follow one root; shared by threads.

    Raises on creation:
        WatchLimit: The system allows no more watches.
    """

    def __init__(
        self, root: str, cookies: str, folders_max: int, told: Callable[[Happened | None], None]
    ) -> None:
        """Report to `told` what happened; None: anything may have."""
        self.watcher = Watcher(os.fsencode(root), cookies, budget=folders_max)
        self.lock = threading.RLock()
        self._told = told
        self._follows: list[Follow] = []
        self._teller: Follow | None = None
        self._ended: Trouble | None = None
        self._last: Trouble | None = None

    def follow(self, sweeper: Sweeper) -> Follow:
        """Begin to follow a generation; takes as long as a sweep.

        Raises:
            WatchLimit: The tree has more folders than may be watched; the tracker has ended.
        """
        follow = Follow(self, sweeper)
        with self.lock:
            if not self.alive:
                raise WatchLimit(self.trouble.reason if self.trouble else "the watcher has ended")
            self._drain()
            self._follows.append(follow)
        try:
            follow.begin()
        except WatchLimit as error:
            self._end(error)
            raise
        except BaseException:
            self._leave(follow)
            raise
        with self.lock:
            self._teller = self._teller or follow
        return follow

    def hand_over(self, old: Follow | None, new: Follow) -> None:
        """Let the new generation report from now on what happened; the old one is followed no more.

        What the old one reports the new one does not report a second time. What happens between
        their looks at the tree would be reported by neither: both look again until nothing does.
        Where something always does, every clock given before becomes unknown.
        """
        follows = [new] if old is None else [old, new]
        try:
            for looks in range(HAND_OVER_LOOKS_MAX + 1):
                synced = self.watcher.sync()
                with self.lock:
                    self._teller = old
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
            self._told(None)

    def _replace(self, old: Follow | None, new: Follow) -> None:
        if old is not None:
            self._leave(old)
        self._teller = new

    def dirt(self, follow: Follow) -> Dirt | None:
        """What the tree as it is now holds that a generation does not know.

        None where the tracker cannot tell, whatever the reason: a sweep can.

        Raises:
            TriseekError: The index cannot be read.
        """
        synced = self.watcher.sync()
        with self.lock:
            return self._answer(follow, synced=synced)

    def _answer(self, follow: Follow, *, synced: bool) -> Dirt | None:
        def answer() -> Dirt:
            self._drain()
            return follow.answer(synced=synced)

        dirt = self._looked(follow, answer)
        if dirt is not None:
            self._last = self._trouble_of(follow, dirt, synced=synced)
        return dirt

    def _looked(self, follow: Follow, look: Callable[[], Dirt]) -> Dirt | None:
        """Look at the tree for a generation that is followed; None where that fails."""
        if follow not in self._follows or not self.alive:
            return None
        try:
            return look()
        except errors.TriseekError:
            self._told(None)
            raise
        except OSError as error:
            self._last = Trouble(f"the tree could not be looked at: {error}")
            self._told(None)
            return None
        except Exception as error:  # noqa: BLE001 - an edge: a sweep answers, whatever failed here
            self._end(error)
            return None

    def _trouble_of(self, follow: Follow, dirt: Dirt, *, synced: bool) -> Trouble | None:
        if dirt.problem:
            return Trouble(f"the tree could not be looked at: {dirt.problem}")
        if not synced:
            return Trouble(self.watcher.failure or "its events come late")
        return None if follow.complete else Trouble("the tree changes too quickly to be watched")

    def _end(self, error: Exception) -> None:
        """Give all watches back; every answer takes a sweep from now on."""
        if not isinstance(error, WatchLimit):
            logger.error("tracker ended", exc_info=error)
        reason = str(error) if isinstance(error, WatchLimit) else f"tracking failed: {error!r}"
        with self.lock:
            self._ended = Trouble(reason, getattr(error, "fix", ""))
            self._follows.clear()
        self.watcher.close()
        self._told(None)

    def _leave(self, follow: Follow) -> None:
        with self.lock:
            self._follows = [other for other in self._follows if other is not follow]

    def reconcile(self, follow: Follow) -> bool:
        """Sweep, whatever the events said; whether they had missed nothing."""
        synced = self.watcher.sync()
        with self.lock:
            before = self._answer(follow, synced=synced)
            if before is None or before.freshness != "synced":
                return True  # it was swept, or will be
            after = self._looked(follow, follow.sweep)
            same = after is None or after.freshness == "unverified" or before.same_files(after)
            if not same:
                self._told(None)
            return same

    @property
    def alive(self) -> bool:
        """Whether events still come."""
        return self._ended is None and self.watcher.alive

    @property
    def trouble(self) -> Trouble | None:
        """Why the last answer took a sweep, or the next one will; None if events tell all."""
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

    def tell(self, follow: Follow, happened: Happened | None) -> None:
        """Pass on what happened, if anything did, from the one generation that speaks for all."""
        if follow is self._teller and (happened is None or happened):
            self._told(happened)

    def _drain(self) -> None:
        changes = self.watcher.take()
        for follow in self._follows:
            follow.add(changes)


class Follow:
    """One generation of an index, followed. Its tracker's lock guards it."""

    def __init__(self, tracker: Tracker, sweeper: Sweeper) -> None:
        self.lost = False
        """Whether events were lost since the last sweep began."""
        self._looked = False
        """Whether all that happened before the news has been looked at, and new folders watched."""
        self._tracker = tracker
        self._sweeper = sweeper
        self._dirt: Dirt | None = None
        self._files: list[set[int]] = []
        self._folders: set[int] = set()
        self._linked: list[Array] = []
        self._rules = False
        self._outer: tuple[tuple[int, ...], ...] = ()
        self._news = _News()

    def begin(self) -> None:
        """Watch every folder, then sweep; events from then on are not missed.

        What cannot be looked at now is left to the first answer.

        Raises:
            WatchLimit: The tree has more folders than may be watched.
        """
        self._sweeper.prepare()
        with contextlib.suppress(OSError):
            self.sweep()

    @property
    def complete(self) -> bool:
        """Whether no sweep is needed to tell what changed."""
        return self._looked and not self.lost

    @property
    def has_news(self) -> bool:
        """Whether something was noted that has not been looked at."""
        return self.lost or bool(self._news)

    def add(self, changes: Changes) -> None:
        """Take in what was noted."""
        self._news.add(changes)
        self.lost = self.lost or changes.lost or changes.gone

    def answer(self, *, synced: bool) -> Dirt:
        """What is dirty; whether every event has come decides how that is found out.

        Raises:
            OSError: Something cannot be looked at.
            WatchLimit: A folder cannot be watched.
        """
        return self.now() if synced and self.complete else self.anew()

    def anew(self) -> Dirt:
        """Sweep, because it is not known what happened.

        Told before, for who asks the journal meanwhile, and after: a change may have come before
        its folder was watched, and no clock older than the sweep knows of it.
        """
        self._tracker.tell(self, None)
        dirt = self.sweep()
        self._tracker.tell(self, None)
        return dirt

    def sweep(self) -> Dirt:
        """Sweep, and go on from there. Events may be taken in meanwhile; they are looked at later.

        Only the first sweep of a generation is made without the tracker's lock.

        Raises: as `answer`.
        """
        self._news, self.lost, self._looked = _News(), False, False
        # All of them: after an overflow there are no watches left.
        self._tracker.watcher.watch(self._sweeper.folders)
        self._outer = self._sweeper.outer_rules()
        dirt = self._sweeper.sweep()
        if dirt.freshness != "swept":
            return dirt
        self._linked = self._sweeper.linked()
        self._files = _changed(dirt)
        self._folders = {self._sweeper.folder_of(folder) for folder in dirt.suspect}
        self._rules = dirt.ruled
        if self._watch_new(dirt):
            looked = self._look()
            if looked is None:
                return self._sweeper.sweep()
            dirt = looked
        # Later answers have it from the events that nothing has changed since.
        self._dirt, self._looked = replace(dirt, freshness="synced"), True
        return dirt

    def now(self) -> Dirt:
        """What is dirty, events taken in."""
        assert self._dirt is not None  # noqa: S101 - not complete until the first sweep
        before, news, outer = self._dirt, self._news, self._sweeper.outer_rules()
        if not news and outer == self._outer and not self._has_linked:
            return before
        ruled = news.has_rules or outer != self._outer
        self._looked = False
        self._news, self._outer, self._rules = _News(), outer, self._rules or ruled
        self._absorb(news)
        dirt = self._look()
        if dirt is None:
            return self.anew()
        # Other rules list other files, of which no event tells.
        happened = None if ruled else self._happened(news, before, dirt)
        self._tracker.tell(self, happened)
        self._dirt, self._looked = dirt, True
        return dirt

    @property
    def _has_linked(self) -> bool:
        return any(len(numbers) for numbers in self._linked)

    def _absorb(self, news: _News) -> None:
        """What events named, to what is to be looked at from now on."""
        sweeper = self._sweeper
        for path in news.files | news.trees:
            found = sweeper.number_of(path)
            if found is not None:
                self._files[found[0]].add(found[1])
        for tree in news.trees:
            below = sweeper.below(tree)
            for known, numbers in zip(self._files, below.files, strict=True):
                known.update(numbers.tolist())
            self._folders.update(below.folders.tolist())
            self._folders.add(sweeper.folder_of(tree.rpartition(b"/")[0]))
        self._folders.update(map(sweeper.folder_of, news.folders))

    def _look(self) -> Dirt | None:
        """Compare what was named with the index, until every new folder is watched.

        None where folders appear more quickly than that.
        """
        for _ in range(ROUNDS_MAX):
            dirt = self._sweeper.look(self._place(), rules=self._rules)
            if not self._watch_new(dirt):
                self._rules = dirt.ruled
                self._files = _changed(dirt)
                return dirt
        return None

    def _watch_new(self, dirt: Dirt) -> bool:
        """Watch folders that appeared; whether there were any, so that they are listed again."""
        watcher = self._tracker.watcher
        there = (*dirt.suspect, *dirt.appeared, *dirt.directories)
        new = [folder for folder in there if not watcher.is_watched(folder)]
        watcher.watch(new)
        return any(map(watcher.is_watched, new))

    def _place(self) -> Place:
        files = [
            np.union1d(np.fromiter(numbers, np.int64, len(numbers)), linked)
            for numbers, linked in zip(self._files, self._linked, strict=True)
        ]
        return Place(files, np.array(sorted(self._folders), np.int64))

    def _happened(self, news: _News, before: Dirt, after: Dirt) -> Happened:
        """What became of the files that events named, or that have come or gone since they came.

        The event of a file that went just before the look is read after it, when the file is
        in neither of the two answers.
        """
        then, since = self._seen_in(before), self._seen_in(after)
        paths = news.files | self._below(news.trees, (before, after))
        paths |= self._maybe_edited((before, after))
        differ = self._differ(before, after)
        paths |= {path for path in differ if then(path) != since(path)}
        happened = ((path, _what(then(path), since(path))) for path in paths)
        return {path: what for path, what in happened if what is not None}

    def _differ(self, before: Dirt, after: Dirt) -> set[bytes]:
        """Files that are scanned, or left out of the indexed ones, in one of the answers only."""
        paths = set(before.scan) ^ set(after.scan)
        for view, then, since in zip(self._sweeper.views, before.masks, after.masks, strict=True):
            if then is not since:
                paths.update(view.names.take(np.flatnonzero(then ^ since)))
        return paths

    def _maybe_edited(self, dirts: Sequence[Dirt]) -> set[bytes]:
        """Files with several names that differ from the index: no event tells of every edit."""
        paths: set[bytes] = set()
        for place, (view, numbers) in enumerate(
            zip(self._sweeper.views, self._linked, strict=True)
        ):
            differ = np.logical_or.reduce([dirt.masks[place][numbers] for dirt in dirts])
            paths.update(view.names.take(numbers[differ]))
        return paths

    def _seen_in(self, dirt: Dirt) -> Callable[[bytes], bool]:
        """Whether a search with that dirt would have looked at a path."""
        scanned = set(dirt.scan)

        def seen(path: bytes) -> bool:
            found = self._sweeper.number_of(path)
            return path in scanned or (found is not None and not dirt.masks[found[0]][found[1]])

        return seen

    def _below(self, trees: Iterable[bytes], dirts: Sequence[Dirt]) -> set[bytes]:
        """Every file that was or is below some folders."""
        paths: set[bytes] = set()
        for tree in trees:
            lead = tree + b"/" if tree else b""
            paths.update(path for dirt in dirts for path in dirt.scan if path.startswith(lead))
            below = self._sweeper.below(tree).files
            for view, numbers in zip(self._sweeper.views, below, strict=True):
                paths.update(view.names.take(numbers[view.alive[numbers]]))
        return paths


class _News:
    """What was noted and not yet looked at."""

    def __init__(self) -> None:
        self.files: set[bytes] = set()
        self.folders: set[bytes] = set()
        self.trees: set[bytes] = set()

    def add(self, changes: Changes) -> None:
        """Take in what a watcher noted."""
        self.files |= changes.files
        self.folders |= changes.folders
        self.trees |= changes.trees

    def __bool__(self) -> bool:
        return bool(self.files or self.folders or self.trees)

    @property
    def has_rules(self) -> bool:
        """Whether an ignore file, or what makes a repository, is among it."""
        names = (path.rpartition(b"/")[2] for part in (self.files, self.trees) for path in part)
        return any(name in SPECIAL for name in names)


def _changed(dirt: Dirt) -> list[set[int]]:
    """Per view, the files to look at again with the next event.

    Not those that were found to be as indexed, be it by their content: if they change an event will
    tell. Else a tree that was indexed as soon as it was made, all of it racy, would be read anew
    with every edit.
    """
    return [set(np.flatnonzero(mask).tolist()) for mask in dirt.masks]


def _what(before: bool, after: bool) -> What | None:
    if before and after:
        return "modified"
    if after:
        return "created"
    return "removed" if before else None
