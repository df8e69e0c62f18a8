"""Why questions were missed, by rules that look at the question and its evidence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypedDict

from bench.memory.references import stems

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from bench.memory.corpora import Corpus, Question

LIMIT = 10
"""A question is missed if none of its evidence is among so many drawers."""
NEAR = 2
"""Drawers before or behind the evidence that are near it."""
CLASSES = {
    "no common word": "no evidence shares a word with the question, stop words aside",
    "one common word": "no evidence shares more than one word with the question",
    "near": f"a drawer within {NEAR} of the evidence was shown",
    "same room": "another drawer of the evidence's room was shown",
    "several drawers": "the question is answered by more than one drawer",
    "date": "the question asks when, or names a date",
    "other": "none of these",
}
"""What each class says, in the order in which they are tried."""
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a about after all an and any are as at be been before but by can could did do does "
        "doing for from had has have he her his how i in into is it its like may me might "
        "more most my of on or our out she so some such than that the their them then there "
        "they this to was we were what when where which who why will with would you your",
    )
)
_DATES = frozenset(
    re.findall(
        r"\w+",
        "when date day week month year january february march april may june july august september "
        "october november december",
    )
)


class Misses(TypedDict):
    """The missed questions of one arm on one corpus."""

    corpus: str
    arm: str
    questions: int
    classes: dict[str, int]


class Drawers:
    """The drawers of a corpus by id, with their words and their neighbours."""

    def __init__(self, corpus: Corpus) -> None:
        """Read the words of all drawers."""
        self.words = {drawer.id: frozenset(content(drawer.text)) for drawer in corpus.drawers}
        self.rooms = {drawer.id: drawer.room for drawer in corpus.drawers}
        self.places = {drawer.id: at for at, drawer in enumerate(corpus.drawers)}

    def why(self, question: Question, shown: Sequence[str]) -> str:
        """Return the class of a missed question. shown: what was ranked, best first."""
        asked = frozenset(content(question.query))
        common = max(len(asked & self.words[name]) for name in question.evidence)
        if common < 2:
            return ("no common word", "one common word")[common]
        first = shown[:LIMIT]
        if any(self._are_near(one, other) for one in first for other in question.evidence):
            return "near"
        rooms = {self.rooms[name] for name in question.evidence}
        if any(self.rooms[name] in rooms for name in first):
            return "same room"
        if len(question.evidence) > 1:
            return "several drawers"
        return "date" if _DATES & set(question.query.lower().split()) else "other"

    def _are_near(self, one: str, other: str) -> bool:
        is_near = abs(self.places[one] - self.places[other]) <= NEAR
        return is_near and self.rooms[one] == self.rooms[other]


def content(text: str) -> list[str]:
    """Return the stems of a text's words without stop words."""
    return stems(
        " ".join(word for word in text.lower().split() if word.strip("?.,!'") not in _STOP)
    )


def counted(corpus: str, arm: str, classes: Counter[str]) -> Misses:
    """Return the counts of an arm's missed questions."""
    return {
        "corpus": corpus, "arm": arm, "questions": classes.total(),
        "classes": {name: classes[name] for name in CLASSES if classes[name]},
    }  # fmt: skip
