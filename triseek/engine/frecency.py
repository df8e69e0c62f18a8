"""Frecency: how often and how recently each file of a root was used. Kept in `frecency.json`.

A score halves every seven days and grows with each use:

    score' = score · 2^(−Δt / 7 days) + weight        select 3, read 2, edit 2

Being a hit of a search is not a use. A hit has a small weight, which falls with its rank, and
counts only if the answer has few files. Hits go to a separate account, capped at `HIT_CEILING`; a
file's score is the larger of its two accounts. So hits alone never lift a file above one that was
read in the last two weeks (2 · 2^(−14/7) = 0.5), and never change the order among such files: there
is no feedback loop.

One process at a time owns the file, by a lock file beside it that is released when the process
ends. Other processes read the file; their touches are dropped, and `owned` is False. Nothing is
written until `save`. Mozilla coined the word; zoxide and fff rank by the same idea.
"""

from __future__ import annotations

import heapq
import math
import os
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import compress, islice, repeat
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypedDict

from triseek import errors
from triseek.store import atomic, lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np


Use: TypeAlias = Literal["select", "read", "edit"]

NAME = "frecency.json"  # `engine.engine.SCORES`
LOCK = "frecency.lock"
HALF_LIFE_S = 7 * 86_400.0
WEIGHTS: Mapping[Use, float] = {"select": 3.0, "read": 2.0, "edit": 2.0}
HIT_WEIGHT = 0.25
"""Weight of the first file of an answer. The file of rank r (from 0) gets 1 / (1 + r) of it."""
HIT_CEILING = 0.5
HIT_FILES_MAX = 10
"""The hits of an answer with more files are not counted."""
FILES_MAX = 2_000
FLOOR = 0.01
"""A file below this score is dropped. A file selected once is dropped after eight weeks."""
SCORE_MAX = 1_000.0

_PATH_BYTES_MAX = 4_096
_FILE_BYTES_MAX = 64 << 20


@dataclass(slots=True)
class _Account:
    used: float
    hit: float
    at_s: float
    """Time of both values, in seconds since 1970; never later than `Frecency._now`."""

    def bring_to(self, now: float) -> None:
        """Decay both values to `now`."""
        share = math.exp2((self.at_s - now) / HALF_LIFE_S)
        self.used, self.hit, self.at_s = self.used * share, self.hit * share, now


class FrecencyJson(TypedDict):
    """The body of `frecency.json`."""

    version: int
    half_life_s: float
    files: dict[str, list[float]]
    """Path → the values of its account: used, hit, at_s."""


