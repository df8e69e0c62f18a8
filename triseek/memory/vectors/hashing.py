"""Vectors without a model: hashed stems and parts of words.

Each word gives its stem and its runs of 3 to 5 letters to some of the vector's numbers, which a
hash chooses with a sign (Weinberger et al. 2009; the runs as in fastText, Bojanowski et al. 2017).
So words of one family and misspelt words are near one another. Words of one meaning are not.
"""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import Stemmer
import xxhash

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\WA-Z_\d]+|\d+")
_LONGEST = 64
"""Characters of a word; longer runs are data."""
_LENGTHS = (3, 4, 5)
_PARTS_WEIGHT = 1.0
"""What all runs of a word weigh together, as much as its stem."""
_DIMENSION = 512
_CHARACTERS_MAX = 20_000
"""Of a text that are looked at."""


class Hashing:
    """Vectors of 512 numbers from the spelling of words; deterministic, and the same everywhere."""

    name = "hashing"
    version = "1"
    dimension = _DIMENSION

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of some texts: float32[texts, 512], of length 1; 0 without a word."""
        vectors = np.zeros((len(texts), _DIMENSION), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            counts: dict[str, int] = {}
            for word in _words(text[:_CHARACTERS_MAX]):
                counts[word] = counts.get(word, 0) + 1
            for word, count in counts.items():
                places, values = _features(word)
                # add.at, because a word may hit one place twice
                np.add.at(vector, places, values * np.float32(1 + np.log(count)))
            length = np.linalg.norm(vector)
            if length > 0:
                vector /= length
        return vectors

    def release(self) -> None:
        """Do nothing: there is no model."""


_stemming = threading.Lock()
_stemmer = Stemmer.Stemmer("english", 0)


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case, identifiers as a whole and in parts."""
    words = []
    for word in _WORD.findall(text):
        if len(word) > _LONGEST:
            continue
        words.append(word.lower())
        parts = _PART.findall(word)
        if len(parts) > 1:
            words += [part.lower() for part in parts]
    return words


@lru_cache(30_000)
def _features(word: str) -> tuple[np.ndarray, np.ndarray]:
    """Return places in the vector and what a word adds to each: int64[n], float32[n]."""
    with _stemming:  # a stemmer is not thread-safe
        stem = _stemmer.stemWord(word)
    framed = f"<{word}>"
    runs = [framed[i : i + n] for n in _LENGTHS for i in range(len(framed) - n + 1)]
    weights = [1.0, *[_PARTS_WEIGHT / len(runs) ** 0.5] * len(runs)]
    # A stop word says little; without counts of all texts, its length must do.
    weight = min(len(word), 6) / 6
    hashes = [xxhash.xxh3_64_intdigest(run.encode()) for run in (f"={stem}", *runs)]
    places = np.array([value % _DIMENSION for value in hashes], np.int64)
    signs = np.array([1 if value >> 63 else -1 for value in hashes], np.float32)
    return places, signs * np.array(weights, np.float32) * np.float32(weight)
