"""Parser of a goal in natural language into terms, phrases and places in the code.

A goal is a sentence, a pasted error or a stack trace. Names in it (`getCookieJar`, `max_files`,
`auth.router`) are used both whole and split at camel humps and underscores. Words are reduced to
stems, so that "caching" finds `cache`. Quoted text and error messages are searched for literally.
Paths with line numbers, as in all kinds of traces, are places.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.context_pack.words import ENDINGS, FILLERS, VAGUE, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

GOAL_READ = 8_000
"""Characters of a goal that are read. A longer goal is a log, of which the beginning and the end
are used."""
TERMS_MAX = 16
PHRASES_MAX = 6
PHRASE_WEIGHT = 2.0
"""Importance of a phrase in the goal, where a word's is about 1."""
PLACES_MAX = 24
_STEM_MIN = 4
_WORD_BYTES_MAX = 80

_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:\.|::|->|-)[^\W\d]\w*)*|\d{3,}")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+|\d{3,}")
_QUOTED = re.compile(
    r"`([^`\n]{3,120})`|\"([^\"\n]{3,120})\"|(?<!\w)'([^'\n]{3,120})'(?!\w)|“([^”\n]{3,120})”"
)
_MESSAGE = re.compile(r"\b\w*(?:Error|Exception|Warning|[Pp]anic|FATAL|fatal): ([^\n]{6,120})")
_SCOPE = re.compile(
    r"\s*(?:(?:fix|feat|chore|perf|refactor|build|ci)\s*[(:]\s*)?([\w./,+ -]{2,40}?)\)?!?: "
)
"""The text before the first colon: the part of the program that a title is about."""
_SCOPE_WORDS_MAX = 4
_CALLED = re.compile(r"([^\W\d]\w*)\(|[`]([\w.]+)[`]")
"""Names marked as code."""
_PLACE = re.compile(
    r"(?P<path>[\w@.+~-]*(?:[/\\][\w@.+~-]+)*[\w+-]\.[A-Za-z][A-Za-z0-9+]{0,9})"
    r"(?:\"?, line (?P<python>\d{1,7})|[:(](?P<line>\d{1,7}))?"
)
_EXTENSIONS = listed(
    "adoc asm bash bat c cc cfg cjs clj cmake conf cpp cs css csv cts cue cxx dart ex exs f90 go "
    "gradle graphql h hcl hh hpp hs html hxx in ini ipynb java jl js json jsonl jsx kt kts less "
    "lock lua m md mdx mjs ml mm mts nix php pl pm po proto ps1 py pyi pyx r rb rs rst s sass "
    "scala scss sh sql svelte swift tcl tex tf toml ts tsx txt vue xml yaml yml zig"
)


class Term(NamedTuple):
    """One word to search for."""

    stem: bytes
    """Lower case; a word that begins with it is an occurrence."""
    weight: float
    """Its importance in the goal, not counting its rarity."""
    word: str
    """The word as in the goal."""


class NamedPlace(NamedTuple):
    """A file that the goal names."""

    path: bytes
    """As written, `/`-separated; only its end counts, since it may be from another machine."""
    line: int
    """Line number; 0 if not given."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A parsed goal; terms are in order of importance."""

    terms: tuple[Term, ...]
    phrases: tuple[bytes, ...]
    """Texts to search for literally, ignoring case; lower case."""
    places: tuple[NamedPlace, ...]
    pairs: tuple[tuple[bytes, bytes], ...]
    """Stems of adjacent words, which may be one name in code."""

    @property
    def texts(self) -> list[bytes]:
        """The texts to search for, in lower case: the terms' stems, then the phrases."""
        return [*(term.stem for term in self.terms), *self.phrases]


def read(text: str) -> Goal:
    """Parse a goal."""
    text = _readable(text)
    places = _places(text)
    prose = _PLACE.sub(_without_place, text)
    names = [identifier for identifier in _IDENTIFIER.findall(prose) if len(split(identifier)) > 1]
    runs = _runs(prose)
    weights: dict[str, float] = defaultdict(float)
    for position, word in enumerate(word for run in runs for word in run):
        weights[word] += 1.0 if position < TERMS_MAX else 0.5
    for name in names:
        for part in split(name):
            weights[part] += 0.5
    for word in _stressed(text):
        weights[word] += 1.0
    for place in places:
        for part in split(_stem_of_path(place.path)):
            weights[part] += 0.5
    return Goal(
        terms=_terms(weights, names),
        phrases=_phrases(text),
        places=places,
        pairs=_pairs(runs),
    )


