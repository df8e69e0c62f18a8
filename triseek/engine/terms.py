"""What a goal written in words asks for: terms, phrases, and places in the code.

A goal is a sentence, a pasted error or a stack trace. Names in it (`getCookieJar`, `max_files`,
`auth.router`) are taken whole and taken apart, at camel humps and underscores; words are cut to
stems, so that "caching" finds `cache`; what is quoted, and what an error says, is looked for as it
stands; paths with line numbers, as every kind of trace has them, are places.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.words import ENDINGS, FILLERS, VAGUE, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

GOAL_READ = 8_000
"""Characters of a goal that are read; a longer one is a log, whose beginning and end matter."""
TERMS_MAX = 16
PHRASES_MAX = 6
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
"""What comes before a first colon: the part of the program that a title is about."""
_SCOPE_WORDS_MAX = 4
_CALLED = re.compile(r"([^\W\d]\w*)\(|[`]([\w.]+)[`]")
"""Names that are set off as code."""
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
    """One thing to look for."""

    stem: bytes
    """Lower case; a word that begins with it is an occurrence."""
    weight: float
    """What it is worth to the goal, beside how rare it is."""
    word: str
    """As the goal has it."""


class Phrase(NamedTuple):
    """Text to look for as it stands, but for its case."""

    text: bytes
    """Lower case."""
    weight: float


class Place(NamedTuple):
    """A file the goal names."""

    path: bytes
    """As written, `/`-separated; its end is what counts, for it may be of another machine."""
    line: int
    """0: not said."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a goal asks for, most important first."""

    terms: tuple[Term, ...]
    phrases: tuple[Phrase, ...]
    places: tuple[Place, ...]
    pairs: tuple[tuple[bytes, bytes], ...]
    """Stems that stand side by side, and in code may be one name."""
    names: tuple[str, ...]
    """Identifiers of several parts, as written."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not (self.terms or self.phrases or self.places)


def read(text: str) -> Goal:
    """Take a goal apart."""
    text = _readable(text)
    places = _places(text)
    prose = _PLACE.sub(_without_place, text)
    names = [found for found in _IDENTIFIER.findall(prose) if len(split(found)) > 1]
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
        names=tuple(dict.fromkeys(names)),
    )


def split(name: str) -> list[str]:
    """Return the words of an identifier or a path, in lower case: camel, snake and kebab alike."""
    return [part.lower() for part in _PART.findall(name)]


def stem(word: str) -> str:
    """Return what a word begins with in all its forms, lightly: plurals, -ing, -ed, -ation.

    The stems are prefixes, not roots, because a prefix is what a search can look for.
    """
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_MIN:
            return word[: len(word) - len(ending)]
    return word


def _readable(text: str) -> str:
    """Return the goal without control characters and issues' numbers; of a long one both ends."""
    if len(text) > GOAL_READ:
        text = text[: GOAL_READ * 3 // 4] + "\n" + text[-(GOAL_READ // 4) :]
    return re.sub(r"#\d+|[^\S\n]|[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]", " ", text)


def _runs(prose: str) -> list[list[str]]:
    """The words that matter, run by run: a pair never reaches over a filler or a full stop."""
    runs: list[list[str]] = [[]]
    end = 0
    for found in _IDENTIFIER.finditer(prose):
        if not prose[end : found.start()].isspace() and prose[end : found.start()] != "-":
            runs.append([])
        for word in split(found.group()):
            if word in FILLERS or len(word) < 2:
                runs.append([])
            else:
                runs[-1].append(word)
        end = found.end()
    return [run for run in runs if run]


def _stressed(text: str) -> list[str]:
    """The words of names set off as code, and of the scope that a title begins with."""
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
        known = by_stem.get(base)
        if known is None or weight > known.weight:
            by_stem[base] = Term(base.encode(), weight, word)
    for name in dict.fromkeys(names):
        whole = re.split(r"\.|::|->|-", name)[-1]
        if len(split(whole)) > 1 and len(whole) <= _WORD_BYTES_MAX:
            by_stem.setdefault(whole.lower(), Term(whole.lower().encode(), 2.5, whole))
    ranked = sorted(by_stem.values(), key=lambda term: -term.weight)  # stable: then as written
    return tuple(ranked[:TERMS_MAX])


def _pairs(runs: list[list[str]]) -> tuple[tuple[bytes, bytes], ...]:
    found = [
        (stem(first).encode(), stem(second).encode())
        for run in runs
        for first, second in pairwise(run)
        if first != second
    ]
    return tuple(dict.fromkeys(found))[:TERMS_MAX]


def _phrases(text: str) -> tuple[Phrase, ...]:
    quoted = [next(filter(None, groups)) for groups in _QUOTED.findall(text)]
    messages = _MESSAGE.findall(text)
    found = {
        phrase.strip().lower(): Phrase(phrase.strip().lower().encode(), 2.0)
        for phrase in [*quoted, *messages]
        if len(split(phrase)) > 1 and re.search(r"\s|[^\w.]", phrase.strip())
    }
    return tuple(found.values())[:PHRASES_MAX]


def _places(text: str) -> tuple[Place, ...]:
    found: dict[Place, None] = {}
    for match in _PLACE.finditer(text):
        if _is_place(match):
            path = match["path"].replace("\\", "/").lstrip("./")
            line = int(match["python"] or match["line"] or 0)
            found[Place(path.encode(), line)] = None
    return tuple(found)[:PLACES_MAX]


def _is_place(match: re.Match[str]) -> bool:
    return match["path"].rpartition(".")[2].lower() in _EXTENSIONS


def _without_place(match: re.Match[str]) -> str:
    return " . " if _is_place(match) else match.group()


def _stem_of_path(path: bytes) -> str:
    """The last name of a path without its extension."""
    return path.decode().rpartition("/")[2].rpartition(".")[0]
