"""Search over a large history: a database that a program makes, asked in words of a real corpus.

The messages are made: words follow Zipf's law over the words of a corpus that the user brings, most
frequent first, and over made words behind them. So the questions of that corpus have the words that
questions have. Nothing is said about the quality of the answers here.
"""

from __future__ import annotations

import re
import resource
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar

import numpy as np

from bench.markdown import ms, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bench.history.corpora import Haystack
    from triseek.recall.ranking import By
    from triseek.store.sqlite import Database

SEED = 20261127
PER_SESSION = 50
"""Messages of a session."""
MADE_WORDS = 300_000
WORDS_OF_MESSAGE = (5, 75)
"""The fewest words of a message, and one more than the most."""
QUESTIONS_MAX = 400
OF_A_THIRD = 100
"""Words that are searched of each third."""
SAMPLE = 5_000
"""Messages of which the words are counted, to take thirds by frequency."""
LIMIT = 20
"""Hits asked for."""
_START_MS = 1_600_000_000_000
_STEP_MS = 288_000
_SYLLABLES = [
    "ka",
    "to",
    "mi",
    "re",
    "su",
    "lo",
    "na",
    "pe",
    "di",
    "vo",
    "qu",
    "sta",
    "bre",
    "ing",
    "er",
    "on",
]
_WORD = re.compile(r"[a-z']+")
_ABOUT = (
    "Messages are made of a corpus's words by "
    "Zipf's law, {per} a session; times are of one process that answers one search after another. "
    "Indexing and searching are processes of their own; their memory is that of the process."
)

_Result = TypeVar("_Result")


class Memory(TypedDict):
    """Bytes of a process."""

    before: int
    """Resident when the kernels are loaded and nothing is indexed or searched."""
    after: int
    peak: int


class Indexing(TypedDict):
    """What building the index took."""

    messages: int
    cpu_s: float
    wall_s: float
    database_bytes: int
    index_bytes: int
    memory: Memory


class Times(TypedDict):
    """Milliseconds of the searches of one kind."""

    what: str
    searches: int
    p50: float
    p95: float
    most: float
    cpu_p50: float


class LargeHistory(TypedDict):
    """What one run measured."""

    indexing: Indexing
    first_ms: float
    """The first search of a process: it maps and verifies."""
    times: list[Times]
    memory: Memory


