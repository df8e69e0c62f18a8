"""One file, edited again and again by another process: how soon does the daemon know?

And does a search ever answer with what was there before?
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import figures, updates
from bench.model import Case, Faulty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.engines.triseek_daemon import TriseekDaemon
    from bench.model import Corpus

MARK = "TRISEEK_BENCH_EDIT"
_CASE = Case(name="edits/marker", patterns=(MARK,), fixed=True)
_SEARCHES = 50
_SHOWN = 3


class _File(NamedTuple):
    """What is edited."""

    shown: bytes
    """Its path as a search prints it."""
    line: int
    """The number of the line that is new."""

    def answer(self, text: str) -> bytes:
        """What a search for the mark has to print, no more and no less."""
        return b"%s:%d:%s\n" % (self.shown, self.line, text.encode())


class _Searched:
    """Searches right after an edit, and those that told of another state."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.stale: list[str] = []

    def ask(self, daemon: TriseekDaemon, expected: bytes) -> None:
        """Search for the mark, which also tells whether an old line is still found."""
        reply = daemon.ask(_CASE, keep=True)
        self.seconds += reply.seconds
        if reply.output != expected:
            self.stale.append(f"expected {expected!r}, got {reply.output[:300]!r}")


def measure(daemon: TriseekDaemon, corpus: Corpus, count: int) -> dict[str, Any]:
    """Edit one file of `corpus`, which is a copy, `count` times; the daemon watches it.

    After each edit the daemon is asked to `sync`; after 50 of them, spread evenly, the command
    then searches for the new line. 50 further edits are searched for at once, with no `sync`
    before: a stale answer would have its best chance there.
    """
    path = updates.chosen(corpus)
    file = _File(_shown(path, corpus), path.read_bytes().count(b"\n") + 2)
    after, at_once = _Searched(), _Searched()
    synced: list[tuple[float, dict[str, Any]]] = []
    step = max(1, count // _SEARCHES)
    with _editor(path) as edit:
        for turn in range(count):
            text = edit(f"/* {MARK}_{turn} */")
            synced.append(_timed(daemon))
            if turn % step == 0:
                after.ask(daemon, file.answer(text))
        for turn in range(len(after.seconds)):
            text = edit(f"/* {MARK}_AT_ONCE_{turn} */")
            at_once.ask(daemon, file.answer(text))
    return {"file": path.relative_to(corpus.root).as_posix()} | _told(synced, after, at_once)


def _told(
    synced: Sequence[tuple[float, dict[str, Any]]], after: _Searched, at_once: _Searched
) -> dict[str, Any]:
    return {
        "sync": _quantiles([seconds for seconds, _ in synced]),
        "sync_in_daemon": _quantiles([told["ms"] / 1e3 for _, told in synced]),
        "not_synced": sum(told["freshness"] != "synced" for _, told in synced),
        "searched": {
            "after sync": figures.reduced(after.seconds),
            "at once": figures.reduced(at_once.seconds),
        },
        "stale": len(after.stale) + len(at_once.stale),
        "stale_first": [*after.stale, *at_once.stale][:_SHOWN],
    }


def _quantiles(seconds: Sequence[float]) -> dict[str, Any]:
    return figures.reduced(seconds) | {"p99_ms": figures.ms(figures.quantile(seconds, 0.99))}


def _timed(daemon: TriseekDaemon) -> tuple[float, dict[str, Any]]:
    begun = time.perf_counter()
    told = daemon.sync()
    return time.perf_counter() - begun, {"ms": 0.0} | told


def _shown(path: Path, corpus: Corpus) -> bytes:
    return b"./" + path.relative_to(corpus.root).as_posix().encode()


@contextlib.contextmanager
def _editor(path: Path) -> Iterator[Callable[[str], str]]:
    """A function that has a text written, and returns it once it is."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "bench.editor", str(path)],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def edit(text: str) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(text + "\n")
        process.stdin.flush()
        if process.stdout.readline() != "written\n":
            raise Faulty("the editor died")
        return text

    try:
        yield edit
    finally:
        process.communicate()
