"""Time of recall and remember over many made drawers, in process and by the profile."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, TypedDict

from bench import machine
from bench.history.searchers import size_of
from bench.markdown import ms, table
from bench.memory import foreign, made
from bench.memory.corpora import Corpus
from bench.memory.embedding import chosen, embed_all
from bench.memory.product import Profile, bring_in
from bench.memory.timing import Timed, Times, interleaved, process_cpu_ns, resident

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.progress import Progress
    from triseek.memory.service import Memory

QUESTIONS = 300
REMEMBERED = 100
"""Drawers that are remembered one by one, by each way."""
COLD = 5
"""Processes of which the first call is measured."""
TOP_K = 10
_PALACE = "made"


class Speed(TypedDict):
    """Times at one number of drawers."""

    drawers: int
    embedder: str
    """none, or the name of the embedder."""
    import_s: float
    import_cpu_s: float
    """Of `triseek memory import`, its process's start included."""
    embed_s: float
    """Seconds until every drawer had its vector; 0 without an embedder."""
    index_s: float
    """Seconds of the first recall ever, which makes the index."""
    state_bytes: int
    recall: dict[str, Times]
    """By way: in process, profile."""
    remember: dict[str, Times]
    recall_after_remember: Times
    """In process; each recall follows a drawer just written."""
    cold_start_ms: list[float]
    """From the start of a process until `initialize` is answered."""
    cold_recall_ms: list[float]
    """The first recall of that process."""
    resident_bytes: int
    """Of the profile's process at the end."""
    load: float


def measure(sizes: Sequence[int], embedders: Sequence[str], progress: Progress) -> list[Speed]:
    """Measure each size without vectors and with each embedder."""
    words = made.vocabulary([drawer.text for drawer in foreign.read().drawers])
    return [
        _measured(size, embedder, words, progress)
        for size in sizes
        for embedder in ("none", *embedders)
    ]


def _measured(size: int, embedder: str, words: list[str], progress: Progress) -> Speed:
    from triseek.memory.service import Memory

    asked = made.questions(QUESTIONS, words)
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch, chosen(embedder):
        state = Path(scratch).resolve()
        progress.say(f"{size:,} drawers, {embedder}: import")
        drawers = tuple(made.drawers(size, words))
        _, ended = bring_in(state, [Corpus(name=_PALACE, drawers=drawers, questions=())])
        memory = Memory(str(state / "memory"))
        begun = time.perf_counter()
        if embedder != "none":
            embed_all(memory)
        embedded = time.perf_counter() - begun
        begun = time.perf_counter()
        memory.recall(_PALACE, asked[0], TOP_K)
        indexed = time.perf_counter() - begun
        progress.say(f"{size:,} drawers, {embedder}: recall")
        profile = Profile(state)
        try:
            return _timed(memory, profile, asked, words) | {
                "drawers": size, "embedder": embedder, "import_s": ended.seconds,
                "import_cpu_s": ended.cpu_seconds, "embed_s": embedded,
                "index_s": indexed, "state_bytes": size_of(state), "load": machine.load(),
            }  # type: ignore[return-value]  # fmt: skip
        finally:
            profile.close()
            memory.close()


def _timed(
    memory: Memory, profile: Profile, asked: list[str], words: list[str]
) -> dict[str, object]:
    from triseek.memory.drawers import Draft

    def clock() -> int:
        return process_cpu_ns(profile.process_id)

    texts = [one.text for one in made.drawers(3 * REMEMBERED, words, made.SEED + 2)]
    profile.recalled(_PALACE, asked[0], TOP_K)
    recall = interleaved(
        {
            "in process": Timed(lambda query: memory.recall(_PALACE, query, TOP_K)),
            "profile": Timed(lambda query: profile.recalled(_PALACE, query, TOP_K), clock),
        },
        asked,
    )
    remember = interleaved(
        {
            "in process": Timed(lambda text: memory.remember(_PALACE, Draft(text=text))),
            "profile": Timed(
                lambda text: profile.call("memory_remember", palace=_PALACE, text=text), clock
            ),
        },
        texts[:REMEMBERED],
    )
    fresh = _after_each(memory, asked, texts[REMEMBERED:])
    cold = [_cold(profile.state, query) for query in asked[:COLD]]
    return {
        "recall": recall, "remember": remember, "recall_after_remember": fresh,
        "cold_start_ms": [start for start, _ in cold],
        "cold_recall_ms": [first for _, first in cold],
        "resident_bytes": resident(profile.process_id),
    }  # fmt: skip


def _after_each(memory: Memory, asked: Sequence[str], texts: Sequence[str]) -> Times:
    from triseek.memory.drawers import Draft

    pairs = list(zip(asked, texts, strict=False))
    ways = {
        "remember": Timed[tuple[str, str]](
            lambda pair: memory.remember(_PALACE, Draft(text=pair[1]))
        ),
        "recall": Timed[tuple[str, str]](lambda pair: memory.recall(_PALACE, pair[0], TOP_K)),
    }
    return interleaved(ways, pairs)["recall"]


def _cold(state: Path, query: str) -> tuple[float, float]:
    begun = time.perf_counter()
    profile = Profile(state)
    started = time.perf_counter()
    profile.recalled(_PALACE, query, TOP_K)
    ended = time.perf_counter()
    profile.close()
    return 1000 * (started - begun), 1000 * (ended - started)


def section(measured: Sequence[Speed]) -> Iterator[str]:
    """Yield the section about times."""
    yield "## Time of recall and remember"
    yield (
        f"Drawers of {made.LENGTHS[0]} to {made.LENGTHS[1] - 1} words are made by Zipf's law over "
        "the words of the foreign texts and made words; so are the questions. “in process” calls "
        "`Memory`, “profile” is the tool of a `triseek memory serve` process; they take turns. CPU "
        "is that of the calling thread, or of the whole profile process."
    )
    rows = []
    for one in measured:
        for what in ("recall", "remember"):
            for way, times in one[what].items():
                rows.append((*_name(one), f"{what}, {way}", *_cells(times)))
        rows.append((*_name(one), "recall after a remember", *_cells(one["recall_after_remember"])))
    yield table(
        ("drawers", "embedder", "what", "calls", "p50 ms", "p95 ms", "max ms", "CPU p50 ms"), rows
    )
    head = (
        "drawers", "embedder", "import s", "import CPU s", "embed s", "first index s",
        "cold start ms", "cold recall ms", "state MB", "profile RSS MB", "runnable",
    )  # fmt: skip
    yield table(head, [_whole(one) for one in measured])


def _whole(one: Speed) -> tuple[str, ...]:
    return (
        *_name(one), f"{one['import_s']:.1f}", f"{one['import_cpu_s']:.1f}",
        f"{one['embed_s']:.1f}", f"{one['index_s']:.2f}", ms(median(one["cold_start_ms"])),
        ms(median(one["cold_recall_ms"])), f"{one['state_bytes'] / 1e6:,.0f}",
        f"{one['resident_bytes'] / 1e6:,.0f}", str(one["load"]),
    )  # fmt: skip


def _name(one: Speed) -> tuple[str, str]:
    return f"{one['drawers']:,}", one["embedder"]


def _cells(times: Times) -> tuple[str, ...]:
    values = times["p50_ms"], times["p95_ms"], times["max_ms"], times["cpu_p50_ms"]
    return (str(times["calls"]), *map(ms, values))
