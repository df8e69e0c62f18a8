"""The parts of identifiers and of Chinese, Japanese and Korean text for the `sub` columns.

SQLite's unicode61 tokenizer splits at characters that are neither letters nor digits. So it finds
`snake` in `snake_case`, but not `name` in `camelName`; and it takes a whole run of Chinese
characters as one token. `sub` holds what it does not find: the words of camelCase, and each pair of
neighbouring characters of a run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WORD = re.compile(r"[^\W_]+")
"""A token of unicode61."""
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_RUN = re.compile(f"[{_CJK}]+|[^{_CJK}]+")
_IS_CJK = re.compile(f"[{_CJK}]")
_PART = re.compile(
    r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|[0-9]+|[^A-Za-z0-9]+"  # HTTP, Server, name, 2, ü
)
PARTS_MAX = 200_000
"""Most tokens for one row: a row is no place for a file."""


def sub_tokens(texts: Iterable[str], paths: Iterable[str] = ()) -> str:
    """Return the value of a `sub` column.

    Args:
        texts: The texts of the other columns, of which the additional tokens are taken.
        paths: Texts that no other column has, of which all tokens are taken.
    """
    seen: set[str] = set()
    tokens: list[str] = []
    for path in paths:
        tokens += WORD.findall(path)
        tokens += _additional(path, seen)
    for text in texts:
        tokens += _additional(text, seen)
        if len(tokens) > PARTS_MAX:
            break
    return " ".join(tokens[:PARTS_MAX])


def observation_sub(
    fields: Sequence[str], facts: Iterable[str], concepts: Iterable[str], paths: Iterable[str]
) -> str:
    """Return the `sub` column of an observation.

    Args:
        fields: Its title, subtitle, narrative and text.
        facts: Its facts.
        concepts: Its concepts.
        paths: The files it names.
    """
    return sub_tokens((*fields, *facts, *concepts), paths)


def parts(word: str) -> list[str]:
    """Return the tokens by which `sub` finds a word; none if the word itself is the only one.

    `camelName` gives camel, name; a run of three Chinese characters gives two pairs.
    """
    pieces: list[str] = []
    for run in _RUN.findall(word):
        if _IS_CJK.match(run):
            pieces += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
        else:
            pieces += _PART.findall(run) if run.isascii() else [run]
    return pieces if len(pieces) > 1 or _IS_CJK.match(word) else []


def is_cjk(word: str) -> bool:
    """Whether a word begins with a Chinese, Japanese or Korean character."""
    return _IS_CJK.match(word) is not None


def _additional(text: str, seen: set[str]) -> Iterator[str]:
    """Yield the tokens that unicode61 does not find, once for each word."""
    for word in WORD.findall(text):
        if word in seen or (word.isascii() and (word.islower() or word.isdigit())):
            continue
        seen.add(word)
        pieces = parts(word)
        yield from pieces
        if pieces and is_cjk(pieces[-1]) and len(pieces[-1]) > 1:
            yield pieces[-1][-1]  # so that a single character is the beginning of some token
