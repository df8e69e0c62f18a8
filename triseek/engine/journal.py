"""What changed below one root since a moment somebody remembers.

A `Clock` names a moment: which watching it was (boot), how many batches of changes had been seen
(generation) and which context the asker was in (epoch). `Journal.since(clock)` says `unchanged`
only where nothing can have changed; whatever is not known is `unknown`, and that is never fresh.
Clocks of this kind are Watchman's (`c:<start>:<pid>:<root>:<ticks>`).

The rules that keep it honest:

- A watching that begins has a new, random boot id, so no clock outlives a daemon or a pause of
  its watcher, whatever was or was not saved. With no watcher nothing is `unchanged`.
- An entry and its generation appear in one step, under one lock.
- What is not in the journal (thrown away, lost by the watcher, too much) is known to be missing.
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
from triseek.store import sealed

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

What: TypeAlias = Literal["created", "modified", "removed"]
"""What happened to a path. In doubt it was created, which matters to every question."""
Reason: TypeAlias = Literal[
    "unchanged", "changed", "not_watched", "boot_changed", "context_invalidated",
    "generation_reset", "events_lost", "journal_overflow",
]  # fmt: skip

BATCHES_MAX = 256
PATHS_MAX = 20_000
"""Paths kept in all batches together; a batch of more is kept as `everything`."""
NAME = "journal.json"

_FILE_BYTES_MAX = 4096
_GENERATION_MAX = 1 << 52
"""A saved generation beyond this is not ours: microseconds since 1970 reach it in 2112."""
_CLOCK = re.compile(r"([0-9a-f]{16}):(0|[1-9][0-9]{0,17}):(0|[1-9][0-9]{0,17})")


class Clock(NamedTuple):
    """A moment in the history of one root."""

    boot: str
    """16 hex digits: which watching."""
    generation: int
    epoch: int

    def __str__(self) -> str:
        """`boot:generation:epoch`, as `parse` reads it."""
        return f"{self.boot}:{self.generation}:{self.epoch}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str(clock)` wrote, and nothing else.

        Raises:
            InvalidRequest: it is no clock.
        """
        found = _CLOCK.fullmatch(text)
        if found is None:
            raise errors.InvalidRequest(
                f"{text[:60]!r} is no clock", next_step="Pass a clock as an answer gave it."
            )
        return cls(found[1], int(found[2]), int(found[3]))


@dataclass(frozen=True, slots=True)
class Batch:
    """What the watcher saw at once."""

    generation: int
    """The generation this batch made."""
    changes: Mapping[bytes, What]
    """By path below the root; a folder's ends in `/` and stands for all below it."""
    everything: bool = False
    """There were too many to keep: any path may have changed, and `changes` is empty."""


class Since(NamedTuple):
    """What is known of the time since a clock."""

    kind: Literal["unchanged", "changed", "unknown"]
    reason: Reason
    """Why it is unknown; else the kind again."""
    batches: tuple[Batch, ...] = ()
    """If changed: all that came after the clock, oldest first."""


class Journal:
    """The changes below one root; safe to share between threads."""

    def __init__(self, *, generation: int = 0, epoch: int = 0) -> None:
        self._lock = Lock()
        self._generation = generation
        self._epoch = epoch
        self._watched = False
        self._batches: deque[Batch] = deque()
        self._paths = 0
        self._begin()

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """Begin above what was saved in `folder`; never believes what it cannot check.

        Where there is nothing, or nothing sound, microseconds since 1970 are above any count of
        batches that came more slowly than a million in a second.
        """
        saved = _numbers(sealed.read(Path(folder) / NAME, most_bytes=_FILE_BYTES_MAX))
        generation, epoch = saved or (time.time_ns() // 1_000, 0)
        return cls(generation=generation + 1, epoch=epoch + 1)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write down the generation and the epoch. Batches mean nothing to the next boot.

        Raises:
            StateUnwritable: the folder cannot be written.
        """
        clock = self.clock
        body = {"version": 1, "generation": clock.generation, "epoch": clock.epoch}
        sealed.write(Path(folder) / NAME, body)

    def watching_began(self) -> Clock:
        """Every change from now on will be noted; earlier clocks mean nothing any more.

        To be called when all watches are set.
        """
        with self._lock:
            self._generation += 1
            self._watched = True
            self._begin()
            return self._now()

    def watching_ended(self) -> None:
        """Nobody looks from now on: nothing is `unchanged` until watching begins again."""
        with self._lock:
            self._generation += 1
            self._watched = False
            self._begin()

    @property
    def watched(self) -> bool:
        """Whether changes are being noted."""
        with self._lock:
            return self._watched

    @property
    def clock(self) -> Clock:
        """Now. Take it before the work whose result is to be remembered, after a `sync`."""
        with self._lock:
            return self._now()

    def note(self, changes: Mapping[bytes, What]) -> int:
        """Write down one batch of changes that matter; the generation then.

        A rename is a removal and a creation. A folder's path, with `/` at its end, stands for
        everything below it. No changes: no new generation.
        """
        with self._lock:
            if not changes:
                return self._generation
            self._generation += 1
            self._push(self._batch(changes))
            return self._generation

    def lose(self) -> int:
        """Anything may have changed (the watcher overflowed, rules changed); the generation then.

        Every clock given before becomes unknown.
        """
        with self._lock:
            self._generation += 1
            self._forget()
            self._lost_at = self._generation
            return self._generation

    def bump_epoch(self) -> int:
        """Whoever asked before has forgotten what it was told; the new epoch."""
        with self._lock:
            self._epoch += 1
            return self._epoch

    def since(self, clock: Clock) -> Since:
        """What happened after `clock`; the first reason that holds, in the order of `_doubt`."""
        with self._lock:
            doubt = self._doubt(clock)
            if doubt is not None:
                return Since("unknown", doubt)
            if clock.generation == self._generation:
                return Since("unchanged", "unchanged")
            later = tuple(b for b in self._batches if b.generation > clock.generation)
            return Since("changed", "changed", later)

    def _doubt(self, clock: Clock) -> Reason | None:
        """Why nothing can be said, if so. Holds the lock."""
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

    def _now(self) -> Clock:
        return Clock(self._boot, self._generation, self._epoch)

    def _begin(self) -> None:
        self._boot = secrets.token_hex(8)
        self._forget()
        self._lost_at = self._generation

    def _forget(self) -> None:
        """Drop all batches; the journal is complete from this generation on."""
        self._batches.clear()
        self._paths = 0
        self._complete_from = self._generation

    def _batch(self, changes: Mapping[bytes, What]) -> Batch:
        if len(changes) > PATHS_MAX:
            return Batch(self._generation, MappingProxyType({}), everything=True)
        return Batch(self._generation, MappingProxyType(dict(changes)))

    def _push(self, batch: Batch) -> None:
        """Add a batch and drop the oldest ones beyond the limits."""
        self._batches.append(batch)
        self._paths += len(batch.changes)
        while len(self._batches) > BATCHES_MAX or self._paths > PATHS_MAX:
            dropped = self._batches.popleft()
            self._paths -= len(dropped.changes)
            self._complete_from = dropped.generation


def _numbers(body: object) -> tuple[int, int] | None:
    """Generation and epoch from a saved body, if it is one this version wrote."""
    if not isinstance(body, dict) or body.get("version") != 1:
        return None
    generation, epoch = body.get("generation"), body.get("epoch")
    if type(generation) is not int or type(epoch) is not int:  # True is an int to isinstance
        return None
    if not (0 <= generation <= _GENERATION_MAX and 0 <= epoch <= _GENERATION_MAX):
        return None
    return generation, epoch
