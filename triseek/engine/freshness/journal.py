"""Journal of the changes below one root, queried by clock.

A `Clock` names a moment by the watch period (boot), the number of change batches seen so far
(generation) and the caller's context (epoch). `Journal.since(clock)` returns `unchanged` only if
nothing can have changed. Everything uncertain is `unknown`, which never counts as fresh. Watchman
has clocks of this kind (`c:<start>:<pid>:<root>:<ticks>`).

These rules make it reliable:

- Each watch period has a new random boot id, so no clock outlives a daemon or a pause of its
  watcher, whatever was or was not saved. Without a watcher nothing is `unchanged`.
- An entry and its generation appear in one step, under one lock.
- The journal records that entries are missing (dropped, lost by the watcher, or too many).

`Trouble` says why there may be no journal: the root is not watched.
"""

from __future__ import annotations

import re
import secrets
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeAlias

from triseek import errors
from triseek.store import atomic

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

What: TypeAlias = Literal["created", "modified", "removed"]
"""What happened to a path. In doubt it is `created`, which is relevant to every query."""
Reason: TypeAlias = Literal[
    "unchanged", "changed", "not_watched", "boot_changed", "context_invalidated",
    "generation_reset", "events_lost", "journal_overflow",
]  # fmt: skip

BATCHES_MAX = 256
PATHS_MAX = 20_000
"""Maximum paths in all batches together; a larger batch is stored as `everything`."""
NAME = "journal.json"

_FILE_BYTES_MAX = 4096
_GENERATION_MAX = 1 << 52
"""A larger saved generation is invalid: microseconds since 1970 reach this value in 2112."""
_CLOCK = re.compile(r"([0-9a-f]{16}):(0|[1-9][0-9]{0,17}):(0|[1-9][0-9]{0,17})")


