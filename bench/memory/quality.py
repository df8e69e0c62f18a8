"""Asks every question of the corpora in every way, and says where the answers stood."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypedDict

from bench.memory import misses
from bench.memory.embedding import VectorsAlone, chosen, embed_all, embedder, installed
from bench.memory.product import Profile, bring_in
from bench.memory.references import Bm25, FullText

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.memory.corpora import Corpus
    from bench.memory.metrics import Answers
    from bench.progress import Progress

LIMIT = 100
"""Drawers asked for; evidence behind them counts as not found."""


class Set(NamedTuple):
    """Corpora that are reported together."""

    name: str
    corpora: Sequence[Corpus]
    is_tuned: bool
    """Whether parameters were chosen on every second of its corpora."""


class Quality(TypedDict):
    """What was measured."""

    answers: list[Answers]
    misses: list[misses.Misses]


class Ranker(Protocol):
    """Ranks the drawers of one corpus."""

    def ranked(self, query: str, limit: int) -> list[str]:
        """Return the ids of the best drawers, best first."""

    def close(self) -> None:
        """Free what it holds."""


class Recalled:
    """The tool `memory_recall` as the ranker of one palace."""

    def __init__(self, profile: Profile, palace: str, ids: dict[str, str]) -> None:
        """Use a profile's process. ids: the corpus's ids of drawers by UUID."""
        self._profile, self._palace, self._ids = profile, palace, ids

    def ranked(self, query: str, limit: int) -> list[str]:
        """Return the ids of the best drawers, best first."""
        return [self._ids[uuid] for uuid in self._profile.recalled(self._palace, query, limit)]

    def close(self) -> None:
        """Do nothing: the process serves other palaces, too."""


def measure(sets: Sequence[Set], progress: Progress, embedders: Sequence[str] = ()) -> Quality:
    """Ask all questions of all sets in all ways.

    embedders: Names of embedders; by default all that are installed.
    """
    quality: Quality = {"answers": [], "misses": []}
    for reference in (FullText, Bm25):
        for each in sets:
            progress.say(f"{each.name}: {reference.name}")
            _ask(quality, each, reference.name, reference)
    _ask_product(quality, sets, "none", progress)
    for name in embedders or installed():
        for each in sets:
            progress.say(f"{each.name}: vectors, {name}")
            own = embedder(name)
            _ask(quality, each, f"vectors, {name}", partial(VectorsAlone, own=own))
        _ask_product(quality, sets, name, progress)
    return quality


def _ask_product(quality: Quality, sets: Sequence[Set], name: str, progress: Progress) -> None:
    """Ask the tool of a real process. name: the embedder; none for words alone."""
    from triseek.memory.service import Memory

    arm = "words" if name == "none" else f"words and vectors, {name}"
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch, chosen(name):
        state = Path(scratch).resolve()
        ids, _ = bring_in(state, [corpus for each in sets for corpus in each.corpora])
        memory = Memory(str(state / "memory"))
        if name != "none":
            embed_all(memory)
        memory.close()
        profile = Profile(state)
        try:
            for each in sets:
                progress.say(f"{each.name}: {arm}")
                _ask(quality, each, arm, lambda it: Recalled(profile, it.name, ids))
        finally:
            profile.close()


def _ask(quality: Quality, each: Set, arm: str, ranker_of: Callable[[Corpus], Ranker]) -> None:
    answers: Answers = {
        "corpus": each.name, "arm": arm, "kinds": [], "halves": [], "places": [], "rooms": [],
        "p50_ms": 0.0,
    }  # fmt: skip
    seconds: list[float] = []
    classes: Counter[str] = Counter()
    for number, corpus in enumerate(each.corpora):
        ranker, drawers = ranker_of(corpus), misses.Drawers(corpus)
        for question in corpus.questions:
            begun = time.perf_counter()
            shown = ranker.ranked(question.query, LIMIT)
            seconds.append(time.perf_counter() - begun)
            places = [_place(shown, name) for name in question.evidence]
            answers["kinds"].append(question.kind)
            answers["halves"].append(number % 2 if each.is_tuned else 1)
            answers["places"].append(places)
            rooms = list(dict.fromkeys(drawers.rooms[name] for name in shown))
            right = {drawers.rooms[name] for name in question.evidence}
            answers["rooms"].append(
                next((at for at, room in enumerate(rooms, 1) if room in right), 0)
            )
            if not any(0 < place <= misses.LIMIT for place in places):
                classes[drawers.why(question, shown)] += 1
        ranker.close()
    answers["p50_ms"] = 1000 * median(seconds or [0.0])
    quality["answers"].append(answers)
    quality["misses"].append(misses.counted(each.name, arm, classes))


def _place(shown: Sequence[str], name: str) -> int:
    return shown.index(name) + 1 if name in shown else 0
