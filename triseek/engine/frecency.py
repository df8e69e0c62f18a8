"""How often and how lately each file of a root was used; owner of `frecency.json`.

A score halves every seven days and grows with each use:

    score' = score · 2^(−Δt / 7 days) + weight        select 3, read 2, edit 2

Being found is no use. A hit counts little, less the lower it ranked, only in an answer of few
files, and on an account of its own that is held below `HIT_CEILING`; a file's score is the larger
of the two accounts. So hits alone never lift a file above one that was read in the last two weeks
(2 · 2^(−14/7) = 0.5), and never change how such files stand to each other: no feedback loop.

One process at a time owns the file, by a lock beside it that ends with the process. The others
read it; their touches go nowhere, and `owned` says so. Nothing is written until `save`.
Mozilla coined the word; zoxide and fff rank by the same idea.
"""

from __future__ import annotations

import heapq
import math
import os
import time
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import compress, islice, repeat
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from triseek import errors
from triseek.engine.recent import Query, Recent
from triseek.store import lock, sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    import numpy as np

Use: TypeAlias = Literal["select", "read", "edit"]

NAME = "frecency.json"  # `engine.engine.SCORES`
LOCK = "frecency.lock"
HALF_LIFE_S = 7 * 86_400.0
WEIGHTS: Mapping[Use, float] = {"select": 3.0, "read": 2.0, "edit": 2.0}
HIT_WEIGHT = 0.25
"""Of the first file of an answer; that of rank r (from 0) gets a share of 1 / (1 + r)."""
HIT_CEILING = 0.5
HIT_FILES_MAX = 10
"""An answer of more files says nothing about any of them."""
FILES_MAX = 2_000
FLOOR = 0.01
"""Below this a file is forgotten: one selected once is, after eight weeks."""
SCORE_MAX = 1_000.0

_PATH_BYTES_MAX = 4_096
_FILE_BYTES_MAX = 64 << 20


@dataclass(slots=True)
class _Account:
    used: float
    hit: float
    at_s: float
    """When both were what they say; seconds since 1970, never later than `Frecency._now`."""

    def bring_to(self, now: float) -> None:
        """Let both decay to now."""
        share = math.exp2((self.at_s - now) / HALF_LIFE_S)
        self.used, self.hit, self.at_s = self.used * share, self.hit * share, now