class Clock(NamedTuple):
    """A moment in the journal of one root."""

    boot: str
    """Id of the watch period: 16 hex digits."""
    generation: int
    epoch: int

    def __str__(self) -> str:
        """Return `boot:generation:epoch`, as `parse` reads it."""
        return f"{self.boot}:{self.generation}:{self.epoch}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the output of `str(clock)`.

        Raises:
            InvalidRequest: `text` is not a clock.
        """
        match = _CLOCK.fullmatch(text)
        if match is None:
            raise errors.InvalidRequest(
                f"{text[:60]!r} is no clock", next_step="Pass a clock as an answer gave it."
            )
        return cls(match[1], int(match[2]), int(match[3]))


@dataclass(frozen=True, slots=True)
class ChangeBatch:
    """Changes that the watcher reported together."""

    generation: int
    """The generation that this batch began."""
    changes: Mapping[bytes, What]
    """Changes by path below the root; a path ending in `/` stands for all files in that folder."""
    everything: bool = False
    """True if there were too many changes to keep: any path may differ; `changes` is empty."""


class ChangesSince(NamedTuple):
    """The changes since a clock, as far as they are known."""

    kind: Literal["unchanged", "changed", "unknown"]
    reason: Reason
    """Why `kind` is unknown; otherwise the same as `kind`."""
    batches: tuple[ChangeBatch, ...] = ()
    """If `kind` is changed: all batches after the clock, oldest first."""


class Trouble(NamedTuple):
    """Why a root is not watched or its index is not maintained."""

    reason: str
    """The cause, in one line."""
    fix: str = ""
    """What the user can do: a command or a sentence; empty if nothing."""


class Journal:
    """The changes below one root; safe to share between threads."""

    def __init__(self, *, generation: int = 0, epoch: int = 0) -> None:
        self._lock = Lock()
        self._generation = generation
        self._epoch = epoch
        self._watched = False
        self._batches: deque[ChangeBatch] = deque()
        self._paths = 0
        self._begin()

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """Create a journal that starts above the numbers saved in `folder`.

        If nothing valid is saved, it starts at the microseconds since 1970. They are above any
        count of batches that came more slowly than a million per second.
        """
        saved = _numbers(atomic.read_sealed(Path(folder) / NAME, most_bytes=_FILE_BYTES_MAX))
        generation, epoch = saved or (time.time_ns() // 1_000, 0)
        return cls(generation=generation + 1, epoch=epoch + 1)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Save the generation and the epoch. Batches are not saved: the next boot cannot use them.

        Raises:
            StateUnwritable: the folder cannot be written.
        """
        clock = self.clock
        body = {"version": 1, "generation": clock.generation, "epoch": clock.epoch}
        atomic.write_sealed(Path(folder) / NAME, body)

    def watching_began(self) -> Clock:
        """Start a watch period: every later change is noted, and earlier clocks become unknown.

        Call this when all watches are set.
        """
        self._restart(watched=True)
        return self.clock

    def watching_ended(self) -> None:
        """End the watch period: nothing is `unchanged` until watching begins again."""
        self._restart(watched=False)

    def _restart(self, *, watched: bool) -> None:
        with self._lock:
            self._generation += 1
            self._watched = watched
            self._begin()

    @property
    def watched(self) -> bool:
        """Whether changes are being noted."""
        with self._lock:
            return self._watched

    @property
    def clock(self) -> Clock:
        """The current clock. Read it after a `sync` and before the work whose result is cached."""
        with self._lock:
            return Clock(self._boot, self._generation, self._epoch)

    def note(self, changes: Mapping[bytes, What]) -> int:
        """Add one batch of relevant changes and return the generation after it.

        A rename is a removal and a creation. A folder's path, with `/` at its end, stands for
        everything below it. Without changes there is no new generation. Beyond `BATCHES_MAX`
        batches or `PATHS_MAX` paths the oldest batches are dropped.
        """
        with self._lock:
            if not changes:
                return self._generation
            self._generation += 1
            everything = len(changes) > PATHS_MAX
            kept = MappingProxyType({} if everything else dict(changes))
            self._batches.append(ChangeBatch(self._generation, kept, everything))
            self._paths += len(kept)
            while len(self._batches) > BATCHES_MAX or self._paths > PATHS_MAX:
                dropped = self._batches.popleft()
                self._paths -= len(dropped.changes)
                self._complete_from = dropped.generation
            return self._generation

    def lose(self) -> int:
        """Record that anything may have changed; return the generation after it.

        This happens when the watcher overflowed or rules changed. All earlier clocks become
        unknown.
        """
        with self._lock:
            self._generation += 1
            self._forget()
            self._lost_at = self._generation
            return self._generation

    def bump_epoch(self) -> int:
        """Invalidate all clocks because callers have lost earlier answers; return the new epoch."""
        with self._lock:
            self._epoch += 1
            return self._epoch

    def since(self, clock: Clock, *, any_epoch: bool = False) -> ChangesSince:
        """Return the changes after `clock`; if unknown, the first reason in `_doubt`'s order.

        any_epoch: Whether the epoch does not matter: the caller knows what it still has.
        """
        with self._lock:
            doubt = self._doubt(clock._replace(epoch=self._epoch) if any_epoch else clock)
            if doubt is not None:
                return ChangesSince("unknown", doubt)
            if clock.generation == self._generation:
                return ChangesSince("unchanged", "unchanged")
            later = tuple(b for b in self._batches if b.generation > clock.generation)
            return ChangesSince("changed", "changed", later)

    def _doubt(self, clock: Clock) -> Reason | None:
        """Return why the changes since `clock` are unknown, or None. The caller holds the lock."""
        if not self._watched:
            return "not_watched"
        if clock.boot != self._boot:
            return "boot_changed"
        if clock.epoch != self._epoch:
            return "context_invalidated"
        if clock.generation > self._generation:
            return "generation_reset"
        if clock.generation < self._lost_at:
            return "events_lost"
        if clock.generation < self._complete_from:
            return "journal_overflow"
        return None

    def _begin(self) -> None:
        self._boot = secrets.token_hex(8)
        self._forget()
        self._lost_at = self._generation

    def _forget(self) -> None:
        """Drop all batches; the journal is complete from the current generation on."""
        self._batches.clear()
        self._paths = 0
        self._complete_from = self._generation


def _numbers(body: object) -> tuple[int, int] | None:
    """Return generation and epoch from a saved body; None unless this version wrote it."""
    if not isinstance(body, dict) or body.get("version") != 1:
        return None
    generation, epoch = body.get("generation"), body.get("epoch")
    if type(generation) is not int or type(epoch) is not int:  # isinstance accepts True
        return None
    if not (0 <= generation <= _GENERATION_MAX and 0 <= epoch <= _GENERATION_MAX):
        return None
    return generation, epoch
