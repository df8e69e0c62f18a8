"""Search of the catalog: words against all texts of each capability, ranked by BM25."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from triseek.workflows.catalog.functions import FUNCTIONS, PATTERNS
from triseek.workflows.catalog.workflows import WORKFLOWS

if TYPE_CHECKING:
    from triseek.workflows.catalog.capability import Capability

CAPABILITIES: tuple[Capability, ...] = (*WORKFLOWS, *FUNCTIONS, *PATTERNS)
"""In the order in which they are listed."""
LIMIT_MAX = 50
WORDS_MAX = 64
"""Words of a query that count."""
PREFIX_MIN = 3
"""Least characters of a word that stands for longer ones, or for a stem: `usages` finds `usage`."""
PREFIX_SHARE = 0.6
"""What a match of a beginning is worth, beside that of the whole word."""
ID_WORDS, SUMMARY_WORDS = 4, 2
"""How many times words of an id and of a summary count, beside those of the other texts."""
WHOLE_ID, PART_OF_ID = 100.0, 3.0
"""What is added if the query is an id, or part of one."""
K1, B = 1.2, 0.75
"""The usual constants of BM25."""
_WORD = re.compile(r"[a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STOP = frozenset((
    "a", "an", "and", "are", "as", "at", "by", "do", "for", "from", "how", "i", "in", "is", "it",
    "of", "on", "or", "that", "the", "this", "to", "what", "when", "where", "which", "who", "with",
))  # fmt: skip


class Entry(NamedTuple):
    """A capability, and how often each word occurs in its texts."""

    capability: Capability
    counts: Counter[str]
    length: int


def search(query: str, limit: int) -> list[Capability]:
    """Return the capabilities that match a query, best first; all of them if it has no words.

    limit: Most results; replaced by the nearest number from 1 to `LIMIT_MAX`.
    """
    most = min(max(1, limit), LIMIT_MAX)
    name = query.strip().lower()
    words = sorted(set(_words(query)) - _STOP)[:WORDS_MAX] or sorted(set(_words(query)))
    if not words:
        return list(CAPABILITIES[:most])
    scored = [(_score(entry, words, name), entry.capability) for entry in _entries()]
    matching = [(score, capability) for score, capability in scored if score > 0]
    matching.sort(key=lambda pair: -pair[0])  # stable: equal ones stay in the catalog's order
    return [capability for _, capability in matching[:most]]


def read(identifier: str) -> Capability | None:
    """Return the capability with an id; None if there is none."""
    name = identifier.strip()
    return next((entry for entry in CAPABILITIES if entry.id == name), None)


def _score(entry: Entry, words: list[str], name: str) -> float:
    score = sum(_weight(word, entry) for word in words)
    if name == entry.capability.id:
        score += WHOLE_ID
    elif len(name) >= PREFIX_MIN and name in entry.capability.id:
        score += PART_OF_ID
    return score


def _weight(word: str, entry: Entry) -> float:
    """Return what a word of the query adds to the score of a capability."""
    counts = entry.counts
    count = float(counts[word])
    if not count and len(word) >= PREFIX_MIN:
        near = (own for own in counts if _is_near(word, own))
        count = PREFIX_SHARE * max((counts[own] for own in near), default=0)
    if not count:
        return 0.0
    entries = _entries()
    mean = sum(each.length for each in entries) / len(entries)
    having = sum(
        1 for each in entries if word in each.counts or any(_is_near(word, w) for w in each.counts)
    )
    rarity = math.log(1 + (len(entries) - having + 0.5) / (having + 0.5))
    return rarity * count * (K1 + 1) / (count + K1 * (1 - B + B * entry.length / mean))


def _is_near(word: str, own: str) -> bool:
    """Whether one of two words begins with the other, less a plural's s or a similar ending."""
    shorter, longer = sorted((word, own), key=len)
    if len(shorter) < PREFIX_MIN:
        return False
    stem = shorter.removesuffix("s").removesuffix("e")
    return longer.startswith(shorter) or (len(stem) > PREFIX_MIN and longer.startswith(stem))


@cache
def _entries() -> tuple[Entry, ...]:
    entries = []
    for capability in CAPABILITIES:
        counts = Counter(_words(_text(capability)))
        entries.append(Entry(capability, counts, sum(counts.values())))
    return tuple(entries)


def _text(capability: Capability) -> str:
    """Return all that a capability says, its id and summary several times."""
    arguments = " ".join(
        f"{name} {argument.description}" for name, argument in capability.arguments.items()
    )
    return " ".join(
        (
            *[capability.id] * ID_WORDS,
            *[capability.summary] * SUMMARY_WORDS,
            capability.kind, capability.when_to_use, capability.description, arguments,
            " ".join(capability.constraints), " ".join(capability.output),
        )
    )  # fmt: skip


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case; `_`, `.` and a change of case separate words."""
    return _WORD.findall(_CAMEL.sub(" ", text).lower())