class Frecency:
    """The scores of one root's files; safe to share between threads.

    Paths are bytes below the root, as the walk gives them.
    """

    def __init__(
        self, index_dir: str | os.PathLike[str], clock: Callable[[], float] = time.time
    ) -> None:
        """Read what is there, own nothing. `clock` gives seconds since 1970."""
        self._folder = Path(index_dir)
        self._clock = clock
        self._latest = 0.0
        self._lock = Lock()
        self._saving = Lock()
        self._held: ExitStack | None = None
        self._dirty = False
        self._read()

    @classmethod
    def open(
        cls, index_dir: str | os.PathLike[str], clock: Callable[[], float] = time.time
    ) -> Self:
        """Read what is there, and own it if nobody does; see `owned`."""
        frecency = cls(index_dir, clock)
        frecency.claim()
        return frecency

    def claim(self) -> bool:
        """Become the owner if nobody is; else read what the owner has saved. Whether it is ours."""
        try:
            self.own()
        except (errors.Busy, errors.StateUnwritable):
            with self._lock:
                self._read()
        return self.owned

    def catch_up(self) -> None:
        """Read what the owner has saved since, where that is somebody else."""
        with self._lock:
            if self._held is None and self._stamp != _stamp_of(self._folder / NAME):
                self._read()

    def own(self) -> None:
        """Become the owner, on top of what the last one saved.

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
        """Whether this object may change and save scores; if not, its touches go nowhere."""
        return self._held is not None

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return self._dirty

    def touch(self, use: Use, paths: Iterable[bytes]) -> int:
        """Count a use of each file; how many were counted.

        Not counted are names no file can have, and those beyond the first 2,000.
        """
        with self._lock:
            if not self.owned:
                return 0
            now = self._now()
            touched = list(islice(filter(_is_path, paths), FILES_MAX))
            for path in touched:
                account = self._account(path, now)
                account.used = min(account.used + WEIGHTS[use], SCORE_MAX)
            if use == "select":
                self._recent.select(touched)
            if touched:
                self._changed(now)
            return len(touched)

    def found(self, pattern: str, kind: str, paths: Sequence[bytes]) -> None:
        """Remember a query and the files of its answer, in the answer's order."""
        with self._lock:
            if not self.owned:
                return
            now = self._now()
            self._recent.add(now, pattern, kind, [path for path in paths[:20] if _is_path(path)])
            for rank, path in enumerate(paths if len(paths) <= HIT_FILES_MAX else ()):
                if _is_path(path):
                    account = self._account(path, now)
                    account.hit = min(account.hit + HIT_WEIGHT / (1 + rank), HIT_CEILING)
            self._changed(now)

    def score(self, paths: Sequence[bytes]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return float64[paths]: each one's score now; 0 for files that are not known."""
        import numpy as np

        scores = self._scores()
        return np.fromiter(map(scores.get, paths, repeat(0.0)), np.float64, len(paths))

    def snapshot(self) -> Mapping[bytes, float]:
        """Return every known file's score as it is now; it does not change any more."""
        return MappingProxyType(self._scores())

    def order(self, paths: Sequence[bytes]) -> list[bytes]:
        """The same paths, highest score first; equal ones, and unknown files, as given."""
        scores = self._scores()
        known = list(compress(range(len(paths)), map(scores.__contains__, paths)))
        ordered = [paths[place] for place in known]
        ordered.sort(key=scores.__getitem__, reverse=True)
        start = 0
        for place in known:  # few: what lies between them is copied in whole runs
            ordered += paths[start:place]
            start = place + 1
        ordered += paths[start:]
        return ordered

    def top(self, count: int) -> list[tuple[bytes, float]]:
        """Return the files with the highest scores, and these; equal ones by name."""
        ranked = heapq.nsmallest(count, ((-score, path) for path, score in self._scores().items()))
        return [(path, -score) for score, path in ranked]

    def recent(self) -> list[Query]:
        """Return the last queries, oldest first."""
        with self._lock:
            return list(self._recent)

    def restore(self, scores: Mapping[bytes, float]) -> int:
        """Take over scores of another time where they are higher, the highest; how many."""
        numbers = ((_number(score, SCORE_MAX), path) for path, score in scores.items())
        sound = ((value, path) for value, path in numbers if value is not None and _is_path(path))
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

    def forget(self, paths: Iterable[bytes]) -> None:
        """Drop files that are gone; of a folder, all below it."""
        with self._lock:
            for path in paths if self.owned else ():
                for name in self._at_or_below(path):
                    del self._accounts[name]
                    self._dirty = True

    def moved(self, old: bytes, new: bytes) -> None:
        """Let the scores of a renamed file, or of all files of a renamed folder, go with it.

        Where both names have one (an editor renamed its copy over a file) the higher counts.
        """
        old, new = old.rstrip(b"/"), new.rstrip(b"/")
        with self._lock:
            if not self.owned or old == new:
                return
            now = self._now()
            for name in self._at_or_below(old):
                account, target = self._accounts.pop(name), new + name[len(old) :]
                self._dirty = True
                if _is_path(target):
                    account.bring_to(now)
                    there = self._account(target, now)
                    there.used = max(there.used, account.used)
                    there.hit = max(there.hit, account.hit)

    def save(self) -> bool:
        """Write what has changed, if anything has and it is ours; whether it was written.

        Raises:
            StateUnwritable: the folder cannot be written; what has changed stays to be saved.
        """
        with self._saving:
            with self._lock:
                if not (self._dirty and self.owned):
                    return False
                self._prune(self._now())
                body, self._dirty = self._body(), False
            try:
                sealed.write(self._folder / NAME, body)
            except errors.StateUnwritable:
                self._dirty = True
                raise
            return True

    def close(self) -> None:
        """Save, and let somebody else be the owner. Raises what `save` raises."""
        try:
            self.save()
        finally:
            with self._saving, self._lock:
                held, self._held = self._held, None
                if held is not None:
                    held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self) -> None:
        """Take what the file says for what is."""
        self._stamp = _stamp_of(
            self._folder / NAME
        )  # before: what is saved meanwhile is read again
        body = sealed.read(self._folder / NAME, most_bytes=_FILE_BYTES_MAX)
        if not isinstance(body, dict) or body.get("version") != 1:
            body = {}
        now = self._now()
        self._accounts = _accounts(body.get("files"), now)
        self._recent = Recent.from_json(body.get("recent"))
        self._prune(now)
        self._keep_highest(now)

    def _body(self) -> dict[str, Any]:
        files = {
            os.fsdecode(path): [round(each.used, 6), round(each.hit, 6), round(each.at_s, 3)]
            for path, each in self._accounts.items()
        }
        return {
            "version": 1,
            "half_life_s": HALF_LIFE_S,
            "files": files,
            "recent": self._recent.as_json(),
        }

    def _now(self) -> float:
        """The clock's time. If it went back, no account may lie in what is now the future."""
        now = float(self._clock())
        if not math.isfinite(now) or now < 0:
            return self._latest
        if now < self._latest:
            for account in self._accounts.values():
                account.at_s = min(account.at_s, now)
        self._latest = now
        return now

    def _scores(self) -> dict[bytes, float]:
        """Every known file's score now."""
        with self._lock:
            return self._scores_at(self._now())

    def _scores_at(self, now: float) -> dict[bytes, float]:
        """Every known file's score at `now`, which is no earlier than any account."""
        exp2 = math.exp2
        return {
            path: max(each.used, each.hit) * exp2((each.at_s - now) / HALF_LIFE_S)
            for path, each in self._accounts.items()
        }

    def _account(self, path: bytes, now: float) -> _Account:
        """The account of a file, brought to now; opened if need be."""
        account = self._accounts.get(path)
        if account is None:
            account = self._accounts[path] = _Account(0.0, 0.0, now)
        account.bring_to(now)
        return account

    def _at_or_below(self, path: bytes) -> list[bytes]:
        bare = path.rstrip(b"/")
        below = bare + b"/"
        return [name for name in self._accounts if name == bare or name.startswith(below)]

    def _changed(self, now: float) -> None:
        """Something is to be saved; let go of the lowest beyond the most that are kept."""
        self._dirty = True
        self._keep_highest(now)

    def _keep_highest(self, now: float) -> None:
        if len(self._accounts) <= FILES_MAX:
            return
        scores = self._scores_at(now)
        highest = heapq.nlargest(FILES_MAX, scores, key=scores.__getitem__)
        self._accounts = {path: self._accounts[path] for path in highest}

    def _prune(self, now: float) -> None:
        """Forget what has decayed to nothing."""
        for path, score in self._scores_at(now).items():
            if score < FLOOR:
                del self._accounts[path]


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is replaced; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _accounts(files: object, now: float) -> dict[bytes, _Account]:
    """What a file's `files` say, as far as it makes sense."""
    found: dict[bytes, _Account] = {}
    for name, row in files.items() if isinstance(files, dict) else ():
        account = _account(row, now)
        path = _encoded(name)
        if account is not None and path is not None:
            found[path] = account
    return found


def _account(row: object, now: float) -> _Account | None:
    if not isinstance(row, list) or len(row) != 3:
        return None
    limits = (SCORE_MAX, HIT_CEILING, now)  # nothing was used in the future
    used, hit, at_s = (_number(*pair) for pair in zip(row, limits, strict=True))
    if used is None or hit is None or at_s is None:
        return None
    return _Account(used, hit, at_s)


def _number(value: object, most: float) -> float | None:
    """A number between 0 and `most`, or cut to it; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not value >= 0:  # NaN too
        return None
    return float(min(value, most))


def _encoded(name: str) -> bytes | None:
    try:
        path = os.fsencode(name)
    except ValueError:  # surrogates that stand for no byte
        return None
    return path if _is_path(path) else None


def _is_path(path: bytes) -> bool:
    """Whether this can name a file below a root."""
    return (
        0 < len(path) <= _PATH_BYTES_MAX
        and b"\0" not in path
        and not path.startswith(b"/")
        and not path.endswith(b"/")
        and b".." not in path.split(b"/")
    )