def split(name: str) -> list[str]:
    """Return the words of an identifier or path, in lower case: camel, snake or kebab."""
    return [part.lower() for part in _PART.findall(name)]


def stem(word: str) -> str:
    """Return the prefix that the forms of a word share: plurals, -ing, -ed, -ation.

    Stems are prefixes, not roots, because a search can look for a prefix.
    """
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_MIN:
            return word[: len(word) - len(ending)]
    return word


def _readable(text: str) -> str:
    """Return the goal without control characters and issue numbers; for a long goal, both ends."""
    if len(text) > GOAL_READ:
        text = text[: GOAL_READ * 3 // 4] + "\n" + text[-(GOAL_READ // 4) :]
    return re.sub(r"#\d+|[^\S\n]|[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]", " ", text)


def _runs(prose: str) -> list[list[str]]:
    """Return the significant words in runs, which end at fillers and punctuation.

    A pair never spans two runs.
    """
    runs: list[list[str]] = [[]]
    end = 0
    for match in _IDENTIFIER.finditer(prose):
        if not prose[end : match.start()].isspace() and prose[end : match.start()] != "-":
            runs.append([])
        for word in split(match.group()):
            if word in FILLERS or len(word) < 2:
                runs.append([])
            else:
                runs[-1].append(word)
        end = match.end()
    return [run for run in runs if run]


def _stressed(text: str) -> list[str]:
    """Return the words of names marked as code, and of the scope at the beginning of a title."""
    called = [first or second for first, second in _CALLED.findall(text)]
    scope = _SCOPE.match(text)
    if scope is not None and len(split(scope[1])) <= _SCOPE_WORDS_MAX:
        called.append(scope[1])
    return list(dict.fromkeys(word for name in called for word in split(name)))


def _terms(weights: Mapping[str, float], names: list[str]) -> tuple[Term, ...]:
    by_stem: dict[str, Term] = {}
    for word, count in weights.items():
        if word in FILLERS or not 2 <= len(word.encode()) <= _WORD_BYTES_MAX:
            continue
        base = stem(word)
        weight = min(count, 2.0) * (0.35 if word in VAGUE else 1.0) * (0.6 if len(word) < 4 else 1)
        previous = by_stem.get(base)
        if previous is None or weight > previous.weight:
            by_stem[base] = Term(base.encode(), weight, word)
    for name in dict.fromkeys(names):
        whole = re.split(r"\.|::|->|-", name)[-1]
        if len(split(whole)) > 1 and len(whole) <= _WORD_BYTES_MAX:
            by_stem.setdefault(whole.lower(), Term(whole.lower().encode(), 2.5, whole))
    ranked = sorted(by_stem.values(), key=lambda term: -term.weight)  # stable: ties as written
    return tuple(ranked[:TERMS_MAX])


def _pairs(runs: list[list[str]]) -> tuple[tuple[bytes, bytes], ...]:
    pairs = [
        (stem(first).encode(), stem(second).encode())
        for run in runs
        for first, second in pairwise(run)
        if first != second
    ]
    return tuple(dict.fromkeys(pairs))[:TERMS_MAX]


def _phrases(text: str) -> tuple[bytes, ...]:
    quoted = [next(filter(None, groups)) for groups in _QUOTED.findall(text)]
    messages = _MESSAGE.findall(text)
    phrases = [
        phrase.strip().lower().encode()
        for phrase in [*quoted, *messages]
        if len(split(phrase)) > 1 and re.search(r"\s|[^\w.]", phrase.strip())
    ]
    return tuple(dict.fromkeys(phrases))[:PHRASES_MAX]


def _places(text: str) -> tuple[NamedPlace, ...]:
    places: dict[NamedPlace, None] = {}
    for match in _PLACE.finditer(text):
        if _is_place(match):
            path = match["path"].replace("\\", "/").lstrip("./")
            line = int(match["python"] or match["line"] or 0)
            places[NamedPlace(path.encode(), line)] = None
    return tuple(places)[:PLACES_MAX]


def _is_place(match: re.Match[str]) -> bool:
    return match["path"].rpartition(".")[2].lower() in _EXTENSIONS


def _without_place(match: re.Match[str]) -> str:
    return " . " if _is_place(match) else match.group()


def _stem_of_path(path: bytes) -> str:
    """Return the last component of a path without its extension."""
    return path.decode().rpartition("/")[2].rpartition(".")[0]
