"""English words in goals, and their forms in prose or in names in code.

The lists are short. A missing word costs little, because common words have almost no weight anyway
(`engine.context_pack.candidates.idf`). The search works on bytes for speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


def listed(words: str) -> frozenset[str]:
    """Return a list of words as a set."""
    return frozenset(words.split())


FILLERS = listed(
    "a about above add added adding adds after again all allow allowed allows also although always "
    "am an and any are as at be because been before being below better between both but by can "
    "cannot could did do does doing don done down during each either else ensure etc even ever "
    "every few fix fixed fixes fixing for from further get gets getting give given gives go goes "
    "got had has have having he hence her here him his how however i if implement implemented in "
    "instead into is it its itself just keep less let lets like make makes making many may me "
    "might more most much must my need needed needs never new no nor not now of off ok on once "
    "one only or other our out over own per please put properly same see seems set several shall "
    "she should show since so some still such sure take than that the their them then there these "
    "they this those though through to together too toward towards try trying two under until up "
    "update updated updates upon us use used uses using various very via want wants was way we "
    "well were what when where whether which while who whole whose why will with within without "
    "work working works would yes yet you your"
)
"""Words that are never searched for."""

VAGUE = listed(
    "behavior behaviour bug bugfix bugs case cases change changed changes check code correct "
    "correctly crash crashes current data default error errors exception expected fail failed "
    "failing fails failure feature file files function functions handle handling improve incorrect "
    "incorrectly input invalid issue issues method methods missing name names object option "
    "options output panic path possible problem refactor regression remove removed result results "
    "return returned returning returns review right run running simplify support supported test "
    "tests type types unexpected user users value values variable warning wrong"
)
"""Words with a lower weight: they say what went wrong, not where."""

ENDINGS = (
    "izations", "ization", "ations", "ation", "ators", "ator", "ating", "ated", "ates", "ings",
    "ments", "ment", "ions", "ing", "ion", "ies", "ers", "ate", "ed", "es", "er", "ly", "s", "e",
    "y",
)  # fmt: skip
"""Among endings with a common suffix the longest comes first."""

LOOSE = 0.25
"""Worth of a longer word that only begins with the stem: `port` in `portable`."""
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_UPPER = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_FORMS = frozenset(ending.encode() for ending in (*ENDINGS, "", "or", "ors", "al", "able", "ings"))
_TAIL_MAX = 8


class Occurrence(NamedTuple):
    """One occurrence of a word."""

    at: int
    """Offset of its first byte."""
    worth: float
    """1 for a form of the word, else `LOOSE`."""


def occurrences(text: bytes, lower: bytes, stem: bytes, most: int) -> Iterator[Occurrence]:
    """Yield the words that begin with a stem, at most `most` of them.

    A word begins where no letter precedes it, at a camel hump (`getCookie`), and after the capitals
    of an abbreviation (`HTTPServer`).

    text, lower: The same text, unchanged and in lower case.
    """
    at = lower.find(stem)
    while at >= 0 and most:
        if _begins(text, lower, at):
            most -= 1
            yield Occurrence(at, _worth(text, lower, at + len(stem)))
        at = lower.find(stem, at + len(stem))


def _begins(text: bytes, lower: bytes, at: int) -> bool:
    if at == 0 or lower[at - 1] not in _LETTERS:
        return True
    if text[at] not in _UPPER:
        return False
    following = text[at + 1 : at + 2]
    return text[at - 1] not in _UPPER or (following.islower() and following.isalpha())


def _worth(text: bytes, lower: bytes, end: int) -> float:
    """Return the worth of a word whose stem ends at `end`: 1 if the rest of it is an ending."""
    stop, capital = end, text[end - 1] in _UPPER
    last = min(len(lower), end + _TAIL_MAX)
    while stop < last and lower[stop] in _LETTERS and (capital or text[stop] not in _UPPER):
        stop += 1
    return 1.0 if lower[end:stop] in _FORMS else LOOSE
