"""Two plain ways of ranking drawers by their words, to compare the product with."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bench.memory.corpora import Corpus

K1, B = 1.5, 0.75
"""BM25's usual parameters."""
_WORD = re.compile(r"[^\W_]+")


class FullText:
    """SQLite's FTS5 with Porter stems, as SQLite ranks: any word of the query matches."""

    name = "SQLite FTS5"

    def __init__(self, corpus: Corpus) -> None:
        """Index the drawers of a corpus."""
        self._ids = [drawer.id for drawer in corpus.drawers]
        self._database = sqlite3.connect(":memory:")
        self._database.execute(
            "CREATE VIRTUAL TABLE drawers USING fts5 (text, tokenize='porter unicode61')"
        )
        self._database.executemany(
            "INSERT INTO drawers (rowid, text) VALUES (?, ?)",
            [(at, drawer.text) for at, drawer in enumerate(corpus.drawers)],
        )

    def ranked(self, query: str, limit: int) -> list[str]:
        """Return the ids of the best drawers, best first."""
        words = dict.fromkeys(_WORD.findall(query.lower()))
        match = " OR ".join(f'"{word}"' for word in words)
        if not match:
            return []
        rows = self._database.execute(
            "SELECT rowid FROM drawers WHERE drawers MATCH ? ORDER BY rank, rowid LIMIT ?",
            (match, limit),
        )
        return [self._ids[row[0]] for row in rows]

    def close(self) -> None:
        """Free the index."""
        self._database.close()


class Bm25:
    """BM25 over the stems of all words, as the package rank_bm25 counts."""

    name = "plain BM25"

    def __init__(self, corpus: Corpus) -> None:
        """Index the drawers of a corpus."""
        self._ids = [drawer.id for drawer in corpus.drawers]
        counts = [Counter(stems(drawer.text)) for drawer in corpus.drawers]
        lengths = np.array([count.total() for count in counts], float)
        self._norms = K1 * (1 - B + B * lengths / (lengths.mean() or 1.0))
        self._rows: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, count in enumerate(counts):
            for word, times in count.items():
                self._rows[word].append((at, times))

    def ranked(self, query: str, limit: int) -> list[str]:
        """Return the ids of the best drawers, best first."""
        scores = np.zeros(len(self._ids))
        for word in stems(query):
            if word in self._rows:
                rows, times = np.array(self._rows[word]).T
                rare = np.log(1 + (len(self._ids) - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[rows] += rare * times * (K1 + 1) / (times + self._norms[rows])
        order = np.argsort(-scores, kind="stable")[:limit]
        return [self._ids[at] for at in order if scores[at] > 0]

    def close(self) -> None:
        """Free the index."""
        self._rows.clear()


def stems(text: str) -> list[str]:
    """Return the stems of a text's words, in their order."""
    from Stemmer import Stemmer

    words: list[str] = Stemmer("english").stemWords(_WORD.findall(text.lower()))
    return words
