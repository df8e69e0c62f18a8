"""Turns text into the terms that are indexed and searched.

A word is a run of letters and digits, in lower case. Stop words are left out. English words become
stems (Snowball's English stemmer), after an irregular form is replaced by its base. Words of other
scripts stay as they are; Chinese, Japanese and Korean runs become pairs of characters.
"""

from __future__ import annotations

import re
import threading
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING

import Stemmer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

WORD = re.compile(r"[^\W_]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
WORD_MAX = 64
"""Characters; longer runs are data and no words."""
TEXT_MAX = 1_000_000
"""Characters of a message that are indexed."""
CACHE_MAX = 30_000
"""Distinct words whose terms are kept."""

STOP = frozenset(
    """
    a about above after again against all am an and any are aren as at be been before being below
    between both but by can could couldn d did didn do does doesn doing don down during each few for
    from further had hadn has hasn have haven having he her here hers herself him himself his how i
    if in into is isn it its itself just ll m me more most my myself no nor not now of off on once
    only or other ought our ours ourselves out over own re s same she should shouldn so some such t
    than that the their theirs them themselves then there these they this those through to too under
    until up ve very was wasn we were weren what when where which while who whom why will with won
    would wouldn you your yours yourself yourselves else
    """.split()  # noqa: SIM905 - a list of 150 strings would take a page
)

_IRREGULAR = """
    go went gone; buy bought; bring brought; take took taken; get got gotten; give gave given;
    make made; see saw seen; say said; tell told; think thought; find found; feel felt; leave left;
    meet met; lose lost; win won; run ran; begin began begun; come came; become became;
    write wrote written; speak spoke spoken; break broke broken; choose chose chosen;
    drive drove driven; eat ate eaten; fall fell fallen; fly flew flown; forget forgot forgotten;
    grow grew grown; know knew known; ride rode ridden; sing sang sung; swim swam swum;
    teach taught; catch caught; fight fought; build built; send sent; spend spent; sleep slept;
    keep kept; hold held; hear heard; draw drew drawn; wear wore worn; sell sold; pay paid;
    stand stood; understand understood; sit sat; throw threw thrown; wake woke woken;
    hide hid hidden; shoot shot; steal stole stolen; child children; man men; woman women;
    person people; foot feet; mouse mice; life lives; wife wives; lead led; mean meant;
    dream dreamt; learn learnt; light lit; show shown; freeze froze frozen; hang hung; lay laid;
    lie lain; ring rang rung; rise rose risen; seek sought; shake shook shaken; stick stuck;
    strike struck; swear swore sworn; tear tore torn; deal dealt; dig dug; feed fed; good better
    best; bad worse worst; do done; drink drank drunk; index indices; matrix matrices
"""
_BASE = {
    form: base
    for family in _IRREGULAR.split(";")
    for base, *forms in [family.split()]
    for form in forms
}


class _Terms(dict[str, tuple[str, ...]]):
    """The terms of each word, computed when a word is first looked up."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= CACHE_MAX:
            self.clear()
        terms = self[word] = _terms_of(word)
        return terms


_terms = _Terms()
_stemming = threading.Lock()


def terms(text: str) -> list[str]:
    """Return the terms of a text, in order."""
    return list(chain.from_iterable(map(_terms.__getitem__, _words(text))))


def _words(text: str) -> list[str]:
    return WORD.findall(text[:TEXT_MAX].lower())


def spans(text: str, wanted: Collection[str]) -> list[tuple[str, int, int]]:
    """Return the wanted terms with begin and end of their words in the text, in characters."""
    lowered = text.lower()
    if len(lowered) != len(text):  # such as İ, of which two characters become
        lowered = "".join(one if len(one.lower()) > 1 else one.lower() for one in text)
    spoken = []
    starts = {term[:2] for term in wanted}
    for word in set(WORD.findall(lowered)):
        may_be = word[:2] in starts or word[0] in starts or word[1:2] == "y"
        if not may_be and word.isascii() and word not in _BASE:
            continue  # a stem begins with the word's two letters, or is one; but for dying
        terms_of_it = [term for term in _terms[word.lower()] if term in wanted]
        if terms_of_it:
            for begin, end in _places(word, lowered):
                spoken += [(term, begin, end) for term in terms_of_it]
    return sorted(spoken, key=itemgetter(1))


def _places(word: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of a word wherever it is all of a run that `WORD` matches."""
    begin = text.find(word)
    while begin >= 0:
        end = begin + len(word)
        if not (begin and text[begin - 1].isalnum()) and not text[end : end + 1].isalnum():
            yield begin, end
        begin = text.find(word, end)


def _terms_of(word: str) -> tuple[str, ...]:
    if word in STOP or len(word) > WORD_MAX:
        return ()
    if word.isascii():
        return (_stem(_BASE.get(word, word)),) if word.isalpha() else (word,)
    if _CJK.search(word):
        return tuple(word[at : at + 2] for at in range(max(len(word) - 1, 1)))
    return (word,)


def _stem(word: str) -> str:
    with _stemming:  # a stemmer serves one thread at a time
        return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Stemmer.Stemmer:
    stemmer = Stemmer.Stemmer("english")
    stemmer.maxCacheSize = 0  # `_terms` is the cache
    return stemmer
