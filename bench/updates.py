"""One changed file, and what it takes until the next question is answered with it.

The change is made in a copy, so the corpus itself, which may be somebody's tree, is never touched.
It is a real copy and not one of hard links: a file with two names can change by way of the one
that is not watched, of which inotify says nothing, so triseek compares such files with its index
before every answer. A tree made of them would measure that, and nobody's working tree is one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from bench.model import Case, Corpus, Faulty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bench.engines.base import Engine

_MARK = "TRISEEK_BENCH_CHANGED_LINE"
_SOURCES = frozenset({".c", ".go", ".py", ".rs", ".txt"})
_SEEN_SECONDS_MAX = 60.0
_CASE = Case(name="update/marker", patterns=(_MARK,), fixed=True)


def measure(corpus: Corpus, engines: Sequence[Engine], scratch: Path) -> dict[str, Any]:
    """Per engine: the update's own cost, and seconds from the change to the right answer."""
    with copied(corpus, scratch) as beside:
        return {engine.name: _one(engine, beside) for engine in engines}


@contextlib.contextmanager
def copied(corpus: Corpus, scratch: Path) -> Iterator[Corpus]:
    """A copy of the corpus that may be changed, for as long as it takes."""
    copy = scratch / "copy" / corpus.name
    shutil.rmtree(copy, ignore_errors=True)
    try:
        shutil.copytree(corpus.root, copy, symlinks=True)
        yield replace(corpus, root=copy)
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def chosen(corpus: Corpus) -> Path:
    """The file to change: the middle one of the source files, in path order.

    Raises:
        Faulty: there is none.
    """
    texts = sorted(path for path in corpus.root.rglob("*") if path.suffix in _SOURCES)
    if not texts:
        raise Faulty(f"{corpus.root}: no source file to change")
    return texts[len(texts) // 2]


def _one(engine: Engine, corpus: Corpus) -> dict[str, Any]:
    try:
        engine.prepare(corpus)
        changed, before = _change(corpus)
        begun = time.perf_counter()
        cost = engine.update()
        seconds = _await_seen(engine, begun)
        _restore(changed, before)
    except Faulty as error:
        return {"status": "error", "note": str(error)}
    finally:
        engine.close()
    return {
        "status": "equal",
        "seen_ms": round(seconds * 1e3, 3),
        "update": asdict(cost) if cost else None,
    }


def _await_seen(engine: Engine, begun: float) -> float:
    """Ask until the new line is found, as an engine with a watcher may need a moment."""
    while time.perf_counter() - begun < _SEEN_SECONDS_MAX:
        if engine.read(_CASE, engine.ask(_CASE, keep=True)).lines == 1:
            return time.perf_counter() - begun
    raise Faulty(f"the change was not seen in {_SEEN_SECONDS_MAX:.0f} s")


def _change(corpus: Corpus) -> tuple[Path, bytes]:
    """Append a line."""
    path = chosen(corpus)
    before = path.read_bytes()
    _replace(path, before + f"\n/* {_MARK} */\n".encode())
    return path, before


def _restore(path: Path, content: bytes) -> None:
    _replace(path, content)


def _replace(path: Path, content: bytes) -> None:
    beside = path.with_name(path.name + ".triseek-bench")
    beside.write_bytes(content)
    os.replace(beside, path)