def measure(folder: Path, messages: int, haystacks: Sequence[Haystack]) -> LargeHistory:
    """Make, index and search a history of so many messages in `folder`.

    A database that is there is taken as it is, and so is its index.
    """
    questions = [text for haystack in haystacks for text, _ in haystack.questions]
    if not (folder / "history.db").exists():
        _apart(make, folder, messages, _words_of(haystacks))
    indexing = _apart(_index, folder)
    asked = questions[:: max(1, len(questions) // QUESTIONS_MAX)][:QUESTIONS_MAX]
    return _apart(_search, folder, asked, indexing)


def make(folder: Path, messages: int, vocabulary: list[str]) -> None:
    """Write a database of made messages. vocabulary: words, most frequent first."""
    from triseek.history.database import open_database

    draw = np.random.default_rng(SEED)
    syllables = draw.integers(0, len(_SYLLABLES), (MADE_WORDS, 5)).tolist()
    counts = draw.integers(2, 6, MADE_WORDS).tolist()
    made = [
        "".join([_SYLLABLES[at] for at in row[:count]])
        for row, count in zip(syllables, counts, strict=True)
    ]
    words = np.array([*vocabulary, *made], dtype=object)
    share = 1 / np.arange(3, len(words) + 3)
    upto = np.cumsum(share / share.sum())
    folder.mkdir(parents=True, exist_ok=True)
    database = open_database(str(folder))
    for first in range(0, messages, 100 * PER_SESSION):
        with database.write() as connection:
            for begin in range(first, min(first + 100 * PER_SESSION, messages), PER_SESSION):
                session = begin // PER_SESSION + 1
                time_ms = _START_MS + session * _STEP_MS
                connection.execute(
                    "INSERT INTO sessions (id, agent, external_id, started_at_epoch, derived_at)"
                    " VALUES (?, 'made', ?, ?, 1)",
                    (session, str(session), time_ms),
                )
                lengths = draw.integers(*WORDS_OF_MESSAGE, min(PER_SESSION, messages - begin))
                drawn = words[np.searchsorted(upto, draw.random(int(lengths.sum())))]
                ends = np.cumsum(lengths)
                connection.executemany(
                    "INSERT INTO messages (session_id, external_id, role, text, created_at_epoch)"
                    " VALUES (?, ?, 'assistant', ?, ?)",
                    [
                        (session, str(at), " ".join(drawn[end - length : end]), time_ms + at * 1000)
                        for at, (length, end) in enumerate(zip(lengths, ends, strict=True))
                    ],
                )
    database.close()


def section(measured: LargeHistory) -> str:
    """Return the figures as a section of a Markdown page."""
    indexing, memory = measured["indexing"], measured["memory"]
    rows = [
        (
            one["what"],
            str(one["searches"]),
            *map(ms, (one["p50"], one["p95"], one["most"], one["cpu_p50"])),
        )
        for one in measured["times"]
    ]
    facts = [
        ("messages", f"{indexing['messages']:,}"),
        ("database, MB", _mb(indexing["database_bytes"])),
        ("recall index, MB", _mb(indexing["index_bytes"])),
        ("indexing, CPU s", f"{indexing['cpu_s']:.1f}"),
        ("indexing: resident before, MB", _mb(indexing["memory"]["before"])),
        ("indexing: most resident, MB", _mb(indexing["memory"]["peak"])),
        ("first search of a process, ms", ms(measured["first_ms"])),
        ("searching: resident before, MB", _mb(memory["before"])),
        ("searching: resident after, MB", _mb(memory["after"])),
        ("searching: most resident, MB", _mb(memory["peak"])),
    ]
    head = ("searches", "number", "p50 ms", "p95 ms", "max ms", "p50 CPU ms")
    return "\n\n".join(
        (
            "## Search over a large history",
            _ABOUT.format(per=PER_SESSION),
            table(head, rows),
            table(("figure", "value"), facts),
        )
    )


def _index(folder: Path) -> Indexing:
    from triseek.history.message_source import MessageSource
    from triseek.recall.engine import Recall

    database = _opened(folder)
    before = _resident("VmRSS")
    recall = Recall(str(folder / "recall"), MessageSource(database))
    wall, cpu = time.perf_counter(), time.process_time()
    recall.update()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    with database.read() as connection:
        (messages,) = connection.execute("SELECT count(*) FROM messages").fetchone()
    return {
        "messages": messages,
        "cpu_s": cpu,
        "wall_s": wall,
        "database_bytes": (folder / "history.db").stat().st_size,
        "index_bytes": sum(path.stat().st_size for path in (folder / "recall").rglob("*.npy")),
        "memory": _memory(before),
    }


def _search(folder: Path, questions: list[str], indexing: Indexing) -> LargeHistory:
    from triseek.history.message_source import MessageSource
    from triseek.recall.engine import Recall

    database = _opened(folder)
    thirds = _thirds(database)
    before = _resident("VmRSS")
    recall = Recall(str(folder / "recall"), MessageSource(database))

    def ask(what: str, queries: Iterable[str], *, by: By = "session") -> Times:
        wall, cpu = [], []
        for query in queries:
            begun = time.perf_counter(), time.thread_time()
            recall.search(query, by=by, limit=LIMIT)
            wall.append(1000 * (time.perf_counter() - begun[0]))
            cpu.append(1000 * (time.thread_time() - begun[1]))
        p50, p95, most = np.percentile(wall, [50, 95, 100])
        return {
            "what": what,
            "searches": len(wall),
            "p50": float(p50),
            "p95": float(p95),
            "most": float(most),
            "cpu_p50": float(np.median(cpu)),
        }

    first = ask("first", questions[:1])
    times = [
        ask("questions, sessions", questions),
        ask("questions, messages", questions, by="message"),
    ]
    names = ("frequent", "middle", "rare")
    times += [ask(f"words, {name}", third) for name, third in zip(names, thirds, strict=True)]
    return {
        "indexing": indexing,
        "first_ms": first["most"],
        "times": times,
        "memory": _memory(before),
    }


def _thirds(database: Database) -> list[list[str]]:
    """Return words of each third of the words of some messages, most frequent first."""
    count: Counter[str] = Counter()
    with database.read() as connection:
        (last,) = connection.execute("SELECT max(id) FROM messages").fetchone()
        for at in range(1, last + 1, max(1, last // SAMPLE)):
            row = connection.execute("SELECT text FROM messages WHERE id = ?", (at,)).fetchone()
            count.update(row[0].split() if row else ())
    words = [word for word, _ in count.most_common()]
    size = max(1, len(words) // 3)
    step = max(1, size // OF_A_THIRD)
    return [words[at * size : (at + 1) * size : step] for at in range(3)]


def _words_of(haystacks: Sequence[Haystack]) -> list[str]:
    count: Counter[str] = Counter()
    for haystack in haystacks:
        for session in haystack.sessions:
            for _, text in session.turns:
                count.update(_WORD.findall(text.lower()))
    return [word for word, _ in count.most_common()]


def _opened(folder: Path) -> Database:
    """Open the database, with kernels loaded."""
    from triseek.history.database import open_database
    from triseek.kernels import jit

    jit.warm(lambda *_: None)
    return open_database(str(folder))


def _apart(work: Callable[..., _Result], *arguments: object) -> _Result:
    """Return what a function returns in a process of its own, whose memory is its alone."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _memory(before: int) -> Memory:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"before": before, "after": _resident("VmRSS"), "peak": peak}


def _resident(field: str) -> int:
    """Return a field of this process's status in bytes; 0 where the system has none."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0
    match = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def _mb(count: int) -> str:
    return f"{count / 1e6:,.0f}"