class Frecency:
    """The scores of one root's files; safe to share between threads.

    Paths are bytes, relative to the root, as the walk returns them.
    """

    def __init__(
        self, index_dir: str | os.PathLike[str], clock: Callable[[], float] = time.time
    ) -> None:
        """Read the saved scores without owning them. `clock` returns seconds since 1970."""
        self._folder = Path(index_dir)
        self._clock = clock
        self._latest = 0.0
        self._lock = Lock()
        self._saving = Lock()
        self._held: ExitStack | None = None
        self._dirty = False
        self._read()

    def claim(self) -> bool:
        """Become the owner if there is none, else read the saved scores. Return `owned`."""
        try:
            self.own()
        except (errors.Busy, errors.StateUnwritable):
            with self._lock:
                self._read()
        return self.owned

    def catch_up(self) -> None:
        """Read again if another process is the owner and has saved since the last read."""
        with self._lock:
            if self._held is None and self._stamp != _stamp_of(self._folder / NAME):
                self._read()

    def own(self) -> None:
        """Become the owner and read what the last owner saved.

        Raises:
            Busy: another process is the owner.
            StateUnwritable: the folder or its lock cannot be made.
        """
        with self._saving, self._lock:
            if self._held is None:
                held = ExitStack()
                held.enter_context(lock.writer(self._folder, LOCK))
                self._held = held
                self._read()

    @property
    def owned(self) -> bool:
        """Whether this object may change and save scores; if not, its touches are dropped."""
        return self._held is not None

    @property
    def dirty(self) -> bool:
        """Whether there are unsaved changes."""
        return self._dirty

    def touch(self, use: Use, paths: Iterable[bytes]) -> int:
        """Count a use of each file and return how many were counted.

        Names that no file can have, and those beyond the first 2,000, are not counted.
        """
        with self._lock:
            if not self.owned:
                return 0
            now = self._now()
            touched = list(islice(filter(_is_path, paths), FILES_MAX))
            for path in touched:
                account = self._account(path, now)
                account.used = min(account.used + WEIGHTS[use], SCORE_MAX)
            if touched:
                self._changed(now)
            return len(touched)

    def record_answer(self, paths: Sequence[bytes]) -> None:
        """Count the files of an answer as hits, given in the answer's order."""
        with self._lock:
            if not self.owned or len(paths) > HIT_FILES_MAX:
                return
            now = self._now()
            for rank, path in enumerate(paths):
                if _is_path(path):
                    account = self._account(path, now)
                    account.hit = min(account.hit + HIT_WEIGHT / (1 + rank), HIT_CEILING)
            self._changed(now)

    def score(self, paths: Sequence[bytes]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return float64[paths]: the current score of each path; 0 for unknown files."""
        import numpy as np

        scores = self._scores()
        return np.fromiter(map(scores.get, paths, repeat(0.0)), np.float64, len(paths))

    def snapshot(self) -> Mapping[bytes, float]:
        """Return the current score of every known file, as a mapping that does not change."""
        return MappingProxyType(self._scores())

    def order(self, paths: Sequence[bytes]) -> list[bytes]:
        """Return the paths, highest score first; ties and unknown files keep their order."""
        scores = self._scores()
        scored = list(compress(range(len(paths)), map(scores.__contains__, paths)))
        ordered = [paths[place] for place in scored]
        ordered.sort(key=scores.__getitem__, reverse=True)
        start = 0
        for place in scored:  # few: the paths between them are copied in whole runs
            ordered += paths[start:place]
            start = place + 1
        ordered += paths[start:]
        return ordered

    def restore(self, scores: Mapping[bytes, float]) -> int:
        """Merge saved scores, keeping the higher value of each file; return how many were merged.

        Only the 2,000 highest of them are merged.
        """
        sound = (
            (min(score, SCORE_MAX), path)
            for path, score in scores.items()
            if score >= 0 and _is_path(path)
        )
        taken = heapq.nlargest(FILES_MAX, sound)
        with self._lock:
            if not (self.owned and taken):
                return 0
            now = self._now()
            for value, path in taken:
                account = self._account(path, now)
                account.used = max(account.used, value)
            self._changed(now)
            return len(taken)

    def save(self) -> bool:
        """Save unsaved changes if this object is the owner. Return whether it wrote the file.

        Raises:
            StateUnwritable: the folder cannot be written; the changes remain unsaved.
        """
        with self._saving:
            with self._lock:
                if not (self._dirty and self.owned):
                    return False
                self._prune(self._now())
                body, self._dirty = self._body(), False
            try:
                atomic.write_sealed(self._folder / NAME, body)
            except errors.StateUnwritable:
                self._dirty = True
                raise
            return True

    def close(self) -> None:
        """Save and give up ownership. Raises the errors of `save`."""
        try:
            self.save()
        finally:
            with self._saving, self._lock:
                held, self._held = self._held, None
                if held is not None:
                    held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> None:
        """Replace the scores by those in the file."""
        # Taken before reading, so that what is saved meanwhile is read again.
        self._stamp = _stamp_of(self._folder / NAME)
        body = atomic.read_sealed(self._folder / NAME, most_bytes=_FILE_BYTES_MAX)
        if not isinstance(body, dict) or body.get("version") != 1:
            body = {}
        now = self._now()
        self._accounts = _accounts(body.get("files"), now)
        self._prune(now)
        self._keep_highest(now)

    def _body(self) -> FrecencyJson:
        files = {
            os.fsdecode(path): [round(each.used, 6), round(each.hit, 6), round(each.at_s, 3)]
            for path, each in self._accounts.items()
        }
        return {"version": 1, "half_life_s": HALF_LIFE_S, "files": files}

    def _now(self) -> float:
        """Return the clock's time. If it went back, set the times of later accounts to it."""
        now = float(self._clock())
        if not math.isfinite(now) or now < 0:
            return self._latest
        if now < self._latest:
            for account in self._accounts.values():
                account.at_s = min(account.at_s, now)
        self._latest = now
        return now

    def _scores(self) -> dict[bytes, float]:
        """Return the current score of every known file."""
        with self._lock:
            return self._scores_at(self._now())

    def _scores_at(self, now: float) -> dict[bytes, float]:
        """Return every known file's score at `now`, which is no earlier than any account."""
        exp2 = math.exp2
        return {
            path: max(account.used, account.hit) * exp2((account.at_s - now) / HALF_LIFE_S)
            for path, account in self._accounts.items()
        }

    def _account(self, path: bytes, now: float) -> _Account:
        """Return the account of a file, decayed to `now`; create it if there is none."""
        account = self._accounts.get(path)
        if account is None:
            account = self._accounts[path] = _Account(0.0, 0.0, now)
        account.bring_to(now)
        return account

    def _changed(self, now: float) -> None:
        """Mark the scores as unsaved and drop the lowest ones beyond `FILES_MAX`."""
        self._dirty = True
        self._keep_highest(now)

    def _keep_highest(self, now: float) -> None:
        if len(self._accounts) <= FILES_MAX:
            return
        scores = self._scores_at(now)
        highest = heapq.nlargest(FILES_MAX, scores, key=scores.__getitem__)
        self._accounts = {path: self._accounts[path] for path in highest}

    def _prune(self, now: float) -> None:
        """Drop the files whose score has decayed below `FLOOR`."""
        for path, score in self._scores_at(now).items():
            if score < FLOOR:
                del self._accounts[path]


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    """Return inode, mtime and size of a file, to notice that it was replaced; None if absent."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _accounts(files: object, now: float) -> dict[bytes, _Account]:
    """Read the accounts from the file's `files`; skip invalid entries."""
    limits = (SCORE_MAX, HIT_CEILING, now)  # no use lies in the future
    accounts: dict[bytes, _Account] = {}
    for name, row in files.items() if isinstance(files, dict) else ():
        with suppress(TypeError, ValueError):  # ValueError: also surrogates that encode no byte
            path, pairs = os.fsencode(name), zip(row, limits, strict=True)
            if _is_path(path):
                accounts[path] = _Account(*(_number(*pair) for pair in pairs))
    return accounts


def _number(value: object, most: float) -> float:
    """Return a number, capped at `most`.

    Raises:
        ValueError: It is negative or not a number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ValueError(value)  # NaN too
    return float(min(value, most))


def _is_path(path: bytes) -> bool:
    """Return whether this can be the path of a file below a root."""
    return (
        0 < len(path) <= _PATH_BYTES_MAX
        and b"\0" not in path
        and not path.startswith(b"/")
        and not path.endswith(b"/")
        and b".." not in path.split(b"/")
    )
