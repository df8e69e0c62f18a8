"""Whether one text says the same as another, decided by their words alone.

Two texts are equal if they have the same words in the same order, but for articles, the capital
letter of a plain word and the punctuation around it. A text contains another if it has all words of
the other in the same order, few besides, and the same numbers, names with punctuation and
negations: "port 8080" and "port 9090", or "retry" and "do not retry", never say the same, however
similar the rest is. For the same reason vectors decide nothing here: they hardly tell a text from
its negation.

Texts that say the same share a key. The keys are those of prefix filtering (Bayardo, Ma, Srikant:
"Scaling up all pairs similarity search", 2007): the hashes of a text's shingles, smallest first, as
many as two similar sets cannot both have without sharing one.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import xxhash

if TYPE_CHECKING:
    from collections.abc import Sequence

SIMILAR = 0.8
"""The least share of common shingles (Jaccard) of a text that contains another."""
SHINGLE = 3
"""Words of a shingle."""
KEYS_MAX = 64
"""Keys of one text."""
_AROUND, _BEHIND = "\"'`()[]«»“”‘’", ".,;:!…\"'`()[]«»“”‘’"
_ARTICLES = frozenset(("a", "A", "an", "the"))
_NEGATIONS = frozenset((
    "no", "not", "nor", "never", "none", "nothing", "without", "cannot", "neither", "except",
    "unless", "only", "former", "formerly", "deprecated", "obsolete", "nicht", "kein", "keine",
    "nie", "ohne",
))  # fmt: skip
_SIGN = re.compile(r"[\W\d_]")


@dataclass(frozen=True, slots=True)
class Profile:
    """What of a text is compared."""

    words: tuple[str, ...]
    shingles: frozenset[int]
    fixed: tuple[str, ...]
    """Words that both texts must have: with digits or signs, and negations; sorted."""
    keys: tuple[int, ...]
    """Signed 64-bit numbers; the first is that of the whole text."""


def profile(text: str, room_key: str = "") -> Profile:
    """Return what of a text is compared. room_key: Texts of other rooms share no keys."""
    words = tuple(_words(text))
    parts = range(max(1, len(words) - SHINGLE + 1))
    shingles = frozenset(_hash("\0".join(words[at : at + SHINGLE])) for at in parts)
    fixed = tuple(sorted(word for word in words if _is_fixed(word)))
    seed = _hash("\0".join((room_key, *fixed)))
    count = len(shingles) - math.ceil(SIMILAR * len(shingles)) + 1
    prefix = sorted(shingles)[: min(count, KEYS_MAX)]
    whole = _hash("\0".join((room_key, "", *words)))
    return Profile(words, shingles, fixed, (whole, *(_mixed(shingle, seed) for shingle in prefix)))


def similarity(text: Profile, other: Profile) -> float:
    """Return the share of common shingles, from 0 to 1."""
    common = len(text.shingles & other.shingles)
    return common / (len(text.shingles) + len(other.shingles) - common)


def contains(text: Profile, other: Profile) -> bool:
    """Return whether a text says everything that the other says, and little more."""
    if text.words == other.words:
        return True
    return (
        text.fixed == other.fixed
        and similarity(text, other) >= SIMILAR
        and _has_in_order(text.words, other.words)
    )


def _has_in_order(words: Sequence[str], others: Sequence[str]) -> bool:
    following = iter(words)
    return all(word in following for word in others)


def _words(text: str) -> list[str]:
    words = [_bare(word) for word in unicodedata.normalize("NFC", text).split()]
    return [word for word in words if word not in _ARTICLES] or words


def _bare(word: str) -> str:
    """Return a word without what stands around it: `"Use` is `use`; NAME, getName, -V stay."""
    bare = word.lstrip(_AROUND).rstrip(_BEHIND) or word
    return bare.lower() if bare.isalpha() and bare[1:].islower() else bare


def _is_fixed(word: str) -> bool:
    return word in _NEGATIONS or word.endswith(("n't", "n’t")) or bool(_SIGN.search(word))


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) - (1 << 63)


def _mixed(shingle: int, seed: int) -> int:
    return _hash(f"{shingle}\0{seed}")
